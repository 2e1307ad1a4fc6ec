/**
 * Apache Iceberg metadata of a version: one snapshot of each table over the version's Parquet files, in `iceberg/<table>/metadata` of the version's
 * folder. Readers open it through the link `current`.
 *
 * A pure function of the version's manifest and the location of the lake: the same version has the same bytes, wherever and whenever they are written.
 * The metadata has no history of snapshots: the rows have it, in `valid_from` and `valid_to`.
 */
import { v5 as uuidV5 } from "uuid";
import { epochDay } from "../../base/day.ts";
import { type LakeFile, type Manifest, versionKey } from "../manifest.ts";
import { type TableName, tableOf } from "../tables.ts";
import { avroFile, entrySchema, manifestListSchema } from "./manifest-file.ts";
import { fieldsOf, type IcebergField, idsOf, partitionColumnId, partitionFieldId } from "./table-schema.ts";

const uuidNamespace = "6f0bd0a5-6c3f-4f0c-9a37-0d2f5c2d8f11";

const metadataFolder = (table: TableName): string => `iceberg/${table}/metadata`;

/** Returns the path of the metadata file of a table below the folder of a version. */
export const metadataPath = (table: TableName): string => `${metadataFolder(table)}/v1.metadata.json`;

/** Returns the URI of a table in a lake: the path by which readers find the table of the published version. */
export const tableLocation = (lakeLocation: string, table: TableName): string =>
  `${lakeLocation}/current/iceberg/${table}`;

/** Returns the id and sequence number of a version's snapshot: 2026111900001 for `2026-11-19.1`. Later versions have greater ones. */
export function snapshotIdOf(version: string): number {
  const [day = "", sequence = ""] = version.split(".");
  return Number(day.replaceAll("-", "")) * 100_000 + Number(sequence);
}

/** Returns the time of a version's snapshot: the start of its day in UTC, with a millisecond for each version of the day. */
const snapshotMs = ({ as_of, sequence }: Manifest): number => epochDay(as_of) * 86_400_000 + sequence;

/**
 * Returns the files of a table's metadata by their path below the folder of the version, the data files' manifest first. `lakeLocation` is the URI of
 * the lake's folder where engines read it.
 */
export async function icebergFiles(
  manifest: Manifest,
  table: TableName,
  lakeLocation: string,
): Promise<ReadonlyMap<string, Buffer>> {
  const folder = metadataFolder(table);
  // Paths with the name of the version, so that an opened metadata file leads to its own snapshot after the next publish.
  const uriOf = (path: string): string => `${lakeLocation}/${versionKey(manifest.version)}/${path}`;
  const files = manifest.tables[table];
  const entries = await manifestFile(manifest, table, lakeLocation);
  const list = await manifestList(manifest, files, uriOf(`${folder}/manifest.avro`), entries.length);
  const metadata = tableMetadata(manifest, table, lakeLocation, uriOf(`${folder}/snapshot.avro`));
  return new Map([
    [`${folder}/manifest.avro`, entries],
    [`${folder}/snapshot.avro`, list],
    [metadataPath(table), Buffer.from(metadata)],
    [`${folder}/version-hint.text`, Buffer.from("1")],
  ]);
}

/** Returns the manifest of a table: its data files with their partition, size and bounds. */
function manifestFile({ version, tables }: Manifest, table: TableName, lakeLocation: string): Promise<Buffer> {
  const fields = fieldsOf(table);
  const { partition, order } = tableOf(table);
  const sortField = fields.find(({ name }) => name === order[0]);
  const id = snapshotIdOf(version);
  const rows = tables[table].map((file) => ({
    status: 1,
    snapshot_id: id,
    sequence_number: id,
    file_sequence_number: id,
    data_file: {
      content: 0,
      file_path: `${lakeLocation}/${file.path}`,
      file_format: "PARQUET",
      partition: partition === undefined ? {} : { [partition]: file.partition },
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      lower_bounds: boundOf(sortField, file.min),
      upper_bounds: boundOf(sortField, file.max),
    },
  }));
  const metadata = {
    schema: JSON.stringify(schemaOf(table)),
    "schema-id": "0",
    "partition-spec": JSON.stringify(partitionFields(table)),
    "partition-spec-id": "0",
    "format-version": "2",
    content: "data",
  };
  return avroFile(entrySchema(partition), metadata, rows);
}

/** Returns a bound of the first sort column in Iceberg's binary form, a boolean as one byte, a date as days since 1970; null if the file has none. */
function boundOf(field: IcebergField | undefined, value: string | null): readonly object[] | null {
  if (field === undefined || value === null) return null;
  if (field.type === "string") return [{ key: field.id, value: Buffer.from(value) }];
  if (field.type === "boolean") return [{ key: field.id, value: Buffer.of(Number(value)) }];
  const binary = Buffer.alloc(4);
  binary.writeInt32LE(field.type === "date" ? epochDay(value) : Number(value));
  return [{ key: field.id, value: binary }];
}

/** Returns the manifest list of a snapshot with one manifest, of files that the snapshot adds. */
function manifestList({ version }: Manifest, files: readonly LakeFile[], path: string, bytes: number): Promise<Buffer> {
  const id = snapshotIdOf(version);
  const metadata = {
    "snapshot-id": String(id),
    "parent-snapshot-id": "null",
    "sequence-number": String(id),
    "format-version": "2",
  };
  const row = {
    manifest_path: path,
    manifest_length: bytes,
    partition_spec_id: 0,
    content: 0,
    sequence_number: id,
    min_sequence_number: id,
    added_snapshot_id: id,
    added_files_count: files.length,
    existing_files_count: 0,
    deleted_files_count: 0,
    added_rows_count: sumOf(files, "rows"),
    existing_rows_count: 0,
    deleted_rows_count: 0,
  };
  return avroFile(manifestListSchema, metadata, [row]);
}

/** Returns the content of a table's metadata file; `list` is the URI of the manifest list. */
function tableMetadata(manifest: Manifest, table: TableName, lakeLocation: string, list: string): string {
  const files = manifest.tables[table];
  const id = snapshotIdOf(manifest.version);
  const timeMs = snapshotMs(manifest);
  const snapshot = {
    "snapshot-id": id,
    "sequence-number": id,
    "timestamp-ms": timeMs,
    "manifest-list": list,
    summary: {
      operation: "append",
      "carquet.version": manifest.version,
      "total-data-files": String(files.length),
      "total-records": String(sumOf(files, "rows")),
      "total-files-size": String(sumOf(files, "bytes")),
    },
    "schema-id": 0,
  };
  const metadata = {
    "format-version": 2,
    "table-uuid": uuidV5(tableLocation(lakeLocation, table), uuidNamespace),
    location: tableLocation(lakeLocation, table),
    "last-sequence-number": id,
    "last-updated-ms": timeMs,
    "last-column-id": Math.max(...idsOf(fieldsOf(table))),
    "current-schema-id": 0,
    schemas: [schemaOf(table)],
    "default-spec-id": 0,
    "partition-specs": [{ "spec-id": 0, fields: partitionFields(table) }],
    "last-partition-id": tableOf(table).partition === undefined ? partitionFieldId - 1 : partitionFieldId,
    "default-sort-order-id": 0,
    "sort-orders": [{ "order-id": 0, fields: [] }],
    properties: {},
    "current-snapshot-id": id,
    refs: { main: { "snapshot-id": id, type: "branch" } },
    snapshots: [snapshot],
    "snapshot-log": [{ "timestamp-ms": timeMs, "snapshot-id": id }],
    "metadata-log": [],
  };
  return `${JSON.stringify(metadata, null, 1)}\n`;
}

const schemaOf = (table: TableName): object => ({ type: "struct", "schema-id": 0, fields: fieldsOf(table) });

/** Returns the fields of a table's partition spec. */
function partitionFields(table: TableName): readonly object[] {
  const { partition } = tableOf(table);
  if (partition === undefined) return [];
  return [{ name: partition, transform: "identity", "source-id": partitionColumnId, "field-id": partitionFieldId }];
}

const sumOf = (files: readonly LakeFile[], column: "rows" | "bytes"): number =>
  files.reduce((sum, file) => sum + file[column], 0);

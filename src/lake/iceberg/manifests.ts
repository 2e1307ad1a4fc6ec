/**
 * Iceberg manifests of a version's files: one for each month of a table's partitions, so that a new day rewrites the manifest of its month
 * and lists the others again.
 *
 * Ids follow from names: a snapshot's id and sequence number are its version's day and sequence, and a file's name begins with the version
 * that wrote it.
 */
import { epochDay } from "../../base/day.ts";
import type { LakeFile } from "../manifest.ts";
import { tableOf } from "../tables.ts";
import { type AvroContent, avroContent, avroFile } from "./avro-file.ts";
import { entrySchema, manifestListSchema } from "./manifest-schemas.ts";
import { fieldsOf, type IcebergField, type IcebergTable, partitionFieldId, partitionOf } from "./table-schema.ts";

export interface ListedManifest {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly partition_spec_id: 0;
  readonly content: 0;
  readonly sequence_number: number;
  readonly min_sequence_number: number;
  readonly added_snapshot_id: number;
  readonly added_files_count: number;
  readonly existing_files_count: number;
  readonly deleted_files_count: number;
  readonly added_rows_count: number;
  readonly existing_rows_count: number;
  readonly deleted_rows_count: number;
  readonly partitions: readonly object[] | null;
  readonly key_metadata: null;
}

export interface TableChange {
  readonly table: IcebergTable;
  readonly version: string;
  /** The table's files in the version before, and the manifests that list them; empty for the first version. */
  readonly filesBefore: readonly LakeFile[];
  readonly manifestsBefore: readonly ListedManifest[];
  readonly files: readonly LakeFile[];
  /** URI of the lake's folder. */
  readonly location: string;
  /** Number that no earlier write of the table's metadata had. File names end with it. */
  readonly number: number;
}

export interface MetadataFile {
  readonly name: string;
  readonly content: Buffer;
}

export type Status = "existing" | "added" | "deleted";

export const statusCodes: Readonly<Record<Status, number>> = { existing: 0, added: 1, deleted: 2 };

interface FileEntry extends FileChange {
  readonly file: LakeFile;
}

/** Returns the id and sequence number of a version's snapshot: 2026111900001 for `2026-11-19.1`. */
export function snapshotIdOf(version: string): number {
  const [day = "", sequence = ""] = version.split(".");
  return Number(day.replaceAll("-", "")) * 100_000 + Number(sequence);
}

/** Returns the id of the snapshot that a file belongs to by its name. */
function writtenIn({ path }: LakeFile): number {
  const [, version = ""] = /(\d{4}-\d{2}-\d{2}\.\d+)(?:-\d+)?\.parquet$/.exec(path) ?? [];
  return snapshotIdOf(version);
}

/** Returns the URI of an Iceberg table: a folder of metadata only. */
export const tableLocation = (location: string, table: IcebergTable): string => `${location}/iceberg/${table}`;

export const metadataLocation = (location: string, table: IcebergTable): string =>
  `${tableLocation(location, table)}/metadata`;

/** Returns the month of a file's partition, by which manifests divide a table. */
const monthOf = ({ partition }: LakeFile): string => partition?.slice(0, "YYYY-MM".length) ?? "all";

/** Returns the month that a manifest covers, from its name. */
const monthIn = ({ manifest_path }: ListedManifest): string =>
  /-(\d{4}-\d{2}|all|open)\.avro$/.exec(manifest_path)?.[1] ?? "";

/** Returns the manifests of a version, with the content of those that are new. */
export function manifestsOf(change: TableChange): {
  readonly manifests: readonly ListedManifest[];
  readonly written: readonly MetadataFile[];
  readonly entries: readonly FileEntry[];
} {
  const entries = entriesOf(change);
  const months = new Map<string, FileEntry[]>();
  for (const entry of entries) {
    const month = monthOf(entry.file);
    const inMonth = months.get(month) ?? [];
    inMonth.push(entry);
    months.set(month, inMonth);
  }
  const manifests: ListedManifest[] = [];
  const written: MetadataFile[] = [];
  for (const month of [...months.keys()].sort()) {
    const inMonth = months.get(month) ?? [];
    const before = change.manifestsBefore.find((manifest) => monthIn(manifest) === month);
    if (before !== undefined && inMonth.every(({ status }) => status === "existing")) {
      manifests.push(before);
      continue;
    }
    const name = `${snapshotIdOf(change.version)}-${change.number}-${month}.avro`;
    const content = manifestFile(change, inMonth);
    written.push({ name, content });
    manifests.push(listedManifest(change, inMonth, { name, length: content.length }));
  }
  return { manifests, written, entries };
}

/** Returns the files of a version, and those that it no longer has, in order. */
function entriesOf({ files, filesBefore }: TableChange): readonly FileEntry[] {
  const before = new Set(filesBefore.map(({ path }) => path));
  const now = new Set(files.map(({ path }) => path));
  return [
    ...filesBefore.filter(({ path }) => !now.has(path)).map((file) => ({ file, status: "deleted" as const })),
    ...files.map((file) => ({ file, status: before.has(file.path) ? ("existing" as const) : ("added" as const) })),
  ];
}

/** Returns the metadata of a table's manifests. */
export const manifestMetadata = (table: IcebergTable): Readonly<Record<string, string>> => ({
  schema: JSON.stringify({ type: "struct", "schema-id": 0, fields: fieldsOf(table) }),
  "schema-id": "0",
  "partition-spec": JSON.stringify(partitionFields(table)),
  "partition-spec-id": "0",
  "format-version": "2",
  content: "data",
});

function manifestFile({ table, version, location }: TableChange, entries: readonly FileEntry[]): Buffer {
  const fields = fieldsOf(table);
  const partition = partitionOf(table);
  const sortField = fields.find(({ name }) => name === tableOf(table).order[0]);
  const rows = entries.map(({ file, status }) => ({
    status: statusCodes[status],
    snapshot_id: status === "existing" ? writtenIn(file) : snapshotIdOf(version),
    sequence_number: writtenIn(file),
    file_sequence_number: writtenIn(file),
    data_file: {
      content: 0,
      file_path: `${location}/${file.path}`,
      file_format: "PARQUET",
      partition: partition === undefined ? {} : { [partition.column]: file.partition },
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      lower_bounds: boundOf(sortField, file.min),
      upper_bounds: boundOf(sortField, file.max),
    },
  }));
  return avroFile(entrySchema(partition, partitionFieldId), manifestMetadata(table), rows);
}

/** A row of a manifest, without the columns that only other readers need. */
export interface ManifestRow {
  /** See `statusCodes`. */
  readonly status: number;
  readonly data_file: {
    readonly file_path: string;
    readonly partition: Readonly<Record<string, string | null>>;
    readonly record_count: number;
    readonly file_size_in_bytes: number;
  };
}

/** Returns the content of a table's manifest. Throws if the file is not one. */
export const manifestContent = (table: IcebergTable, manifest: Buffer): AvroContent<ManifestRow> =>
  avroContent(entrySchema(partitionOf(table), partitionFieldId), manifest);

/** Returns the fields of a table's partition spec. */
export function partitionFields(table: IcebergTable): readonly object[] {
  const partition = partitionOf(table);
  if (partition === undefined) return [];
  const { column, columnId } = partition;
  return [{ name: column, transform: "identity", "source-id": columnId, "field-id": partitionFieldId }];
}

/** Returns a value in Iceberg's binary form. */
function binaryOf(value: string | number): Buffer {
  if (typeof value === "string") return Buffer.from(value);
  const binary = Buffer.alloc(4);
  binary.writeInt32LE(value);
  return binary;
}

/** Returns a bound of the first sort column, a date as days since 1970; null if the file has none. */
function boundOf(field: IcebergField | undefined, value: string | null): readonly object[] | null {
  if (field === undefined || value === null) return null;
  if (field.type === "date") return [{ key: field.id, value: binaryOf(epochDay(value)) }];
  return [{ key: field.id, value: binaryOf(field.type === "int" ? Number(value) : value) }];
}

function listedManifest(
  { table, version, location }: TableChange,
  entries: readonly FileEntry[],
  { name, length }: { readonly name: string; readonly length: number },
): ListedManifest {
  const withStatus = (status: Status) => entries.filter((entry) => entry.status === status).map(({ file }) => file);
  const [added, existing, deleted] = [withStatus("added"), withStatus("existing"), withStatus("deleted")];
  const id = snapshotIdOf(version);
  const values = entries.map(({ file }) => file.partition ?? "").sort();
  const bound = (value: string | undefined) => binaryOf(value ?? "");
  return {
    manifest_path: `${metadataLocation(location, table)}/${name}`,
    manifest_length: length,
    partition_spec_id: 0,
    content: 0,
    sequence_number: id,
    min_sequence_number: Math.min(id, ...[...added, ...existing].map(writtenIn)),
    added_snapshot_id: id,
    added_files_count: added.length,
    existing_files_count: existing.length,
    deleted_files_count: deleted.length,
    added_rows_count: rowsIn(added),
    existing_rows_count: rowsIn(existing),
    deleted_rows_count: rowsIn(deleted),
    partitions:
      partitionOf(table) === undefined
        ? []
        : [
            {
              contains_null: false,
              contains_nan: null,
              lower_bound: bound(values[0]),
              upper_bound: bound(values.at(-1)),
            },
          ],
    key_metadata: null,
  };
}

const rowsIn = (files: readonly Pick<LakeFile, "rows">[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

/** Returns the metadata of the manifest list of a snapshot. */
export function manifestListMetadata(version: string, parent: number | null): Readonly<Record<string, string>> {
  const id = String(snapshotIdOf(version));
  return {
    "snapshot-id": id,
    "parent-snapshot-id": String(parent),
    "sequence-number": id,
    "format-version": "2",
  };
}

export const manifestList = (version: string, parent: number | null, manifests: readonly ListedManifest[]): Buffer =>
  avroFile(manifestListSchema, manifestListMetadata(version, parent), manifests);

/** Returns the content of a manifest list. Throws if the file is not one. */
export const manifestListContent = (list: Buffer): AvroContent<ListedManifest> => avroContent(manifestListSchema, list);

/** What a snapshot's summary counts of a file. */
export interface FileChange {
  readonly file: Pick<LakeFile, "rows" | "bytes">;
  readonly status: Status;
}

export function summaryOf(version: string, entries: readonly FileChange[]): Readonly<Record<string, string>> {
  const withStatus = (...statuses: readonly Status[]) =>
    entries.filter(({ status }) => statuses.includes(status)).map(({ file }) => file);
  const [added, deleted, all] = [withStatus("added"), withStatus("deleted"), withStatus("added", "existing")];
  return {
    operation: deleted.length === 0 ? "append" : added.length === 0 ? "delete" : "overwrite",
    "carquet.version": version,
    "added-data-files": String(added.length),
    "added-records": String(rowsIn(added)),
    "deleted-data-files": String(deleted.length),
    "deleted-records": String(rowsIn(deleted)),
    "total-data-files": String(all.length),
    "total-records": String(rowsIn(all)),
    "total-files-size": String(all.reduce((sum, { bytes }) => sum + bytes, 0)),
  };
}

/**
 * The Avro files of Apache Iceberg (format version 2): manifests, which list data files, and manifest lists, with the field ids of its specification.
 * They are not compressed, so that the same rows have the same bytes with every release of zlib.
 */
import { buffer } from "node:stream/consumers";
import avro, { type Schema } from "avsc";
import { partitionFieldId } from "./table-schema.ts";

/** Separates the blocks of a file. Any 16 bytes that rows do not contain will do. */
const syncMarker = Buffer.from("carquet metadata");

/** Returns an Avro file with rows of a schema, and metadata in its header. Throws if a row does not match the schema. */
export async function avroFile(
  schema: Schema,
  metadata: Readonly<Record<string, string>>,
  rows: readonly object[],
): Promise<Buffer> {
  const texts = Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text)] as const);
  const options = {
    codec: "null",
    metadata: Object.fromEntries(texts),
    syncMarker,
    writeHeader: "always",
  } as const;
  const encoder = new avro.streams.BlockEncoder(schema, options);
  const content = buffer(encoder);
  for (const row of rows) encoder.write(row);
  encoder.end();
  return content;
}

interface AvroField {
  readonly name: string;
  readonly type: Schema;
  readonly "field-id": number;
  readonly default?: null;
}

const field = (id: number, name: string, type: Schema): AvroField => ({ name, type, "field-id": id });

const optional = (id: number, name: string, type: Schema): AvroField => ({
  name,
  type: ["null", type] as Schema,
  default: null,
  "field-id": id,
});

const record = (name: string, fields: readonly AvroField[]): Schema => ({ type: "record", name, fields: [...fields] });

/** A map from field ids to bytes, which Avro stores as an array of pairs. */
const bytesByField = (keyId: number, valueId: number): Schema =>
  Object.assign(
    {
      type: "array" as const,
      items: record(`k${keyId}_v${valueId}`, [field(keyId, "key", "int"), field(valueId, "value", "bytes")]),
    },
    { logicalType: "map" },
  );

/** Returns the schema of a manifest's entries: files with their value of the partition column, if the table has one. */
export function entrySchema(partition: string | undefined): Schema {
  const partitionFields = partition === undefined ? [] : [optional(partitionFieldId, partition, "string")];
  const dataFile = record("r2", [
    field(134, "content", "int"),
    field(100, "file_path", "string"),
    field(101, "file_format", "string"),
    field(102, "partition", record("r102", partitionFields)),
    field(103, "record_count", "long"),
    field(104, "file_size_in_bytes", "long"),
    optional(125, "lower_bounds", bytesByField(126, 127)),
    optional(128, "upper_bounds", bytesByField(129, 130)),
  ]);
  return record("manifest_entry", [
    field(0, "status", "int"),
    optional(1, "snapshot_id", "long"),
    optional(3, "sequence_number", "long"),
    optional(4, "file_sequence_number", "long"),
    field(2, "data_file", dataFile),
  ]);
}

export const manifestListSchema: Schema = record("manifest_file", [
  field(500, "manifest_path", "string"),
  field(501, "manifest_length", "long"),
  field(502, "partition_spec_id", "int"),
  field(517, "content", "int"),
  field(515, "sequence_number", "long"),
  field(516, "min_sequence_number", "long"),
  field(503, "added_snapshot_id", "long"),
  field(504, "added_files_count", "int"),
  field(505, "existing_files_count", "int"),
  field(506, "deleted_files_count", "int"),
  field(512, "added_rows_count", "long"),
  field(513, "existing_rows_count", "long"),
  field(514, "deleted_rows_count", "long"),
]);

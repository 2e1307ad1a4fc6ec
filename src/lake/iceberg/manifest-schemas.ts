/** Avro schemas of Iceberg's manifests and manifest lists (format version 2), with the field ids of its specification. */
import type { Schema } from "avsc";
import type { IcebergPartition } from "./table-schema.ts";

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

const list = (elementId: number, items: Schema): Schema =>
  Object.assign({ type: "array" as const, items }, { "element-id": elementId });

/** A map from field ids to bytes, which Avro stores as an array of pairs. */
const bytesByField = (keyId: number, valueId: number): Schema =>
  Object.assign(
    {
      type: "array" as const,
      items: record(`k${keyId}_v${valueId}`, [field(keyId, "key", "int"), field(valueId, "value", "bytes")]),
    },
    { logicalType: "map" },
  );

/** Returns the schema of a manifest's entries: files with their partition. */
export function entrySchema(partition: IcebergPartition | undefined, partitionId: number): Schema {
  const partitionFields = partition === undefined ? [] : [optional(partitionId, partition.column, "string")];
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
  optional(
    507,
    "partitions",
    list(
      508,
      record("r508", [
        field(509, "contains_null", "boolean"),
        optional(518, "contains_nan", "boolean"),
        optional(510, "lower_bound", "bytes"),
        optional(511, "upper_bound", "bytes"),
      ]),
    ),
  ),
  optional(519, "key_metadata", "bytes"),
]);

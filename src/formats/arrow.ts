/** Encodes tables as Arrow IPC streams. Categories are dictionary-encoded; times are microseconds in UTC. */
import {
  Table as ArrowTable,
  Bool,
  type DataType,
  DateDay,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { isRow, type Json } from "../base/json.ts";
import type { Column, ColumnType } from "../contract/tables.ts";
import type { Table } from "./table.ts";

/** Returns the bytes of a stream with one record batch, or none without rows. Its schema holds the metadata of the table. */
export function encodeArrow({ columns, rows, metadata }: Table): Uint8Array {
  const fields = columns.map(topField);
  const schema = new Schema(fields, new Map(Object.entries(metadata)));
  const vectors = columns.map(({ name, type }, index): readonly [string, Vector] => [
    name,
    vectorFromArray(
      rows.map((row) => arrowValue(type, row[name])),
      fields[index]?.type,
    ),
  ]);
  // Without rows, vectors have no chunks, which the constructor takes for another schema.
  const table = rows.length === 0 ? new ArrowTable(schema) : new ArrowTable(schema, Object.fromEntries(vectors));
  return RecordBatchStreamWriter.writeAll(table).toUint8Array(true);
}

/** Returns the field of a column. `index` identifies its dictionary within the stream. */
const topField = (column: Column, index: number): Field =>
  column.type.kind === "category"
    ? new Field(column.name, new Dictionary(new Utf8(), new Int32(), index), column.isNullable)
    : fieldOf(column);

const fieldOf = ({ name, type, isNullable }: Column): Field => new Field(name, arrowType(type), isNullable);

/** Returns the type of values, without dictionaries: few readers accept them within lists and structs. */
function arrowType(type: ColumnType): DataType {
  switch (type.kind) {
    case "text":
    case "category":
      return new Utf8();
    case "integer":
      return type.bits === 32 ? new Int32() : new Int64();
    case "number":
      return new Float64();
    case "boolean":
      return new Bool();
    case "date":
      return new DateDay();
    case "timestamp":
      return new TimestampMicrosecond("UTC");
    case "list":
      return new List(new Field("item", arrowType(type.items), false));
    case "struct":
      return new Struct(type.columns.map(fieldOf));
  }
}

/** Converts a JSON value to the one that the builder of its type takes: milliseconds for dates and times, bigints for 64 bits. */
function arrowValue(type: ColumnType, value: Json | undefined): unknown {
  if (value === undefined || value === null) return null;
  if (type.kind === "date" || type.kind === "timestamp") return Date.parse(String(value));
  if (type.kind === "integer" && type.bits === 64) return BigInt(String(value));
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => arrowValue(type.items, item));
  if (type.kind === "struct" && isRow(value))
    return Object.fromEntries(type.columns.map((column) => [column.name, arrowValue(column.type, value[column.name])]));
  return value;
}

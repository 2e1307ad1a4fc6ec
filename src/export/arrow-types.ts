/** The Arrow types of columns, and values in the form that their builders take. */
import {
  Bool,
  type DataType,
  DateDay,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Struct,
  TimestampMicrosecond,
  Utf8,
} from "apache-arrow";
import { isObject, type Json } from "../base/json.ts";
import type { Column, ColumnType } from "../contract/tables.ts";

/** Returns the field of a column. `dictionaryId` identifies the dictionary of a category within a schema. */
export const arrowField = ({ name, type, isNullable }: Column, dictionaryId: number): Field =>
  new Field(name, arrowType(type, dictionaryId), isNullable);

/** Returns the Arrow type of a column. Categories inside of lists and structs are plain text. */
export function arrowType(type: ColumnType, dictionaryId?: number): DataType {
  switch (type.kind) {
    case "category":
      return dictionaryId === undefined ? new Utf8() : new Dictionary(new Utf8(), new Int32(), dictionaryId);
    case "integer":
      return type.bits === 64 ? new Int64() : new Int32();
    case "list":
      return new List(new Field("item", arrowType(type.items), false));
    case "struct":
      return new Struct(
        type.columns.map((column) => new Field(column.name, arrowType(column.type), column.isNullable)),
      );
    default:
      return scalarType(type.kind);
  }
}

function scalarType(kind: "text" | "number" | "boolean" | "date" | "timestamp"): DataType {
  if (kind === "text") return new Utf8();
  if (kind === "number") return new Float64();
  if (kind === "boolean") return new Bool();
  return kind === "date" ? new DateDay() : new TimestampMicrosecond("UTC");
}

/** Returns a JSON value as the builder of its type takes it: dates and timestamps in milliseconds since 1970. */
export function arrowValue(value: Json, type: ColumnType): unknown {
  if (value === null) return null;
  switch (type.kind) {
    case "date":
    case "timestamp":
      return Date.parse(String(value));
    case "integer":
      return type.bits === 64 ? BigInt(Number(value)) : value;
    case "list":
      return Array.isArray(value) ? value.map((item: Json) => arrowValue(item, type.items)) : null;
    case "struct":
      return isObject(value)
        ? Object.fromEntries(type.columns.map((column) => [column.name, memberOf(value[column.name], column)]))
        : null;
    default:
      return value;
  }
}

const memberOf = (value: unknown, { type }: Column): unknown => arrowValue((value ?? null) as Json, type);

/**
 * How DuckDB writes the formats: options of COPY, and the types and texts of values. Files that it writes have the columns, types and spelling
 * of those that the encoders of this folder write.
 */
import type { ColumnType, TableMetadata } from "../contract/tables.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import { formulaPattern } from "./csv.ts";

/** Rows of a row group. Few, because a writer holds a row group in memory. */
const rowGroupRows = 32_768;

export function duckdbType(type: ColumnType): Sql {
  switch (type.kind) {
    case "text":
    case "category":
      return sql`VARCHAR`;
    case "integer":
      return type.bits === 32 ? sql`INTEGER` : sql`BIGINT`;
    case "number":
      return sql`DOUBLE`;
    case "boolean":
      return sql`BOOLEAN`;
    case "date":
      return sql`DATE`;
    case "timestamp":
      return sql`TIMESTAMPTZ`;
    case "list":
      return sql`${duckdbType(type.items)}[]`;
    case "struct":
      return sql`STRUCT(${join(type.columns.map((column) => sql`${ident(column.name)} ${duckdbType(column.type)}`))})`;
  }
}

/** Returns a number as JSON text, as JavaScript spells it: the engine writes `3.0`, and outside of JSON `1e-05`. */
const numberText = (value: Sql): Sql => sql`regexp_replace(to_json((${value})::DOUBLE)::VARCHAR, '\\.0$', '')`;

/** Returns a served value as NDJSON has it. */
export const ndjsonCell = (value: Sql, type: ColumnType): Sql =>
  type.kind === "number" ? sql`${numberText(value)}::JSON` : jsonCell(value, type);

/** Returns a served value for readers of JSON: dates are text, and numbers have the type of the column, even if the lake computes with another. */
export function jsonCell(value: Sql, type: ColumnType): Sql {
  if (type.kind === "date") return sql`(${value})::VARCHAR`;
  return type.kind === "integer" || type.kind === "number" ? sql`(${value})::${duckdbType(type)}` : value;
}

/** Returns the options for a Parquet file with key-value metadata. */
export function parquetOptions(metadata: TableMetadata): Sql {
  const pairs = Object.entries(metadata).map(([key, text]) => sql`${ident(key)}: ${literal(text)}`);
  const keyValues = pairs.length === 0 ? sql`` : sql`, KV_METADATA {${join(pairs)}}`;
  return sql`FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(rowGroupRows)}${keyValues}`;
}

/** The options for a Parquet file that is read again at once: its compression is faster. */
export const interimParquetOptions = sql`FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE ${integerLiteral(rowGroupRows)}`;

export const csvOptions = (hasHeader: boolean): Sql =>
  sql`FORMAT csv, HEADER ${hasHeader ? sql`true` : sql`false`}, NEW_LINE '\\r\\n'`;

/** Returns the content of a CSV cell; `isRaw` leaves formulas in texts. */
export function csvCell(value: Sql, { kind }: ColumnType, isRaw: boolean): Sql {
  if (kind === "list" || kind === "struct") return sql`to_json(${value})::VARCHAR`;
  if (kind === "number") return numberText(value);
  if (isRaw || (kind !== "text" && kind !== "category")) return value;
  return sql`regexp_replace(${value}, ${literal(`(${formulaPattern})`)}, '''\\1')`;
}

export const ndjsonOptions = sql`FORMAT json`;

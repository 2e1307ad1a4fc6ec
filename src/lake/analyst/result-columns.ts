/** Columns of a statement's result, as the formats of files store them. */
import type { Column, ColumnType } from "../../contract/tables.ts";
import type { DuckType } from "../../db/duck-type.ts";
import type { ResultColumn } from "../../db/duckdb.ts";
import { columnType, type Sql, sql } from "../../db/sql.ts";
import { csvCell } from "../../formats/file-writer.ts";

/** How a result is written. */
export interface ResultForm {
  readonly format: "csv" | "ndjson" | "parquet" | "arrow";
  /** In NDJSON: whether numbers that readers of JSON round are texts, and those that JSON does not have, such as NaN, are left for the reader to replace. */
  readonly isExact?: boolean;
  /** In CSV: whether texts that a spreadsheet would take for formulas are unchanged. */
  readonly isRaw?: boolean;
}

/** Types that have a form in JSON and CSV only, as JSON. */
const jsonOnly = /^(?:MAP|UNION|VARIANT)\b/;

const text = /^(?:VARCHAR|JSON|ENUM)\b/;

const double = /^(?:FLOAT|DOUBLE)$/;

/** Types that JSON represents exactly; all others without elements or fields become text. */
const exactInJson = /^(?:BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|FLOAT|DOUBLE)$/;

/** The types of columns by those of the engine; all others become text. */
const scalarTypes: readonly (readonly [names: RegExp, type: ColumnType])[] = [
  [/^BOOLEAN$/, { kind: "boolean" }],
  [/^(?:U?TINYINT|U?SMALLINT|INTEGER)$/, { kind: "integer", bits: 32 }],
  // Sums of integers are HUGEINT.
  [/^(?:UINTEGER|BIGINT|HUGEINT)$/, { kind: "integer", bits: 64 }],
  [/^(?:FLOAT|DOUBLE|DECIMAL\b.*)$/, { kind: "number" }],
  [/^DATE$/, { kind: "date" }],
  [/^TIMESTAMP(?:_S|_MS| WITH TIME ZONE)?$/, { kind: "timestamp" }],
];

function typeOf(type: DuckType): ColumnType {
  if (typeof type === "string") return scalarTypes.find(([names]) => names.test(type))?.[1] ?? { kind: "text" };
  if ("items" in type) return { kind: "list", items: typeOf(type.items) };
  return { kind: "struct", columns: type.fields.map(([name, field]) => columnOf(name, field)) };
}

const columnOf = (name: string, type: DuckType): Column => ({ name, type: typeOf(type), isNullable: true });

/** Returns the columns of a result; a repeated name gets a number, as in `a`, `a:1`. */
export function resultColumns(columns: readonly ResultColumn[]): readonly Column[] {
  const counts = new Map<string, number>();
  return columns.map(({ name, type }) => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return columnOf(count === 0 ? name : `${name}:${count}`, type);
  });
}

/** Returns a value of a result as a file stores it. */
export function storedResult({ format, isExact = false, isRaw = true }: ResultForm, value: Sql, type: DuckType): Sql {
  const isJsonOnly = typeof type === "string" && jsonOnly.test(type);
  switch (format) {
    case "csv":
      return isJsonOnly ? sql`to_json(${value})::VARCHAR` : csvValue(value, type, isRaw);
    case "ndjson":
      if (!isExact) return value;
      return isJsonOnly
        ? sql`to_json(${value})`
        : castScalars(value, type, (name) => (exactInJson.test(name) ? name : "VARCHAR"));
    case "arrow":
      if (typeOf(type).kind === "text" && !isJsonOnly) return sql`${value}::VARCHAR`;
      return castSums(value, type);
    case "parquet":
      return castSums(value, type);
  }
}

/** Returns the content of a CSV cell. Numbers other than doubles, days and times are as the engine spells them. */
function csvValue(value: Sql, type: DuckType, isRaw: boolean): Sql {
  const isFormatted = typeof type !== "string" || double.test(type) || text.test(type);
  return isFormatted ? csvCell(value, typeOf(type), isRaw) : value;
}

/** Casts HUGEINT, which Parquet does not have and the engine would write as a double. */
const castSums = (value: Sql, type: DuckType): Sql =>
  /\bHUGEINT\b/.test(JSON.stringify(type))
    ? castScalars(value, type, (name) => (name === "HUGEINT" ? "BIGINT" : name))
    : value;

const castScalars = (value: Sql, type: DuckType, cast: (name: string) => string): Sql =>
  sql`${value}::${columnType(mapScalars(type, cast))}`;

/** Replaces the types without elements or fields. */
function mapScalars(type: DuckType, cast: (name: string) => string): DuckType {
  if (typeof type === "string") return cast(type);
  if ("items" in type) return { ...type, items: mapScalars(type.items, cast) };
  return { fields: type.fields.map(([name, field]) => [name, mapScalars(field, cast)]) };
}

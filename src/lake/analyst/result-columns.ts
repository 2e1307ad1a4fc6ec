/** Columns of a statement's result, as the formats of files store them. */
import type { Column, ColumnType } from "../../contract/tables.ts";
import type { DuckType } from "../../db/duck-type.ts";
import type { ResultColumn } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { csvCell, duckdbType, timeText } from "../../formats/file-writer.ts";

/** How a result is written. */
export interface ResultForm {
  readonly format: "csv" | "ndjson" | "parquet" | "arrow";
  /** In NDJSON: whether numbers that readers of JSON round are texts, and those that JSON does not have, such as NaN, are left for the reader to replace. */
  readonly isExact?: boolean;
  /** In CSV: whether texts that a spreadsheet would take for formulas are unchanged. */
  readonly isRaw?: boolean;
}

/** Types that have a form in JSON and CSV only, as JSON. */
const jsonOnly = /^(?:JSON|MAP|UNION|VARIANT)\b/;

const text = /^(?:VARCHAR|ENUM)\b/;

const double = /^(?:FLOAT|DOUBLE)$/;

/** Types that JSON represents exactly; all others without elements or fields become text. */
const exactInJson = /^(?:BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|FLOAT|DOUBLE)$/;

/** Integers of more bits than files hold: sums of integers are HUGEINT. */
const wideInteger = /^(?:UBIGINT|U?HUGEINT|BIGNUM)$/;

/** The types of columns by those of the engine; all others become text. */
const scalarTypes: readonly (readonly [names: RegExp, type: ColumnType])[] = [
  [/^BOOLEAN$/, { kind: "boolean" }],
  [/^(?:U?TINYINT|U?SMALLINT|INTEGER)$/, { kind: "integer", bits: 32 }],
  [/^(?:UINTEGER|BIGINT)$/, { kind: "integer", bits: 64 }],
  [/^(?:FLOAT|DOUBLE|DECIMAL\b.*)$/, { kind: "number" }],
  [/^DATE$/, { kind: "date" }],
  [/^TIMESTAMP/, { kind: "timestamp" }],
];

/** Returns the type of a column. `wide` is that of its wide integers. */
function typeOf(type: DuckType, wide: ColumnType): ColumnType {
  if (typeof type === "string")
    return wideInteger.test(type) ? wide : (scalarTypes.find(([names]) => names.test(type))?.[1] ?? { kind: "text" });
  if ("items" in type) return { kind: "list", items: typeOf(type.items, wide) };
  return {
    kind: "struct",
    columns: type.fields.map(([name, field]) => ({ name, type: typeOf(field, wide), isNullable: true })),
  };
}

/** Returns the columns of a result; a repeated name gets a number, as in `a`, `a:1`. Wide integers have 64 bits or, in the columns `doubles`, are doubles. */
export function resultColumns(
  columns: readonly ResultColumn[],
  doubles: ReadonlySet<number> = new Set(),
): readonly Column[] {
  const counts = new Map<string, number>();
  return columns.map(({ name, type }, index) => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const wide: ColumnType = doubles.has(index) ? { kind: "number" } : { kind: "integer", bits: 64 };
    return { name: count === 0 ? name : `${name}:${count}`, type: typeOf(type, wide), isNullable: true };
  });
}

/** The engine's message about an integer that does not fit into 64 bits. It names the column, unless the integer is in a list or struct or a BIGNUM. */
const overflow = /out of range for the destination type INT64(?:.* source column c(\d+))?|bignum too large/;

/** Returns the columns in which an integer may not fit into 64 bits, by the message of a failed statement. */
export function overflowing(message: string, columns: readonly ResultColumn[]): readonly number[] {
  const [found, named] = overflow.exec(message) ?? [];
  if (found === undefined) return [];
  if (named !== undefined) return [Number(named)];
  return columns.flatMap(({ type }, index) => (typeof type !== "string" || type === "BIGNUM" ? [index] : []));
}

/** Converts a value without elements or fields; returns it unchanged where that is its form. */
type Conversion = (value: Sql, name: string, stored: ColumnType) => Sql;

const timesAsText: Conversion = (value, name, { kind }) => {
  if (kind !== "timestamp") return value;
  return timeText(name === "TIMESTAMP_NS" ? sql`${value}::TIMESTAMP` : value);
};

/** The conversions of each format: times have one form in it, at any depth. */
const conversions: Readonly<Record<ResultForm["format"] | "exact", Conversion>> = {
  csv: (value, name, stored) => (jsonOnly.test(name) ? sql`to_json(${value})` : timesAsText(value, name, stored)),
  ndjson: timesAsText,
  exact: (value, name, stored) => {
    if (stored.kind === "timestamp" || exactInJson.test(name)) return timesAsText(value, name, stored);
    return jsonOnly.test(name) ? sql`to_json(${value})` : sql`${value}::VARCHAR`;
  },
  parquet: asStored,
  arrow: asStored,
};

function asStored(value: Sql, name: string, stored: ColumnType): Sql {
  if (jsonOnly.test(name)) return sql`to_json(${value})::VARCHAR`;
  const cast = sql`${value}::${duckdbType(stored)}`;
  // Files have no infinite days and times: readers would show the year 5881580.
  if (stored.kind === "date") return sql`CASE WHEN isfinite(${value}) THEN ${value} END`;
  // The engine's cast to a zone refuses the first and last years.
  if (stored.kind === "timestamp")
    return sql`CASE WHEN isfinite(${value}) THEN make_timestamptz(epoch_us(${value})) END`;
  return duckdbType(stored).text === name ? value : cast;
}

/** Returns a value of a result as a file stores it, in a column of type `stored`. */
export function storedResult(form: ResultForm, value: Sql, type: DuckType, stored: ColumnType): Sql {
  const { format, isExact = false, isRaw = true } = form;
  const converted = convert(value, type, stored, conversions[format === "ndjson" && isExact ? "exact" : format]);
  // Numbers other than doubles are as the engine spells them.
  const isFormatted = typeof type !== "string" || double.test(type) || text.test(type);
  return format === "csv" && isFormatted ? csvCell(converted, stored, isRaw) : converted;
}

/** Converts what has no elements or fields in a value; returns the value itself where nothing changes. `depth` is that of the enclosing lists. */
function convert(value: Sql, type: DuckType, stored: ColumnType, conversion: Conversion, depth = 0): Sql {
  if (typeof type === "string") return conversion(value, type, stored);
  if ("items" in type) {
    if (stored.kind !== "list") return value;
    const item = ident(`item${depth}`);
    const converted = convert(item, type.items, stored.items, conversion, depth + 1);
    // The engine has no CASE for structs with arrays.
    const isUnchanged = converted === item && type.length === undefined;
    return isUnchanged ? value : sql`list_transform(${value}, lambda ${item}: ${converted})`;
  }
  if (stored.kind !== "struct") return value;
  const isNamed = type.fields.every(([name]) => name !== "");
  const fields = type.fields.map(([name, field], index) => {
    const own = sql`struct_extract(${value}, ${isNamed ? literal(name) : integerLiteral(index + 1)})`;
    const converted = convert(own, field, stored.columns[index]?.type ?? stored, conversion, depth);
    return { isConverted: converted !== own, field: isNamed ? sql`${ident(name)} := ${converted}` : converted };
  });
  if (!fields.some(({ isConverted }) => isConverted)) return value;
  const packed = join(fields.map(({ field }) => field));
  return sql`CASE WHEN ${value} IS NOT NULL THEN ${isNamed ? sql`struct_pack(${packed})` : sql`row(${packed})`} END`;
}

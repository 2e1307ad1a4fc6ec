/**
 * Spool: the result of a query in one file of the session's private folder. The engine writes all of it before anything is printed, so that a
 * query that fails midway prints nothing, and results larger than the memory can be read in batches.
 *
 * The driver's own results are held in memory, beyond the engine's memory limit; its streaming calls can end early without an error.
 */
import { createReadStream } from "node:fs";
import { isObject, type Json, type Row } from "../../base/json.ts";
import type { DuckType } from "../../db/duck-type.ts";
import type { ResultColumn } from "../../db/duckdb.ts";
import { columnType, fileLiteral, ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";

/** Types that JSON represents exactly; all others without elements or fields are spooled as text. */
const exactTypes = /^(?:BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|FLOAT|DOUBLE)$/;

/** Types whose JSON text differs from the driver's values. */
const unspooledTypes = /^(?:MAP|UNION|INTERVAL|VARIANT|GEOMETRY|TIME_NS)\b/;

/** Returns whether a column's JSON text can be exact. */
function isSpooled(type: DuckType): boolean {
  if (typeof type === "string") return !unspooledTypes.test(type);
  return "items" in type ? isSpooled(type.items) : type.fields.every(([, field]) => isSpooled(field));
}

/** Returns the type that a column is cast to so that its JSON text is exact. */
function spooledType(type: DuckType): DuckType {
  if (typeof type === "string") return exactTypes.test(type) ? type : "VARCHAR";
  if ("items" in type) return { ...type, items: spooledType(type.items) };
  return { fields: type.fields.map(([name, field]) => [name, spooledType(field)]) };
}

/** Returns true if a query's text can be a subquery, and `readSpool` returns its columns as the driver would. */
export const canSpool = (text: string, columns: readonly ResultColumn[]): boolean =>
  !/^pragma\b/i.test(text) && columns.every(({ type }) => isSpooled(type));

/** Returns the names of columns; a repeated name gets a number, as in `a`, `a:1`. */
export function uniqueNames(columns: readonly ResultColumn[]): readonly string[] {
  const counts = new Map<string, number>();
  return columns.map(({ name }) => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count === 0 ? name : `${name}:${count}`;
  });
}

const positionName = (index: number): string => `c${index}`;

/** A query whose rows are written to a file, at most `rowsMax` of them. */
export interface SpooledQuery {
  readonly query: Sql;
  readonly columns: readonly ResultColumn[];
  readonly path: string;
  readonly rowsMax: number | undefined;
}

const limitTo = (rowsMax: number | undefined): Sql =>
  rowsMax === undefined ? sql`` : sql`LIMIT ${integerLiteral(rowsMax)}`;

/** Returns a statement that writes the rows of a query to a file for `readSpool`. */
export function spoolStatement({ query, columns, path, rowsMax }: SpooledQuery): Sql {
  const names = columns.map((_, index) => ident(positionName(index)));
  const values = columns.map(
    ({ type }, index) => sql`${names[index] ?? sql``}::${columnType(spooledType(type))} AS ${names[index] ?? sql``}`,
  );
  return sql`COPY (SELECT ${join(values)} FROM (${query}\n) AS result(${join(names)}) ${limitTo(rowsMax)}) TO ${fileLiteral(path)} (FORMAT json)`;
}

export type EngineFormat = "ndjson" | "parquet";

/** Returns a statement that writes the rows of a query to a file in a format of the engine. */
export function copyStatement({ query, columns, path, rowsMax }: SpooledQuery, format: EngineFormat): Sql {
  const names = uniqueNames(columns).map((name) => ident(name));
  const options = {
    ndjson: sql`FORMAT json`,
    parquet: sql`FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(32_768)}`,
  };
  return sql`COPY (SELECT * FROM (${query}\n) AS result(${join(names)}) ${limitTo(rowsMax)}) TO ${fileLiteral(path)} (${options[format]})`;
}

export async function* readSpool(path: string, columns: readonly ResultColumn[]): AsyncGenerator<readonly Row[]> {
  const names = uniqueNames(columns);
  for await (const lines of readLines(path)) yield lines.map((line) => rowIn(line, names));
}

function rowIn(line: string, names: readonly string[]): Row {
  const values = parseLine(line);
  const row: Record<string, Json> = {};
  names.forEach((name, index) => {
    row[name] = values[positionName(index)] ?? null;
  });
  return row;
}

/** Yields the lines of a file in batches. `node:readline` would split lines at U+2028 too, which JSON strings may contain. */
export async function* readLines(path: string): AsyncGenerator<readonly string[]> {
  const chunks: AsyncIterable<string> = createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 });
  let rest = "";
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}

/** The strings, and the numbers without a JSON form, of a line that the engine wrote. */
const stringOrNonFinite = /"(?:[^"\\]|\\.)*"|-?NaN|-?Infinity/g;

/** Replaces numbers that JSON cannot represent in a line that the engine wrote. */
export const replaceNonFinite = (line: string, replacement: (number: string) => string): string =>
  line.replaceAll(stringOrNonFinite, (part) => (part.startsWith('"') ? part : replacement(part)));

function parseLine(line: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = JSON.parse(replaceNonFinite(line, (number) => `"${number}"`));
  }
  if (isRow(value)) return value;
  throw new TypeError(`Invalid line ${line.slice(0, 80)}: expected an object.`);
}

const isRow = (value: unknown): value is Row => isObject(value);

/** JSON values and rows, with functions that check the type of a value before they return it. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Row = Readonly<Record<string, Json>>;

/** Returns true for an object; false for null and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value of a key that a client can name; undefined unless the object itself has it, as no object has `constructor`. */
export const ownValue = <T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

/** Returns the value of a JSON text; undefined for other texts. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A string or a number of a JSON text. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Returns a JSON text whose numbers that match a pattern are texts, by default all, with their exact digits: a double holds neither all integers nor all exponents. */
export const quotedNumbers = (text: string, pattern = /^/): string =>
  text.replaceAll(stringOrNumber, (part) => (part.startsWith('"') || !pattern.test(part) ? part : `"${part}"`));

/** Returns a name that an object in a valid JSON text has twice, of which parsers take either value; undefined if there is none. */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, written] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{") open.push(new Set());
    if (token === "}") open.pop();
    if (written === undefined) continue;
    const names = open.at(-1);
    const name: string = JSON.parse(written);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return undefined;
}

export const isRow = (value: Json | undefined): value is Row => isObject(value);

/** Returns a row with a value for each column, which takes half of the time of `Object.fromEntries`. */
export function rowOf(columns: readonly string[], valueIn: (column: string) => Json): Row {
  const row: Record<string, Json> = {};
  for (const column of columns) row[column] = valueIn(column);
  return row;
}

/** Returns the integer in a column. Throws a TypeError for any other value. */
export function integerIn(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError(`Invalid value ${JSON.stringify(value)} in column ${column}: expected a whole number.`);
}

/** Returns the string in a column. Throws a TypeError for any other value. */
export function textIn(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new TypeError(`Invalid value ${JSON.stringify(value)} in column ${column}: expected a string.`);
}

/** Returns the integer in a column, or null. Throws a TypeError for any other value. */
export const integerOrNullIn = (row: Row, column: string): number | null =>
  row[column] === null ? null : integerIn(row, column);

/** Returns the string in a column, or null. Throws a TypeError for any other value. */
export const textOrNullIn = (row: Row, column: string): string | null =>
  row[column] === null ? null : textIn(row, column);

/** Returns a number; null for any other value. */
export const numberOrNull = (value: Json | undefined): number | null => (typeof value === "number" ? value : null);

/** Returns a string; null for any other value. */
export const stringOrNull = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

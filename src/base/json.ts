/** Values of unknown shape, read with a check. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A row of a query's answer, by column name. */
export type Row = Readonly<Record<string, Json>>;

/** Whether a value is an object with keys: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value of JSON is an object with keys. */
export const isRow = (value: Json | undefined): value is Row => isObject(value);

/** A whole number in a column, or an error that names the column. */
export function integerIn(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError(`Column ${column} holds ${JSON.stringify(value)}, not a whole number.`);
}

/** A text in a column, or an error that names the column. */
export function textIn(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new TypeError(`Column ${column} holds ${JSON.stringify(value)}, not a text.`);
}

/** Readers of rows: a type of rows is declared once, by the functions that read its columns. */
import { integerIn, type Row } from "../base/json.ts";

/** Returns a reader of rows: each property has the value that its function reads in the column of its name, `created_at_ms` for `createdAtMs`. */
export function rowReader<Properties extends Readonly<Record<string, (row: Row, column: string) => unknown>>>(
  properties: Properties,
): (row: Row) => { readonly [Name in keyof Properties]: ReturnType<Properties[Name]> } {
  const columns = Object.entries(properties).map(
    ([name, read]) => [name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), read] as const,
  );
  return (row) =>
    Object.fromEntries(columns.map(([name, column, read]) => [name, read(row, column)])) as {
      readonly [Name in keyof Properties]: ReturnType<Properties[Name]>;
    };
}

/** Returns whether a column has 1. Throws a TypeError for values other than whole numbers. */
export const flagIn = (row: Row, column: string): boolean => integerIn(row, column) === 1;

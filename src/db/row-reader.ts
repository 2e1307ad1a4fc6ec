/** Rows as objects: a type of rows is declared once, by the functions that read its columns. Property `createdAtMs` stands for column `created_at_ms`. */
import { integerIn, type Row } from "../base/json.ts";
import { join, plainIdent, type Sql, sql, type Value } from "./sql.ts";

const columnOf = (property: string): string => property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a reader of rows: each property has the value that its function reads in its column. */
export function rowReader<Properties extends Readonly<Record<string, (row: Row, column: string) => unknown>>>(
  properties: Properties,
): (row: Row) => { readonly [Name in keyof Properties]: ReturnType<Properties[Name]> } {
  const columns = Object.entries(properties).map(([name, read]) => [name, columnOf(name), read] as const);
  return (row) =>
    Object.fromEntries(columns.map(([name, column, read]) => [name, read(row, column)])) as {
      readonly [Name in keyof Properties]: ReturnType<Properties[Name]>;
    };
}

/** Returns whether a column has 1. Throws a TypeError for values other than whole numbers. */
export const flagIn = (row: Row, column: string): boolean => integerIn(row, column) === 1;

/** The properties of a row; an undefined one is left out, so that its column keeps its value or has its default. */
type RowValues = Readonly<Record<string, Value | undefined>>;

/** Returns the statement that inserts a row into a table. */
export function insertInto(table: string, values: RowValues): Sql {
  const columns = columnsWith(values);
  return sql`
    INSERT INTO ${plainIdent(table)} (${join(columns.map(([column]) => column))}) VALUES (${join(columns.map(([, value]) => value))})`;
}

/** Returns the assignments of an UPDATE. */
export const assignments = (values: RowValues): Sql =>
  join(columnsWith(values).map(([column, value]) => sql`${column} = ${value}`));

const columnsWith = (values: RowValues): readonly (readonly [column: Sql, value: Sql])[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[plainIdent(columnOf(name)), sql`${typeof value === "boolean" ? Number(value) : value}`]] as const;
  });

/**
 * The rows of Parquet files in the columns of today's layout, whichever release wrote the files.
 *
 * A file records the fingerprint of the schema that it was written with. Files of today's schema are read as they are. All others are
 * read through casts: a column that a file lacks is null, one of another type is converted, one that the layout lacks is dropped.
 */
import { createHash } from "node:crypto";
import { join as joinPath } from "node:path";
import { columnType, ident, join, literal, type Sql, sql } from "../db/sql.ts";
import type { LakeFile } from "./manifest.ts";
import { priceHistoryType, type TableDefinition, type TableName, tableOf } from "./tables.ts";

type Columns = TableDefinition["columns"];

/** What is read of a file beside the columns of its table. */
export type ExtraColumn = "nothing" | "file_row_number" | "partition";

/** Columns that older files hold in another type: the type to read all of them as, and today's value of that. */
const conversions: Readonly<Record<string, { readonly readAs: string; readonly value: Sql }>> = {
  // Format 1 has UUIDs.
  id: { readAs: "UUID", value: sql`replace(id::VARCHAR, '-', '')` },
  // Format 1 calls the price `price_after`.
  price_history: {
    readAs: priceHistoryType.replace("price INTEGER", "price INTEGER, price_after INTEGER"),
    value: sql`list_transform(price_history, lambda change: {changed_at: change.changed_at,
      price: coalesce(change.price, change.price_after), price_before: change.price_before, miles: change.miles})`,
  },
};

/** Returns the fingerprint of columns and their types: 8 hexadecimal digits. */
export function fingerprintOf(columns: Columns): string {
  return createHash("sha256")
    .update(JSON.stringify(Object.entries(columns)))
    .digest("hex")
    .slice(0, 8);
}

/** Returns whether a file has exactly the columns of its table's layout. */
export const isCurrentSchema = (table: TableName, { schema }: Pick<LakeFile, "schema">): boolean =>
  schema === fingerprintOf(tableOf(table).columns);

/** The rows of some files of a table, given the folder that their paths are relative to. */
export function rowsOfFiles(
  table: TableName,
  files: readonly Pick<LakeFile, "path" | "schema">[],
  folder: string,
  beside: ExtraColumn = "nothing",
): Sql {
  const { columns, partition } = tableOf(table);
  const { settings, more } = waysToRead(partition)[beside];
  const read = (some: readonly Pick<LakeFile, "path">[], isMixed: boolean): Sql =>
    sql`read_parquet([${join(some.map(({ path }) => literal(joinPath(folder, path))))}],
      union_by_name = ${literal(String(isMixed))}, ${settings})`;
  const current = files.filter((file) => isCurrentSchema(table, file));
  const older = files.filter((file) => !isCurrentSchema(table, file));
  const parts = [
    ...(current.length === 0 ? [] : [sql`SELECT ${join([...namesOf(columns), ...more])} FROM ${read(current, false)}`]),
    ...(older.length === 0 ? [] : [castToCurrentSchema(columns, read(older, true), more)]),
  ];
  return parts.length === 0 ? noRows(columns, more) : join(parts, sql` UNION ALL `);
}

/** How a table's files are read, by what is read beside its columns. */
const waysToRead = (
  partition: string | undefined,
): Readonly<Record<ExtraColumn, { readonly settings: Sql; readonly more: readonly Sql[] }>> => ({
  nothing: { settings: sql`hive_partitioning = false`, more: [] },
  file_row_number: {
    settings: sql`hive_partitioning = false, file_row_number = true`,
    more: [ident("file_row_number")],
  },
  partition: { settings: sql`hive_partitioning = true`, more: [ident(partition ?? "partition")] },
});

/** A relation of any columns as rows of the columns given, then of some that it has besides. */
export function castToCurrentSchema(columns: Columns, rows: Sql, besides: readonly Sql[] = []): Sql {
  const readAs = Object.fromEntries(
    Object.entries(columns).map(([column, of]) => [column, conversions[column]?.readAs ?? of] as const),
  );
  const values = Object.entries(columns).map(
    ([column, of]) => sql`(${conversions[column]?.value ?? ident(column)})::${columnType(of)} AS ${ident(column)}`,
  );
  return sql`SELECT ${join([...values, ...besides])} FROM (${noRows(readAs)} UNION ALL BY NAME FROM ${rows})`;
}

/** Typed columns without a row: what a table without files looks like. */
function noRows(columns: Columns, besides: readonly Sql[] = []): Sql {
  const typed = Object.entries(columns).map(([column, of]) => sql`NULL::${columnType(of)} AS ${ident(column)}`);
  return sql`SELECT ${join([...typed, ...besides.map((column) => sql`NULL AS ${column}`)])} WHERE false`;
}

const namesOf = (columns: Columns): readonly Sql[] => Object.keys(columns).map((column) => ident(column));

/**
 * Reads Parquet files of any lake format in the columns of the current schema.
 *
 * The manifest records a fingerprint of the schema that each file was written with. Files with the current fingerprint are read directly.
 * Other files are read through casts: a missing column reads as null, a column of another type is converted, an unknown column is dropped.
 */
import { createHash } from "node:crypto";
import { join as joinPath } from "node:path";
import { columnType, ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { life } from "../listing/life.ts";
import type { LakeFile } from "./manifest.ts";
import { priceHistoryType, type TableDefinition, type TableName, tableOf } from "./tables.ts";

type Columns = TableDefinition["columns"];

/** A column to read in addition to those of the table. */
export type ExtraColumn = "nothing" | "file_row_number" | "partition";

/** Columns that older files hold in another form or lack: a type that reads every file, and the conversion from it to the current type. */
const conversions: Readonly<Record<string, { readonly readAs: string; readonly value: Sql }>> = {
  // Format 1 stores UUIDs.
  id: { readAs: "UUID", value: sql`replace(id::VARCHAR, '-', '')` },
  // Format 1 calls the price `price_after`.
  price_history: {
    readAs: priceHistoryType.replace("price INTEGER", "price INTEGER, price_after INTEGER"),
    value: sql`list_transform(price_history, lambda change: {changed_at: change.changed_at,
      price: coalesce(change.price, change.price_after), price_before: change.price_before, miles: change.miles})`,
  },
  // Earlier files lack the day on which a sale became known: the first one on which it could.
  sold_on_record: {
    readAs: "DATE",
    value: sql`coalesce(sold_on_record, sold_date + ${integerLiteral(life.soldAfterDays - 1)})`,
  },
};

const fingerprints = new WeakMap<Columns, string>();

/** Returns a fingerprint of column names and types: 8 hexadecimal digits. */
export function fingerprintOf(columns: Columns): string {
  const text = (): string => JSON.stringify(Object.entries(columns));
  const fingerprint = fingerprints.get(columns) ?? createHash("sha256").update(text()).digest("hex").slice(0, 8);
  fingerprints.set(columns, fingerprint);
  return fingerprint;
}

/** Returns whether a file was written with the current schema of its table. */
export const isCurrentSchema = (table: TableName, { schema }: Pick<LakeFile, "schema">): boolean =>
  schema === fingerprintOf(tableOf(table).columns);

/** Returns the rows of a table's files as a relation in the current schema. Paths are relative to `folder`. */
export function rowsOfFiles(
  table: TableName,
  files: readonly Pick<LakeFile, "path" | "schema">[],
  folder: string,
  extraColumn: ExtraColumn = "nothing",
): Sql {
  const { columns, partition } = tableOf(table);
  const { settings, extra } = readOptions(partition)[extraColumn];
  const read = (chosen: readonly Pick<LakeFile, "path">[], isMixed: boolean): Sql =>
    sql`read_parquet([${join(chosen.map(({ path }) => pathLiteral(joinPath(folder, path))))}],
      union_by_name = ${literal(String(isMixed))}, ${settings})`;
  const current = files.filter((file) => isCurrentSchema(table, file));
  const older = files.filter((file) => !isCurrentSchema(table, file));
  const relations = [
    ...(current.length === 0
      ? []
      : [sql`SELECT ${join([...columnNames(columns), ...extra])} FROM ${read(current, false)}`]),
    ...(older.length === 0 ? [] : [castToCurrentSchema(columns, read(older, true), extra)]),
  ];
  return relations.length === 0 ? emptyRelation(columns, extra) : join(relations, sql` UNION ALL `);
}

/** The settings of `read_parquet` and the extra select items, for each extra column. */
const readOptions = (
  partition: string | undefined,
): Readonly<Record<ExtraColumn, { readonly settings: Sql; readonly extra: readonly Sql[] }>> => ({
  nothing: { settings: sql`hive_partitioning = false`, extra: [] },
  file_row_number: {
    settings: sql`hive_partitioning = false, file_row_number = true`,
    extra: [ident("file_row_number")],
  },
  partition: { settings: sql`hive_partitioning = true`, extra: [ident(partition ?? "partition")] },
});

/** Casts a relation to the given columns, followed by `extra` columns that are passed through. */
export function castToCurrentSchema(columns: Columns, rows: Sql, extra: readonly Sql[] = []): Sql {
  const readTypes = Object.fromEntries(
    Object.entries(columns).map(([column, type]) => [column, conversions[column]?.readAs ?? type] as const),
  );
  const values = Object.entries(columns).map(
    ([column, type]) => sql`(${conversions[column]?.value ?? ident(column)})::${columnType(type)} AS ${ident(column)}`,
  );
  return sql`SELECT ${join([...values, ...extra])} FROM (${emptyRelation(readTypes)} UNION ALL BY NAME FROM ${rows})`;
}

/** A relation with the given columns and no rows. */
function emptyRelation(columns: Columns, extra: readonly Sql[] = []): Sql {
  const typed = Object.entries(columns).map(([column, type]) => sql`NULL::${columnType(type)} AS ${ident(column)}`);
  return sql`SELECT ${join([...typed, ...extra.map((column) => sql`NULL AS ${column}`)])} WHERE false`;
}

const columnNames = (columns: Columns): readonly Sql[] => Object.keys(columns).map((column) => ident(column));

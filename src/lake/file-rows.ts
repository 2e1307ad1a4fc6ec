/**
 * Reads Parquet files of any lake format in the columns of the current schema.
 *
 * The manifest records a fingerprint of the schema that each file was written with. Files with the current fingerprint are read directly.
 * Other files are read through casts: a missing column reads as null, a column of another type is converted, an unknown column is dropped.
 */
import { createHash } from "node:crypto";
import { join as joinPath } from "node:path";
import { type DuckType, listTypeOf, structTypeOf } from "../db/duck-type.ts";
import { columnType, ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { life } from "../listing/life.ts";
import { priceChange } from "../listing/nested-types.ts";
import type { LakeFile } from "./manifest.ts";
import { type TableDefinition, type TableName, tableOf } from "./tables.ts";

type Columns = TableDefinition["columns"];

/** The partition keys of daily copies. */
const copiedDay = { snapshot_date: "DATE", as_of: "DATE" } as const;
const dayOfCopy = sql`coalesce(snapshot_date, as_of)`;

/** A column to read in addition to those of the table. */
export type ExtraColumn = "nothing" | "file_row_number" | "partition";

/** Columns that older files hold in another form, or lack: the columns to read, with types that all files have, and the conversion. */
const conversions: Readonly<Record<string, { readonly reads: Columns; readonly value: Sql }>> = {
  // Format 1 stores UUIDs.
  id: { reads: { id: "UUID" }, value: sql`replace(id::VARCHAR, '-', '')` },
  // Format 1 calls the price `price_after`.
  price_history: {
    reads: { price_history: listTypeOf(structTypeOf({ ...priceChange, price_after: "INTEGER" })) },
    value: sql`list_transform(price_history, lambda change: {changed_at: change.changed_at,
      price: coalesce(change.price, change.price_after), price_before: change.price_before, miles: change.miles})`,
  },
  // Earlier files lack the day on which a sale became known: the first one on which it could.
  sold_on_record: {
    reads: { sold_on_record: "DATE", sold_date: "DATE" },
    value: sql`coalesce(sold_on_record, sold_date + ${integerLiteral(life.soldAfterDays - 1)})`,
  },
  // Formats 1 and 2 hold every day as a copy, which is a row that holds for one day.
  valid_from: { reads: { valid_from: "DATE", ...copiedDay }, value: sql`coalesce(valid_from, ${dayOfCopy})` },
  valid_to: { reads: { valid_to: "DATE", ...copiedDay }, value: sql`coalesce(valid_to, ${dayOfCopy} + 1)` },
  unseen_deliveries: {
    reads: { unseen_deliveries: "INTEGER", days_seen: "INTEGER" },
    value: sql`coalesce(unseen_deliveries, -days_seen)`,
  },
};

const fingerprints = new WeakMap<Columns, string>();

/** Returns a fingerprint of column names and types: 8 hexadecimal digits. */
export function fingerprintOf(columns: Columns): string {
  const textOf = (type: DuckType): string =>
    typeof type === "string" ? type : columnType(type).text.replaceAll('"', "");
  const text = (): string => JSON.stringify(Object.entries(columns).map(([column, type]) => [column, textOf(type)]));
  const fingerprint = fingerprints.get(columns) ?? createHash("sha256").update(text()).digest("hex").slice(0, 8);
  fingerprints.set(columns, fingerprint);
  return fingerprint;
}

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
  const read = (chosen: readonly Pick<LakeFile, "path">[], isOlder: boolean): Sql =>
    sql`read_parquet([${join(chosen.map(({ path }) => pathLiteral(joinPath(folder, path))))}],
      union_by_name = ${literal(String(isOlder))}, hive_partitioning = ${literal(String(isOlder || extraColumn === "partition"))}${settings})`;
  const current = files.filter((file) => isCurrentSchema(table, file));
  const older = files.filter((file) => !isCurrentSchema(table, file));
  const relations = [
    ...(current.length === 0
      ? []
      : [sql`SELECT ${join([...columnNames(columns), ...extra])} FROM ${read(current, false)}`]),
    ...byPartitionKey(older).map((files) => castToCurrentSchema(columns, read(files, true), extra)),
  ];
  return relations.length === 0 ? emptyRelation(columns, extra) : join(relations, sql` UNION ALL `);
}

/** Groups files by their partition key, which the engine expects all files of a read to have. */
const byPartitionKey = (files: readonly Pick<LakeFile, "path">[]): readonly (readonly Pick<LakeFile, "path">[])[] => {
  const keyOf = ({ path }: Pick<LakeFile, "path">): string => /\/(\w+)=/.exec(path)?.[1] ?? "";
  return [...new Set(files.map(keyOf))].map((key) => files.filter((file) => keyOf(file) === key));
};

/** The settings of `read_parquet` and the extra select items, for each extra column. */
const readOptions = (
  partition: string | undefined,
): Readonly<Record<ExtraColumn, { readonly settings: Sql; readonly extra: readonly Sql[] }>> => ({
  nothing: { settings: sql``, extra: [] },
  file_row_number: { settings: sql`, file_row_number = true`, extra: [ident("file_row_number")] },
  partition: { settings: sql``, extra: [ident(partition ?? "partition")] },
});

/** Casts a relation to the given columns, followed by `extra` columns that are passed through. */
export function castToCurrentSchema(columns: Columns, rows: Sql, extra: readonly Sql[] = []): Sql {
  const readTypes = Object.fromEntries(
    Object.entries(columns).flatMap(([column, type]) =>
      Object.entries(conversions[column]?.reads ?? { [column]: type }),
    ),
  );
  const values = Object.entries(columns).map(
    ([column, type]) => sql`(${conversions[column]?.value ?? ident(column)})::${columnType(type)} AS ${ident(column)}`,
  );
  return sql`SELECT ${join([...values, ...extra])} FROM (${emptyRelation(readTypes)} UNION ALL BY NAME FROM ${rows})`;
}

function emptyRelation(columns: Columns, extra: readonly Sql[] = []): Sql {
  const typed = Object.entries(columns).map(([column, type]) => sql`NULL::${columnType(type)} AS ${ident(column)}`);
  return sql`SELECT ${join([...typed, ...extra.map((column) => sql`NULL AS ${column}`)])} WHERE false`;
}

const columnNames = (columns: Columns): readonly Sql[] => Object.keys(columns).map((column) => ident(column));

/** Reads Parquet files of a table as a relation. Every file of a lake has exactly the columns of its table. */
import { join as joinPath } from "node:path";
import { columnType, ident, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import type { LakeFile } from "./manifest.ts";
import { type TableName, tableOf } from "./tables.ts";

/** A column to read in addition to those of the table. */
export type ExtraColumn = "file_row_number" | "partition";

/** Returns the rows of a table's files as a relation. Paths are relative to `folder`. */
export function rowsOfFiles(
  table: TableName,
  files: readonly Pick<LakeFile, "path">[],
  folder: string,
  extraColumn?: ExtraColumn,
): Sql {
  const { columns, partition = "partition" } = tableOf(table);
  const extra = extraColumn === "partition" ? partition : extraColumn;
  if (files.length === 0) {
    const typed = Object.entries(columns).map(([column, type]) => sql`NULL::${columnType(type)} AS ${ident(column)}`);
    const untyped = extra === undefined ? [] : [sql`NULL AS ${ident(extra)}`];
    return sql`SELECT ${join([...typed, ...untyped])} WHERE false`;
  }
  const names = [...Object.keys(columns), ...(extra === undefined ? [] : [extra])];
  const paths = files.map(({ path }) => pathLiteral(joinPath(folder, path)));
  const isNumbered = extraColumn === "file_row_number" ? sql`, file_row_number = true` : sql``;
  return sql`SELECT ${join(names.map((name) => ident(name)))} FROM read_parquet([${join(paths)}],
    hive_partitioning = ${literal(String(extraColumn === "partition"))}${isNumbered})`;
}

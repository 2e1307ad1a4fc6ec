/** Rows as files of at most so many rows, where a table's layout says so, each of an adjoining range of its order. */
import { rm } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { literal, type Sql, sql } from "../../db/sql.ts";
import type { LakeFile } from "../manifest.ts";
import { type TableName, tableOf } from "../tables.ts";
import { sortOrderOf, type Writer, writeFile } from "./writer.ts";

/**
 * Writes rows of a table as one file, or as parts of it; gives them in their order, none when there are no rows. Rows are
 * sorted once, into one file, which is then cut: sorting them part by part would run their query as often.
 */
export async function writeSplit(
  writer: Writer,
  version: string,
  table: TableName,
  partition: string | null,
  rows: Sql,
): Promise<readonly LakeFile[]> {
  const whole = await writeFile(writer, version, table, partition, rows, sortOrderOf(table));
  const { rowsPerFile = Number.POSITIVE_INFINITY } = tableOf(table);
  if (whole === undefined) return [];
  if (whole.rows <= rowsPerFile) return [whole];
  const files: LakeFile[] = [];
  const path = joinPath(writer.lake, whole.path);
  const size = Math.ceil(whole.rows / Math.ceil(whole.rows / rowsPerFile));
  for (let from = 0; from < whole.rows; from += size) {
    const part = sql`
      SELECT * FROM read_parquet(${literal(path)}, file_row_number = true, hive_partitioning = false)
      WHERE file_row_number >= ${from} AND file_row_number < ${from + size}`;
    const file = await writeFile(writer, `${version}-${files.length}`, table, partition, part, sql`file_row_number`);
    if (file !== undefined) files.push(file);
  }
  await rm(path);
  return files;
}

/** Writes a table's rows as files of limited size, each holding an adjacent range of the sort order. */
import { rm } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { pathLiteral, sql } from "../../db/sql.ts";
import type { LakeFile } from "../manifest.ts";
import { tableOf } from "../tables.ts";
import { type FileContents, sortOrderOf, type Writer, writeFile } from "./writer.ts";

/**
 * Writes rows as one file, or as several if they exceed the table's `rowsPerFile`. Returns the files in sort order; none without rows. Sorts all
 * rows into one file and then cuts that file: sorting each part would run the query once per part.
 */
export async function writeSplit(
  writer: Writer,
  version: string,
  contents: FileContents,
): Promise<readonly LakeFile[]> {
  const { table, partition } = contents;
  const whole = await writeFile(writer, version, { ...contents, order: sortOrderOf(table) });
  const { rowsPerFile = Number.POSITIVE_INFINITY } = tableOf(table);
  if (whole === undefined) return [];
  if (whole.rows <= rowsPerFile) return [whole];
  const files: LakeFile[] = [];
  const path = joinPath(writer.lake, whole.path);
  const size = Math.ceil(whole.rows / Math.ceil(whole.rows / rowsPerFile));
  for (let start = 0; start < whole.rows; start += size) {
    const rows = sql`
      SELECT * FROM read_parquet(${pathLiteral(path)}, file_row_number = true, hive_partitioning = false)
      WHERE file_row_number >= ${start} AND file_row_number < ${start + size}`;
    const name = `${version}-${files.length}`;
    const file = await writeFile(writer, name, { table, partition, rows, order: sql`file_row_number` });
    if (file !== undefined) files.push(file);
  }
  await rm(path);
  return files;
}

/**
 * Parquet files of tables: writes rows as files of limited size, and selects small files to rewrite together with new rows.
 *
 * Compaction is tiered: the number of files, and the number of times a row is rewritten, grow with the logarithm of the rows.
 */
import { rm, stat } from "node:fs/promises";
import { dirname, join as joinPath } from "node:path";
import { createFolder, sha256Of, syncToDisk } from "../../base/files.ts";
import { integerIn, isObject, type Row } from "../../base/json.ts";
import { columnType, fileLiteral, ident, integerLiteral, join, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { fieldIdsOf } from "../iceberg/table-schema.ts";
import type { LakeFile } from "../manifest.ts";
import { pathInTable, rowGroupSize, type TableName, tableOf } from "../tables.ts";
import type { Writer } from "./writer.ts";

/** The rows to write to a table, and the partition that they belong to. */
export interface FileContents {
  readonly table: TableName;
  /** Null for tables without partitions. */
  readonly partition: string | null;
  readonly rows: Sql;
}

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
  const order = join(tableOf(table).order.map((column) => ident(column)));
  const whole = await writeFile(writer, version, { ...contents, order });
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

/**
 * Writes rows as one Parquet file called `<name>.parquet`, sorted by `order`, and syncs it to disk. Returns its manifest entry. Writes no file and
 * returns undefined without rows.
 */
async function writeFile(
  { lake, session }: Writer,
  name: string,
  { table, partition, rows, order }: FileContents & { readonly order: Sql },
): Promise<LakeFile | undefined> {
  const definition = tableOf(table);
  const path = `files/${pathInTable(table, partition, `${name}.parquet`)}`;
  const target = joinPath(lake, path);
  await createFolder(dirname(target));
  const columns = Object.entries(definition.columns).map(
    ([column, type]) => sql`${ident(column)}::${columnType(type)} AS ${ident(column)}`,
  );
  const statistics = await session.row(sql`
    COPY (SELECT ${join(columns)} FROM (${rows}) ORDER BY ${order})
    TO ${fileLiteral(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(rowGroupSize)},
      FIELD_IDS ${fieldIdsOf(table)}, RETURN_STATS)`);
  const rowCount = integerIn({ rows: Number(statistics?.count) }, "rows");
  if (rowCount === 0) {
    await rm(target);
    return undefined;
  }
  await syncToDisk(target);
  await syncToDisk(dirname(target));
  const { min, max } = rangeOf(statistics, definition.order[0] ?? "");
  const { size: bytes } = await stat(target);
  return { path, partition, rows: rowCount, bytes, sha256: await sha256Of(target), min, max };
}

/** Returns the minimum and maximum of a column, from the statistics that COPY returns. */
function rangeOf(statistics: Row | undefined, column: string): { min: string | null; max: string | null } {
  const entries = Array.isArray(statistics?.column_statistics) ? statistics.column_statistics : [];
  const columnEntry = entries.find((entry) => isObject(entry) && entry.key === `"${column}"`);
  const pairs = isObject(columnEntry) && Array.isArray(columnEntry.value) ? columnEntry.value : [];
  const statistic = (key: string): string | null => {
    const pair = pairs.find((entry) => isObject(entry) && entry.key === key);
    return isObject(pair) && typeof pair.value === "string" ? pair.value : null;
  };
  return { min: statistic("min"), max: statistic("max") };
}

/** A tier is compacted while it has fewer than this many times the rows of everything newer. */
const tierRatio = 4;

/**
 * Splits the files of a partition, oldest first, into those to keep and those to merge with the new rows. The files of one publish
 * form one tier.
 */
export function filesToCompact(
  files: readonly LakeFile[],
  newRows: number,
): { readonly kept: readonly LakeFile[]; readonly merged: readonly LakeFile[] } {
  const tiers = [...tiersOf(files)];
  const merged: LakeFile[] = [];
  let rows = newRows;
  for (let tier = tiers.at(-1); tier !== undefined && rowsIn(tier) < tierRatio * rows; tier = tiers.at(-1)) {
    rows += rowsIn(tier);
    merged.unshift(...tier);
    tiers.pop();
  }
  return { kept: tiers.flat(), merged };
}

/** Groups files by the publish that wrote them, oldest first. */
export const tiersOf = (files: readonly LakeFile[]): readonly (readonly LakeFile[])[] =>
  [...new Set(files.map(tierOf))].map((tier) => files.filter((file) => tierOf(file) === tier));

/** Returns a file's path without its part number: the files of one publish share it. */
const tierOf = ({ path }: LakeFile): string => path.replace(/(-\d+)?\.parquet$/, "");

const rowsIn = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

/** Rows as files of at most so many rows, where a table's layout says so, each of an adjoining range of its order. */
import { integerIn } from "../base/json.ts";
import { all, join, name, type Sql, sql, type } from "../base/sql.ts";
import { layoutOf, type TableName } from "./layout.ts";
import type { LakeFile } from "./manifest.ts";
import { type Writer, writeFile } from "./writer.ts";

/** Writes rows of a table as one file, or as parts of it; gives them in their order, none when there are no rows. */
export async function writeFiles(
  writer: Writer,
  version: string,
  table: TableName,
  partition: string | null,
  rows: Sql,
): Promise<readonly LakeFile[]> {
  const { rowsPerFile } = layoutOf(table);
  const parts = rowsPerFile === undefined ? 1 : Math.ceil((await countOf(writer, rows)) / rowsPerFile);
  if (parts <= 1) return writeFile(writer, version, table, partition, rows);
  const files: LakeFile[] = [];
  for (const [part, within] of (await rangesOf(writer, table, rows, parts)).entries()) {
    const ranged = sql`SELECT * FROM (${rows}) WHERE ${within}`;
    files.push(...(await writeFile(writer, `${version}-${part}`, table, partition, ranged)));
  }
  return files;
}

/** How many rows a query gives. */
export async function countOf({ session }: Writer, rows: Sql): Promise<number> {
  return integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n FROM (${rows})`), "n");
}

/** Conditions that cut rows into ranges, of about as many rows each, of the first column that the table is sorted by. */
async function rangesOf({ session }: Writer, table: TableName, rows: Sql, parts: number): Promise<readonly Sql[]> {
  const { order, columns } = layoutOf(table);
  const first = order[0] ?? "";
  const [key, keyType] = [name(first), type(columns[first] ?? "VARCHAR")];
  const shares = Array.from({ length: parts - 1 }, (_, part) => type(String((part + 1) / parts)));
  const row = await session.row(sql`SELECT quantile_disc(${key}, [${join(shares)}])::VARCHAR[] AS cuts FROM (${rows})`);
  const cuts = Array.isArray(row?.cuts) ? row.cuts.map(String) : [];
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [cuts[part - 1], cuts[part]];
    const above = from === undefined ? [] : [sql`${key} > ${from}::${keyType}`];
    const upTo = to === undefined ? [] : [sql`${key} <= ${to}::${keyType}`];
    return all([...above, ...upTo]);
  });
}

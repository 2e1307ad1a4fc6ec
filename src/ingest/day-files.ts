/** What a day adds to the lake's tables, and the writing of it. */
import { integerIn, textIn } from "../base/json.ts";
import { join, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { LakeFile, Manifest, TableFiles } from "../lake/manifest.ts";
import { type TableName, tableOf } from "../lake/tables.ts";
import { filesToCompact } from "../lake/writer/compaction.ts";
import { writeSplit } from "../lake/writer/split.ts";
import type { Writer } from "../lake/writer/writer.ts";

/** A table, the value of its partition where it has one, and the rows to add. */
type Addition = readonly [TableName, string | null, Sql];

/** Writes the files of a day, named after its version, and gives all files of the tables with them. */
export async function writeDayFiles(writer: Writer, manifest: Manifest): Promise<TableFiles> {
  const day = manifest.as_of;
  return add(writer, manifest.version, manifest.tables, [
    ...(await listings(writer, day)),
    ...dimensions,
    ...kept(day),
  ]);
}

async function add(
  writer: Writer,
  version: string,
  before: TableFiles,
  additions: readonly Addition[],
): Promise<TableFiles> {
  const files: Record<TableName, readonly LakeFile[]> = { ...before };
  for (const [table, partition, rows] of additions) {
    files[table] = tableOf(table).isLayered
      ? await addLayer(writer, version, table, partition, files[table], rows)
      : [...files[table], ...(await writeSplit(writer, version, table, partition, rows))];
  }
  return files;
}

/** Adds rows to a table that grows; the small files before them are written again, in one with them. */
async function addLayer(
  writer: Writer,
  version: string,
  table: TableName,
  partition: string | null,
  files: readonly LakeFile[],
  rows: Sql,
): Promise<readonly LakeFile[]> {
  const newRows = integerIn(await writer.session.row(sql`SELECT count(*)::INTEGER AS n FROM (${rows})`), "n");
  if (newRows === 0) return files;
  const others = files.filter((file) => file.partition !== partition);
  const { kept: stay, merged } = filesToCompact(
    files.filter((file) => file.partition === partition),
    newRows,
  );
  const older = withTrim(rowsOfFiles(table, merged, writer.lake), table);
  const together = merged.length === 0 ? rows : sql`FROM (${rows}) UNION ALL BY NAME FROM (${older})`;
  const written = await writeSplit(writer, version, table, partition, together);
  return [...others, ...stay, ...written].sort(byPartition);
}

/** Files in the order of their partitions; those of one partition stay in theirs. */
const byPartition = (one: LakeFile, other: LakeFile): number =>
  (one.partition ?? "") < (other.partition ?? "") ? -1 : (one.partition ?? "") > (other.partition ?? "") ? 1 : 0;

async function listings({ session }: Writer, day: string): Promise<readonly Addition[]> {
  const inState = (...states: readonly string[]): Sql =>
    sql`SELECT * EXCLUDE (state) FROM absent WHERE state IN (${join(states.map((state) => sql`${state}`))})`;
  const months = await session.rows(sql`
    SELECT DISTINCT strftime(sold_date, '%Y-%m') AS "month" FROM absent WHERE state = 'sold' ORDER BY "month"`);
  const sold = months.map((row): Addition => {
    const month = textIn(row, "month");
    return ["sold", month, withTrim(sql`${inState("sold")} AND strftime(sold_date, '%Y-%m') = ${month}`, "sold")];
  });
  return [
    ["snapshots", day, withTrim(sql`FROM next_active`, "snapshots")],
    ["contenders", day, withTrim(sql`FROM next_contenders`, "contenders")],
    ["missing", day, withTrim(inState("missing"), "missing")],
    ...sold,
    ["ended", day.slice(0, 7), withTrim(inState("ended", "superseded"), "ended")],
  ];
}

/** Rows of a table with the trim that listings are sorted by. */
function withTrim(rows: Sql, table: TableName): Sql {
  if (!tableOf(table).order.includes("trim")) return rows;
  return sql`SELECT listings.*, all_builds.trim FROM (${rows}) AS listings JOIN all_builds USING (build_key)`;
}

const dimensions: readonly Addition[] = [
  ["builds", null, sql`FROM new_builds`],
  ["dealers", null, sql`FROM new_dealers`],
  ["tokens", null, sql`FROM new_tokens`],
  ["options", null, sql`FROM new_options`],
];

/** What proves the state of things: claims, deliveries, rejects. */
function kept(day: string): readonly Addition[] {
  const owned = sql`SELECT dealer_id, (count(*) FILTER (is_owner))::INTEGER AS owned FROM claims_today
    WHERE sighted_on = ${day}::DATE GROUP BY dealer_id`;
  return [
    ["claims", day, sql`FROM claims_today`],
    ["deliveries", day, sql`SELECT * FROM deliveries_today LEFT JOIN (${owned}) USING (dealer_id)`],
    ["rejects", day, sql`FROM issues`],
  ];
}

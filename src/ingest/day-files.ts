/** Writes the Parquet files of a day: decides which rows each lake table receives, and appends or compacts its files. */
import { calendarMonth } from "../base/day.ts";
import { integerIn } from "../base/json.ts";
import { join, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/derived-relations.ts";
import type { LakeFile, Manifest, TableFiles } from "../lake/manifest.ts";
import { filesIn } from "../lake/market.ts";
import { openPartition, type TableName, tableOf } from "../lake/tables.ts";
import { type FileContents, filesToCompact, tiersOf, writeSplit } from "../lake/writer/table-files.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { type ActiveBranches, endedRows, holdingRows, nextActive, nextContenders } from "./lifecycle/lifecycle.ts";

/** Tables whose months are merged into one file once they are over. */
const mergedTables = ["past_listings", "contenders", "absent", "sold", "feeds", "rejects"] as const;

/** Writes the files of a day, named after the manifest's version. Returns the files of all tables, including the new ones. */
export async function writeDayFiles(writer: Writer, manifest: Manifest): Promise<TableFiles> {
  const { as_of: day, version } = manifest;
  const files: Record<TableName, readonly LakeFile[]> = { ...manifest.tables };
  const write = async (contents: readonly FileContents[]): Promise<void> => {
    for (const one of contents) files[one.table] = await writeRows(writer, version, files[one.table], one);
  };
  const had = filesIn(files.contenders, openPartition).length > 0;
  const { areLosing, areStanding } = await kindsOfClaims(writer, day);
  const hasContenders = had || areLosing;
  await write([
    listingsOn(day, { hadContenders: had, areStanding }),
    ...departedRows(day),
    ...dimensionRows,
    ...auditRows(day),
  ]);
  await write([endedListings(writer.lake, files, day)]);
  // Planning a statement without rows takes a tenth of a day's time.
  if (hasContenders) {
    await write([contendersOn(day)]);
    await write([endedContenders(writer.lake, files, day)]);
  }
  for (const table of mergedTables) files[table] = await mergeClosedMonths(writer, manifest, table, files[table]);
  return files;
}

/** Writes rows to a table: instead of the partition's files, appended to them, or as files of the day. Returns the table's files. */
async function writeRows(
  writer: Writer,
  version: string,
  files: readonly LakeFile[],
  contents: FileContents,
): Promise<readonly LakeFile[]> {
  const { table, partition } = contents;
  const { isReplaced, isAppendOnly } = tableOf(table);
  if (isAppendOnly === true && partition !== openPartition) return appendRows(writer, version, files, contents);
  const others =
    isReplaced === true || partition === openPartition ? files.filter((file) => file.partition !== partition) : files;
  return [...others, ...(await writeSplit(writer, version, contents))];
}

/** Merges the files of each month before the day's into one. Returns the table's files. */
async function mergeClosedMonths(
  writer: Writer,
  { version, as_of }: Manifest,
  table: TableName,
  files: readonly LakeFile[],
): Promise<readonly LakeFile[]> {
  const closed = [...new Set(files.map(({ partition }) => partition ?? ""))].filter(
    (month) => month < calendarMonth(as_of),
  );
  let merged = files;
  for (const partition of closed) {
    const ofMonth = files.filter((file) => file.partition === partition);
    if (tiersOf(ofMonth).length === 1) continue;
    const rows = withTrim(rowsOfFiles(table, ofMonth, writer.lake), table);
    const written = await writeSplit(writer, version, { table, partition, rows });
    merged = [...merged.filter((file) => file.partition !== partition), ...written].sort(byPartition);
  }
  return merged;
}

/** Appends rows to a partition of an append-only table, compacting its small files with the new rows. Returns the table's files. */
async function appendRows(
  writer: Writer,
  version: string,
  files: readonly LakeFile[],
  { table, partition, rows }: FileContents,
): Promise<readonly LakeFile[]> {
  const newRows = integerIn(await writer.session.row(sql`SELECT count(*)::INTEGER AS n FROM (${rows})`), "n");
  if (newRows === 0) return files;
  const otherPartitions = files.filter((file) => file.partition !== partition);
  const { kept, merged } = filesToCompact(
    files.filter((file) => file.partition === partition),
    newRows,
  );
  const mergedRows = withTrim(rowsOfFiles(table, merged, writer.lake), table);
  const allRows = merged.length === 0 ? rows : sql`FROM (${rows}) UNION ALL BY NAME FROM (${mergedRows})`;
  const written = await writeSplit(writer, version, { table, partition, rows: allRows });
  return [...otherPartitions, ...kept, ...written].sort(byPartition);
}

/** Compares files by partition. Files of one partition keep their order. */
const byPartition = (a: LakeFile, b: LakeFile): number =>
  (a.partition ?? "") < (b.partition ?? "") ? -1 : (a.partition ?? "") > (b.partition ?? "") ? 1 : 0;

/** Returns whether some of the day's claims did not win, and whether some that won were not delivered today. */
async function kindsOfClaims({ session }: Writer, day: string) {
  const claims =
    await session.row(sql`SELECT bool_or(NOT is_owner) AS losing, bool_or(is_owner AND sighted_on < DATE ${literal(day)}) AS standing
    FROM claims_today`);
  return { areLosing: claims?.losing === true, areStanding: claims?.standing === true };
}

const listingsOn = (day: string, branches: ActiveBranches): FileContents => ({
  table: "listings",
  partition: null,
  rows: withTrim(holdingRows(nextActive(day, branches), sql`held_listings`, day), "listings"),
});
const contendersOn = (day: string): FileContents => ({
  table: "contenders",
  partition: openPartition,
  rows: holdingRows(nextContenders(day), sql`held_contenders`, day),
});

/** Listings that have left, by state. Sold and ended ones are partitioned by the month in which that became known. */
function departedRows(day: string): readonly FileContents[] {
  const inState = (table: TableName, ...states: readonly string[]): Sql =>
    withTrim(
      sql`SELECT * EXCLUDE (state), if(state IN ('ended', 'superseded'), DATE ${literal(day)}, NULL) AS ended_on
          FROM absent_listings WHERE state IN (${join(states.map((state) => literal(state)))})`,
      table,
    );
  return [
    { table: "absent", partition: openPartition, rows: inState("absent", "missing") },
    { table: "absent", partition: calendarMonth(day), rows: inState("absent", "ended", "superseded") },
    { table: "sold", partition: calendarMonth(day), rows: inState("sold", "sold") },
  ];
}

/** The rows that held until the day before, given the files of those that hold on the day. */
const endedListings = (lake: string, files: TableFiles, day: string): FileContents => ({
  table: "past_listings",
  partition: calendarMonth(day),
  rows: withTrim(endedRows(sql`held_listings`, rowsOfFiles("listings", files.listings, lake), day), "past_listings"),
});
const endedContenders = (lake: string, files: TableFiles, day: string): FileContents => ({
  table: "contenders",
  partition: calendarMonth(day),
  rows: endedRows(sql`held_contenders`, rowsOfFiles("contenders", filesIn(files.contenders, openPartition), lake), day),
});

/** Joins the trim of each row's build if the table is sorted by trim. */
function withTrim(rows: Sql, table: TableName): Sql {
  if (!tableOf(table).order.includes("trim")) return rows;
  return sql`SELECT listings.*, lake_builds.trim FROM (${rows}) AS listings JOIN lake_builds USING (build_key)`;
}

const dimensionRows: readonly FileContents[] = [
  { table: "builds", partition: null, rows: sql`FROM new_builds` },
  { table: "dealers", partition: null, rows: sql`FROM new_dealers` },
  { table: "tokens", partition: null, rows: sql`FROM new_tokens` },
  { table: "options", partition: null, rows: sql`FROM new_options` },
];

/** The day's audit trail: feeds and rejects. */
function auditRows(day: string): readonly FileContents[] {
  const today = sql`DATE ${literal(day)}`;
  const owned = sql`SELECT dealer_id, (count(*) FILTER (is_owner))::INTEGER AS owned FROM claims_today
    WHERE sighted_on = ${today} GROUP BY dealer_id`;
  return [
    {
      table: "feeds",
      partition: calendarMonth(day),
      rows: sql`SELECT *, ${today} AS delivery_date FROM feeds_today LEFT JOIN (${owned}) USING (dealer_id)`,
    },
    { table: "rejects", partition: calendarMonth(day), rows: sql`SELECT *, ${today} AS delivery_date FROM issues` },
  ];
}

/** Writes the Parquet files of a day: decides which rows each lake table receives, and appends or compacts its files. */
import { integerIn } from "../base/json.ts";
import { join, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { LakeFile, Manifest, TableFiles } from "../lake/manifest.ts";
import { type TableName, tableOf } from "../lake/tables.ts";
import { filesToCompact } from "../lake/writer/compaction.ts";
import { writeSplit } from "../lake/writer/split.ts";
import type { FileContents, Writer } from "../lake/writer/writer.ts";

/** Writes the files of a day, named after the manifest's version. Returns the files of all tables, including the new ones. */
export async function writeDayFiles(writer: Writer, manifest: Manifest): Promise<TableFiles> {
  const day = manifest.as_of;
  const additions = [...listingRows(day), ...dimensionRows, ...auditRows(day)];
  const files: Record<TableName, readonly LakeFile[]> = { ...manifest.tables };
  for (const addition of additions) {
    const { table } = addition;
    files[table] = tableOf(table).isAppendOnly
      ? await appendRows(writer, manifest.version, files[table], addition)
      : [...files[table], ...(await writeSplit(writer, manifest.version, addition))];
  }
  return files;
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

/** The day's listings by state, and the contenders. Sold and ended listings are partitioned by the month in which that became known. */
function listingRows(day: string): readonly FileContents[] {
  const inState = (...states: readonly string[]): Sql =>
    sql`SELECT * EXCLUDE (state) FROM absent_listings WHERE state IN (${join(states.map((state) => sql`${state}`))})`;
  const month = day.slice(0, "YYYY-MM".length);
  return [
    { table: "snapshots", partition: day, rows: withTrim(sql`FROM next_active`, "snapshots") },
    { table: "contenders", partition: day, rows: withTrim(sql`FROM next_contenders`, "contenders") },
    { table: "missing", partition: day, rows: withTrim(inState("missing"), "missing") },
    { table: "sold", partition: month, rows: withTrim(inState("sold"), "sold") },
    { table: "ended", partition: month, rows: withTrim(inState("ended", "superseded"), "ended") },
  ];
}

/** Joins the trim of each row's build if the table is sorted by trim. */
function withTrim(rows: Sql, table: TableName): Sql {
  if (!tableOf(table).order.includes("trim")) return rows;
  return sql`SELECT listings.*, all_builds.trim FROM (${rows}) AS listings JOIN all_builds USING (build_key)`;
}

const dimensionRows: readonly FileContents[] = [
  { table: "builds", partition: null, rows: sql`FROM new_builds` },
  { table: "dealers", partition: null, rows: sql`FROM new_dealers` },
  { table: "tokens", partition: null, rows: sql`FROM new_tokens` },
  { table: "options", partition: null, rows: sql`FROM new_options` },
];

/** The day's audit trail: claims, deliveries and rejects. */
function auditRows(day: string): readonly FileContents[] {
  const owned = sql`SELECT dealer_id, (count(*) FILTER (is_owner))::INTEGER AS owned FROM claims_today
    WHERE sighted_on = ${day}::DATE GROUP BY dealer_id`;
  return [
    { table: "claims", partition: day, rows: sql`FROM claims_today` },
    {
      table: "deliveries",
      partition: day,
      rows: sql`SELECT * FROM deliveries_today LEFT JOIN (${owned}) USING (dealer_id)`,
    },
    { table: "rejects", partition: day, rows: sql`FROM issues` },
  ];
}

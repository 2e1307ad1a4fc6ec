/**
 * Migrates a lake of a former format: its daily copies become intervals. Months are written one after the other to the folder `migration/` of the
 * lake, so that a killed migration continues after the last month that was finished; nothing is published before all of them are proved equal
 * to their copies.
 */

import { copyFile, link, readFile, rm } from "node:fs/promises";
import { dirname, join as joinPath } from "node:path";
import { calendarMonth } from "../../base/day.ts";
import { createFolder, isNotFound, replaceFile, syncToDisk } from "../../base/files.ts";
import { UserError } from "../../base/user-error.ts";
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../file-rows.ts";
import type { FormerTables } from "../former-tables.ts";
import { type LakeFile, type Manifest, manifestText, noFiles, parseManifest, type TableFiles } from "../manifest.ts";
import { filesIn } from "../market.ts";
import { openPartition, type TableName, tableOf } from "../tables.ts";
import { writeSplit } from "../writer/split.ts";
import type { Writer } from "../writer/writer.ts";
import { createFormerDeliveries, type Fold, type FoldedTable, foldMonth, proveMonth } from "./fold-copies.ts";

/** Called before each month: its name, its number from 1, and the number of months. */
export type OnMonth = (month: string, index: number, count: number) => void;

const stepTables: readonly FoldedTable[] = ["snapshots", "contenders"];

/** Returns the files of all tables in the current format, written below the lake's folder. `next` is the version to publish. */
export async function migrateFormerTables(
  writer: Writer,
  published: Manifest & { readonly former: FormerTables },
  next: Manifest,
  onMonth: OnMonth,
): Promise<TableFiles> {
  const { former } = published;
  const days = Object.keys(published.days);
  const fold: Fold = { session: writer.session, lake: writer.lake, former, days };
  const staging: Writer = { ...writer, lake: joinPath(writer.lake, "migration") };
  await createFormerDeliveries(fold);
  await writer.session.createTempTable("all_builds", rowsOfFiles("builds", former.builds ?? [], writer.lake));
  const { tables: folded } = await foldMonths(staging, fold, next, onMonth);
  const others = await otherTables(staging, published, next.version);
  const { listings, snapshots, contenders } = folded;
  const tables = { ...published.tables, ...others, listings, snapshots, contenders };
  for (const file of Object.values(tables).flat()) await linkIntoLake(staging.lake, writer.lake, file.path);
  return tables;
}

export const removeStaged = (lake: string): Promise<void> =>
  rm(joinPath(lake, "migration"), { recursive: true, force: true });

/** Folds month after month. Returns a manifest of the folded files, which also records the progress after each month. */
async function foldMonths(staging: Writer, fold: Fold, next: Manifest, onMonth: OnMonth): Promise<Manifest> {
  const months = [...new Set(fold.days.map((day) => calendarMonth(day)))];
  let progress = await readProgress(staging.lake, next);
  for (const [index, month] of months.entries()) {
    onMonth(month, index + 1, months.length);
    const days = fold.days.filter((day) => day.startsWith(month));
    if (days.every((day) => day in progress.days)) continue;
    progress = await foldOneMonth(staging, fold, progress, days);
    await replaceFile(progressPath(staging.lake), manifestText(progress));
  }
  return progress;
}

async function foldOneMonth(staging: Writer, fold: Fold, before: Manifest, days: readonly string[]): Promise<Manifest> {
  const { session, lake } = staging;
  const [{ version }, last = ""] = [before, days.at(-1)];
  const month = calendarMonth(last);
  // Rows that hold are named by their day until the last one.
  const heldName = last === fold.days.at(-1) ? version : `${last}.0`;
  const tables = { ...before.tables };
  for (const table of stepTables) {
    const held = table === "snapshots" ? tables.listings : filesIn(tables.contenders, openPartition);
    await foldMonth(fold, table, days, rowsOfFiles("listings", held, lake));
    await proveMonth(fold, table, days);
    const write = (target: TableName, partition: string | null, condition: Sql, name: string) =>
      writeSplit(staging, name, { table: target, partition, rows: withTrim(sql`FROM folded WHERE ${condition}`) });
    const ended = await write(table, month, sql`valid_to IS NOT NULL`, version);
    const ending = tables[table].filter(({ partition }) => partition !== openPartition);
    if (table === "snapshots") {
      tables.snapshots = [...ending, ...ended];
      tables.listings = await write("listings", null, sql`valid_to IS NULL`, heldName);
    } else
      tables.contenders = [
        ...ending,
        ...ended,
        ...(await write("contenders", openPartition, sql`valid_to IS NULL`, heldName)),
      ];
  }
  await session.drop("folded");
  const done = Object.fromEntries(days.map((day) => [day, 0]));
  return { ...before, tables, days: { ...before.days, ...done } };
}

const withTrim = (rows: Sql): Sql =>
  sql`SELECT folded.*, all_builds.trim FROM (${rows}) AS folded JOIN all_builds USING (build_key)`;

const progressPath = (folder: string): string => joinPath(folder, "progress.json");

/** Returns the progress of a migration to a version; an empty manifest if none is in progress, or one to another version. */
async function readProgress(folder: string, next: Manifest): Promise<Manifest> {
  await createFolder(folder);
  try {
    return parseManifest(await readFile(progressPath(folder), "utf8"), progressPath(folder), next.version);
  } catch (thrown) {
    if (!isNotFound(thrown) && !(thrown instanceof SyntaxError) && !(thrown instanceof UserError)) throw thrown;
  }
  await rm(folder, { recursive: true, force: true });
  await createFolder(folder);
  return { ...next, tables: noFiles, days: {} };
}

/** The partitions of a table to write in the current columns, and the rows of some of its former files. */
interface Rewrite {
  readonly table: TableName;
  readonly files: readonly LakeFile[] | undefined;
  readonly rowsIn: (files: readonly LakeFile[]) => Sql;
}

/** Returns the files of the tables that are not folded, in the current columns. */
async function otherTables(
  staging: Writer,
  { former, as_of }: Manifest & { readonly former: FormerTables },
  version: string,
): Promise<Partial<TableFiles>> {
  const lake = dirname(staging.lake);
  await staging.session.createTempTable("ended_on", endedOn(former, lake));
  const plain = (table: Exclude<keyof FormerTables, "claims" | "ended">): Rewrite => ({
    ...{ table, files: former[table] },
    rowsIn: (files) => rowsOfFiles(table, files, lake),
  });
  const deliveries = (files: readonly LakeFile[]): Sql =>
    sql`FROM former_deliveries WHERE strftime(delivery_date, '%Y-%m') = ${literal(monthOf(files[0]) ?? "")}`;
  const endings = (files: readonly LakeFile[]): Sql =>
    sql`SELECT rows.* EXCLUDE (ended_on), ended_on.ended_on FROM (${rowsOfFiles("missing", files, lake)}) AS rows LEFT JOIN ended_on USING (id)`;
  const missing = filesIn(former.missing ?? [], as_of).map((file) => ({ ...file, partition: openPartition }));
  const rewrites: readonly Rewrite[] = [
    { ...plain("missing"), files: former.ended, rowsIn: endings },
    { ...plain("missing"), files: missing },
    { ...plain("deliveries"), rowsIn: deliveries },
    ...(["sold", "rejects", "builds", "dealers", "tokens", "options"] as const).map(plain),
  ];
  const tables: Partial<Record<TableName, readonly LakeFile[]>> = {};
  for (const rewrite of rewrites)
    tables[rewrite.table] = [...(tables[rewrite.table] ?? []), ...(await rewriteTable(staging, version, rewrite))];
  return tables;
}

/** Returns the partition of a file in the current format, which has months instead of days. */
const monthOf = (file: LakeFile | undefined): string | null =>
  file?.partition == null ? null : calendarMonth(file.partition);

/** Rewrites each partition of a table. Returns the files. */
async function rewriteTable(
  staging: Writer,
  version: string,
  { table, files = [], rowsIn }: Rewrite,
): Promise<readonly LakeFile[]> {
  const written: LakeFile[] = [];
  for (const partition of [...new Set(files.map(monthOf))]) {
    const rows = rowsIn(files.filter((file) => monthOf(file) === partition));
    const sorted = tableOf(table).order.includes("trim") ? withTrim(rows) : rows;
    written.push(...(await writeSplit(staging, version, { table, partition, rows: sorted })));
  }
  return written;
}

/** Selects the day on which each listing ended without a sale: the first published one after its last copy. */
function endedOn({ ended = [], snapshots = [], missing = [] }: FormerTables, lake: string): Sql {
  const days = (table: "snapshots" | "missing", files: readonly LakeFile[], key: string): Sql =>
    sql`SELECT id, ${ident(key)}::DATE AS "day" FROM (${formerRows(table, files, lake, key)})`;
  return sql`
    SELECT id, min(published_days."day") AS ended_on FROM (
      SELECT id, max("day") AS last_day FROM (${join([days("snapshots", snapshots, "snapshot_date"), days("missing", missing, "as_of")], sql` UNION ALL `)})
      WHERE id IN (SELECT id FROM (${rowsOfFiles("missing", ended, lake)})) GROUP BY id)
    JOIN published_days ON published_days."day" > last_day GROUP BY id`;
}

/** Selects ids and days of copies. */
const formerRows = (table: "snapshots" | "missing", files: readonly LakeFile[], lake: string, key: string): Sql =>
  table === "snapshots"
    ? sql`SELECT id, valid_from AS ${ident(key)} FROM (${rowsOfFiles("listings", files, lake)})`
    : files.length === 0
      ? sql`SELECT NULL::VARCHAR AS id, NULL::DATE AS ${ident(key)} WHERE false`
      : sql`SELECT replace(id::VARCHAR, '-', '') AS id, ${ident(key)} FROM read_parquet([${join(
          files.map(({ path }) => literal(joinPath(lake, path))),
        )}], union_by_name = true, hive_partitioning = true)`;

/** Links a staged file into the lake, where its version will list it. */
async function linkIntoLake(staging: string, lake: string, path: string): Promise<void> {
  const target = joinPath(lake, path);
  await createFolder(dirname(target));
  await rm(target, { force: true });
  const from = joinPath(staging, path);
  // File systems without hard links. The staged file stays, so that a killed migration continues.
  await link(from, target).catch(() => copyFile(from, target));
  await syncToDisk(target);
  await syncToDisk(dirname(target));
}

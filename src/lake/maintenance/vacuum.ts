/**
 * Vacuum: removes days that the retention policy expires, versions too old to replay from, and files that only those versions list.
 *
 * Publishes a manifest without the expired days first. A file is removed only after every version that lists it has been superseded for a
 * grace period, so that a server that still reads such a version is not interrupted.
 */
import { rm, stat } from "node:fs/promises";
import { plusDays } from "../../base/day.ts";
import { isNotFound } from "../../base/files.ts";
import { stageIcebergMetadata } from "../iceberg/stage.ts";
import { type Manifest, manifestPath, readManifest, type TableFiles, versionsIn } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import { type TableName, tableNames, tableOf } from "../tables.ts";
import { nextManifest, publish, removeOrphans, type Writer } from "../writer/writer.ts";

/** Retention policy, counted back from the as-of date. Days beyond both periods are kept once per month. */
export interface Retention {
  /** Number of days for which every day is kept. */
  readonly dailyDays: number;
  /** Number of days before those for which one day per week is kept. */
  readonly weeklyDays: number;
  /** Number of days whose versions are kept, to replay from. */
  readonly versionDays: number;
}

export const defaultRetention: Retention = { dailyDays: 400, weeklyDays: 730, versionDays: 14 };

export interface VacuumResult {
  /** The published version, new if any day was removed. */
  readonly version: string;
  /** Days removed. */
  readonly days: readonly string[];
  /** Versions removed, newest first. */
  readonly versions: readonly string[];
  /** Number of files removed. */
  readonly files: number;
}

/** Tables partitioned by day. */
const dailyTables = tableNames.filter((table) =>
  ["snapshot_date", "as_of", "claim_date", "delivery_date"].includes(tableOf(table).partition ?? ""),
);

/**
 * Returns the days to keep: every day of the daily period, then the last day of each week, then the last day of each month. The as-of
 * date is always kept.
 */
export function keptDays(
  days: readonly string[],
  asOf: string,
  { dailyDays, weeklyDays }: Retention,
): ReadonlySet<string> {
  const [dailyFrom, weeklyFrom] = [plusDays(asOf, 1 - dailyDays), plusDays(asOf, 1 - dailyDays - weeklyDays)];
  const lastDayOfPeriod = new Map<string, string>();
  for (const day of [...days].sort()) {
    const week = String(Math.floor(Date.parse(`${day}T00:00:00Z`) / (7 * 86_400_000)));
    lastDayOfPeriod.set(day >= dailyFrom ? day : day >= weeklyFrom ? `week ${week}` : `month ${day.slice(0, 7)}`, day);
  }
  return new Set([...lastDayOfPeriod.values(), asOf]);
}

/**
 * Vacuums the lake. `nowMs` is the current time, `graceMs` the time a version must have been superseded before it is removed. Throws a
 * UserError if nothing has been published.
 */
export async function vacuum(
  writer: Writer,
  retention: Retention,
  nowMs: number,
  graceMs: number,
): Promise<VacuumResult> {
  const published = await requireManifest(writer.lake);
  const { tables, removedDays } = removeExpiredDays(published, retention);
  const manifest =
    removedDays.length === 0 ? published : { ...nextManifest(writer, published, published.as_of), tables };
  if (manifest !== published) await publish(writer.lake, manifest);
  const versions = await removeOldVersions(writer.lake, manifest, {
    versionDays: retention.versionDays,
    nowMs,
    graceMs,
  });
  const { removed } = await removeOrphans(writer.lake);
  return { version: manifest.version, days: removedDays, versions, files: removed };
}

/** Returns the tables without the expired days, and those days. */
function removeExpiredDays(
  { tables, as_of }: Manifest,
  retention: Retention,
): { tables: TableFiles; removedDays: readonly string[] } {
  const days = tables.deliveries.map((file) => file.partition ?? "");
  const kept = keptDays(days, as_of, retention);
  const removedDays = days.filter((day) => !kept.has(day));
  const remaining = Object.fromEntries(
    dailyTables.map((table) => [table, tables[table].filter((file) => kept.has(file.partition ?? ""))] as const),
  ) as Partial<Record<TableName, TableFiles[TableName]>>;
  return { tables: { ...tables, ...remaining }, removedDays };
}

/** Which versions are removed, and the current time. */
export interface VersionRetention extends Pick<Retention, "versionDays"> {
  readonly nowMs: number;
  /** The time for which a version must have been superseded. */
  readonly graceMs: number;
}

/**
 * Removes the manifests of expired versions, oldest first, so that the remaining ones always form an unbroken chain. Iceberg metadata
 * leaves their snapshots out before. Returns the versions, newest first.
 */
export async function removeOldVersions(
  lake: string,
  published: Manifest,
  retention: VersionRetention,
): Promise<readonly string[]> {
  const expired = await expiredVersions(lake, published, retention);
  if (expired.length === 0) return expired;
  const commit = await stageIcebergMetadata(lake, published, { expired });
  await commit();
  for (const version of [...expired].reverse()) await rm(manifestPath(lake, version));
  return expired;
}

async function expiredVersions(
  lake: string,
  published: Manifest,
  { versionDays, nowMs, graceMs }: VersionRetention,
): Promise<readonly string[]> {
  const existing = new Set(await versionsIn(lake));
  const keptFrom = plusDays(published.as_of, 1 - versionDays);
  const expired: string[] = [];
  let successorMs = await publishedMs(lake, published.version);
  let isExpired = false;
  for (let version = published.previous; version !== null && existing.has(version); ) {
    const manifest: Manifest = await readManifest(lake, version);
    isExpired ||= manifest.as_of < keptFrom && nowMs - successorMs >= graceMs;
    successorMs = await publishedMs(lake, version);
    if (isExpired) expired.push(version);
    version = manifest.previous;
  }
  return expired;
}

/** Returns when a version was published, which is also when its predecessor was superseded; 0 if its manifest does not exist. */
async function publishedMs(lake: string, version: string): Promise<number> {
  try {
    return (await stat(manifestPath(lake, version))).mtimeMs;
  } catch (thrown) {
    if (isNotFound(thrown)) return 0;
    throw thrown;
  }
}

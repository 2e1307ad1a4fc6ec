/**
 * Removes what no kept version needs: days that the retention policy lets go, versions that are too old to go back to, and the
 * files that only those held.
 *
 * First a manifest without them is published; files go when the versions that name them have been out of service for a grace
 * period, so that a server still answering from one of them loses nothing.
 */
import { rm, stat } from "node:fs/promises";
import { plusDays } from "../../base/day.ts";
import { isNotFound } from "../../base/files.ts";
import { UserError } from "../../base/user-error.ts";
import {
  currentManifest,
  type Manifest,
  manifestPath,
  readManifest,
  type TableFiles,
  versionsIn,
} from "../manifest.ts";
import { type TableName, tableNames, tableOf } from "../tables.ts";
import { nextManifest, publish, removeOrphans, type Writer } from "../writer/writer.ts";

/** Which days are kept, counted back from the published one; older ones are kept once a month. */
export interface Retention {
  /** Every day for so many days, */
  readonly dailyDays: number;
  /** then one day a week for so many days more. */
  readonly weeklyDays: number;
  /** Versions of so many days stay, to replay from. */
  readonly versionDays: number;
}

export const defaultRetention: Retention = { dailyDays: 400, weeklyDays: 730, versionDays: 14 };

export interface VacuumResult {
  readonly version: string;
  readonly days: readonly string[];
  readonly versions: readonly string[];
  readonly files: number;
}

/** Tables that have a file for each day. */
const daily = tableNames.filter((table) =>
  ["snapshot_date", "as_of", "claim_date", "delivery_date"].includes(tableOf(table).partition ?? ""),
);

/**
 * The days that stay of those there are, by the policy: every day for a while, then the last day of each week, then of each
 * month. The published day always stays.
 */
export function keptDays(
  days: readonly string[],
  asOf: string,
  { dailyDays, weeklyDays }: Retention,
): ReadonlySet<string> {
  const [dailyFrom, weeklyFrom] = [plusDays(asOf, 1 - dailyDays), plusDays(asOf, 1 - dailyDays - weeklyDays)];
  const spans = new Map<string, string>();
  for (const day of [...days].sort()) {
    const week = String(Math.floor(Date.parse(`${day}T00:00:00Z`) / (7 * 86_400_000)));
    spans.set(day >= dailyFrom ? day : day >= weeklyFrom ? `week ${week}` : `month ${day.slice(0, 7)}`, day);
  }
  return new Set([...spans.values(), asOf]);
}

/** Vacuums as the lake's writer. `nowMs` is the time, `graceMs` how long a version must have been out of service. */
export async function vacuum(
  writer: Writer,
  retention: Retention,
  nowMs: number,
  graceMs: number,
): Promise<VacuumResult> {
  const published = await currentManifest(writer.lake);
  if (published === undefined) throw new UserError(`${writer.lake}: nothing has been published yet.`);
  const { tables, gone } = withoutOldDays(published, retention);
  const manifest = gone.length === 0 ? published : { ...nextManifest(writer, published, published.as_of), tables };
  if (manifest !== published) await publish(writer.lake, manifest);
  const versions = await removeOldVersions(writer.lake, manifest, retention, nowMs, graceMs);
  const { removed } = await removeOrphans(writer.lake);
  return { version: manifest.version, days: gone, versions, files: removed };
}

function withoutOldDays(
  { tables, as_of }: Manifest,
  retention: Retention,
): { tables: TableFiles; gone: readonly string[] } {
  const days = tables.deliveries.map((file) => file.partition ?? "");
  const kept = keptDays(days, as_of, retention);
  const gone = days.filter((day) => !kept.has(day));
  const left = Object.fromEntries(
    daily.map((table) => [table, tables[table].filter((file) => kept.has(file.partition ?? ""))] as const),
  ) as Partial<Record<TableName, TableFiles[TableName]>>;
  return { tables: { ...tables, ...left }, gone };
}

/** Removes the manifests of versions of old days, from the oldest on, so that those that stay are a chain. */
async function removeOldVersions(
  lake: string,
  published: Manifest,
  { versionDays }: Retention,
  nowMs: number,
  graceMs: number,
): Promise<readonly string[]> {
  const known = new Set(await versionsIn(lake));
  const keptFrom = plusDays(published.as_of, 1 - versionDays);
  const removed: string[] = [];
  let successorMs = await publishedMs(lake, published.version);
  let isOld = false;
  for (let version = published.previous; version !== null && known.has(version); ) {
    const manifest: Manifest = await readManifest(lake, version);
    isOld ||= manifest.as_of < keptFrom && nowMs - successorMs >= graceMs;
    successorMs = await publishedMs(lake, version);
    if (isOld) removed.push(version);
    version = manifest.previous;
  }
  for (const version of [...removed].reverse()) await rm(manifestPath(lake, version));
  return removed;
}

/** When a version was published; since then the one before it is out of service. */
async function publishedMs(lake: string, version: string): Promise<number> {
  try {
    return (await stat(manifestPath(lake, version))).mtimeMs;
  } catch (thrown) {
    if (isNotFound(thrown)) return 0;
    throw thrown;
  }
}

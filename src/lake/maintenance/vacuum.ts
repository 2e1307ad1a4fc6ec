/**
 * Vacuum: removes months that the retention policy expires, versions too old to replay from, and files that only those versions list.
 *
 * Publishes a manifest without the expired months first. A file is removed only after every version that lists it has been superseded for a
 * grace period, so that a server that still reads such a version is not interrupted.
 */
import { rm } from "node:fs/promises";
import { plusDays } from "../../base/day.ts";
import { type Manifest, manifestPath, publishedAtMs, readManifest, type TableFiles, versionsIn } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import type { TableName } from "../tables.ts";
import { nextManifest, publish, removeOrphans, type Writer } from "../writer/writer.ts";

/** Retention policy, counted back from the as-of date. */
export interface Retention {
  /** Number of months of history that are kept, that of the as-of date included; undefined keeps everything. */
  readonly months?: number | undefined;
  /** Number of days whose versions are kept, to replay from. */
  readonly versionDays: number;
}

export interface VacuumResult {
  /** The published version, new if any day was removed. */
  readonly version: string;
  readonly days: readonly string[];
  /** Versions removed, newest first. */
  readonly versions: readonly string[];
  readonly files: number;
}

/** Tables of the past, in partitions of months. What was sold or has ended is kept. */
const tablesOfThePast = ["past_listings", "contenders", "feeds", "rejects"] as const satisfies readonly TableName[];

/** Returns the first month that is kept, as `2026-11`; undefined if all are. */
export function firstKeptMonth(asOf: string, { months }: Retention): string | undefined {
  if (months === undefined) return undefined;
  const [year = 0, month = 0] = asOf.split("-").map(Number);
  return new Date(Date.UTC(year, month - months, 1)).toISOString().slice(0, "YYYY-MM".length);
}

/**
 * Vacuums the lake. `nowMs` is the current time, `graceMs` the time a version must have been superseded before it is removed.
 * `complete` returns a new version's manifest with the files that are derived from its tables. Throws a UserError if nothing has been published.
 */
export async function vacuum(
  writer: Writer,
  retention: Retention,
  nowMs: number,
  graceMs: number,
  complete: (manifest: Manifest) => Promise<Manifest> = async (manifest) => manifest,
): Promise<VacuumResult> {
  const published = await requireManifest(writer.lake);
  const { removedDays, ...remaining } = removeExpiredDays(published, retention);
  const manifest =
    removedDays.length === 0
      ? published
      : await complete({ ...nextManifest(writer, published, published.as_of), ...remaining });
  if (manifest !== published) await publish(writer.lake, manifest);
  const versions = await removeOldVersions(writer.lake, manifest, {
    versionDays: retention.versionDays,
    nowMs,
    graceMs,
  });
  const { removed } = await removeOrphans(writer.lake);
  return { version: manifest.version, days: removedDays, versions, files: removed };
}

/** Returns the tables and days without those before the first kept month, and the removed days. */
function removeExpiredDays(
  { tables, days, as_of }: Manifest,
  retention: Retention,
): Pick<Manifest, "tables" | "days"> & { readonly removedDays: readonly string[] } {
  const first = firstKeptMonth(as_of, retention) ?? "";
  const removedDays = Object.keys(days).filter((day) => day < first);
  const kept = tablesOfThePast.map((table) => [
    table,
    tables[table].filter(({ partition }) => (partition ?? "") >= first),
  ]);
  return {
    tables: { ...tables, ...(Object.fromEntries(kept) as Partial<TableFiles>) },
    days: Object.fromEntries(Object.entries(days).filter(([day]) => day >= first)),
    removedDays,
  };
}

/** The retention of versions, and the current time. */
export interface VersionRetention extends Pick<Retention, "versionDays"> {
  readonly nowMs: number;
  /** The time for which a version must have been superseded. */
  readonly graceMs: number;
}

/** Removes the manifests of expired versions, oldest first, so that the remaining ones always form an unbroken chain. Returns the versions, newest first. */
export async function removeOldVersions(
  lake: string,
  published: Manifest,
  retention: VersionRetention,
): Promise<readonly string[]> {
  const expired = await expiredVersions(lake, published, retention);
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
  let successorMs = await publishedAtMs(lake, published.version);
  let isExpired = false;
  for (let version = published.previous; version !== null && existing.has(version); ) {
    const manifest: Manifest = await readManifest(lake, version);
    isExpired ||= manifest.as_of < keptFrom && nowMs - successorMs >= graceMs;
    successorMs = await publishedAtMs(lake, version);
    if (isExpired) expired.push(version);
    version = manifest.previous;
  }
  return expired;
}

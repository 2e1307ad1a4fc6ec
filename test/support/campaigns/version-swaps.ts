/**
 * Publishes days in another process while clients search. Every other version has no serving files, the first among
 * them. All listings of a day have one price, so that every row of an answer identifies its day.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { plusDays } from "../../../src/base/day.ts";
import { currentPath, readManifest } from "../../../src/lake/manifest.ts";
import { Chance } from "../chance.ts";
import { carquet } from "../command-line.ts";
import type { Page } from "../http/paging.ts";
import { type Client, startService } from "../http/service.ts";
import { captureServingLog, type OpenedVersion } from "../implementations.ts";
import { type FeedRow, writeFeeds } from "../lakes/feeds.ts";
import { ingestPath, samplePath, temporaryFolder } from "../lakes/lakes.ts";
import type { Scope } from "../scope.ts";

export interface SwapOptions {
  /** Number of days published while clients search; even, so that the last has serving files. */
  readonly days: number;
  readonly clients: number;
  readonly seed: number;
  /** Pause of a client after each answer. */
  readonly pauseMs?: number;
}

export interface SwapSummary {
  readonly answers: number;
  /** Number of versions that clients got answers from. */
  readonly versionsSeen: number;
  /** Number of opened versions by source of answers. */
  readonly openedWith: Readonly<Record<"index" | "parquet", number>>;
  readonly slowestAnswerMs: number;
  /** Time from publishing the last version to the first answer from it. */
  readonly lastVersionServedMs: number;
}

const firstDay = "2026-12-01";
/** Maximum wait for the last version. */
const servedWithinMs = 60_000;

const dayAt = (order: number): string => plusDays(firstDay, order);
const orderOf = (version: string): number =>
  (Date.parse(version.slice(0, firstDay.length)) - Date.parse(firstDay)) / 86_400_000;
const priceOf = (day: string): number => 20_000 + orderOf(day);

const sampleOf = (table: string): readonly FeedRow[] =>
  parse(readFileSync(join(samplePath, "2026-11-19", `${table}.csv`)), { columns: true });

/** Writes feeds for some days: a random selection of the sample's vehicles, all at the day's price. */
async function deliverDays(folder: string, first: number, last: number, chance: Chance): Promise<void> {
  const dealers = sampleOf("dealers");
  const inventory = sampleOf("inventory");
  for (let order = first; order <= last; order += 1) {
    const day = dayAt(order);
    const rows = inventory.filter(() => chance.happens(0.85)).map((row) => ({ ...row, price: priceOf(day) }));
    await writeFeeds(folder, day, { dealers, inventory: rows });
  }
}

/** Returns the number of active listings in a version's manifest. */
export async function publishedTotal(lake: string, version: string): Promise<number> {
  const { days, as_of } = await readManifest(lake, version);
  return days[as_of] ?? 0;
}

/** Observations of all clients. */
class Observations {
  isStopped = false;
  answers = 0;
  slowestAnswerMs = 0;
  /** Time of the first answer from each version. */
  readonly versions = new Map<string, number>();
  private readonly totals = new Map<string, Promise<number>>();

  constructor(private readonly lake: string) {}

  total(version: string): Promise<number> {
    const known = this.totals.get(version) ?? publishedTotal(this.lake, version);
    this.totals.set(version, known);
    return known;
  }

  record(version: string, ms: number): void {
    this.answers += 1;
    this.slowestAnswerMs = Math.max(this.slowestAnswerMs, ms);
    if (!this.versions.has(version)) this.versions.set(version, Date.now());
  }
}

const sorts = ["days_on_market", "-listed_at", "price", "-miles", "msrp", "discount"];

async function searchContinuously(client: Client, seen: Observations, chance: Chance, pauseMs: number): Promise<void> {
  let latest = "";
  while (!seen.isStopped) {
    const startedAtMs = performance.now();
    const limit = chance.integer(1, 30);
    const offset = chance.integer(0, 150);
    const path = `/v1/listings?fields=price&sort=${chance.pick(sorts)}&limit=${limit}&offset=${offset}`;
    const { data, pagination, meta }: Page = await client.getBody("searchListings", path);
    seen.record(meta.data_version, performance.now() - startedAtMs);
    const at = `${path} of ${meta.data_version}`;
    assert.equal(meta.data_version, `${meta.as_of}.1`, at);
    assert.equal(pagination.total, await seen.total(meta.data_version), at);
    for (const { price, id } of data) assert.equal(price, priceOf(meta.as_of), `${at}: ${id}`);
    assert.ok(meta.data_version >= latest, `${at}, after ${latest}`);
    latest = meta.data_version;
    await sleep(pauseMs);
  }
}

/** Ingests two days per run, of which only the second has serving files, until the clients stop. */
async function publishInPairs(folders: readonly string[], lake: string, seen: Observations): Promise<void> {
  for (const folder of folders) {
    if (seen.isStopped) return;
    const { code, err } = await carquet(["ingest", folder, "--lake", lake, "--threads", "1"], { withinMs: 120_000 });
    assert.equal(code, 0, err);
  }
}

/** Fails unless each opened version used the index and the row store exactly if it has serving files. */
async function assertOpenedVersions(
  lake: string,
  opened: readonly OpenedVersion[],
): Promise<SwapSummary["openedWith"]> {
  for (const { version, index, rows } of opened) {
    const isServed = (await readManifest(lake, version)).serving.some(({ kind }) => kind === "index");
    assert.equal(isServed, orderOf(version) % 2 === 0 && orderOf(version) > 0, `${version} has serving files`);
    assert.deepEqual({ index, rows }, { index: isServed, rows: isServed }, version);
  }
  const indexed = opened.filter(({ index }) => index).length;
  return { index: indexed, parquet: opened.length - indexed };
}

/** Publishes days while clients search; fails if a request fails or an answer is not from one published version. */
export async function swapWhileServing(
  scope: Scope,
  { days, clients, seed, pauseMs = 0 }: SwapOptions,
): Promise<SwapSummary> {
  const chance = new Chance(seed);
  const folder = await temporaryFolder(scope);
  const before = join(folder, "before");
  const lake = join(folder, "lake");
  const pairs = Array.from({ length: days / 2 }, (_, pair) => join(folder, `pair-${pair}`));
  await deliverDays(before, 0, 0, chance);
  for (const [pair, path] of pairs.entries()) await deliverDays(path, 2 * pair + 1, 2 * pair + 2, chance);
  await ingestPath(lake, before, { hasServingFiles: false });
  const { logger, opened } = captureServingLog();
  const client = await startService(scope, lake, { logger });
  const seen = new Observations(lake);
  const searching = Array.from({ length: clients }, () =>
    searchContinuously(client, seen, new Chance(chance.integer(0, 2 ** 31)), pauseMs),
  );
  const publishing = publishInPairs(pairs, lake, seen);
  const last = `${dayAt(days)}.1`;
  try {
    await Promise.race([publishing, Promise.all(searching)]);
    const untilMs = Date.now() + servedWithinMs;
    while (!seen.versions.has(last) && Date.now() < untilMs) await sleep(5);
  } finally {
    seen.isStopped = true;
    await Promise.allSettled([publishing, ...searching]);
  }
  await Promise.all(searching);
  const lastVersionServedMs =
    (seen.versions.get(last) ?? Number.POSITIVE_INFINITY) - (await stat(currentPath(lake))).mtimeMs;
  assert.ok(seen.versions.has(last), `${last} was not served within ${servedWithinMs} ms`);
  const { answers, slowestAnswerMs, versions } = seen;
  const openedWith = await assertOpenedVersions(lake, opened());
  return { answers, versionsSeen: versions.size, openedWith, slowestAnswerMs, lastVersionServedMs };
}

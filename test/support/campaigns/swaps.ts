/**
 * A market that is published day after day by another process while clients search it without pause: every other version without serving
 * files, the first among them, and every other version with them. Each day's price is the
 * same for all of its listings and no other day's, so that every row of an answer tells which day it is of.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { plusDays } from "../../../src/base/day.ts";
import { currentPath, readManifest } from "../../../src/lake/manifest.ts";
import { filesIn } from "../../../src/lake/views.ts";
import { Chance } from "../../oracle/random-market/chance.ts";
import { carquet } from "../command-line.ts";
import { type OpenedVersion, servingLog } from "../implementations.ts";
import { deliver, type FeedRow } from "../lakes/feeds.ts";
import { ingestPath, samplePath, temporaryFolder } from "../lakes/lakes.ts";
import type { Page } from "../paging.ts";
import type { Scope } from "../scope.ts";
import { type Client, serviceOf } from "../service.ts";

export interface SwapOptions {
  /** How many are published while the clients search; even, so that the last has serving files. */
  readonly days: number;
  readonly clients: number;
  readonly seed: number;
}

export interface Swapped {
  readonly answers: number;
  /** How many versions the clients got answers from. */
  readonly versionsSeen: number;
  /** How many of the versions that came into service were searched by the index, and how many from Parquet. */
  readonly openedWith: Readonly<Record<"index" | "parquet", number>>;
  readonly slowestAnswerMs: number;
  /** From the publishing of the last version to the first answer from it. */
  readonly lastVersionServedMs: number;
}

const firstDay = "2026-12-01";
/** How long to wait for the last version; far more than it takes. */
const servedWithinMs = 60_000;

const dayOf = (order: number): string => plusDays(firstDay, order);
const orderOf = (version: string): number =>
  (Date.parse(version.slice(0, firstDay.length)) - Date.parse(firstDay)) / 86_400_000;
const priceOf = (day: string): number => 20_000 + orderOf(day);

const sampleOf = (table: string): readonly FeedRow[] =>
  parse(readFileSync(join(samplePath, "2026-11-19", `${table}.csv`)), { columns: true });

/** Writes feeds for some days: most of the sample's vehicles, other ones each day, all at the day's price. */
async function deliverDays(folder: string, first: number, last: number, chance: Chance): Promise<void> {
  const [dealers, inventory] = [sampleOf("dealers"), sampleOf("inventory")];
  for (let order = first; order <= last; order += 1) {
    const day = dayOf(order);
    const rows = inventory.filter(() => chance.happens(0.85)).map((row) => ({ ...row, price: priceOf(day) }));
    await deliver(folder, day, { dealers, inventory: rows });
  }
}

/** How many active listings a version was published with. */
export async function publishedTotal(lake: string, version: string): Promise<number> {
  const { tables, as_of } = await readManifest(lake, version);
  return filesIn(tables, "snapshots", as_of).reduce((total, { rows }) => total + rows, 0);
}

/** What the clients have seen between them. */
class Seen {
  isOver = false;
  answers = 0;
  slowestAnswerMs = 0;
  /** When the first answer from a version came, by the clock. */
  readonly versions = new Map<string, number>();
  private readonly totals = new Map<string, Promise<number>>();

  constructor(private readonly lake: string) {}

  total(version: string): Promise<number> {
    const known = this.totals.get(version) ?? publishedTotal(this.lake, version);
    this.totals.set(version, known);
    return known;
  }

  note(version: string, ms: number): void {
    this.answers += 1;
    this.slowestAnswerMs = Math.max(this.slowestAnswerMs, ms);
    if (!this.versions.has(version)) this.versions.set(version, Date.now());
  }
}

const sorts = ["days_on_market", "-listed_at", "price", "-miles", "msrp", "discount"];

async function searchWithoutPause(client: Client, seen: Seen, chance: Chance): Promise<void> {
  let latest = "";
  while (!seen.isOver) {
    const startedAtMs = performance.now();
    const [limit, offset] = [chance.integer(1, 30), chance.integer(0, 150)];
    const path = `/v1/listings?fields=price&sort=${chance.pick(sorts)}&limit=${limit}&offset=${offset}`;
    const { data, pagination, meta }: Page = await client.found("searchListings", path);
    seen.note(meta.version, performance.now() - startedAtMs);
    const at = `${path} of ${meta.version}`;
    assert.equal(meta.version, `${meta.as_of}.1`, at);
    assert.equal(pagination.total, await seen.total(meta.version), at);
    for (const { price, id } of data) assert.equal(price, priceOf(meta.as_of), `${at}: ${id}`);
    assert.ok(meta.version >= latest, `${at}, after ${latest}`);
    latest = meta.version;
  }
}

/** Ingests two days at a time, of which only the second has serving files, until the clients have ended. */
async function publishInPairs(folders: readonly string[], lake: string, seen: Seen): Promise<void> {
  for (const folder of folders) {
    if (seen.isOver) return;
    const { code, err } = await carquet(["ingest", folder, "--lake", lake, "--threads", "1"], { withinMs: 40_000 });
    assert.equal(code, 0, err);
  }
}

/** Fails unless versions were opened in order, with the index and the row store where they have serving files, and without either elsewhere. */
async function checkOpened(lake: string, opened: readonly OpenedVersion[]): Promise<Swapped["openedWith"]> {
  for (const { version, index, rows } of opened) {
    const isServed = (await readManifest(lake, version)).serving.some(({ kind }) => kind === "index");
    assert.equal(isServed, orderOf(version) % 2 === 0 && orderOf(version) > 0, `${version} has serving files`);
    assert.deepEqual({ index, rows }, { index: isServed, rows: isServed }, version);
  }
  const indexed = opened.filter(({ index }) => index).length;
  return { index: indexed, parquet: opened.length - indexed };
}

/** Publishes days while clients search; fails when a request fails, or an answer is not of one published version, whole. */
export async function swapWhileServing(scope: Scope, { days, clients, seed }: SwapOptions): Promise<Swapped> {
  const chance = new Chance(seed);
  const folder = await temporaryFolder(scope);
  const [before, lake] = [join(folder, "before"), join(folder, "lake")];
  const pairs = Array.from({ length: days / 2 }, (_, pair) => join(folder, `pair-${pair}`));
  await deliverDays(before, 0, 0, chance);
  for (const [pair, path] of pairs.entries()) await deliverDays(path, 2 * pair + 1, 2 * pair + 2, chance);
  await ingestPath(lake, before, { hasServingFiles: false });
  const { logger, opened } = servingLog();
  const client = await serviceOf(scope, lake, { logger });
  const seen = new Seen(lake);
  const searching = Array.from({ length: clients }, () =>
    searchWithoutPause(client, seen, new Chance(chance.integer(0, 2 ** 31))),
  );
  const publishing = publishInPairs(pairs, lake, seen);
  const last = `${dayOf(days)}.1`;
  try {
    await Promise.race([publishing, Promise.all(searching)]);
    const untilMs = Date.now() + servedWithinMs;
    while (!seen.versions.has(last) && Date.now() < untilMs) await sleep(5);
  } finally {
    seen.isOver = true;
    await Promise.allSettled([publishing, ...searching]);
  }
  await Promise.all(searching);
  const lastVersionServedMs =
    (seen.versions.get(last) ?? Number.POSITIVE_INFINITY) - (await stat(currentPath(lake))).mtimeMs;
  assert.ok(seen.versions.has(last), `${last} was not served within ${servedWithinMs} ms`);
  const { answers, slowestAnswerMs, versions } = seen;
  const openedWith = await checkOpened(lake, opened());
  return { answers, versionsSeen: versions.size, openedWith, slowestAnswerMs, lastVersionServedMs };
}

/**
 * Kills ingests at random moments, every other one while it builds serving files. After each kill the lake must serve
 * one version, the same from its serving files as from its Parquet files.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { textIn } from "../../../src/base/json.ts";
import { programPath, projectPath } from "../../../src/base/project-files.ts";
import { currentManifest, currentVersion } from "../../../src/lake/manifest.ts";
import { assertSameBothWays } from "../../oracle/compare/both-ways.ts";
import { openBothWays } from "../implementations.ts";
import {
  activeListingsText,
  hashLakeFiles,
  killedLakeFaults,
  lakeFaults,
  unreferencedFiles,
} from "../lakes/contents.ts";
import { icebergVersion } from "../lakes/iceberg.ts";
import { copyLake, ingestPath, queryLake, samplePath } from "../lakes/lakes.ts";
import { withScope } from "../scope.ts";

/** An ingest that was killed, and the lake's version afterwards. */
export interface IngestKill {
  /** Time of the kill after the first output, or after the first serving file. */
  readonly afterMs: number;
  readonly when: "any" | "serving";
  /** The published version after the kill. */
  readonly version: string;
  /** Number of serving files that no version lists. */
  readonly partialFiles: number;
}

export interface KillOptions {
  /** An empty folder. */
  readonly folder: string;
  readonly kills: number;
  /** Seed of the times, which are fractions of an undisturbed ingest. */
  readonly seed: number;
}

const firstDay = "2026-11-18";
const secondDay = "2026-11-19";
const thirdDay = "2026-11-20";

/** Spawns an ingest of one day of the sample. */
export function spawnIngest(lake: string, day: string): ChildProcess {
  const command = [programPath, "ingest", samplePath, "--day", day, "--lake", lake];
  return spawn(process.execPath, command, { cwd: projectPath("."), stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Kills the ingest of a day repeatedly, each time on a copy of the previous day's lake. Fails unless the lake then
 * serves the previous or the new day, and the next ingest writes the same files as an undisturbed one.
 */
export async function killIngests({ folder, kills, seed }: KillOptions): Promise<readonly IngestKill[]> {
  const reference = { before: join(folder, "before"), after: join(folder, "after") };
  await ingestPath(reference.before, samplePath, { day: firstDay });
  await copyLake(reference.before, reference.after);
  const spanMs = await timeToExit(spawnIngest(reference.after, secondDay));
  const markets = new Map([
    [`${firstDay}.1`, await activeListingsText(reference.before)],
    [`${secondDay}.1`, await activeListingsText(reference.after)],
  ]);
  const contents = await hashLakeFiles(reference.after);
  const random = randomNumbers(seed);
  const survived: IngestKill[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const lake = join(folder, `killed-${kill}`);
    await copyLake(reference.before, lake);
    const when = kill % 2 === 0 ? "any" : "serving";
    const afterMs = Math.round(random() * (when === "any" ? 1.1 * spanMs : servingSpanMs));
    await killAfter(spawnIngest(lake, secondDay), afterMs, when === "serving" ? lake : undefined);
    const what = `seed ${seed}, kill ${kill}, after ${afterMs} of ${Math.round(spanMs)} ms (${when})`;
    const partialFiles = (await unreferencedFiles(lake)).filter((path) => path.startsWith(`serving/${secondDay}`));
    const version = (await currentVersion(lake)) ?? "none";
    assert.equal(await activeListingsText(lake), markets.get(version), `${what}: serves ${version}`);
    const newest = await icebergVersion(lake, "past_listings");
    assert.ok(newest === version || newest === `${firstDay}.1`, `${what}: Iceberg has ${newest} of ${version}`);
    assert.deepEqual(await killedLakeFaults(lake), [], what);
    await assertSameAnswers(lake, what);
    await ingestNext(lake, version, partialFiles, what);
    if (version === `${firstDay}.1`) assert.deepEqual(await hashLakeFiles(lake), contents, what);
    assert.deepEqual(await lakeFaults(lake), [], what);
    await assertSameAnswers(lake, `${what}, ingested again`);
    await rm(lake, { recursive: true });
    survived.push({ afterMs, when, version, partialFiles: partialFiles.length });
  }
  return survived;
}

/** Approximate time of an ingest of the sample from its first serving file to its end. */
const servingSpanMs = 120;

/**
 * Ingests the day after a version; fails unless partial files are gone at the first step and no unreferenced file
 * remains.
 */
async function ingestNext(lake: string, version: string, partialFiles: readonly string[], what: string): Promise<void> {
  const listedBefore = (await currentManifest(lake))?.serving.map(({ path }) => path) ?? [];
  const isFirst = version === `${firstDay}.1`;
  const [path, day] = isFirst ? [samplePath, secondDay] : [join(samplePath, secondDay), thirdDay];
  let remaining: readonly string[] | undefined;
  await ingestPath(lake, path, {
    day,
    onStep: () => {
      remaining ??= partialFiles.filter((file) => existsSync(join(lake, file)));
    },
  });
  assert.deepEqual(remaining, [], `${what}: partial files during the next ingest`);
  const stray = (await unreferencedFiles(lake)).filter((file) => !listedBefore.includes(file));
  assert.deepEqual(stray, [], `${what}: unreferenced files after the next ingest`);
}

/** Pages, facets and look-ups of the sample in every mode. */
const paths = [
  ...["sort=-price&fields=default,features,options_packages", "make=honda,toyota&sort=miles", "exclude_state=CA"],
  ...["inventory_status=sold&include=price_history", `snapshot_date=${firstDay}`],
].map((query) => `/v1/listings?limit=100&${query}`);
const facets = [
  "facets=make,state,year,features,price,miles",
  "facets=make,keywords,price&metric=price.median&sort=metric",
].map((query) => `/v1/facets?${query}`);

/** Fails unless the published version uses all its serving files, and they answer as its Parquet files do. */
async function assertSameAnswers(lake: string, what: string): Promise<void> {
  await withScope(async (scope) => {
    const both = await openBothWays(scope, lake);
    const listings = await queryLake(
      lake,
      "SELECT id, vin FROM active UNION SELECT id, vin FROM sold ORDER BY vin, id LIMIT 5",
    );
    const lookUps = listings.flatMap((row) => [
      `/v1/listings/${textIn(row, "id").replaceAll("-", "")}?include=options,price_history`,
      `/v1/vins/${textIn(row, "vin")}`,
    ]);
    assert.ok(lookUps.length > 0, what);
    await assertSameBothWays([...paths, ...facets, ...lookUps], both, what);
  });
}

/** Waits for a process's first output, which it writes after it has taken the lock. */
async function firstOutput(child: ChildProcess): Promise<void> {
  assert.ok(child.stderr !== null);
  await once(child.stderr, "data");
}

async function timeToExit(child: ChildProcess): Promise<number> {
  const ended = once(child, "exit");
  await firstOutput(child);
  const start = performance.now();
  const [code] = await ended;
  assert.equal(code, 0, "an undisturbed ingest succeeds");
  return performance.now() - start;
}

/** Kills a process after a delay from its first output, or from the lake's first serving file if a lake is given. */
async function killAfter(child: ChildProcess, delayMs: number, lake?: string): Promise<void> {
  const ended = once(child, "exit");
  await (lake === undefined ? firstOutput(child) : Promise.race([firstServingFile(lake), ended]));
  await sleep(delayMs);
  child.kill("SIGKILL");
  await ended;
}

/** Waits for the first file among the serving files of a lake. */
async function firstServingFile(lake: string): Promise<void> {
  let watcher: FSWatcher | undefined;
  try {
    await new Promise<void>((resolve) => {
      watcher = watch(join(lake, "serving"), (_, file) => file?.startsWith(secondDay) && resolve());
    });
  } finally {
    watcher?.close();
  }
}

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

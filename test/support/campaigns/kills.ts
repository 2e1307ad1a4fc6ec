/**
 * Ingests that are killed at random moments, every other one while it builds serving files, and what a lake serves after each: the same
 * from its serving files as from its Parquet files.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { textIn } from "../../../src/base/json.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import { nodeOptions } from "../../../src/base/restart.ts";
import { currentManifest, currentVersion } from "../../../src/lake/manifest.ts";
import { sameBothWays } from "../../oracle/compare/three-ways.ts";
import { answersOf, bothVersionsOf } from "../implementations.ts";
import { contentsOf, faultsOf, marketOf, strayFilesIn } from "../lakes/contents.ts";
import { ask, ingestPath, samplePath } from "../lakes/lakes.ts";
import { withScope } from "../scope.ts";

/** A kill that was survived. */
export interface Kill {
  /** When it came: so long after the first sign of work, or after the first serving file appeared. */
  readonly afterMs: number;
  readonly when: "any" | "serving";
  /** The version that it left. */
  readonly version: string;
  /** Serving files that it left and no version lists. */
  readonly halfBuilt: number;
}

export interface KillOptions {
  /** An empty folder to work in. */
  readonly folder: string;
  readonly kills: number;
  /** Decides the moments, as parts of the time that an ingest takes undisturbed. */
  readonly seed: number;
}

const [firstDay, secondDay, thirdDay] = ["2026-11-18", "2026-11-19", "2026-11-20"] as const;

/** A process that ingests a day of the sample into a lake. */
export function ingestingProcess(lake: string, day: string): ChildProcess {
  const command = [...nodeOptions(), projectPath("src/main.ts"), "ingest", samplePath, "--day", day, "--lake", lake];
  return spawn(process.execPath, command, { cwd: projectPath("."), stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Kills the ingest of a day as often as asked, each time on a lake as it was the day before. Fails unless the lake then serves
 * the day before or the new day, whole, and the next ingest leaves the same files as one that was never disturbed.
 */
export async function killIngests({ folder, kills, seed }: KillOptions): Promise<readonly Kill[]> {
  const undisturbed = { before: join(folder, "before"), after: join(folder, "after") };
  await ingestPath(undisturbed.before, samplePath, { day: firstDay });
  await cp(undisturbed.before, undisturbed.after, { recursive: true });
  const spanMs = await untilItEnds(ingestingProcess(undisturbed.after, secondDay));
  const markets = new Map([
    [`${firstDay}.1`, await marketOf(undisturbed.before)],
    [`${secondDay}.1`, await marketOf(undisturbed.after)],
  ]);
  const contents = await contentsOf(undisturbed.after);
  const random = randomNumbers(seed);
  const survived: Kill[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const lake = join(folder, `killed-${kill}`);
    await cp(undisturbed.before, lake, { recursive: true });
    const when = kill % 2 === 0 ? "any" : "serving";
    const afterMs = Math.round(random() * (when === "any" ? 1.1 * spanMs : servingSpanMs));
    await killAfter(ingestingProcess(lake, secondDay), afterMs, when === "serving" ? lake : undefined);
    const what = `seed ${seed}, kill ${kill}, after ${afterMs} of ${Math.round(spanMs)} ms (${when})`;
    const halfBuilt = (await strayFilesIn(lake)).filter((path) => path.startsWith(`serving/${secondDay}`));
    const version = (await currentVersion(lake)) ?? "none";
    assert.equal(await marketOf(lake), markets.get(version), `${what}: serves ${version}`);
    assert.deepEqual(await faultsOf(lake), [], what);
    await answersAlike(lake, what);
    await ingestNext(lake, version, halfBuilt, what);
    if (version === `${firstDay}.1`) assert.deepEqual(await contentsOf(lake), contents, what);
    assert.deepEqual(await faultsOf(lake), [], what);
    await answersAlike(lake, `${what}, ingested anew`);
    await rm(lake, { recursive: true });
    survived.push({ afterMs, when, version, halfBuilt: halfBuilt.length });
  }
  return survived;
}

/** About what an ingest of the sample takes from its first serving file to its end. */
const servingSpanMs = 120;

/** Ingests the day after a version; fails unless half-built files are gone at the first step, and no stray file is left at the end. */
async function ingestNext(lake: string, version: string, halfBuilt: readonly string[], what: string): Promise<void> {
  const listedBefore = (await currentManifest(lake))?.serving.map(({ path }) => path) ?? [];
  const isFirst = version === `${firstDay}.1`;
  const [path, day] = isFirst ? [samplePath, secondDay] : [join(samplePath, secondDay), thirdDay];
  let left: readonly string[] | undefined;
  await ingestPath(lake, path, {
    day,
    onStep: () => {
      left ??= halfBuilt.filter((file) => existsSync(join(lake, file)));
    },
  });
  assert.deepEqual(left, [], `${what}: half-built files while the next writer works`);
  const stray = (await strayFilesIn(lake)).filter((file) => !listedBefore.includes(file));
  assert.deepEqual(stray, [], `${what}: what the next writer leaves, but for serving files that it replaced`);
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

/** Fails unless the published version uses all of its serving files, and they answer as its Parquet files do. */
async function answersAlike(lake: string, what: string): Promise<void> {
  await withScope(async (scope) => {
    const versions = await bothVersionsOf(scope, lake);
    const [served, parquet] = [answersOf(versions.served), answersOf(versions.parquet)];
    const listings = await ask(
      lake,
      "SELECT id, vin FROM active UNION SELECT id, vin FROM sold ORDER BY vin, id LIMIT 5",
    );
    const lookUps = listings.flatMap((row) => [
      `/v1/listings/${textIn(row, "id").replaceAll("-", "")}?include=options,price_history`,
      `/v1/vins/${textIn(row, "vin")}`,
    ]);
    assert.ok(lookUps.length > 0, what);
    for (const path of [...paths, ...facets, ...lookUps]) await sameBothWays(path, served, parquet, what);
    versions.confirm();
  });
}

/** When a process first says what it does; it has taken the lock by then. */
async function firstSign(child: ChildProcess): Promise<void> {
  assert.ok(child.stderr !== null);
  await once(child.stderr, "data");
}

async function untilItEnds(child: ChildProcess): Promise<number> {
  const ended = once(child, "exit");
  await firstSign(child);
  const start = performance.now();
  const [code] = await ended;
  assert.equal(code, 0, "an ingest that nobody disturbs succeeds");
  return performance.now() - start;
}

/** Kills a process so long after its first sign of work, or, in a lake, after its first serving file. */
async function killAfter(child: ChildProcess, delayMs: number, lake?: string): Promise<void> {
  const ended = once(child, "exit");
  await (lake === undefined ? firstSign(child) : Promise.race([firstServingFile(lake), ended]));
  await sleep(delayMs);
  child.kill("SIGKILL");
  await ended;
}

/** When the first file is created among the serving files of a lake. */
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

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

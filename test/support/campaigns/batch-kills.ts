/**
 * Kills ingests of many days at random moments, within batches and while one is published. After each kill the lake has a published day, as an
 * undisturbed ingest has it, and the same command continues there.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { currentVersion, readManifest, versionsIn } from "../../../src/lake/manifest.ts";
import { randomLifecycleFeeds } from "../../lifecycle/random-feeds.ts";
import { Chance } from "../chance.ts";
import { hashLakeFiles, killedLakeFaults, lakeFaults, unreferencedFiles } from "../lakes/contents.ts";
import { writeFeeds } from "../lakes/feeds.ts";
import { temporaryFolder } from "../lakes/lakes.ts";
import { differingFolders } from "../lakes/version-folder.ts";
import type { Scope } from "../scope.ts";

export interface BatchKills {
  readonly kills: number;
  /** How often each version was published after a kill; `none` if the first day was not. */
  readonly versions: ReadonlyMap<string, number>;
}

const market = { days: 7, dealers: 5, cars: 40, dayless: 0 };

/** The times of batches of which one is drawn: each day alone, a few days, all of them. */
const batchTimesMs = [0, 900, 60_000];

/** Kills an ingest a number of times on each lake, then lets it end. */
export async function killBatches(
  scope: Scope,
  { kills, seed }: { readonly kills: number; readonly seed: number },
): Promise<BatchKills> {
  const chance = new Chance(seed);
  const folder = await temporaryFolder(scope);
  for (const { day, feeds } of randomLifecycleFeeds({ ...market, seed })) await writeFeeds(folder, day, feeds);
  const whole = join(await temporaryFolder(scope), "lake");
  const startMs = performance.now();
  await ingestUntil([whole, folder, 60_000]);
  const spanMs = performance.now() - startMs;
  const contents = await contentsOf(whole);
  const last = await currentVersion(whole);
  const versions = new Map<string, number>();
  let lake = "";
  for (let kill = 0; kill < kills; kill += 1) {
    // A lake is killed up to three times: a later kill meets what an earlier one has left.
    if (kill % 3 === 0) lake = join(await temporaryFolder(scope), "lake");
    const afterMs = chance.integer(0, Math.ceil(1.1 * spanMs));
    const batchMs = chance.pick(batchTimesMs);
    if ((await currentVersion(lake)) !== last) await ingestUntil([lake, folder, batchMs], afterMs);
    const what = `seed ${seed}, kill ${kill}, after ${afterMs} of ${Math.round(spanMs)} ms, batches of ${batchMs} ms`;
    const version = (await currentVersion(lake)) ?? "none";
    versions.set(version, (versions.get(version) ?? 0) + 1);
    if (version !== "none") await assertPublished(lake, whole, version, what);
    if (kill % 3 < 2 && kill < kills - 1) continue;
    // Without a later day, the command has nothing to continue with, and fails.
    if (version !== last) await ingestUntil([lake, folder, batchMs]);
    assert.deepEqual(await contentsOf(lake), contents, what);
    assert.deepEqual([await unreferencedFiles(lake), await lakeFaults(lake)], [[], []], what);
  }
  return { kills, versions };
}

/** Fails unless the published version is that of an undisturbed ingest, and so are all before it. */
async function assertPublished(lake: string, whole: string, version: string, what: string): Promise<void> {
  assert.deepEqual(await killedLakeFaults(lake), [], what);
  assert.deepEqual(
    (await readManifest(lake, version)).tables.listings,
    (await readManifest(whole, version)).tables.listings,
  );
  const earlier = (await versionsIn(whole)).filter((name) => name < version);
  const kept = new Set(await versionsIn(lake));
  assert.deepEqual(
    earlier.filter((name) => !kept.has(name)),
    [],
    `${what}: days before ${version}`,
  );
}

/** Returns the hashes of a lake's files but views, which only the versions that ended a batch have, and valuations, which only the last day has. */
async function contentsOf(lake: string): Promise<readonly string[]> {
  assert.deepEqual(await differingFolders(lake), []);
  return Object.entries(await hashLakeFiles(lake)).flatMap(([path, hash]) =>
    path.endsWith(".sql") ? [] : `${path} ${hash}`,
  );
}

/** Runs an ingest, which is killed after a time from its first step if it still runs. Fails if the ingest does. */
async function ingestUntil(parameters: readonly [string, string, number], afterMs?: number): Promise<void> {
  const ending = extname(import.meta.filename);
  const program = join(import.meta.dirname, `ingest-batches${ending}`);
  const command = [...(ending === ".ts" ? ["--import", "tsx/esm"] : []), program, ...parameters.map(String)];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  if (afterMs !== undefined) {
    await Promise.race([once(child.stdout, "data"), ended]);
    child.stdout.resume();
    await Promise.race([sleep(afterMs), ended]);
    child.kill("SIGKILL");
  } else child.stdout.resume();
  const [code, signal] = await ended;
  assert.ok(code === 0 || (afterMs !== undefined && signal === "SIGKILL"), `ends with ${code ?? signal}`);
}

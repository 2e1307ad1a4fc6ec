/** Ingests that are killed at random moments, and what a lake serves after each. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { projectPath } from "../../src/base/project.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { currentVersion } from "../../src/lake/manifest.ts";
import { contentsOf, faultsOf, marketOf, strayFilesIn } from "./contents.ts";
import { ingestPath, samplePath } from "./lakes.ts";

/** A kill that was survived: when it came after the first sign of work, and which version it left. */
export interface Kill {
  readonly afterMs: number;
  readonly version: string;
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
    const afterMs = Math.round(random() * 1.1 * spanMs);
    await killAfter(ingestingProcess(lake, secondDay), afterMs);
    const what = `seed ${seed}, kill ${kill}, after ${afterMs} of ${Math.round(spanMs)} ms`;
    const version = (await currentVersion(lake)) ?? "none";
    assert.equal(await marketOf(lake), markets.get(version), `${what}: serves ${version}`);
    assert.deepEqual(await faultsOf(lake), [], what);
    if (version === `${firstDay}.1`) {
      await ingestPath(lake, samplePath, { day: secondDay });
      assert.deepEqual(await contentsOf(lake), contents, what);
    } else {
      await ingestPath(lake, join(samplePath, secondDay), { day: thirdDay });
      assert.deepEqual(await strayFilesIn(lake), [], what);
      assert.deepEqual(await faultsOf(lake), [], what);
    }
    await rm(lake, { recursive: true });
    survived.push({ afterMs, version });
  }
  return survived;
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

async function killAfter(child: ChildProcess, delayMs: number): Promise<void> {
  const ended = once(child, "exit");
  await firstSign(child);
  await sleep(delayMs);
  child.kill("SIGKILL");
  await ended;
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

/**
 * Kills followers at random moments, while connections to their source are cut and servers fail. After each kill the follower's lake must
 * hold one whole version, and the next follower must complete it.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { currentVersion } from "../../../src/lake/manifest.ts";
import type { Chance } from "../chance.ts";
import { spawnCarquet } from "../command-line.ts";
import { activeListingsText, killedLakeFaults, lakeFaults, unreferencedFiles } from "../lakes/contents.ts";
import { ingestPath, samplePath, temporaryFolder } from "../lakes/lakes.ts";
import { createTestFollower } from "../replication/followers.ts";
import { type StaticServer, serverFaults, startStaticServer } from "../replication/static-server.ts";
import type { Scope } from "../scope.ts";

const firstDay = "2026-11-18";
const secondDay = "2026-11-19";

/** The number of kills, and of those after which the lake had the first version, or none, still. */
export interface FollowKills {
  readonly kills: number;
  readonly unfinished: number;
}

/** The longest time after its start at which a follower is killed: starts take most of it. */
const longestMs = 2500;

/** Runs a follower and kills it, a number of times, each time from a lake with the first version or from none. */
export async function killFollowers(scope: Scope, kills: number, chance: Chance): Promise<FollowKills> {
  const folder = await temporaryFolder(scope);
  const source = join(folder, "source");
  const before = join(folder, "before");
  await ingestPath(source, samplePath, { day: firstDay, threads: 1 });
  await cp(source, before, { recursive: true, verbatimSymlinks: true });
  await ingestPath(source, samplePath, { day: secondDay, threads: 1 });
  const first = await activeListingsText(before);
  const second = await activeListingsText(source);
  const server = await startStaticServer(scope, source);
  let unfinished = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const lake = join(folder, `lake-${kill}`);
    const hasFirst = chance.happens(0.5);
    if (hasFirst) await cp(before, lake, { recursive: true, verbatimSymlinks: true });
    server.faultOf = () => (chance.happens(0.2) ? chance.pick(serverFaults) : undefined);
    const afterMs = await followAndKill(server, lake, chance);
    const version = await currentVersion(lake);
    const what = `kill ${kill} after ${afterMs} ms, ${hasFirst ? "from the first version" : "from none"}: ${version}`;
    if (version !== undefined) {
      assert.equal(await activeListingsText(lake), version === `${secondDay}.1` ? second : first, what);
      assert.deepEqual(await killedLakeFaults(lake), [], what);
    } else assert.ok(!hasFirst, what);
    if (version !== `${secondDay}.1`) unfinished += 1;
    await followToEnd(server, lake, what);
    assert.equal(await activeListingsText(lake), second, what);
    await rm(lake, { recursive: true });
  }
  return { kills, unfinished };
}

/** Returns the time after which the follower was killed. */
async function followAndKill({ url }: StaticServer, lake: string, chance: Chance): Promise<number> {
  const args = ["follow", url, "--lake", lake, "--interval", "0.1", "--stall-timeout", "1", "--transfers", "2"];
  const child = spawnCarquet(args, {});
  const ended = once(child, "exit");
  const afterMs = chance.integer(200, longestMs);
  await Promise.race([sleep(afterMs), ended]);
  child.kill("SIGKILL");
  await ended;
  return afterMs;
}

/** Follows without faults; fails unless the lake is then whole, and nothing is left over. */
async function followToEnd(server: StaticServer, lake: string, what: string): Promise<void> {
  server.faultOf = () => undefined;
  await createTestFollower(server.url, lake).follow();
  assert.deepEqual([await lakeFaults(lake), await unreferencedFiles(lake)], [[], []], what);
  assert.ok(!existsSync(join(lake, "incoming")), what);
}

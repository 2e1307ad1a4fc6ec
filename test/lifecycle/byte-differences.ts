/** Byte-level comparison of lakes: of two lakes of the same feeds, and of one lake before and after a replay. */
import { isDeepStrictEqual } from "node:util";
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { hashLakeFiles, lakeFaults } from "../support/lakes/contents.ts";

/** Returns the files that differ between two lakes; empty if all bytes are equal. */
export async function differencesBetween(lake: string, other: string): Promise<readonly string[]> {
  const contents = await hashLakeFiles(lake);
  const others = await hashLakeFiles(other);
  const paths = [...new Set([...Object.keys(contents), ...Object.keys(others)])];
  return paths.filter((path) => contents[path] !== others[path]).map((path) => `${path} is not the same in both lakes`);
}

/** Replays a lake from a day; returns the partitions that changed, and the faults of the lake. */
export async function differencesAfterReplay(lake: string, folder: string, from: string): Promise<readonly string[]> {
  const before = await hashesByPartition(lake);
  await ingest(lake, await deliveriesAt(folder, undefined), { replayFrom: from });
  const after = await hashesByPartition(lake);
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .filter((part) => !isDeepStrictEqual(before.get(part), after.get(part)))
    .map((part) => `${part} is not the same after a replay from ${from}`);
  return [...differences, ...(await lakeFaults(lake))];
}

/** Returns the hashes of the published files, by table and partition. */
async function hashesByPartition(lake: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const parts = new Map<string, readonly string[]>();
  for (const [table, files] of Object.entries((await currentManifest(lake))?.tables ?? {})) {
    for (const { partition, sha256 } of files) {
      const part = partition === null ? table : `${table} of ${partition}`;
      parts.set(part, [...(parts.get(part) ?? []), sha256].sort());
    }
  }
  return parts;
}

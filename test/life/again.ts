/** What does not depend on how a lake came to its days: once each, a second time elsewhere, or again from some day on. */
import { isDeepStrictEqual } from "node:util";
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { contentsOf, faultsOf } from "../support/lakes/contents.ts";

/** How two lakes of the same feeds differ, file by file; empty when all bytes are the same. */
export async function differencesBetween(lake: string, other: string): Promise<readonly string[]> {
  const [contents, others] = [await contentsOf(lake), await contentsOf(other)];
  const paths = [...new Set([...Object.keys(contents), ...Object.keys(others)])];
  return paths.filter((path) => contents[path] !== others[path]).map((path) => `${path} is not the same in both lakes`);
}

/** Replays a lake from a day on; says what is not as it was before, by table, partition and content. */
export async function differencesAfterReplay(lake: string, folder: string, from: string): Promise<readonly string[]> {
  const before = await publishedParts(lake);
  await ingest(lake, await deliveriesAt(folder, undefined), { replayFrom: from });
  const after = await publishedParts(lake);
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .filter((part) => !isDeepStrictEqual(before.get(part), after.get(part)))
    .map((part) => `${part} is not the same after a replay from ${from}`);
  return [...differences, ...(await faultsOf(lake))];
}

/** The contents of the published files of each table's partitions. */
async function publishedParts(lake: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const parts = new Map<string, readonly string[]>();
  for (const [table, files] of Object.entries((await currentManifest(lake))?.tables ?? {})) {
    for (const { partition, sha256 } of files) {
      const part = partition === null ? table : `${table} of ${partition}`;
      parts.set(part, [...(parts.get(part) ?? []), sha256].sort());
    }
  }
  return parts;
}

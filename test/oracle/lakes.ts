/** Lakes of random markets. */
import { join } from "node:path";
import { deliver } from "../support/feeds.ts";
import { type Filled, ingestPath, lakeOf, temporaryFolder } from "../support/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { type Extent, variedFeeds } from "./feeds.ts";

/** A lake that a random market of many days was ingested into at once. */
export async function variedLake(scope: Scope, extent: Extent): Promise<Filled> {
  const folder = await temporaryFolder(scope);
  for (const { day, feeds } of variedFeeds(extent)) await deliver(folder, day, feeds);
  return lakeOf(scope, folder);
}

/** A lake into which a random market is ingested day by day; yields after each day that was published. */
export async function* growingLake(scope: Scope, extent: Extent): AsyncGenerator<{ lake: string; day: string }> {
  const folder = await temporaryFolder(scope);
  const lake = join(folder, "lake");
  for (const { day, feeds } of variedFeeds(extent)) {
    await ingestPath(lake, await deliver(join(folder, "feeds"), day, feeds));
    yield { lake, day };
  }
}

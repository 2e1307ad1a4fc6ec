/** A lake that a random market of many days has gone through. */
import { deliver } from "../support/feeds.ts";
import { type Filled, lakeOf, temporaryFolder } from "../support/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { type Extent, variedFeeds } from "./feeds.ts";

export async function variedLake(scope: Scope, extent: Extent): Promise<Filled> {
  const folder = await temporaryFolder(scope);
  for (const { day, feeds } of variedFeeds(extent)) await deliver(folder, day, feeds);
  return lakeOf(scope, folder);
}

/** Plays a client that syncs each published version incrementally, over the rows of a lake. */
import { textIn } from "../../src/base/json.ts";
import type { LakeRows } from "./lake-rows.ts";

/**
 * Returns the active listings that the client misses: each day it sets `listed_after` to the later of the last version's as-of date and the latest
 * `listed_at` that it has, and keeps the results.
 */
export function listingsMissedBySync({ days, active }: LakeRows): readonly string[] {
  const synced = new Set<string>();
  const missed: string[] = [];
  let listedAfter = "";
  for (const day of days) {
    const listings = [...active(day).values()].map((row) => ({ id: textIn(row, "id"), at: textIn(row, "listed_at") }));
    for (const { id, at } of listings) {
      if (at >= listedAfter) synced.add(id);
      else if (!synced.has(id)) missed.push(`${day}: ${id}, listed at ${at}, is not listed after ${listedAfter}`);
    }
    listedAfter = [listedAfter, `${day} 00:00:00`, ...listings.map(({ at }) => at)].sort().at(-1) ?? "";
  }
  return missed;
}

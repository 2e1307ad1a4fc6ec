/** Serves lakes of small hand-written feeds. */
import { plusDays } from "../../../src/base/day.ts";
import { type Client, startService } from "../http/service.ts";
import type { Scope } from "../scope.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf, writeFeeds } from "./feeds.ts";
import { createLake, temporaryFolder } from "./lakes.ts";

/** A car's columns except its VIN; `dealer_id` defaults to the first dealer. */
export type CarRow = Omit<FeedRow, "vin">;

/** Returns a day's feeds of these cars and dealers, or of one default dealer. */
export function feedsOf(cars: readonly CarRow[], dealers: readonly FeedRow[] = []): Feeds {
  const inventory = cars.map((car, index) => ({ vin: vinOf(index), dealer_id: dealerIdOf(1), ...car }));
  const dealerRows = dealers.length === 0 ? [{ dealer_id: dealerIdOf(1) }] : dealers;
  return { dealers: dealerRows.map((dealer) => ({ name: "A dealer", ...dealer })), inventory };
}

/** Serves consecutive days of feeds, the last of which is 2026-11-19. */
export async function serveFeeds(scope: Scope, ...days: readonly Feeds[]): Promise<Client> {
  const folder = await temporaryFolder(scope);
  for (const [index, feeds] of days.entries()) {
    await writeFeeds(folder, plusDays("2026-11-19", index + 1 - days.length), feeds);
  }
  return startService(scope, (await createLake(scope, folder)).lake);
}

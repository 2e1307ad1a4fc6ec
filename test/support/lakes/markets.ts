/** Small hand-made markets, served. */
import { plusDays } from "../../../src/base/day.ts";
import type { Scope } from "../scope.ts";
import { type Client, serviceOf } from "../service.ts";
import { dealerIdOf, deliver, type FeedRow, type Feeds, vinOf } from "./feeds.ts";
import { lakeOf, temporaryFolder } from "./lakes.ts";

/** A car with what a case says of it: the first dealer's unless it has another, and with a VIN of its own. */
export type Car = Omit<FeedRow, "vin">;

/** The day's feeds of cars, with the dealers that they name; the first of them have the dealers' own columns. */
export function feedsOf(cars: readonly Car[], dealers: readonly FeedRow[] = []): Feeds {
  const inventory = cars.map((car, index) => ({ vin: vinOf(index), dealer_id: dealerIdOf(1), ...car }));
  const described = dealers.length === 0 ? [{ dealer_id: dealerIdOf(1) }] : dealers;
  return { dealers: described.map((dealer) => ({ name: "A dealer", ...dealer })), inventory };
}

/** Serves a market of some days' feeds, the last of which is 2026-11-19. */
export async function serveMarket(scope: Scope, ...days: readonly Feeds[]): Promise<Client> {
  const folder = await temporaryFolder(scope);
  for (const [index, feeds] of days.entries()) {
    await deliver(folder, plusDays("2026-11-19", index + 1 - days.length), feeds);
  }
  return serviceOf(scope, (await lakeOf(scope, folder)).lake);
}

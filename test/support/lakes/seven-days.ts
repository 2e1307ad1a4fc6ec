/** A small lake of seven days over the turn of a month, with cars that are sold and rows that are refused. */
import { plusDays } from "../../../src/base/day.ts";
import type { Scope } from "../scope.ts";
import { dealerIdOf, vinOf, writeFeeds } from "./feeds.ts";
import { createLake, temporaryFolder } from "./lakes.ts";

/** Two days of March and five of April. */
export const sevenDays = Array.from({ length: 7 }, (_, day) => plusDays("2026-03-30", day));

/** Creates the lake, each day of which is published alone. Returns it with the folder of its feeds. */
export async function createLakeOfSevenDays(scope: Scope): Promise<{ readonly lake: string; readonly feeds: string }> {
  const feeds = await temporaryFolder(scope);
  const dealer_id = dealerIdOf(1);
  for (const [index, day] of sevenDays.entries()) {
    const vins = [0, 1, 2, ...(index < 2 ? [9] : []), 20 + index].map(vinOf);
    const inventory = vins.map((vin) => ({ vin, dealer_id, make: "Ford", price: 20_000 + index }));
    const refused = { vin: "short", dealer_id, make: "Ford", price: 1 };
    await writeFeeds(feeds, day, { dealers: [{ dealer_id, name: "North" }], inventory: [...inventory, refused] });
  }
  return { lake: (await createLake(scope, feeds, { batchMs: 0 })).lake, feeds };
}

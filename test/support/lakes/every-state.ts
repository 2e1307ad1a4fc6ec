/** A small lake with listings in every state. */
import { plusDays } from "../../../src/base/day.ts";
import type { Row } from "../../../src/base/json.ts";
import type { Scope } from "../scope.ts";
import { dealerIdOf, vinOf, writeFeeds } from "./feeds.ts";
import { createLake, queryLake, temporaryFolder } from "./lakes.ts";

export interface LakeOfEveryState {
  readonly lake: string;
  /** Every listing: `id`, `vin` and its state. */
  readonly listings: readonly Row[];
}

/** The first of twelve days, of which the last four are in the next month. */
const firstDay = "2026-03-24";

/** Creates a lake of twelve days in which a car is sold every day, one is relisted, and one changes dealers. */
export async function createLakeOfEveryState(scope: Scope): Promise<LakeOfEveryState> {
  const feeds = await temporaryFolder(scope);
  const north = dealerIdOf(1);
  const south = dealerIdOf(2);
  for (let day = 0; day < 12; day += 1) {
    const carsAt = (dealer_id: string, numbers: readonly number[]) =>
      numbers.map((n) => ({
        vin: vinOf(n),
        dealer_id,
        make: n % 2 === 0 ? "Honda" : "",
        model: "Civic",
        price: 20_000 + n,
        features: n % 3 === 0 ? "Heated Seats|Moonroof" : "",
      }));
    const stock = Array.from({ length: 30 }, (_, n) => n + day).filter((n) => n !== 25 || day < 2 || day > 7);
    const inventory = [
      ...carsAt(
        north,
        stock.filter((n) => n !== 35 || day < 8),
      ),
      ...carsAt(south, day < 8 ? [100] : [100, 35]),
    ];
    const dealers = [north, south].map((dealer_id) => ({ dealer_id, name: dealer_id }));
    const options = [{ make: "Honda", code: "SN", name: "Sunroof", msrp: 900 }];
    await writeFeeds(feeds, plusDays(firstDay, day), { dealers, inventory, options });
  }
  const { lake } = await createLake(scope, feeds);
  const listings = await queryLake(
    lake,
    `SELECT id, vin, 'active' AS state FROM active UNION ALL SELECT id, vin, 'missing' FROM missing
     UNION ALL SELECT id, vin, 'sold' FROM sold UNION ALL SELECT id, vin, 'ended' FROM ended ORDER BY vin, id`,
  );
  return { lake, listings };
}

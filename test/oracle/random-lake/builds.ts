/** Random builds: a feed row without dealer, price and miles. */

import type { Chance } from "../../support/chance.ts";
import type { FeedRow } from "../../support/lakes/feeds.ts";
import { catalogue, categories, newMake, randomCategoryValue, randomLists, randomVin } from "./values.ts";

const probabilities = { bare: 0.03, newMake: 0.4 };

const photoUrl = (vin: string, n: number): string => `https://photos.example/${vin}/${n}.jpg?w=100&h=%20`;

/** Returns whether only the VIN of a vehicle is known. */
export const isBare = (build: FeedRow): boolean => Object.keys(build).length === 1;

/** Returns a random build; those that arrive after the first day may have a new make. */
export function randomBuild(chance: Chance, number: number, order: number): FeedRow {
  const vin = randomVin(chance, number);
  if (chance.happens(probabilities.bare)) return { vin };
  const [make, models] =
    order > 0 && chance.happens(probabilities.newMake) ? newMake(order) : chance.pick(Object.entries(catalogue));
  const known = <Value>(value: Value, likelihood = 0.88): Value | "" => (chance.happens(likelihood) ? value : "");
  const texts = Object.entries(categories).map(([field, words]) => [field, known(randomCategoryValue(chance, words))]);
  return {
    vin,
    make: known(make, 0.96),
    model: known(chance.pick(models), 0.96),
    year: known(chance.integer(2017, 2027), 0.95),
    cylinders: known(chance.pick([0, 3, 4, 6, 8])),
    doors: known(chance.pick([2, 3, 4, 5])),
    seating_capacity: known(chance.pick([2, 4, 5, 7, 12])),
    ...Object.fromEntries(texts),
    inventory_type: known(chance.pick(["new", "used", "used", "certified"])),
    availability_status: known(chance.pick(["stock", "stock", "transit", "build"])),
    stock_number: known(chance.pick([`#${chance.integer(1, 99)}/é'"`, `00${chance.integer(1, 99)}`])),
    vdp_url: known(`https://cars.example/${vin}?a=1&b=%2C`),
    photo_urls: Array.from({ length: chance.integer(0, 3) }, (_, n) => photoUrl(vin, n)).join("|"),
    ...randomLists(chance, number),
    ...randomMsrp(chance),
  };
}

/** A full MSRP, a base MSRP, both or none. */
function randomMsrp(chance: Chance): FeedRow {
  const msrp = chance.happens(0.03) ? chance.integer(1000, 2_000_000) : chance.integer(70, 240) * 250;
  return chance.pick<FeedRow>([{ msrp }, { msrp }, { base_msrp: msrp - 500, msrp }, { base_msrp: msrp }, {}]);
}

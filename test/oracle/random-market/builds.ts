/** What a vehicle of a random market is and keeps: a row of a feed without its dealer, its price and its miles. */
import type { FeedRow } from "../../support/lakes/feeds.ts";
import type { Chance } from "./chance.ts";
import { catalogue, categories, listsFrom, newcomer, vinFrom, wordFrom } from "./words.ts";

/** Likelihoods of what a vehicle is. */
const likely = { bare: 0.03, newMake: 0.4 };

const pictureOf = (vin: string, n: number): string => `https://photos.example/${vin}/${n}.jpg?w=100&h=%20`;

/** Whether nothing but the VIN is known of a vehicle. */
export const isBare = (build: FeedRow): boolean => Object.keys(build).length === 1;

/** The vehicle with a number, which comes on the day of an order; those of later days may be of a new make. */
export function buildFrom(chance: Chance, number: number, order: number): FeedRow {
  const vin = vinFrom(chance, number);
  if (chance.happens(likely.bare)) return { vin };
  const [make, models] =
    order > 0 && chance.happens(likely.newMake) ? newcomer(order) : chance.pick(Object.entries(catalogue));
  const known = <Value>(value: Value, likelihood = 0.88): Value | "" => (chance.happens(likelihood) ? value : "");
  const texts = Object.entries(categories).map(([field, words]) => [field, known(wordFrom(chance, words))]);
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
    photo_urls: Array.from({ length: chance.integer(0, 3) }, (_, n) => pictureOf(vin, n)).join("|"),
    ...listsFrom(chance, number),
    ...msrpFrom(chance),
  };
}

/** Of an MSRP, all, the base alone, or nothing is known. */
function msrpFrom(chance: Chance): FeedRow {
  const msrp = chance.happens(0.03) ? chance.integer(1000, 2_000_000) : chance.integer(70, 240) * 250;
  return chance.pick<FeedRow>([{ msrp }, { msrp }, { base_msrp: msrp - 500, msrp }, { base_msrp: msrp }, {}]);
}

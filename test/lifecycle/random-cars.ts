/** Random cars on dealers' lots, and their rows in a day's feed. */
import { plusDays } from "../../src/base/day.ts";
import type { Chance } from "../support/chance.ts";
import type { FeedRow } from "../support/lakes/feeds.ts";

/** A car on a lot; the same VIN may stand on two lots, each with its own price. */
export interface LotCar {
  readonly make: string;
  readonly isNew: boolean;
  readonly hasPhotos: boolean;
  price: number;
  miles: number;
  isPriceKnown: boolean;
  /** Index of the day until which it is absent from the feed. */
  awayUntil: number;
  /** Index of its last day; undefined if open. */
  readonly lastDay?: number;
}

export interface LotDay {
  readonly vin: string;
  readonly car: LotCar;
  readonly dealer: string;
  readonly day: string;
  readonly order: number;
  /** Whether the feed lists the car today, unless it is away. */
  readonly isShown: boolean;
}

const probabilities = { away: 0.04, otherPrice: 0.08, unknownPrice: 0.04, knownAgain: 0.3, twice: 0.02, observed: 0.4 };

export function randomLotCar(chance: Chance, makes: readonly string[]): LotCar {
  return {
    make: chance.pick(makes),
    isNew: chance.happens(0.4),
    hasPhotos: chance.happens(0.6),
    price: chance.integer(80, 400) * 100,
    miles: chance.integer(0, 60_000),
    isPriceKnown: chance.happens(0.85),
    awayUntil: 0,
  };
}

/** Returns the rows of a car in a day's feed: none, one, or two of which the later counts. */
export function lotRows(chance: Chance, lotDay: LotDay): readonly FeedRow[] {
  const { car, order, isShown } = lotDay;
  if (car.awayUntil <= order && order > 0 && chance.happens(probabilities.away))
    car.awayUntil = order + chance.integer(1, 6);
  if (chance.happens(probabilities.otherPrice)) car.price += chance.pick([-1000, -500, 500]);
  car.isPriceKnown = car.isPriceKnown
    ? !chance.happens(probabilities.unknownPrice)
    : chance.happens(probabilities.knownAgain);
  car.miles += chance.integer(0, 3);
  if (!isShown || car.awayUntil > order) return [];
  const row = rowOf(chance, lotDay);
  if (!chance.happens(probabilities.twice)) return [row];
  return [{ ...row, vin: String(row.vin).toLowerCase(), price: car.price + 100, photo_urls: "" }, row];
}

function rowOf(chance: Chance, { vin, car, dealer, day }: LotDay): FeedRow {
  return {
    vin,
    dealer_id: dealer,
    inventory_type: car.isNew ? "new" : "used",
    year: 2024,
    make: car.make,
    model: "Model",
    price: car.isPriceKnown ? Math.max(1000, car.price) : chance.pick(["", 0]),
    miles: chance.happens(0.95) ? car.miles : "",
    photo_urls: car.hasPhotos ? `https://photos.example/${vin}.jpg` : "",
    observed_at: chance.happens(probabilities.observed) ? randomObservedAt(chance, day) : "",
  };
}

/** A random time of the day, rarely of a day before or after it. */
function randomObservedAt(chance: Chance, day: string): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const time = `${two(chance.integer(0, 23))}:${two(chance.integer(0, 59))}:${two(chance.integer(0, 59))}`;
  const observedOn = chance.happens(0.1) ? plusDays(day, chance.pick([-20, -1, -1, 1])) : day;
  return `${observedOn}T${time}${chance.pick(["Z", "+00:00"])}`;
}

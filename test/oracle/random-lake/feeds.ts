/** Random feeds of some months: cars of every kind that arrive, go missing, return, change dealers and are sold. */
import { plusDays } from "../../../src/base/day.ts";
import type { FeedDay } from "../../lifecycle/random-feeds.ts";
import { Chance } from "../../support/chance.ts";
import type { FeedRow } from "../../support/lakes/feeds.ts";
import { randomCase } from "../random-requests/spellings.ts";
import { breakdownOf } from "./breakdowns.ts";
import { isBare, randomBuild } from "./builds.ts";
import { changeDealer, firstDealers, laterDealers, type RandomDealer } from "./dealers.ts";
import { catalogue, categories, optionCodes } from "./values.ts";

export interface RandomFeedsExtent {
  readonly seed: number;
  /** Number of days with a folder; they lie some days apart. */
  readonly days: number;
  readonly cars: number;
  /** Inventory columns that are always empty. */
  readonly unknown?: readonly string[];
}

/** A car on a lot: from one day until before another. */
interface Stay {
  readonly from: number;
  readonly until: number;
  readonly dealer: string;
}

interface RandomCar {
  readonly build: FeedRow;
  readonly stays: readonly Stay[];
  price: number;
  miles: number;
  /** Features that it did not have on arrival. */
  readonly added: string[];
}

const firstDay = "2025-11-22";
/** Days from the first feeds to the second ones: no window of the definitions is longer than the history. */
const firstGap = 181;

const probabilities = {
  fromTheStart: 0.6,
  comesBack: 0.35,
  twoDealers: 0.08,
  away: 0.06,
  otherPrice: 0.15,
  otherCase: 0.08,
  noDelivery: 0.05,
  dealerChanges: 0.08,
  optionChanges: 0.1,
  newFeature: 0.02,
};

/** Returns the days with a folder, each with its feeds. */
export function randomFeeds({ seed, days, cars: count, unknown = [] }: RandomFeedsExtent): readonly FeedDay[] {
  const chance = new Chance(seed);
  const makes = Object.keys(catalogue);
  let dealers = [...firstDealers(chance, makes), ...laterDealers(chance, makes, days)];
  const cars = Array.from({ length: count }, (_, number) => randomCar(chance, number, dealers, days));
  let day = firstDay;
  return Array.from({ length: days }, (_, order) => {
    if (order > 0) day = plusDays(day, order === 1 ? firstGap : chance.pick([1, 4, 6, 6]));
    const before = dealers;
    dealers = dealers.map(({ joins, row }) => {
      const isChanging = joins < order && chance.happens(probabilities.dealerChanges);
      return { joins, row: isChanging ? changeDealer(chance, row) : row };
    });
    const changedDealers = dealers.filter(({ joins, row }, index) => joins === order || row !== before[index]?.row);
    const joined = dealers.filter(({ joins }) => joins <= order).map(({ row }) => row);
    const { inventory, deliveries } = inventoryOf(chance, cars, joined, { day, order });
    const feeds = {
      inventory: inventory.map((row) => ({ ...row, ...Object.fromEntries(unknown.map((column) => [column, ""])) })),
      deliveries,
      dealers: changedDealers.map(({ row }) => row),
      options: randomOptions(chance, order === 0 ? 0.8 : probabilities.optionChanges),
    };
    return { day, feeds };
  });
}

function randomCar(chance: Chance, number: number, dealers: readonly RandomDealer[], days: number): RandomCar {
  const stay = (from: number): Stay => ({
    from,
    until: from + (chance.happens(0.4) ? days : chance.integer(1, days)),
    dealer: String(chance.pick(dealers.filter(({ joins }) => joins <= from)).row.dealer_id),
  });
  const first = stay(chance.happens(probabilities.fromTheStart) ? 0 : chance.integer(1, days - 1));
  const secondStay = {
    ...stay(first.until + chance.integer(1, 6)),
    ...(chance.happens(0.5) ? { dealer: first.dealer } : {}),
  };
  const stays = [
    first,
    ...(chance.happens(probabilities.comesBack) ? [secondStay] : []),
    ...(chance.happens(probabilities.twoDealers) ? [stay(chance.integer(0, days - 1))] : []),
  ];
  const arrival = Math.min(...stays.map(({ from }) => from));
  return {
    build: randomBuild(chance, number, arrival),
    stays,
    added: [],
    price: chance.happens(0.03) ? chance.integer(1, 3_000_000) : chance.integer(60, 220) * 250,
    miles: chance.happens(0.2) ? 0 : chance.integer(1, 90_000),
  };
}

function inventoryOf(
  chance: Chance,
  cars: readonly RandomCar[],
  dealers: readonly FeedRow[],
  { day, order }: { readonly day: string; readonly order: number },
) {
  const absent = new Set(
    dealers.filter(() => order > 0 && chance.happens(probabilities.noDelivery)).map((dealer) => dealer.dealer_id),
  );
  const inventory = cars.flatMap((car) => {
    if (chance.happens(probabilities.otherPrice))
      car.price = Math.max(1, car.price + chance.pick([-1000, -500, -1, 500]));
    car.miles += chance.integer(0, 4);
    if (order > 0 && chance.happens(probabilities.newFeature))
      car.added.push(chance.pick([`new on day ${order}`, "retrofit"]));
    const present = car.stays.filter(
      ({ from, until }) => from <= order && order < until && !chance.happens(probabilities.away),
    );
    return present.filter(({ dealer }) => !absent.has(dealer)).map(({ dealer }) => rowOf(chance, car, dealer, day));
  });
  const deliveries = dealers.flatMap(({ dealer_id = "" }) => (absent.has(dealer_id) ? [] : [{ dealer_id }]));
  return { inventory, deliveries };
}

function rowOf(chance: Chance, { build, price, miles, added }: RandomCar, dealer: string, day: string): FeedRow {
  if (isBare(build)) return { ...build, dealer_id: dealer };
  const two = (number: number): string => String(number).padStart(2, "0");
  const time = `${two(chance.integer(0, 23))}:${two(chance.integer(0, 59))}:${two(chance.integer(0, 59))}`;
  return {
    ...respellSome(chance, {
      ...build,
      features: [build.features, ...added].filter((one) => one !== "").join("|"),
    }),
    dealer_id: dealer,
    price: chance.happens(0.92) ? price : chance.pick(["", 0]),
    miles: chance.happens(0.93) ? miles : "",
    ...breakdownOf(price),
    observed_at: chance.happens(0.6) ? `${day}T${time}.25Z` : "",
  };
}

/** Returns a build with some of its texts in another case. */
function respellSome(chance: Chance, build: FeedRow): FeedRow {
  const fields = [...Object.keys(categories), "make", "model", "features", "options_packages"];
  const changing = fields.filter(() => chance.happens(probabilities.otherCase));
  const texts = changing.map((field) => [field, randomCase(chance, String(build[field] ?? ""))]);
  return { ...build, ...Object.fromEntries(texts) };
}

/** The options of each make; some without a name or price. */
function randomOptions(chance: Chance, share: number): readonly FeedRow[] {
  const known = optionCodes.filter((code) => code !== "ZZ9");
  return Object.keys(catalogue).flatMap((make) =>
    known.flatMap((code) => {
      if (!chance.happens(share)) return [];
      const name = chance.happens(0.95) ? `${code} of ${make}, "${chance.integer(1, 9)}"` : "";
      return [{ make, code, name, msrp: chance.happens(0.95) ? chance.integer(0, 40) * 50 : "" }];
    }),
  );
}

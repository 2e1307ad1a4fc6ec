/**
 * Random feeds for the lifecycle oracle: dealers that deliver, fail to deliver or deliver too little, and cars that
 * come, go and change dealers.
 */
import { plusDays } from "../../src/base/day.ts";
import { Chance } from "../support/chance.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf } from "../support/lakes/feeds.ts";
import { type LotCar, lotRows, randomLotCar } from "./random-cars.ts";

export interface LifecycleExtent {
  readonly seed: number;
  readonly days: number;
  readonly dealers: number;
  readonly cars: number;
  /** Probability of a day without a folder. */
  readonly dayless: number;
  /** Days, counted from the first, of which few have a folder. */
  readonly quiet?: { readonly from: number; readonly to: number };
}

/** A day with a folder. */
export interface FeedDay {
  readonly day: string;
  readonly feeds: Feeds;
}

interface LotDealer {
  readonly id: string;
  readonly joins: number;
  makes: readonly string[];
  isDescribed: boolean;
  /** Index of the day until which it does not deliver, or delivers too little. */
  absentUntil: number;
  partialUntil: number;
  /** Cars on the lot, by VIN. */
  readonly lot: Map<string, LotCar>;
}

const firstDay = "2026-03-24";
export const makes = ["Toyota", "Honda", "Ford"] as const;

/** Maximum number of cars that are listed on one day only. */
const onlyTodayMax = 2;

const probabilities = {
  daylessWhenQuiet: 0.9,
  absent: 0.04,
  longAbsence: 0.3,
  partial: 0.03,
  longPartial: 0.4,
  nothingLeft: 0.02,
  otherMakes: 0.01,
  describedAgain: 0.05,
  comes: 0.06,
  comesTwice: 0.25,
  movesAway: 0.015,
  listedTwice: 0.02,
  leaves: 0.015,
};

/** Returns the days with a folder, each with its feeds. */
export function randomLifecycleFeeds(extent: LifecycleExtent): readonly FeedDay[] {
  const chance = new Chance(extent.seed);
  const dealers = Array.from({ length: extent.dealers }, (_, index) => randomDealer(chance, index, extent.days));
  const days: FeedDay[] = [];
  let lastVin = extent.cars;
  for (let order = 0; order < extent.days; order += 1) {
    const joined = dealers.filter(({ joins }) => joins <= order);
    for (let n = 1; n <= extent.cars; n += 1) moveCar(chance, vinOf(n), joined, order);
    const isQuiet = extent.quiet !== undefined && order >= extent.quiet.from && order < extent.quiet.to;
    if (order > 0 && chance.happens(isQuiet ? probabilities.daylessWhenQuiet : extent.dayless)) continue;
    for (let remaining = chance.integer(0, onlyTodayMax); remaining > 0; remaining -= 1) {
      lastVin += 1;
      const dealer = chance.pick(joined);
      dealer.lot.set(vinOf(lastVin), { ...randomLotCar(chance, makes), lastDay: order });
    }
    days.push({ day: plusDays(firstDay, order), feeds: feedsOfDay(chance, joined, order) });
  }
  return days;
}

function randomDealer(chance: Chance, index: number, days: number): LotDealer {
  return {
    id: dealerIdOf(index + 1),
    joins: index > 2 && chance.happens(0.2) ? chance.integer(1, days - 1) : 0,
    makes: chance.happens(0.5) ? [...new Set(chance.some(makes, 2))] : [],
    isDescribed: false,
    absentUntil: 0,
    partialUntil: 0,
    lot: new Map(),
  };
}

/** Moves a car for a day: it arrives, changes dealers, is listed by another dealer too, or leaves. */
function moveCar(chance: Chance, vin: string, joined: readonly LotDealer[], order: number): void {
  const holders = joined.filter(({ lot }) => lot.has(vin));
  const [holder] = holders;
  if (holder === undefined) {
    if (order === 0 ? chance.happens(0.7) : chance.happens(probabilities.comes)) {
      const { make } = randomLotCar(chance, makes);
      const newHolders = chance.happens(probabilities.comesTwice) ? chance.some(joined, 3) : [chance.pick(joined)];
      for (const { lot } of newHolders) lot.set(vin, randomLotCar(chance, [make]));
    }
    return;
  }
  const car = holder.lot.get(vin);
  if (chance.happens(probabilities.movesAway)) {
    holder.lot.delete(vin);
    chance.pick(joined).lot.set(vin, randomLotCar(chance, [car?.make ?? makes[0]]));
  } else if (holders.length < 3 && chance.happens(probabilities.listedTwice)) {
    const other = chance.pick(joined);
    if (!other.lot.has(vin)) other.lot.set(vin, randomLotCar(chance, [car?.make ?? makes[0]]));
  } else if (chance.happens(probabilities.leaves)) {
    chance.pick(holders).lot.delete(vin);
  }
}

function feedsOfDay(chance: Chance, joined: readonly LotDealer[], order: number): Feeds {
  const described: FeedRow[] = [];
  const inventory: FeedRow[] = [];
  const deliveries: FeedRow[] = [];
  for (const dealer of joined) {
    if (chance.happens(probabilities.otherMakes)) {
      dealer.makes = [chance.pick(makes)];
      dealer.isDescribed = false;
    }
    if (!dealer.isDescribed || chance.happens(probabilities.describedAgain)) {
      described.push(descriptionOf(dealer));
      dealer.isDescribed = true;
    }
    const rows = deliveredRows(chance, dealer, order);
    if (rows === undefined) continue;
    inventory.push(...rows);
    if (rows.length === 0 || chance.happens(0.1)) deliveries.push({ dealer_id: dealer.id });
  }
  return {
    ...(described.length > 0 ? { dealers: described } : {}),
    inventory,
    ...(deliveries.length > 0 ? { deliveries } : {}),
  };
}

const descriptionOf = ({ id, makes: represented }: LotDealer): FeedRow => ({
  dealer_id: id,
  name: `Dealer ${Number(id.slice(-12))}`,
  type: represented.length > 0 ? "franchise" : "independent",
  makes: represented.join("|"),
});

/** Returns the rows of a dealer's feed, or undefined without a delivery. */
function deliveredRows(chance: Chance, dealer: LotDealer, order: number): readonly FeedRow[] | undefined {
  if (order > 0 && dealer.absentUntil <= order && chance.happens(probabilities.absent)) {
    dealer.absentUntil =
      order + (chance.happens(probabilities.longAbsence) ? chance.integer(7, 10) : chance.integer(1, 6));
  }
  if (order > 0 && dealer.partialUntil <= order && chance.happens(probabilities.partial)) {
    dealer.partialUntil = order + (chance.happens(probabilities.longPartial) ? 8 : 1);
  }
  const isPartial = dealer.partialUntil > order;
  const hasNothing = order > 0 && chance.happens(probabilities.nothingLeft);
  const share = chance.pick([0, 0.2, 0.4, 0.5]);
  const rows = [...dealer.lot].flatMap(([vin, car]) => {
    const isThere = car.lastDay === undefined || car.lastDay >= order;
    const isShown = isThere && !hasNothing && (!isPartial || chance.happens(share));
    return lotRows(chance, { vin, car, dealer: dealer.id, day: plusDays(firstDay, order), order, isShown });
  });
  return dealer.absentUntil > order ? undefined : rows;
}

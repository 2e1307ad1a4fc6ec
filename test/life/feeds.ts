/** A random market from a seed: dealers that deliver, fail to, or deliver too little, and cars that come, go and change hands. */
import { plusDays } from "../../src/base/day.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf } from "../support/lakes/feeds.ts";
import { carFrom, type LotCar, lotRows } from "./cars.ts";

export interface LifeMarketExtent {
  readonly seed: number;
  readonly days: number;
  readonly dealers: number;
  readonly cars: number;
  /** How likely a day is to have no folder at all. */
  readonly dayless: number;
  /** A stretch of which few days have one, counted from the first day. */
  readonly quiet?: { readonly from: number; readonly to: number };
}

/** A day that has a folder. */
export interface FeedDay {
  readonly day: string;
  readonly feeds: Feeds;
}

interface Dealer {
  readonly id: string;
  readonly joins: number;
  makes: readonly string[];
  isDescribed: boolean;
  /** Until when it does not deliver, and until when it delivers too little. */
  absentUntil: number;
  partialUntil: number;
  /** Its cars by VIN. */
  readonly lot: Map<string, LotCar>;
}

const firstDay = "2026-03-24";
export const makes = ["Toyota", "Honda", "Ford"] as const;

/** Cars that are there on one day alone. */
const onlyTodayMost = 2;

const likely = {
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

/** The days of a market that have a folder, with the feeds of each. */
export function randomFeeds(extent: LifeMarketExtent): readonly FeedDay[] {
  const chance = new Chance(extent.seed);
  const dealers = Array.from({ length: extent.dealers }, (_, index) => randomDealer(chance, index, extent.days));
  const days: FeedDay[] = [];
  let passing = extent.cars;
  for (let order = 0; order < extent.days; order += 1) {
    const open = dealers.filter(({ joins }) => joins <= order);
    for (let n = 1; n <= extent.cars; n += 1) trade(chance, vinOf(n), open, order);
    const isQuiet = extent.quiet !== undefined && order >= extent.quiet.from && order < extent.quiet.to;
    if (order > 0 && chance.happens(isQuiet ? likely.daylessWhenQuiet : extent.dayless)) continue;
    for (let left = chance.integer(0, onlyTodayMost); left > 0; left -= 1) {
      passing += 1;
      const dealer = chance.pick(open);
      dealer.lot.set(vinOf(passing), { ...carFrom(chance, makes), lastDay: order });
    }
    days.push({ day: plusDays(firstDay, order), feeds: feedsOf(chance, open, order) });
  }
  return days;
}

function randomDealer(chance: Chance, index: number, days: number): Dealer {
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

/** What happens to a car in a day: it comes to a dealer, moves, is listed by one more, stays away for days, or leaves. */
function trade(chance: Chance, vin: string, open: readonly Dealer[], order: number): void {
  const holders = open.filter(({ lot }) => lot.has(vin));
  const [holder] = holders;
  if (holder === undefined) {
    if (order === 0 ? chance.happens(0.7) : chance.happens(likely.comes)) {
      const { make } = carFrom(chance, makes);
      const comers = chance.happens(likely.comesTwice) ? chance.some(open, 3) : [chance.pick(open)];
      for (const { lot } of comers) lot.set(vin, carFrom(chance, [make]));
    }
    return;
  }
  const car = holder.lot.get(vin);
  if (chance.happens(likely.movesAway)) {
    holder.lot.delete(vin);
    chance.pick(open).lot.set(vin, carFrom(chance, [car?.make ?? makes[0]]));
  } else if (holders.length < 3 && chance.happens(likely.listedTwice)) {
    const other = chance.pick(open);
    if (!other.lot.has(vin)) other.lot.set(vin, carFrom(chance, [car?.make ?? makes[0]]));
  } else if (chance.happens(likely.leaves)) {
    chance.pick(holders).lot.delete(vin);
  }
}

function feedsOf(chance: Chance, open: readonly Dealer[], order: number): Feeds {
  const described: FeedRow[] = [];
  const inventory: FeedRow[] = [];
  const deliveries: FeedRow[] = [];
  for (const dealer of open) {
    if (chance.happens(likely.otherMakes)) {
      dealer.makes = [chance.pick(makes)];
      dealer.isDescribed = false;
    }
    if (!dealer.isDescribed || chance.happens(likely.describedAgain)) {
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

const descriptionOf = ({ id, makes: represented }: Dealer): FeedRow => ({
  dealer_id: id,
  name: `Dealer ${Number(id.slice(-12))}`,
  type: represented.length > 0 ? "franchise" : "independent",
  makes: represented.join("|"),
});

/** The rows of a dealer's feed; undefined when none comes. */
function deliveredRows(chance: Chance, dealer: Dealer, order: number): readonly FeedRow[] | undefined {
  if (order > 0 && dealer.absentUntil <= order && chance.happens(likely.absent)) {
    dealer.absentUntil = order + (chance.happens(likely.longAbsence) ? chance.integer(7, 10) : chance.integer(1, 6));
  }
  if (order > 0 && dealer.partialUntil <= order && chance.happens(likely.partial)) {
    dealer.partialUntil = order + (chance.happens(likely.longPartial) ? 8 : 1);
  }
  const isPartial = dealer.partialUntil > order;
  const hasNothing = order > 0 && chance.happens(likely.nothingLeft);
  const share = chance.pick([0, 0.2, 0.4, 0.5]);
  const rows = [...dealer.lot].flatMap(([vin, car]) => {
    const isThere = car.lastDay === undefined || car.lastDay >= order;
    const isShown = isThere && !hasNothing && (!isPartial || chance.happens(share));
    return lotRows(chance, { vin, car, dealer: dealer.id, day: plusDays(firstDay, order), order, isShown });
  });
  return dealer.absentUntil > order ? undefined : rows;
}

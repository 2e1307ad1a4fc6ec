/** Oracle of trends: walks through the days of the period one by one, and recounts each point's listings and events. */

import { filterOf } from "../answers/filters.ts";
import { decodeValue, numberOf, type Query, queryValues } from "../random-requests/query.ts";
import { type BucketValue, valuesOf } from "./facets.ts";
import { compare, type FlatListing, type OracleInventory } from "./inventory.ts";
import { knownOf } from "./metrics.ts";
import { aggregateOf } from "./statistics.ts";

/** A level of fewer listings is null, except for their number. */
const levelListingsMin = 10;
const supplyDays = 30;
const defaultDays = 90;

interface MetricResult {
  readonly value: number | null;
  readonly sample: number;
  readonly null_reason?: "insufficient_sample" | "no_values" | "no_data";
}

/** The days of an interval, and the last of them that has a snapshot. */
interface Interval {
  readonly days: readonly string[];
  readonly levelDay: string | null;
}

/** The matching listings of a series, or of all series. */
interface Matches {
  readonly on: (day: string) => readonly FlatListing[];
  readonly records: readonly FlatListing[];
}

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + 86_400_000 * days).toISOString().slice(0, 10);

/** Computes the listings of each day once. */
function byDay(compute: Matches["on"]): Matches["on"] {
  const known = new Map<string, readonly FlatListing[]>();
  return (day) => {
    const listings = known.get(day) ?? compute(day);
    known.set(day, listings);
    return listings;
  };
}

/** Returns the number of a day, counted from a Monday. */
const weekdays = (day: string): number => (Date.parse(day) - Date.parse("2018-01-01")) / 86_400_000;

/** Days with equal names are in the same interval. */
const nameOfInterval: Readonly<Record<string, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => String(Math.floor(weekdays(day) / 7)),
  month: (day) => day.slice(0, 7),
  quarter: (day) =>
    `${day.slice(0, 4)} ${["01 02 03", "04 05 06", "07 08 09", "10 11 12"].findIndex((months) => months.includes(day.slice(5, 7)))}`,
};

/** Returns the answer to a trend query that is not refused, without the definitions of its metrics. */
export function oracleTrends(inventory: OracleInventory, query: Query) {
  const days = periodOf(inventory, query);
  const [length = "week"] = queryValues(query.get("interval"));
  const intervals = intervalsIn(inventory, days, nameOfInterval[length] ?? String);
  const metrics = [...new Set(queryValues(query.get("metric")))];
  const facets = [...new Set(queryValues(query.get("facet")))];
  const limit = numberOf(query, "facet_limit") ?? 10;
  const isMatch = filterOf(query, inventory);
  const matches: Matches = {
    on: byDay((day) => (inventory.snapshots.get(day) ?? []).filter(isMatch)),
    records: inventory.records.filter(isMatch),
  };
  const series = [
    ...(facets.length === 0 ? [{ facet: null, value: null, matches }] : []),
    ...facets.flatMap((facet) => seriesOf(matches, intervals, facet, limit).map((one) => ({ facet, ...one }))),
  ];
  return {
    data: series.map(({ facet, value, matches: own }) => ({
      facet,
      value: value === null ? null : String(value),
      points: intervals.map((interval) => pointOf(interval, metrics, own, inventory)),
    })),
    meta: {
      metric: metrics,
      interval: length,
      from: days[0],
      to: days.at(-1),
      ...(facets.length === 1 ? { facet: facets[0] } : {}),
      ...(facets.length === 0 ? {} : { facets, facet_limit: limit }),
      sort: "-count",
      missing_days: rangesOf(days.filter((day) => !inventory.snapshots.has(day))),
      minimum_metric_count: levelListingsMin,
      as_of: inventory.asOf,
      currency: inventory.currency,
      data_version: inventory.version,
    },
  };
}

function periodOf({ snapshots, asOf }: OracleInventory, query: Query): readonly string[] {
  const [first = asOf] = [...snapshots.keys()].sort();
  const dayOf = (name: string): string | undefined => {
    const raw = query.get(name);
    return raw === undefined ? undefined : decodeValue(raw);
  };
  const to = [dayOf("to") ?? asOf, asOf].sort()[0] ?? asOf;
  const from = [dayOf("from") ?? dayAfter(to, 1 - defaultDays), first].sort()[1] ?? first;
  const days: string[] = [];
  for (let day = from; day <= to; day = dayAfter(day, 1)) days.push(day);
  return days;
}

function intervalsIn(
  { snapshots }: OracleInventory,
  days: readonly string[],
  nameOf: (day: string) => string,
): readonly Interval[] {
  const names = [...new Set(days.map(nameOf))];
  return names.map((name) => {
    const own = days.filter((day) => nameOf(day) === name);
    return { days: own, levelDay: own.filter((day) => snapshots.has(day)).at(-1) ?? null };
  });
}

/** Returns the most frequent values of a facet, each with its listings. Spellings that differ in case are one value. */
function seriesOf(matches: Matches, intervals: readonly Interval[], facet: string, limit: number) {
  const keyOf = (value: BucketValue): BucketValue => (typeof value === "string" ? value.toLowerCase() : value);
  const hasValue = (key: BucketValue) => (listing: FlatListing) =>
    valuesOf(listing, facet).some((value) => keyOf(value) === key);
  const groups = new Map<BucketValue, { readonly spellings: Set<BucketValue>; count: number }>();
  for (const listing of intervals.flatMap(({ levelDay }) => (levelDay === null ? [] : matches.on(levelDay)))) {
    const values = valuesOf(listing, facet);
    for (const key of new Set(values.map(keyOf))) {
      const group = groups.get(key) ?? { spellings: new Set(), count: 0 };
      groups.set(key, group);
      group.count += 1;
      for (const value of values) if (keyOf(value) === key) group.spellings.add(value);
    }
  }
  return [...groups]
    .map(([key, { spellings, count }]) => ({ key, value: [...spellings].sort(compare)[0] ?? "", count }))
    .sort((one, other) => other.count - one.count || compare(one.value, other.value))
    .slice(0, limit)
    .map(({ key, value }) => ({
      value,
      matches: {
        on: byDay((day) => matches.on(day).filter(hasValue(key))),
        records: matches.records.filter(hasValue(key)),
      },
    }));
}

function pointOf(interval: Interval, metrics: readonly string[], matches: Matches, inventory: OracleInventory) {
  const { days, levelDay } = interval;
  return {
    start: days[0],
    end: days.at(-1),
    days: days.filter((day) => inventory.snapshots.has(day)).length,
    level_day: levelDay,
    metrics: metrics.map((name) => ({ name, ...resultOf(name, interval, matches, inventory) })),
  };
}

/** The days of a listing's events, by the name of the metric that counts them. */
const eventDays: Readonly<Record<string, (listing: FlatListing) => readonly (string | null)[]>> = {
  new_listings: ({ listed_at }) => [listed_at?.slice(0, 10) ?? null],
  sold: ({ status, sold_on_record }) => (status === "sold" ? [sold_on_record] : []),
  price_drops: ({ price_history }) =>
    price_history.flatMap((change) => {
      const { price, price_before, date } = Object(change);
      return Number(price) < Number(price_before) && price !== null ? [String(date)] : [];
    }),
};

function countEvents(event: string, { records }: Matches, days: readonly string[]): number {
  const found = records.flatMap((listing) => eventDays[event]?.(listing) ?? []);
  return found.filter((day) => day !== null && days.includes(day)).length;
}

function resultOf(
  name: string,
  { days, levelDay }: Interval,
  matches: Matches,
  { snapshots }: OracleInventory,
): MetricResult {
  if (levelDay === null) return { value: null, sample: 0, null_reason: "no_data" };
  if (eventDays[name] !== undefined) {
    const events = countEvents(name, matches, days);
    return { value: events, sample: events };
  }
  const listings = matches.on(levelDay);
  if (name === "count") return { value: listings.length, sample: listings.length };
  if (name === "days_supply" || name === "sell_through") {
    const saleDays = Array.from({ length: supplyDays }, (_, ago) => dayAfter(levelDay, -ago));
    if ([...snapshots.keys()].every((day) => day > (saleDays.at(-1) ?? "")))
      return { value: null, sample: 0, null_reason: "no_data" };
    const sold = countEvents("sold", matches, saleDays);
    if (name === "sell_through") {
      const offered = listings.length + sold;
      const isEnough = offered >= levelListingsMin;
      if (!isEnough) return { value: null, sample: offered, null_reason: "insufficient_sample" };
      return { value: Math.round((1e4 * sold) / offered) / 1e4, sample: offered };
    }
    const supply = sold === 0 ? null : Math.round((100 * listings.length) / (sold / supplyDays)) / 100;
    return levelOf(listings, sold, supply);
  }
  const [measure = "", aggregate = ""] = name.split(".");
  const known = knownOf(listings, measure);
  const isEnough = known.length === 0 || known.length >= levelListingsMin;
  if (!isEnough) return { value: null, sample: known.length, null_reason: "insufficient_sample" };
  return levelOf(listings, known.length, aggregateOf(aggregate, known));
}

function levelOf(listings: readonly FlatListing[], sample: number, value: number | null): MetricResult {
  if (listings.length < levelListingsMin) return { value: null, sample, null_reason: "insufficient_sample" };
  return sample === 0 ? { value: null, sample, null_reason: "no_values" } : { value, sample };
}

/** Returns ascending days as ranges of consecutive ones. */
function rangesOf(days: readonly string[]): readonly { readonly start: string; readonly end: string }[] {
  const starts = days.filter((day, index) => days[index - 1] !== dayAfter(day, -1));
  const ends = days.filter((day, index) => days[index + 1] !== dayAfter(day, 1));
  return starts.map((start, index) => ({ start, end: ends[index] ?? start }));
}

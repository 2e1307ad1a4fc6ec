/**
 * Trends for operation `getTrends`: metrics of the matching listings for each interval of a period.
 *
 * Levels describe the last day of an interval that has a snapshot, flows add up the events of its days. For each facet, one request to the trend
 * source measures all levels, another one counts all events.
 */

import { calendarMonth, plusDays } from "../../base/day.ts";
import { forEachInTurns } from "../../base/turns.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { QueryOf } from "../../contract/types.ts";
import {
  daysSupplyOf,
  metricListingsMin,
  sellThroughOf,
  supplyDays,
  supplyWindowStart,
} from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { type CountedName, type NumberName, numberNames } from "../../listing/schema.ts";
import type { Aggregate, EventWindow, Level, ListingEvent, Statistic } from "../../listing/source.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { filtersOf } from "../filters.ts";

/** The most intervals of a trend, and the most values: intervals times series of all facets times metrics. */
const intervalsMax = 400;
export const trendValuesMax = 20_000;

/** The most listings in the snapshots that a trend reads: two cores measure as many within the deadline, if no filter narrows them. */
export const trendListingsMax = 100_000_000;

/** The default period. */
const defaultDays = 90;

type TrendQuery = QueryOf<"getTrends">;

/** A validated trend request, ready to run. */
interface TrendPlan extends SeriesPlan {
  readonly query: TrendQuery;
  readonly period: DayRange;
  readonly missingDays: readonly DayRange[];
}

/** Plans a trend request on a version. Refuses periods without data, and requests for too many values. */
export function planTrends(
  query: TrendQuery,
  version: Pick<LakeVersion, "snapshotSizes" | "meta" | "dimensions">,
): TrendPlan {
  const { snapshotSizes, meta, dimensions } = version;
  const days = [...snapshotSizes.keys()];
  const firstDay = days[0] ?? meta.as_of;
  const period = periodOf(query, { start: firstDay, end: meta.as_of });
  const intervals = plannedIntervals(query, period).map((interval): TrendInterval => {
    const published = days.filter((day) => day >= interval.start && day <= interval.end);
    return { ...interval, days: published.length, levelDay: published.at(-1) ?? null };
  });
  refuseTooManyValues(query, intervals.length);
  refuseTooManyListings(query, intervals, snapshotSizes);
  return {
    query,
    period,
    intervals,
    firstDay,
    filters: filtersOf(query, dimensions),
    metrics: query.metric.map(trendMetricOf),
    missingDays: missingRanges(period, days),
  };
}

/** Measures the listings of many days at once, and counts their events. */
type TrendSource = Pick<LakeVersion, "measureLevels" | "countEvents">;

/** Runs a plan. Returns schemas `TrendSeries`, and `TrendMeta` without the version. */
export async function computeTrends(plan: TrendPlan, source: TrendSource) {
  const { query, period, metrics } = plan;
  return {
    data: await measureSeries(plan, source),
    meta: {
      metric: query.metric,
      interval: query.interval,
      from: period.start,
      to: period.end,
      ...facetMeta(query),
      sort: "-count",
      definitions: metrics.map(definitionOf),
      missing_days: plan.missingDays,
      minimum_metric_count: metricListingsMin,
    },
  };
}

/** Returns the part of schema `TrendMeta` on facets: `facet` names a single one. */
function facetMeta({ facet: facets = [], facet_limit }: TrendQuery) {
  const [facet] = facets;
  if (facet === undefined) return {};
  return { ...(facets.length === 1 ? { facet } : {}), facets, facet_limit };
}

/** Returns the requested period, cut at the first and the last day of the data. */
function periodOf({ from, to }: TrendQuery, data: DayRange): DayRange {
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse("incompatible_parameters", { parameters: "from and to", reason: `${from} is after ${to}` });
  }
  if (to !== undefined && to < data.start)
    throw outsideOfData("to", to, `from ${data.start} on, the first day with data`);
  if (from !== undefined && from > data.end)
    throw outsideOfData("from", from, `up to ${data.end}, the last day with data`);
  const end = to === undefined || to > data.end ? data.end : to;
  const start = from ?? plusDays(end, 1 - defaultDays);
  return { start: [start, data.start].sort()[1] ?? start, end };
}

const outsideOfData = (parameter: string, day: string, range: string): Error =>
  refuse("invalid_parameter_value", { parameter, value: quoted(day), allowed: `a day ${range}`, hint: "" });

/** Returns the intervals of the period. Refuses more than `intervalsMax`. */
function plannedIntervals({ interval }: TrendQuery, period: DayRange): readonly DayRange[] {
  const intervals = [...intervalsOf(period, interval)];
  if (intervals.length <= intervalsMax) return intervals;
  throw refuse("invalid_parameter_value", {
    parameter: "interval",
    value: quoted(interval),
    allowed: `at most ${intervalsMax} intervals from ${period.start} to ${period.end}, not ${intervals.length}`,
    hint: longerInterval,
  });
}

function refuseTooManyValues({ facet = [], facet_limit: limit, metric }: TrendQuery, intervals: number): void {
  const max = Math.floor(trendValuesMax / (intervals * facet.length * metric.length));
  if (facet.length === 0 || limit <= max) return;
  const facets = facet.length === 1 ? "" : `, facets (${facet.length})`;
  const values = `intervals (${intervals})${facets}, series and metrics (${metric.length}) multiply to at most ${trendValuesMax}`;
  throw refuse("invalid_parameter_value", {
    parameter: "facet_limit",
    value: quoted(limit),
    allowed: `at most ${max}, because ${values}`,
    hint: "",
  });
}

/** Refuses levels of snapshots with more listings than the engine can measure within the deadline. Each facet measures them once. */
function refuseTooManyListings(
  { interval, facet = [], metric }: TrendQuery,
  intervals: readonly TrendInterval[],
  snapshotSizes: LakeVersion["snapshotSizes"],
): void {
  // Events alone read no levels.
  if (facet.length === 0 && metric.every(isEvent)) return;
  const listings = intervals.reduce((sum, { levelDay }) => sum + (snapshotSizes.get(levelDay ?? "") ?? 0), 0);
  const max = Math.floor(trendListingsMax / Math.max(1, facet.length));
  if (listings <= max) return;
  throw refuse("invalid_parameter_value", {
    parameter: "interval",
    value: quoted(interval),
    allowed: `snapshots of at most ${max} listings${facet.length > 1 ? ` for ${facet.length} facets` : ""}, not ${listings}`,
    hint: longerInterval,
  });
}

const longerInterval = " Choose a longer interval or a shorter period.";

/** An interval, with the number of its days that have a snapshot and the last of them. */
interface TrendInterval extends DayRange {
  readonly days: number;
  readonly levelDay: string | null;
}

interface SeriesPlan {
  readonly query: Pick<QueryOf<"getTrends">, "facet" | "facet_limit">;
  readonly filters: readonly Filter[];
  readonly metrics: readonly TrendMetric[];
  readonly intervals: readonly TrendInterval[];
  readonly firstDay: string;
}

/** Schema `TrendMetric` without the name. */
interface MetricValue {
  readonly value: number | null;
  readonly sample: number;
  readonly null_reason?: "insufficient_sample" | "no_values" | "no_data";
}

/** The measurements of one value of a facet: its levels by day, and its numbers of events by window (see `idOf`). */
interface MeasuredSeries {
  readonly facet: CountedName | null;
  readonly value: string | null;
  readonly levels: ReadonlyMap<string, Level>;
  readonly events: ReadonlyMap<string, number>;
}

/** Returns the series of a plan, schema `TrendSeries`, facet by facet. Those of a facet with the most listings come first. */
async function measureSeries(plan: SeriesPlan, source: TrendSource) {
  const { intervals, metrics } = plan;
  const facets: readonly (CountedName | undefined)[] = plan.query.facet ?? [undefined];
  const measured = await Promise.all(facets.map((facet) => measure(plan, source, facet)));
  // Spreading each of many thousand points takes as long as all other work on them.
  const pointOf = (interval: TrendInterval, of: MeasuredSeries) => {
    const { start, end, days, levelDay: level_day } = interval;
    const values = metrics.map((metric) => ({ name: metric.name, ...metricValue(metric, interval, of, plan) }));
    return { start, end, days, level_day, metrics: values };
  };
  const series: (Pick<MeasuredSeries, "facet" | "value"> & { readonly points: ReturnType<typeof pointOf>[] })[] = [];
  await forEachInTurns(measured.flat(), (of) => {
    series.push({ facet: of.facet, value: of.value, points: intervals.map((interval) => pointOf(interval, of)) });
  });
  return series;
}

/** Measures the series of a facet; without one, a single series. */
async function measure(
  plan: SeriesPlan,
  source: TrendSource,
  facet: CountedName | undefined,
): Promise<readonly MeasuredSeries[]> {
  const { filters, metrics, intervals } = plan;
  const requested = metrics.flatMap((metric) =>
    intervals.flatMap((interval) => windowOf(metric, interval, plan) ?? []),
  );
  const windows = [...new Map(requested.map((window) => [idOf(window), window])).values()];
  const ids = windows.map(idOf);
  const measured = measureLevels(plan, source, facet);
  // The events of all listings need not wait for the values with the most listings.
  const keys = facet === undefined ? [""] : [...new Set((await measured).map(({ key }) => key))];
  const counted = keys.length === 0 ? [] : source.countEvents({ windows, filters, attribute: facet, keys });
  const [levels, counts] = await Promise.all([measured, counted]);
  const levelsByKey = byKey(levels);
  const countsByKey = byKey(counts);
  return keys.map((key) => {
    const ofKey = levelsByKey.get(key) ?? [];
    const events = countsByKey.get(key) ?? [];
    return {
      facet: facet ?? null,
      value: facet === undefined ? null : (ofKey[0]?.value ?? null),
      levels: new Map(ofKey.map((level) => [level.day, level])),
      events: new Map(events.map(({ window, count }) => [ids[window] ?? "", count])),
    };
  });
}

/** Groups items by their keys, in the order of first occurrence. */
function byKey<Item extends { readonly key: string }>(items: readonly Item[]): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.key);
    if (group === undefined) groups.set(item.key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns the levels of all intervals; none if neither a metric nor the choice of the series needs them. */
async function measureLevels(
  { query, filters, metrics, intervals }: SeriesPlan,
  source: TrendSource,
  facet: CountedName | undefined,
): Promise<readonly Level[]> {
  const days = intervals.flatMap(({ levelDay }) => levelDay ?? []);
  const isNeeded = facet !== undefined || metrics.some(({ kind }) => kind !== "event");
  if (!isNeeded || days.length === 0) return [];
  const statistics = metrics.flatMap((metric) => (metric.kind === "statistic" ? metric.statistic : []));
  return source.measureLevels({ days, filters, attribute: facet, limit: query.facet_limit, statistics });
}

/**
 * Returns the window whose events a metric counts in an interval; undefined if it counts none, if no day of the interval has a snapshot, or
 * if the days of its window of supply are not all known.
 */
function windowOf(
  metric: TrendMetric,
  { start, end, levelDay }: TrendInterval,
  { firstDay }: SeriesPlan,
): EventWindow | undefined {
  if (levelDay === null) return undefined;
  if (metric.kind === "event") return { event: metric.event, start, end };
  if (metric.kind !== "days_supply" && metric.kind !== "sell_through") return undefined;
  const firstSaleDay = supplyWindowStart(levelDay);
  return firstSaleDay < firstDay ? undefined : { event: "sold", start: firstSaleDay, end: levelDay };
}

const idOf = ({ event, start, end }: EventWindow): string => `${event} ${start} ${end}`;

const noData: MetricValue = { value: null, sample: 0, null_reason: "no_data" };

/** Returns the value of a metric in an interval. Nothing is known of an interval without a snapshot: events are recorded on the days of deliveries. */
function metricValue(
  metric: TrendMetric,
  interval: TrendInterval,
  { levels, events }: Pick<MeasuredSeries, "levels" | "events">,
  plan: SeriesPlan,
): MetricValue {
  if (interval.levelDay === null) return noData;
  const window = windowOf(metric, interval, plan);
  const eventCount = window === undefined ? 0 : (events.get(idOf(window)) ?? 0);
  if (metric.kind === "event") return exactly(eventCount);
  const level = levels.get(interval.levelDay);
  const count = level?.count ?? 0;
  if (metric.kind === "count") return exactly(count);
  if (metric.kind === "days_supply" || metric.kind === "sell_through") {
    if (window === undefined) return noData;
    if (metric.kind === "days_supply") return levelValue(count, eventCount, daysSupplyOf(count, eventCount));
    return levelValue(count + eventCount, count + eventCount, sellThroughOf(count, eventCount));
  }
  const index = plan.metrics.filter(({ kind }) => kind === "statistic").indexOf(metric);
  const { sample = 0, metric: value = null } = level?.statistics[index] ?? {};
  return levelValue(count, sample, value);
}

const exactly = (count: number): MetricValue => ({ value: count, sample: count });

/** Returns a value of `count` listings; null if they or those with a known value are too few. */
function levelValue(count: number, sample: number, value: number | null): MetricValue {
  if (count >= metricListingsMin && value !== null) return { value, sample };
  const isUnknown = count >= metricListingsMin && sample === 0;
  return { value: null, sample, null_reason: isUnknown ? "no_values" : "insufficient_sample" };
}

/** A requested metric. */
export type TrendMetric = { readonly name: string } & (
  | { readonly kind: "count" }
  | { readonly kind: "days_supply" }
  | { readonly kind: "sell_through" }
  | { readonly kind: "statistic"; readonly statistic: Statistic }
  | { readonly kind: "event"; readonly event: ListingEvent }
);

/** Schema `TrendDefinition`. */
interface Definition {
  readonly name: string;
  readonly kind: "level" | "flow";
  readonly formula: string;
  readonly denominator: string;
  readonly sample: string;
}

const events: Readonly<Record<ListingEvent, Pick<Definition, "formula" | "sample">>> = {
  new_listings: {
    formula: "number of listings whose listed_at is in the interval, by their last observed attributes",
    sample: "the counted listings",
  },
  sold: {
    formula: "number of listings whose sale is in the interval, on the day by which sold_within_days counts it",
    sample: "the counted listings",
  },
  price_drops: {
    formula:
      "number of price changes to a lower price whose changed_at is in the interval, of listings by their last observed attributes",
    sample: "the counted price changes",
  },
};

const isEvent = (name: string): name is ListingEvent => name in events;

/** Returns the metric with a name that the document accepts. */
function trendMetricOf(name: string): TrendMetric {
  if (name === "count" || name === "days_supply" || name === "sell_through") return { name, kind: name };
  if (isEvent(name)) return { name, kind: "event", event: name };
  const [measureName, aggregateName = ""] = name.split(".");
  const measure = numberNames.find((number) => number === measureName);
  const aggregate = aggregateOfName(aggregateName);
  if (measure === undefined || aggregate === undefined)
    throw new TypeError(`Unknown metric ${name}: expected one that the document accepts.`);
  return { name, kind: "statistic", statistic: { measure, aggregate } };
}

function aggregateOfName(name: string): Aggregate | undefined {
  if (name === "mean" || name === "median") return name;
  return /^p\d{1,2}$/.test(name) ? `p${Number(name.slice(1))}` : undefined;
}

export function definitionOf(metric: TrendMetric): Definition {
  const { name } = metric;
  if (metric.kind === "event") return flowOf(name, metric.event);
  const active = "listings that are active on level_day";
  if (metric.kind === "count")
    return { name, kind: "level", formula: `number of ${active}`, denominator: "none", sample: "the counted listings" };
  if (metric.kind === "days_supply" || metric.kind === "sell_through") return supplyOf(metric.kind, active);
  const { measure, aggregate } = metric.statistic;
  const sample = `${active} with a known ${measure}`;
  const denominator = aggregate === "mean" ? `number of ${sample}` : "none";
  return { name, kind: "level", formula: `${wordsOf(aggregate, measure)} of the ${sample}`, denominator, sample };
}

function supplyOf(name: "days_supply" | "sell_through", active: string): Definition {
  const sold = `listings sold in the ${supplyDays} days that end on level_day`;
  if (name === "sell_through") {
    const sample = `${active}, and ${sold}`;
    return {
      name,
      kind: "level",
      formula: `number of ${sold}, per listing of the sample`,
      denominator: `number of ${sample}`,
      sample,
    };
  }
  const denominator = `number of ${sold}, divided by ${supplyDays}`;
  return { name, kind: "level", formula: `number of ${active}, per sale a day`, denominator, sample: sold };
}

function flowOf(name: string, event: ListingEvent): Definition {
  const { formula, sample } = events[event];
  return { name, kind: "flow", formula, denominator: "none", sample };
}

function wordsOf(aggregate: Aggregate, measure: NumberName): string {
  if (aggregate === "mean") return `arithmetic mean of the ${measure}`;
  const percentile = aggregate === "median" ? "median" : `percentile ${aggregate.slice(1)}`;
  return `linearly interpolated ${percentile} of the ${measure}`;
}

/** Days from `start` to `end`, both inclusive. */
export interface DayRange {
  readonly start: string;
  readonly end: string;
}

export type IntervalLength = QueryOf<"getTrends">["interval"];

/** The last day of the interval that contains a day. */
const lastDays: Readonly<Record<IntervalLength, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => plusDays(day, (7 - new Date(`${day}T00:00:00Z`).getUTCDay()) % 7),
  month: (day) => lastOfMonths(day, 1),
  quarter: (day) => lastOfMonths(day, 3),
};

/** Returns the last day of the interval of `count` months, counted from January, that contains a day. */
function lastOfMonths(day: string, count: number): string {
  const [year, month] = calendarMonth(day).split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, Math.ceil(month / count) * count, 0)).toISOString().slice(0, day.length);
}

/** Yields the intervals of a period in the order of time. The first and the last one are cut at the ends of the period. */
export function* intervalsOf({ start, end }: DayRange, length: IntervalLength): Generator<DayRange> {
  let day = start;
  while (day <= end) {
    const last = lastDays[length](day);
    yield { start: day, end: last < end ? last : end };
    day = plusDays(last, 1);
  }
}

/** Returns the days of a period that are not among the given days, as ranges. `days` is ascending. */
export function missingRanges({ start, end }: DayRange, days: readonly string[]): readonly DayRange[] {
  const ranges: DayRange[] = [];
  let next = start;
  for (const day of [...days.filter((one) => one >= start && one <= end), plusDays(end, 1)]) {
    if (day > next) ranges.push({ start: next, end: plusDays(day, -1) });
    next = plusDays(day, 1);
  }
  return ranges;
}

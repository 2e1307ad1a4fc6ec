/** Series of a trend: requests levels and events from the trend source, and assembles them to points. */
import type { QueryOf } from "../../contract/types.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CountedName } from "../../listing/schema.ts";
import { daysSupplyOf, sellThroughOf, supplyWindowStart } from "../../listing/supply.ts";
import type { EventWindow, Level, TrendSource } from "../../listing/trend-source.ts";
import type { DayRange } from "./intervals.ts";
import type { TrendMetric } from "./trend-metrics.ts";

/** An interval, with the number of its days that have a snapshot and the last of them. */
export interface TrendInterval extends DayRange {
  readonly days: number;
  readonly levelDay: string | null;
}

export interface SeriesPlan {
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
export async function measureSeries(plan: SeriesPlan, source: TrendSource) {
  const { intervals, metrics } = plan;
  const facets: readonly (CountedName | undefined)[] = plan.query.facet ?? [undefined];
  const series = await Promise.all(facets.map((facet) => measure(plan, source, facet)));
  return series.flat().map(({ facet, value, ...measured }) => ({
    facet,
    value,
    // Spreading each of many thousand points takes as long as all other work on them.
    points: intervals.map((interval) => {
      const { start, end, days, levelDay: level_day } = interval;
      const values = metrics.map((metric) => ({ name: metric.name, ...metricValue(metric, interval, measured, plan) }));
      return { start, end, days, level_day, metrics: values };
    }),
  }));
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

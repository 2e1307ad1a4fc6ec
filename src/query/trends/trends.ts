/**
 * Trends for operation `getTrends`: metrics of the matching listings for each interval of a period.
 *
 * Levels describe the last day of an interval that has a snapshot, flows add up the events of its days. For each facet, one request to the trend
 * source measures all levels, another one counts all events.
 */
import { plusDays } from "../../base/day.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { QueryOf } from "../../contract/types.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { TrendSource } from "../../listing/trend-source.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { filtersOf } from "../filters.ts";
import { type DayRange, intervalsOf, missingRanges } from "./intervals.ts";
import { definitionOf, trendMetricOf } from "./trend-metrics.ts";
import { measureSeries, type SeriesPlan, type TrendInterval } from "./trend-series.ts";

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
  { interval, facet = [] }: TrendQuery,
  intervals: readonly TrendInterval[],
  snapshotSizes: LakeVersion["snapshotSizes"],
): void {
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

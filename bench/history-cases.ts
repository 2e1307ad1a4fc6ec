/** The cases of the bench suite on history: requests for a past day, in rotation over all of them, and trends. */
import { calendarMonth, plusDays } from "../src/base/day.ts";
import { trendListingsMax } from "../src/query/trends/trends.ts";
import { allBenchFacets, benchNumericFacets } from "./dataset/columns.ts";
import type { SampleValues } from "./dataset/sample-values.ts";
import type { DaySnapshot } from "./peers/peer.ts";
import { facetQuery } from "./queries/facets.ts";
import { equals } from "./queries/filter.ts";
import type { BenchQuery, BenchTrendMetric, TrendSpec } from "./queries/query.ts";
import { type QueriesByCase, queryEach } from "./queries/query-each.ts";
import { searchQuery } from "./queries/search.ts";
import { trendQuery } from "./queries/trends.ts";

type DayQuery = (options: { readonly from: DaySnapshot; readonly parameters: readonly string[] }) => BenchQuery;

const medianPrice = { name: "price.median", column: "price", fraction: 0.5 } as const;

const dayQueries: Readonly<Record<string, DayQuery>> = {
  page: (options) => searchQuery(options),
  "all 30 facets": (options) => facetQuery({ ...options, facets: allBenchFacets }),
  statistics: (options) => facetQuery({ ...options, facets: benchNumericFacets }),
  "median price by make": (options) => facetQuery({ ...options, facets: ["make"], metric: medianPrice }),
};

/**
 * Returns the cases of past days: of the published month, and of earlier ones if the dataset has them. `snapshotDay` is left out: peers hold the
 * listings of that day separately, and find a query by its path.
 */
export function pastDayCases({ firstDay, snapshotDay, asOf }: SampleValues): QueriesByCase {
  const days = shuffled(daysBetween(firstDay, plusDays(asOf, -1)).filter((day) => day !== snapshotDay));
  const isOfPublishedMonth = (day: string): boolean => calendarMonth(day) === calendarMonth(asOf);
  const groups = {
    "this month": days.filter(isOfPublishedMonth),
    "earlier months": days.filter((day) => !isOfPublishedMonth(day)),
  };
  return Object.fromEntries(
    Object.entries(dayQueries).flatMap(([name, query]) =>
      Object.entries(groups)
        .filter(([, group]) => group.length > 0)
        .map(([when, group]) => [
          `past days: ${name}, ${when}`,
          group.map((day) => query({ from: { day }, parameters: [`snapshot_date=${day}`] })),
        ]),
    ),
  );
}

function daysBetween(first: string, last: string): readonly string[] {
  const days: string[] = [];
  for (let day = first; day <= last; day = plusDays(day, 1)) days.push(day);
  return days;
}

/** Returns days in an order that looks random and is always the same, so that neighbors in a case are far apart. */
const shuffled = (days: readonly string[]): readonly string[] =>
  days
    .map((day, index) => ({ day, key: Math.imul(index + 1, 0x9e3779b1) >>> 0 }))
    .sort((one, other) => one.key - other.key)
    .map(({ day }) => day);

/** The case whose first query is also the first request of a new service. */
const weeklyMedianCase = "trends: weekly median price, model";

/** The cases that measure the first request of a new service, each with the cases whose queries it sends: the first one that exists. */
export const firstRequestCases: Readonly<Record<string, readonly string[]>> = {
  "trends: first request after start-up": [weeklyMedianCase],
  ...Object.fromEntries(
    ["page", "all 30 facets"].map((name) => [
      `past days: first ${name} after start-up`,
      [`past days: ${name}, earlier months`, `past days: ${name}, this month`],
    ]),
  ),
};

/** The longest period of a trend. */
const trendDaysMax = 365;

const count: BenchTrendMetric = { kind: "count", name: "count" };
const median: BenchTrendMetric = { kind: "percentile", name: "price.median", fraction: 0.5 };
const mean: BenchTrendMetric = { kind: "mean", name: "price.mean" };
const p90: BenchTrendMetric = { kind: "percentile", name: "price.p90", fraction: 0.9 };

/** Creates the query for a trend of metrics in intervals, and one for each of the most common models, or for the cheaper half of it within its make. */
interface TrendQueries {
  readonly of: (
    interval: TrendSpec["interval"],
    metrics: TrendSpec["metrics"],
    options?: Partial<Pick<TrendSpec, "filters" | "facets">>,
  ) => BenchQuery;
  readonly eachModel: (interval: TrendSpec["interval"], metric: BenchTrendMetric) => readonly BenchQuery[];
  readonly eachPrice: (interval: TrendSpec["interval"], metric: BenchTrendMetric) => readonly BenchQuery[];
}

/** Returns the trend queries of a dataset, over a period that Carquet accepts in days. */
function trendQueries({ listings, cars, firstDay, asOf }: SampleValues): TrendQueries {
  const days = Math.min(trendDaysMax, Math.floor((0.95 * trendListingsMax) / listings));
  const start = [firstDay, plusDays(asOf, 1 - days)].sort().at(-1) ?? firstDay;
  const ofAll = { firstDay, period: { start, end: asOf }, filters: [] };
  const of: TrendQueries["of"] = (interval, metrics, options = {}) =>
    trendQuery({ ...ofAll, interval, metrics, ...options });
  return {
    of,
    eachModel: (interval, metric) =>
      queryEach(cars, ({ make, model }) =>
        of(interval, [metric], { filters: [equals("make", make), equals("model", model)] }),
      ),
    eachPrice: (interval, metric) =>
      queryEach(cars, ({ make, price }) =>
        of(interval, [metric], { filters: [equals("make", make), { kind: "maxPrice", price }] }),
      ),
  };
}

export function trendCases(values: SampleValues): QueriesByCase {
  const { of, eachModel, eachPrice } = trendQueries(values);
  const byMake = { facets: ["make"] } as const;
  const supply: TrendSpec["metrics"] = [
    { kind: "price_drops", name: "price_drops" },
    { kind: "days_supply", name: "days_supply" },
  ];
  return {
    [weeklyMedianCase]: eachModel("week", median),
    "trends: weekly count, model": eachModel("week", count),
    "trends: weekly count": [of("week", [count])],
    "trends: weekly count by make": [of("week", [count], byMake)],
    "trends: weekly count by make and by state": [of("week", [count], { facets: ["make", "state"] })],
    "trends: weekly median price": [of("week", [median])],
    "trends: weekly median price by make": [of("week", [median], byMake)],
    "trends: weekly median price, make and price": eachPrice("week", median),
    "trends: daily median price, model": eachModel("day", median),
    "trends: daily count, model": eachModel("day", count),
    "trends: daily count": [of("day", [count])],
    "trends: daily count by make": [of("day", [count], byMake)],
    "trends: daily count by state": [of("day", [count], { facets: ["state"] })],
    "trends: daily count, make and price": eachPrice("day", count),
    "trends: daily mean price by make": [of("day", [mean], byMake)],
    "trends: daily median price": [of("day", [median])],
    "trends: daily median price by make": [of("day", [median], byMake)],
    "trends: daily median price, make and price": eachPrice("day", median),
    "trends: weekly price drops and days of supply, make": queryEach(values.makes, (make) =>
      of("week", supply, { filters: [equals("make", make)] }),
    ),
    "trends: monthly p90 price by make": [of("month", [p90], byMake)],
  };
}

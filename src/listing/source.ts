/**
 * What queries ask of the listings of one inventory (active ones, those of a past day, or sold ones), and what they are answered: pages, counts, groups,
 * levels of many days at once, and events. `serving/index/` answers them.
 */
import type { Filter } from "./filter.ts";
import type { Point } from "./geography.ts";
import type { RangeChoice, Ranges } from "./ranges.ts";
import type { CountedName, NumberName } from "./schema.ts";
import type { FixedSort } from "./sorts.ts";

/** The order of a page: a fixed sort, or the dealer's distance from an origin, nearest first. */
export type PageOrder =
  | { readonly by: "sort"; readonly sort: FixedSort }
  | { readonly by: "distance"; readonly origin: Point };

export interface PageRequest {
  readonly filters: readonly Filter[];
  readonly order: PageOrder;
  readonly limit: number;
  readonly offset: number;
}

/** What names a row of an inventory: its position in the files, or its id of 32 hexadecimal digits. */
export type RowKey = number | string;

export interface PageResult {
  readonly total: number;
  /** The keys of the page's listings, in page order. */
  readonly keys: readonly RowKey[];
}

/** Statistics of the known values of a number attribute. Percentiles interpolate linearly. */
export interface NumberSummary {
  readonly known: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly p1: number;
  readonly median: number;
  readonly p99: number;
  /** Sample standard deviation; null for a single value. */
  readonly stddev: number | null;
}

/** Statistics by number attribute. Attributes without a known value among the matches are absent. */
export type Summaries = ReadonlyMap<NumberName, NumberSummary>;

export type CountSort = "count" | "-count";

export interface CountRequest {
  readonly filters: readonly Filter[];
  readonly attributes: readonly CountedName[];
  readonly limit: number;
  readonly sort: CountSort;
  /** The numbers to summarize, and how their ranges are chosen. */
  readonly numbers: readonly RangeChoice[];
}

export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

export interface CountResult {
  readonly total: number;
  readonly values: ReadonlyMap<CountedName, readonly ValueCount[]>;
  readonly summaries: Summaries;
  /** Those of numbers that have a known value and that `rangesFor` does not refuse: the counts below the first bucket, of each, and above the last one. */
  readonly ranges: ReadonlyMap<NumberName, { readonly ranges: Ranges; readonly counts: readonly number[] }>;
}

/** `p1` to `p99` are percentiles. */
export type Aggregate = "mean" | "median" | `p${number}`;

export interface Statistic {
  readonly measure: NumberName;
  readonly aggregate: Aggregate;
}

/** Metrics of active listings and sales: see `supply.ts`. */
export type SupplyMetric = "days_supply" | "sell_through";

export interface MeasureRequest {
  readonly filters: readonly Filter[];
  /** At least one; at most one of them is a list. */
  readonly attributes: readonly CountedName[];
  readonly metrics: readonly (Statistic | SupplyMetric)[];
  /** The fewest listings with a known measure that have a statistic; by default `metricListingsMin`. */
  readonly sampleMin?: number;
  /** The day of the active listings. Supply metrics need it: without one, they are null. */
  readonly supplyDay: string | undefined;
  readonly limit: number;
  /** `metric` is the first one. Groups whose metric is null come last; ties go by value, unknown ones last. */
  readonly sort: CountSort | "metric" | "-metric";
}

/** The matches with the same value of each attribute. */
export interface MeasuredGroup {
  /** Null if the value is unknown. */
  readonly values: readonly (string | null)[];
  readonly count: number;
  /** A metric is null if too few of the listings have the measure. */
  readonly metrics: readonly { readonly sample: number; readonly value: number | null }[];
}

export interface MeasureResult {
  /** The number of matches. */
  readonly total: number;
  /** The number of groups, beyond `limit` too. */
  readonly totalGroups: number;
  readonly groups: readonly MeasuredGroup[];
}

export interface LevelRequest {
  /** The days to measure, each with a snapshot. */
  readonly days: readonly string[];
  readonly filters: readonly Filter[];
  /** The attribute to group by; undefined for one group. */
  readonly attribute: CountedName | undefined;
  /** Maximum number of values: those with the most listings over all days. */
  readonly limit: number;
  readonly statistics: readonly Statistic[];
}

/** The active listings of one day that have one value of the attribute. */
export interface Level {
  readonly day: string;
  /** Identifies the value: equal for all of its spellings. Empty without an attribute. */
  readonly key: string;
  readonly value: string;
  readonly count: number;
  /** One for each requested statistic. The metric is null if there are too few listings, or if none of them has the measure. */
  readonly statistics: readonly { readonly sample: number; readonly metric: number | null }[];
}

export type ListingEvent = "new_listings" | "sold" | "price_drops";

/** The days from `start` to `end`, both inclusive, in which events of one kind are counted. */
export interface EventWindow {
  readonly event: ListingEvent;
  readonly start: string;
  readonly end: string;
}

export interface EventRequest {
  readonly windows: readonly EventWindow[];
  readonly filters: readonly Filter[];
  readonly attribute: CountedName | undefined;
  /** The values to count, as keys of `Level`. Ignored without an attribute. */
  readonly keys: readonly string[];
}

export interface EventCount {
  /** The position of the window in the request. */
  readonly window: number;
  readonly key: string;
  readonly count: number;
}

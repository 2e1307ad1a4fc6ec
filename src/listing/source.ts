/**
 * What listings can be asked: the active ones, those of a past day, or those that were sold.
 *
 * Two implementations answer alike: the search index (`serving/index/`), and Parquet in place (`serving/parquet/`).
 */
import type { Filter } from "./filter.ts";
import type { Point } from "./geography.ts";
import type { CountedName, NumberName } from "./schema.ts";
import type { FixedSort } from "./sorts.ts";

/** How a page is ordered: by a fixed sort, or by the distance of the dealer from an origin. */
export type PageOrder =
  | { readonly by: "sort"; readonly sort: FixedSort }
  | { readonly by: "distance"; readonly origin: Point };

export interface PageRequest {
  readonly filters: readonly Filter[];
  readonly order: PageOrder;
  readonly limit: number;
  readonly offset: number;
}

export interface FoundPage {
  /** How many listings match. */
  readonly total: number;
  /** Where the page's listings are in the source, in their order. */
  readonly positions: readonly number[];
}

/** Statistics of the known values of a number; percentiles interpolate linearly. */
export interface NumberSummary {
  readonly known: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly p1: number;
  readonly median: number;
  readonly p99: number;
  /** Of the sample; null for one value. */
  readonly stddev: number | null;
}

/** Statistics by number; one that no match has is absent. */
export type Summaries = ReadonlyMap<NumberName, NumberSummary>;

/** Ranges of one width: bucket `n` holds the values from `n * width` up to `(n + 1) * width`. */
export interface Ranges {
  readonly attribute: NumberName;
  readonly width: number;
  /** The first and the last regular bucket. */
  readonly first: number;
  readonly last: number;
}

export type CountSort = "count" | "-count";

export interface CountRequest {
  readonly filters: readonly Filter[];
  readonly attributes: readonly CountedName[];
  /** The most values of an attribute. */
  readonly limit: number;
  readonly sort: CountSort;
  readonly numbers: readonly NumberName[];
  /** The ranges in which numbers are counted, given their statistics. */
  readonly rangesOf: (summaries: Summaries) => readonly Ranges[];
}

export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** How many matches lie below some ranges, in each of their buckets, and above. */
export interface RangeCounts {
  readonly ranges: Ranges;
  readonly counts: readonly number[];
}

export interface Counts {
  readonly total: number;
  readonly values: ReadonlyMap<CountedName, readonly ValueCount[]>;
  readonly summaries: Summaries;
  readonly ranges: ReadonlyMap<NumberName, RangeCounts>;
}

export type Aggregate = "mean" | "p5" | "p25" | "median" | "p75" | "p95";

export interface MeasureRequest {
  readonly filters: readonly Filter[];
  readonly attribute: CountedName;
  readonly measure: NumberName;
  readonly aggregate: Aggregate;
  readonly limit: number;
  readonly sort: CountSort | "metric" | "-metric";
}

export interface MeasuredValue extends ValueCount {
  /** How many of the listings have the measure. */
  readonly sample: number;
  /** Null where too few listings have the value, or none of them has the measure. */
  readonly metric: number | null;
}

export interface Measured {
  readonly total: number;
  readonly values: readonly MeasuredValue[];
}

export interface ListingSource {
  /** How many listings there are. */
  readonly count: number;
  /** The total of matches, and a page of them. */
  findPage(request: PageRequest): Promise<FoundPage>;
  /** How many matches have which value, statistics of their numbers, and how many lie in which range. */
  countValues(request: CountRequest): Promise<Counts>;
  /** A metric of the matches for each value of an attribute. */
  measureValues(request: MeasureRequest): Promise<Measured>;
}

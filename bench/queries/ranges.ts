/** Ranges of numeric facets, computed from statistics and counts of any engine: the same bucket rules as Carquet's. */
import type { BenchNumericFacet } from "../dataset/columns.ts";

/** Statistics of the known values of a column, percentiles interpolated; null if no value is known. */
export interface Statistics {
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly median: number | null;
  readonly stddev: number | null;
  readonly p1: number | null;
  readonly p99: number | null;
  readonly count: number;
}

/** Normalizes an engine's statistics. Engines differ in the statistics of no values and in the deviation of a single value. */
export function toStatistics(value: (statistic: keyof Statistics) => number | null): Statistics {
  const count = value("count") ?? 0;
  const ifAny = (statistic: keyof Statistics): number | null => (count === 0 ? null : value(statistic));
  return {
    min: ifAny("min"),
    max: ifAny("max"),
    mean: ifAny("mean"),
    median: ifAny("median"),
    stddev: count < 2 ? null : value("stddev"),
    p1: ifAny("p1"),
    p99: ifAny("p99"),
    count,
  };
}

/** The listings of one range. The range starts at `bucket` times the width. */
export interface RangeCount {
  readonly bucket: number;
  readonly listings: number;
}

export interface RangedFacet {
  readonly facet: BenchNumericFacet;
  readonly statistics: Statistics;
  readonly counts: readonly RangeCount[];
}

/** Returns the parts `stats` and `range_facets` of a body. `total` is the number of matching listings. */
export function rangeFacetsBody(rangeFacets: readonly RangedFacet[], total: number): object {
  const stats = rangeFacets.map(({ facet, statistics: { p1, p99, ...published } }) => [
    facet,
    { ...published, missing: total - published.count },
  ]);
  const ranges = rangeFacets.map(({ facet, statistics, counts }) => [facet, rangeBuckets(statistics, counts)]);
  return { stats: Object.fromEntries(stats), range_facets: Object.fromEntries(ranges) };
}

/** The regular buckets of a range facet: numbers `first` to `last`, each `width` wide. Empty if `last` is below `first`. */
export interface RangeGrid {
  readonly width: number;
  readonly first: number;
  readonly last: number;
}

const widths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const regularBucketsMax = 20;

/** Returns the grid of the smallest width (1, 2 or 5 times a power of ten) with at most 20 buckets from the 1st to the 99th percentile. */
export function rangeGrid({ p1, p99 }: Pick<Statistics, "p1" | "p99">): RangeGrid {
  if (p1 === null || p99 === null) return { width: 1, first: 0, last: -1 };
  const [low, high] = [p1, p99].map((edge) => Math.floor(Math.round(100 * edge) / 100)) as [number, number];
  const bucketCount = (width: number): number => Math.floor(high / width) - Math.floor(low / width) + 1;
  const width = widths.find((candidate) => bucketCount(candidate) <= regularBucketsMax) ?? 1;
  return { width, first: Math.floor(low / width), last: Math.floor(high / width) };
}

/** A half-open range `[min, max)` and the number of listings in it. */
export interface RangeBucket {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Returns the regular buckets, plus one below and one above if there are values outside; their outer ends are the minimum and maximum. */
export function rangeBuckets(statistics: Statistics, counts: readonly RangeCount[]) {
  const { width, first, last } = rangeGrid(statistics);
  const countBetween = (from: number, to: number): number =>
    counts.reduce((sum, { bucket, listings }) => (bucket >= from && bucket <= to ? sum + listings : sum), 0);
  const regular = Array.from({ length: last - first + 1 }, (_, index): RangeBucket => {
    const bucket = first + index;
    return { min: bucket * width, max: (bucket + 1) * width, count: countBetween(bucket, bucket) };
  });
  const start = first * width;
  const end = (last + 1) * width;
  const below = { min: statistics.min ?? 0, max: start, count: countBetween(Number.NEGATIVE_INFINITY, first - 1) };
  const above = { min: end, max: (statistics.max ?? 0) + 1, count: countBetween(last + 1, Number.POSITIVE_INFINITY) };
  const buckets = [below, ...regular, above].filter(
    (bucket) => (bucket !== below && bucket !== above) || bucket.count > 0,
  );
  return { buckets, interval: width, regular: { min: start, max: end } };
}

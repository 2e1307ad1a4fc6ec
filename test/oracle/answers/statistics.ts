/** Oracle of statistics: means, percentiles and range buckets. */
import assert from "node:assert/strict";

/** Returns a percentile of sorted values with linear interpolation; null without values. Whole values are interpolated exactly, so that equal results tie. */
export function percentile(sorted: readonly number[], share: number): number | null {
  const hundredths = (sorted.length - 1) * Math.round(100 * share);
  const part = hundredths % 100;
  const below = sorted[Math.floor(hundredths / 100)];
  const above = sorted[Math.ceil(hundredths / 100)];
  if (below === undefined || above === undefined) return null;
  return (below * (100 - part) + above * part) / 100;
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the sample standard deviation; null for fewer than two values. */
function stddev(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  const squares = values.map((value) => (value - middle) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / (values.length - 1));
}

/** The aggregates of facets' metrics. */
export const facetAggregates = ["mean", "p5", "p25", "median", "p75", "p95"];

/** Returns the mean, the median or a percentile (`p1` to `p99`) of values in ascending order; null without values. */
export function aggregateOf(name: string, sorted: readonly number[]): number | null {
  if (name === "mean") return mean(sorted);
  return percentile(sorted, name === "median" ? 0.5 : Number(name.slice(1)) / 100);
}

export const ascending = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other);

/** Returns the statistics of the known values among `total` values. */
export function oracleStats(sorted: readonly number[], total: number) {
  return {
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    count: sorted.length,
    missing: total - sorted.length,
    mean: mean(sorted),
    median: percentile(sorted, 0.5),
    stddev: stddev(sorted),
  };
}

/** Maximum number of regular buckets: of a chosen width, and of a fixed one. */
const regularBucketsMax = { chosen: 20, fixed: 100 };

/** Candidate widths: 1, 2 and 5 times powers of ten. */
const roundWidths = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The 1st and 99th percentile of sorted whole numbers, rounded down. */
interface PercentileRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Returns half-open ranges [min, max) of one width from the 1st to the 99th percentile, with one more range below and above if values lie there.
 * Without `fixedWidth`, the width is the smallest round one with at most 20 ranges.
 */
export function oracleRanges(sorted: readonly number[], fixedWidth?: number) {
  const middle = percentileRange(sorted);
  const min = sorted[0];
  const greatest = sorted.at(-1);
  if (middle === undefined || min === undefined || greatest === undefined) {
    return { buckets: [], interval: fixedWidth ?? null, min: null, max: null };
  }
  const interval =
    fixedWidth ??
    roundWidths.find((width) => regularCount(middle, width) <= regularBucketsMax.chosen) ??
    assert.fail(`no width for ${JSON.stringify(middle)}`);
  const first = Math.floor(middle.low / interval) * interval;
  const regular = Array.from({ length: regularCount(middle, interval) + 1 }, (_, index) => first + index * interval);
  const last = first + (regular.length - 1) * interval;
  const edges = [...(min < first ? [min] : []), ...regular, ...(greatest >= last ? [greatest + 1] : [])];
  const buckets = edges.slice(1).map((max, index) => {
    const min = edges[index] ?? Number.NaN;
    return { min, max, count: sorted.filter((value) => min <= value && value < max).length };
  });
  return { buckets, interval, min: edges[0] ?? null, max: edges.at(-1) ?? null };
}

/** Returns the smallest width with at most 100 regular buckets, or undefined if the fixed one has no more. */
export function smallestAllowedWidth(sorted: readonly number[], fixedWidth: number): number | undefined {
  const middle = percentileRange(sorted);
  if (middle === undefined || regularCount(middle, fixedWidth) <= regularBucketsMax.fixed) return undefined;
  let width = 1;
  while (regularCount(middle, width) > regularBucketsMax.fixed) width += 1;
  return width;
}

function percentileRange(sorted: readonly number[]): PercentileRange | undefined {
  const low = wholePercentile(sorted, 1);
  const high = wholePercentile(sorted, 99);
  return low === undefined || high === undefined ? undefined : { low, high };
}

/** Returns a percentile of sorted whole numbers, interpolated and rounded down in integer arithmetic. */
function wholePercentile(sorted: readonly number[], percent: number): number | undefined {
  const hundredths = (sorted.length - 1) * percent;
  const below = sorted[Math.floor(hundredths / 100)];
  const above = sorted[Math.ceil(hundredths / 100)];
  if (below === undefined || above === undefined) return undefined;
  return Math.floor((100 * below + (above - below) * (hundredths % 100)) / 100);
}

/** Returns the number of buckets from the one of the lower value to the one of the higher. */
function regularCount({ low, high }: PercentileRange, width: number): number {
  return Math.floor(high / width) - Math.floor(low / width) + 1;
}

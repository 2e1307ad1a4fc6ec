/** Statistics of numbers: means, percentiles, and counts in ranges. */
import assert from "node:assert/strict";

/** The value below which a share of sorted values lies, between two of them by linear interpolation; null of none. */
export function percentile(sorted: readonly number[], share: number): number | null {
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (below === undefined || above === undefined) return null;
  return below + (above - below) * (place - Math.floor(place));
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The standard deviation of a sample; null of fewer than two values. */
function stddev(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  const squares = values.map((value) => (value - middle) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / (values.length - 1));
}

/** The aggregates that a metric may ask for, of values in ascending order. */
export const aggregates: Readonly<Record<string, (sorted: readonly number[]) => number | null>> = {
  mean,
  p5: (sorted) => percentile(sorted, 0.05),
  p25: (sorted) => percentile(sorted, 0.25),
  median: (sorted) => percentile(sorted, 0.5),
  p75: (sorted) => percentile(sorted, 0.75),
  p95: (sorted) => percentile(sorted, 0.95),
};

export const ascending = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other);

/** Statistics of the known ones among so many values. */
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

/** The maximum number of regular buckets: of a width that follows from the values, and of a fixed one. */
const regularBucketsMax = { chosen: 20, fixed: 100 };

/** Widths to choose from: 1, 2 and 5 times the powers of ten. */
const roundWidths = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The 1st and the 99th percentile of sorted whole numbers, rounded down; undefined of none. */
interface Middle {
  readonly low: number;
  readonly high: number;
}

/**
 * Half-open ranges [min, max) of one width from the 1st to the 99th percentile, preceded by one range if values lie below them and
 * followed by one if values lie above. Without `fixedWidth`, the width is the smallest round one that gives at most 20 ranges.
 */
export function oracleRanges(sorted: readonly number[], fixedWidth?: number) {
  const middle = middleOf(sorted);
  const [least, greatest] = [sorted[0], sorted.at(-1)];
  if (middle === undefined || least === undefined || greatest === undefined) {
    return { buckets: [], interval: fixedWidth ?? null, min: null, max: null };
  }
  const interval =
    fixedWidth ??
    roundWidths.find((width) => regularCount(middle, width) <= regularBucketsMax.chosen) ??
    assert.fail(`no width for ${JSON.stringify(middle)}`);
  const first = Math.floor(middle.low / interval) * interval;
  const regular = Array.from({ length: regularCount(middle, interval) + 1 }, (_, place) => first + place * interval);
  const last = first + (regular.length - 1) * interval;
  const edges = [...(least < first ? [least] : []), ...regular, ...(greatest >= last ? [greatest + 1] : [])];
  const buckets = edges.slice(1).map((max, place) => {
    const min = edges[place] ?? Number.NaN;
    return { min, max, count: sorted.filter((value) => min <= value && value < max).length };
  });
  return { buckets, interval, min: edges[0] ?? null, max: edges.at(-1) ?? null };
}

/** The least width that gives at most 100 regular buckets, if the fixed one gives more; else undefined. */
export function leastWidthInstead(sorted: readonly number[], fixedWidth: number): number | undefined {
  const middle = middleOf(sorted);
  if (middle === undefined || regularCount(middle, fixedWidth) <= regularBucketsMax.fixed) return undefined;
  let width = 1;
  while (regularCount(middle, width) > regularBucketsMax.fixed) width += 1;
  return width;
}

function middleOf(sorted: readonly number[]): Middle | undefined {
  const [low, high] = [wholePercentile(sorted, 1), wholePercentile(sorted, 99)];
  return low === undefined || high === undefined ? undefined : { low, high };
}

/** A percentile of sorted whole numbers, interpolated and rounded down in whole numbers, so without an error of rounding. */
function wholePercentile(sorted: readonly number[], percent: number): number | undefined {
  const hundredths = (sorted.length - 1) * percent;
  const [below, above] = [sorted[Math.floor(hundredths / 100)], sorted[Math.ceil(hundredths / 100)]];
  if (below === undefined || above === undefined) return undefined;
  return Math.floor((100 * below + (above - below) * (hundredths % 100)) / 100);
}

/** How many buckets of a width run from the one that holds the lower value to the one that holds the higher value. */
function regularCount({ low, high }: Middle, width: number): number {
  return Math.floor(high / width) - Math.floor(low / width) + 1;
}

/** Numbers about numbers: means, percentiles, and how values spread over round ranges. */

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
export function statsOf(sorted: readonly number[], total: number) {
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

const bucketsMost = 20;

/** Half-open ranges of one round width from the 1st to the 99th percentile; the outer ones also count what lies outside. */
export function rangesOf(sorted: readonly number[]) {
  const [low, high] = [percentile(sorted, 0.01), percentile(sorted, 0.99)];
  if (low === null || high === null) return { buckets: [], interval: null, min: null, max: null };
  const interval = roundWidths.find((width) => countOf(low, high, width) <= bucketsMost) ?? Number.NaN;
  const first = Math.floor(low / interval);
  const count = countOf(low, high, interval);
  const placeOf = (value: number): number => Math.min(count - 1, Math.max(0, Math.floor(value / interval) - first));
  const buckets = Array.from({ length: count }, (_, place) => ({
    min: (first + place) * interval,
    max: (first + place + 1) * interval,
    count: sorted.filter((value) => placeOf(value) === place).length,
  }));
  return { buckets, interval, min: first * interval, max: (first + count) * interval };
}

/** 1, 2 and 5 times the powers of ten. */
const roundWidths = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** How many ranges of a width it takes, the last of which holds the higher value. */
function countOf(low: number, high: number, width: number): number {
  return Math.floor(high / width) - Math.floor(low / width) + 1;
}

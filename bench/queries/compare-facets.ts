/** Compares two facet answers: counts must be equal, percentiles may deviate by a tolerance. */
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json } from "../../src/base/json.ts";
import { UserError } from "../../src/base/user-error.ts";
import { assertSameAnswer } from "../measure/assert-same-answer.ts";
import { at, type ComparedServer, type FacetSpec, listAt } from "./query.ts";
import type { RangeBucket } from "./ranges.ts";

export interface Bodies {
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Tolerance of percentiles that are computed exactly: floating-point rounding. */
const roundingTolerance = 1e-8;

/** Throws a `UserError` at the first difference. Returns the largest relative deviation of a percentile. */
export function compareFacets(path: string, spec: FacetSpec, bodies: Bodies, server: ComparedServer): number {
  const { ours, theirs } = bodies;
  assertSameAnswer(path, exactPartOf(ours, spec), server.name, exactPartOf(theirs, spec));
  for (const facet of spec.numeric) compareRanges(`${path}: ${facet}`, facet, bodies, server);
  const pairs = percentilePairs(bodies, spec).filter(
    ({ sample }) => server.tolerance === 0 || sample >= approximateSampleMin,
  );
  const deviations = pairs.map((pair) => {
    const deviation = relativeDeviation(pair);
    if (deviation <= Math.max(server.tolerance, roundingTolerance)) return deviation;
    throw new UserError(
      `${path}: ${server.name} returned ${pair.theirs} for the ${pair.name}: expected Carquet's ${pair.ours} within ${server.tolerance * 100} %.`,
    );
  });
  return Math.max(0, ...deviations);
}

/** The values that approximate engines compute exactly, too. Means and deviations are rounded to nine digits. */
function exactPartOf(body: unknown, { categorical, numeric }: FacetSpec): Json {
  const statistics = ["min", "max", "count", "missing", "mean", "stddev"];
  return {
    total: Number(at(body, "data", "total")),
    facets: Object.fromEntries(categorical.map((facet) => [facet, countsOf(body, facet)])),
    stats: Object.fromEntries(
      numeric.map((facet) => [facet, statistics.map((name) => nineDigits(at(body, "data", "stats", facet, name)))]),
    ),
  };
}

/** Facets of integers: engines order values of equal counts as numbers or as text. */
const integerFacets: readonly string[] = ["year", "cylinders", "doors", "seating_capacity"];

/** Pairs of value and count, in the order of the body; of integer facets by count, then number. */
function countsOf(body: unknown, facet: string): Json {
  const counts = listAt(body, "data", "facets", facet).map((bucket): [string, number] => [
    String(at(bucket, "value")),
    Number(at(bucket, "count")),
  ]);
  if (!integerFacets.includes(facet)) return counts;
  return counts.sort(([a, aCount], [b, bCount]) => bCount - aCount || Number(a) - Number(b));
}

function compareRanges(
  label: string,
  facet: string,
  { ours, theirs }: Bodies,
  { name, tolerance }: ComparedServer,
): void {
  const rangesOf = (body: unknown): Ranges => ({
    interval: Number(at(body, "data", "range_facets", facet, "interval")),
    buckets: bucketsOf(at(body, "data", "range_facets", facet, "buckets")),
  });
  const ourRanges = rangesOf(ours);
  const theirRanges = rangesOf(theirs);
  const regular = {
    min: Number(at(theirs, "data", "range_facets", facet, "regular", "min")),
    max: Number(at(theirs, "data", "range_facets", facet, "regular", "max")),
  };
  const sum = ({ buckets }: Ranges): number => buckets.reduce((total, { count }) => total + count, 0);
  assertSameAnswer(`${label}: sum of counts`, sum(ourRanges), name, sum(theirRanges));
  if (tolerance > 0) compareCommonBuckets(label, ourRanges, theirRanges, name);
  else if (!isDeepStrictEqual(ourRanges.buckets, foldOuterBuckets(theirRanges.buckets, regular)))
    assertSameAnswer(label, rangesJson(ourRanges), name, rangesJson(theirRanges));
}

interface Ranges {
  readonly interval: number;
  readonly buckets: readonly RangeBucket[];
}

const bucketsOf = (value: unknown): readonly RangeBucket[] =>
  listAt(value).map((bucket) => ({
    min: Number(at(bucket, "min")),
    max: Number(at(bucket, "max")),
    count: Number(at(bucket, "count")),
  }));

const rangesJson = ({ interval, buckets }: Ranges): Json => ({
  interval,
  buckets: buckets.map(({ min, max, count }) => [min, max, count]),
});

/** Converts buckets to the older form of a range facet: the first and the last regular bucket also count the values outside. */
export function foldOuterBuckets(
  buckets: readonly RangeBucket[],
  regular: { readonly min: number; readonly max: number },
): readonly RangeBucket[] {
  const isRegular = ({ min, max }: RangeBucket): boolean => min >= regular.min && max <= regular.max;
  const outer = buckets.filter((bucket) => !isRegular(bucket));
  const countOuter = (isIncluded: (bucket: RangeBucket) => boolean): number =>
    outer.filter(isIncluded).reduce((sum, { count }) => sum + count, 0);
  const below = countOuter(({ max }) => max <= regular.min);
  const above = countOuter(({ min }) => min >= regular.max);
  return buckets.filter(isRegular).map(({ min, max, count }) => ({
    min,
    max,
    count: count + (min === regular.min ? below : 0) + (max === regular.max ? above : 0),
  }));
}

/** Compares the buckets that both answers have. Skips two at each end: an approximate percentile may shift the ends. */
function compareCommonBuckets(label: string, ours: Ranges, theirs: Ranges, server: string): void {
  if (ours.interval !== theirs.interval) return;
  const theirCounts = new Map(theirs.buckets.map(({ min, max, count }) => [`${min} to ${max}`, count]));
  for (const { min, max, count } of ours.buckets.slice(2, -2)) {
    const theirCount = theirCounts.get(`${min} to ${max}`);
    if (theirCount !== undefined) assertSameAnswer(`${label}: ${min} to ${max}`, count, server, theirCount);
  }
}

/** A percentile in both answers. */
interface PercentilePair {
  readonly name: string;
  readonly ours: number | null;
  readonly theirs: number | null;
  readonly sample: number;
  /** The deviation is relative to this or to the value, whichever is larger. */
  readonly scale: number;
}

/** Carquet returns no metric for fewer known values. */
const sampleMin = 10;

/** Approximate percentiles of fewer values are not compared: neighbouring values are too far apart. */
const approximateSampleMin = 100;

function percentilePairs(
  { ours, theirs }: Bodies,
  { categorical, numeric, metric }: FacetSpec,
): readonly PercentilePair[] {
  const medians = numeric.map((facet): PercentilePair => {
    const median = (body: unknown) => numberOrNull(at(body, "data", "stats", facet, "median"));
    const scale = numberOrNull(at(ours, "data", "stats", facet, "stddev")) ?? 0;
    const sample = Number(at(ours, "data", "stats", facet, "count"));
    return { name: `median of ${facet}`, ours: median(ours), theirs: median(theirs), sample, scale };
  });
  if (metric === undefined) return medians;
  const metricOf = (bucket: unknown): number | null => {
    const found = at(bucket, "metric");
    return numberOrNull(isObject(found) ? at(found, "value") : found);
  };
  const metrics = categorical.flatMap((facet) => {
    const ourBuckets = listAt(ours, "data", "facets", facet);
    // A metric may be 0: those of a facet have one unit.
    const scale = Math.max(...ourBuckets.map((bucket) => Math.abs(metricOf(bucket) ?? 0)));
    return ourBuckets.map((ourBucket, index): PercentilePair => {
      const theirBucket = at(theirs, "data", "facets", facet, index);
      const name = `${metric.name} of ${at(ourBucket, "value")}`;
      const sample = Number(at(theirBucket, "sample"));
      return { name, ours: metricOf(ourBucket), theirs: metricOf(theirBucket), sample, scale };
    });
  });
  return [...medians, ...metrics];
}

const numberOrNull = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));

/** Returns the deviation as a fraction. Infinite if only one side has a value, except where the sample is below Carquet's minimum. */
function relativeDeviation({ ours, theirs, sample, scale }: PercentilePair): number {
  if (ours === null) return theirs === null || sample < sampleMin ? 0 : Number.POSITIVE_INFINITY;
  if (theirs === null) return Number.POSITIVE_INFINITY;
  return ours === theirs ? 0 : Math.abs(ours - theirs) / Math.max(Math.abs(ours), scale);
}

const nineDigits = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(Number(value).toPrecision(9));

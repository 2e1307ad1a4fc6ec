/** Compares two answers with facets. Counts must be equal; percentiles may be approximate. */
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json } from "../../src/base/json.ts";
import { UserError } from "../../src/base/user-error.ts";
import { assertSameAnswer } from "../measure/agree.ts";
import type { Bucket } from "./facets.ts";
import { at, type Compared, type Facets, listAt } from "./question.ts";

export interface Bodies {
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Fails with the first difference; returns the largest share by which a percentile differs. */
export function compareFacets(path: string, subject: Facets, bodies: Bodies, server: Compared): number {
  const { ours, theirs } = bodies;
  assertSameAnswer(path, exactPartOf(ours, subject), server.name, exactPartOf(theirs, subject));
  for (const facet of subject.numeric) compareRanges(`${path}: ${facet}`, facet, bodies, server);
  const pairs = percentilesOf(bodies, subject).filter(
    ({ sample }) => server.tolerance === 0 || sample >= approximateSampleMin,
  );
  const shares = pairs.map((pair) => {
    const share = differenceOf(pair);
    if (share <= Math.max(server.tolerance, 1e-8)) return share;
    throw new UserError(
      `${path}: ${pair.name}: ${server.name} answers ${pair.theirs} where Carquet has ${pair.ours}: expected a difference of at most ${server.tolerance * 100} %.`,
    );
  });
  return Math.max(0, ...shares);
}

/** Everything that an approximate engine counts exactly. Means and deviations to nine digits. */
function exactPartOf(body: unknown, { categorical, numeric }: Facets): Json {
  const parts = ["min", "max", "count", "missing", "mean", "stddev"];
  return {
    total: Number(at(body, "data", "total")),
    facets: Object.fromEntries(categorical.map((facet) => [facet, countsOf(body, facet)])),
    stats: Object.fromEntries(
      numeric.map((facet) => [facet, parts.map((part) => rounded(at(body, "data", "stats", facet, part)))]),
    ),
  };
}

/** Numbers as text have two orders, so values of equal counts are put in one of them. */
const wholeNumbers: readonly string[] = ["year", "cylinders", "doors", "seating_capacity"];

function countsOf(body: unknown, facet: string): Json {
  const counts = listAt(body, "data", "facets", facet).map((bucket): [string, number] => [
    String(at(bucket, "value")),
    Number(at(bucket, "count")),
  ]);
  if (!wholeNumbers.includes(facet)) return counts;
  return counts.sort(([one, count], [other, otherCount]) => otherCount - count || Number(one) - Number(other));
}

function compareRanges(what: string, facet: string, { ours, theirs }: Bodies, { name, tolerance }: Compared): void {
  const rangesOf = (body: unknown): Ranges => ({
    interval: Number(at(body, "data", "range_facets", facet, "interval")),
    buckets: bucketsIn(at(body, "data", "range_facets", facet, "buckets")),
  });
  const [our, their] = [rangesOf(ours), rangesOf(theirs)];
  const regular = {
    min: Number(at(theirs, "data", "range_facets", facet, "regular", "min")),
    max: Number(at(theirs, "data", "range_facets", facet, "regular", "max")),
  };
  const sum = ({ buckets }: Ranges): number => buckets.reduce((total, { count }) => total + count, 0);
  assertSameAnswer(`${what}: sum of counts`, sum(our), name, sum(their));
  if (tolerance > 0) compareCommonRanges(what, our, their, name);
  else if (!isDeepStrictEqual(our.buckets, endsInRegularBuckets(their.buckets, regular)))
    assertSameAnswer(what, asJson(our), name, asJson(their));
}

interface Ranges {
  readonly interval: number;
  readonly buckets: readonly Bucket[];
}

const bucketsIn = (value: unknown): readonly Bucket[] =>
  listAt(value).map((bucket) => ({
    ...{ min: Number(at(bucket, "min")), max: Number(at(bucket, "max")), count: Number(at(bucket, "count")) },
  }));

const asJson = ({ interval, buckets }: Ranges): Json => ({
  interval,
  buckets: buckets.map(({ min, max, count }) => [min, max, count]),
});

/** The older form of a range facet, which is also accepted: the first and the last regular bucket count what lies outside. */
export function endsInRegularBuckets(
  buckets: readonly Bucket[],
  regular: { readonly min: number; readonly max: number },
): readonly Bucket[] {
  const inside = buckets.filter(({ min, max }) => min >= regular.min && max <= regular.max);
  const outside = buckets.filter((bucket) => !inside.includes(bucket));
  const added = (isAtEnd: boolean, isOutside: (bucket: Bucket) => boolean): number =>
    isAtEnd ? outside.filter(isOutside).reduce((sum, { count }) => sum + count, 0) : 0;
  return inside.map(({ min, max, count }) => ({
    ...{ min, max },
    count:
      count +
      added(min === regular.min, (bucket) => bucket.max <= regular.min) +
      added(max === regular.max, (bucket) => bucket.min >= regular.max),
  }));
}

/** An approximate percentile may move the ends: compares the buckets that both have, but for the two at Carquet's ends. */
function compareCommonRanges(what: string, our: Ranges, their: Ranges, name: string): void {
  if (our.interval !== their.interval) return;
  const theirCounts = new Map(their.buckets.map(({ min, max, count }) => [`${min} to ${max}`, count]));
  for (const { min, max, count } of our.buckets.slice(2, -2)) {
    const theirCount = theirCounts.get(`${min} to ${max}`);
    if (theirCount !== undefined) assertSameAnswer(`${what}: ${min} to ${max}`, count, name, theirCount);
  }
}

interface Pair {
  readonly name: string;
  readonly ours: number | null;
  readonly theirs: number | null;
  /** How many known values a percentile is of. */
  readonly sample: number;
  /** What a difference is a share of, if not of the value. */
  readonly scale: number;
}

/** The fewest values that a metric is of. */
const sampleMin = 10;

/** Approximate percentiles of fewer values are not compared: between so few, neighbours lie far apart. */
const approximateSampleMin = 100;

function percentilesOf({ ours, theirs }: Bodies, { categorical, numeric, metric }: Facets): readonly Pair[] {
  const medians = numeric.map((facet): Pair => {
    const median = (body: unknown) => number(at(body, "data", "stats", facet, "median"));
    const scale = number(at(ours, "data", "stats", facet, "stddev")) ?? 0;
    const sample = Number(at(ours, "data", "stats", facet, "count"));
    return { name: `median of ${facet}`, ours: median(ours), theirs: median(theirs), sample, scale };
  });
  if (metric === undefined) return medians;
  const metrics = categorical.flatMap((facet) =>
    listAt(ours, "data", "facets", facet).map((bucket, index): Pair => {
      const their = at(theirs, "data", "facets", facet, index);
      const [one, sample] = [at(bucket, "metric"), Number(at(their, "sample"))];
      const name = `${metric.name} of ${at(bucket, "value")}`;
      return {
        name,
        ours: number(isObject(one) ? at(one, "value") : one),
        theirs: number(at(their, "metric")),
        sample,
        scale: 0,
      };
    }),
  );
  return [...medians, ...metrics];
}

const number = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));

/** The share by which a pair differs; infinite where only one of them has a value, though there are enough. */
function differenceOf({ ours, theirs, sample, scale }: Pair): number {
  if (ours === null) return theirs === null || sample < sampleMin ? 0 : Number.POSITIVE_INFINITY;
  if (theirs === null) return Number.POSITIVE_INFINITY;
  return ours === theirs ? 0 : Math.abs(ours - theirs) / Math.max(Math.abs(ours), scale);
}

const rounded = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(Number(value).toPrecision(9));

/** Range facets computed for peers, and the comparison of facet answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldOuterBuckets } from "../../bench/queries/compare-facets.ts";
import { facetQuery } from "../../bench/queries/facets.ts";
import { type RangeCount, rangeBuckets, rangeGrid, type Statistics } from "../../bench/queries/ranges.ts";

const statistics = (known: Partial<Statistics>): Statistics => ({
  min: null,
  max: null,
  mean: null,
  median: null,
  stddev: null,
  p1: null,
  p99: null,
  count: 0,
  ...known,
});

for (const { p1, p99, width, first, last } of [
  { p1: 0, p99: 0, width: 1, first: 0, last: 0 },
  { p1: 3, p99: 22, width: 1, first: 3, last: 22 },
  { p1: 3, p99: 23, width: 2, first: 1, last: 11 },
  { p1: 5999.5, p99: 94_999.99, width: 5000, first: 1, last: 18 },
  { p1: 4999.999, p99: 104_999, width: 5000, first: 1, last: 20 },
  { p1: 4999.99, p99: 104_999, width: 10_000, first: 0, last: 10 },
]) {
  test(`from ${p1} to ${p99}: buckets of ${width}, from number ${first} to ${last}`, () => {
    assert.deepEqual(rangeGrid({ p1, p99 }), { width, first, last });
  });
}

test("a column without known values has no buckets", () => {
  assert.deepEqual(rangeBuckets(statistics({}), []).buckets, []);
});

const known = statistics({ min: 1, max: 57, p1: 4, p99: 41.2, count: 12 });
const counts: readonly RangeCount[] = [
  { bucket: 0, listings: 1 },
  { bucket: 2, listings: 7 },
  { bucket: 20, listings: 2 },
  { bucket: 21, listings: 1 },
  { bucket: 28, listings: 1 },
];

test("values outside the regular buckets are in one bucket below and one above, which end at the minimum and maximum", () => {
  const { buckets, interval, regular } = rangeBuckets(known, counts);
  assert.equal(interval, 2);
  assert.deepEqual(regular, { min: 4, max: 42 });
  assert.deepEqual(buckets.at(0), { min: 1, max: 4, count: 1 });
  assert.deepEqual(buckets.at(1), { min: 4, max: 6, count: 7 });
  assert.deepEqual(buckets.at(-2), { min: 40, max: 42, count: 2 });
  assert.deepEqual(buckets.at(-1), { min: 42, max: 58, count: 2 });
  assert.equal(
    buckets.reduce((sum, { count }) => sum + count, 0),
    12,
  );
});

test("there is no outer bucket if every value is in a regular one", () => {
  const inside = statistics({ min: 4, max: 41, p1: 4, p99: 41, count: 9 });
  const { buckets } = rangeBuckets(inside, counts.slice(1, 3));
  assert.deepEqual([buckets.at(0)?.min, buckets.at(-1)?.max, buckets.length], [4, 42, 19]);
});

test("the older form counts outer values in the first and last regular bucket", () => {
  const { buckets, regular } = rangeBuckets(known, counts);
  const older = foldOuterBuckets(buckets, regular);
  assert.deepEqual(
    [older.at(0), older.at(-1), older.length],
    [{ min: 4, max: 6, count: 8 }, { min: 40, max: 42, count: 4 }, 19],
  );
});

const question = facetQuery({ facets: ["make", "year", "price"] });

/** A facets body with these range buckets, as Carquet and the peers serve it. */
function body(buckets: readonly unknown[], { median = 10, years = ["2026", "2027"] } = {}) {
  const stats = { min: 1, max: 57, count: 12, missing: 0, mean: 8, stddev: 5, median };
  const { interval, regular } = rangeBuckets(known, counts);
  return {
    data: {
      total: 12,
      facets: { make: [{ value: "Ford", count: 12 }], year: years.map((value) => ({ value, count: 6 })) },
      stats: { price: stats },
      range_facets: { price: { interval, regular, buckets } },
    },
  };
}

const { buckets: truthful, regular } = rangeBuckets(known, counts);
const older = foldOuterBuckets(truthful, regular);
const moved = [0, 1, -1];
const wrong = truthful.map((bucket, index) => ({ ...bucket, count: bucket.count + (moved[index] ?? 0) }));
const exact = { name: "duckdb", tolerance: 0 };
const approximate = { name: "solr", tolerance: 0.1 };

test("an exact peer must count each range, in the current form or the older one", () => {
  question.compare(body(truthful), body(truthful), exact);
  question.compare(body(older), body(truthful), exact);
  assert.throws(() => question.compare(body(wrong), body(truthful), exact), /price: duckdb returned .* at buckets\.1/);
});

test("values with equal counts may be ordered as numbers or as text", () => {
  question.compare(body(truthful), body(truthful, { years: ["2027", "2026"] }), exact);
  assert.throws(() => question.compare(body(truthful), body(truthful, { years: ["2026", "2028"] }), exact), /2028/);
});

test("a percentile may differ within the peer's tolerance, and the difference is returned", () => {
  const bodyOfMany = (median: number) => {
    const answer = body(truthful, { median });
    return { data: { ...answer.data, stats: { price: { ...answer.data.stats.price, count: 100 } } } };
  };
  assert.equal(question.compare(bodyOfMany(10), bodyOfMany(10.5), approximate), 0.05);
  assert.throws(() => question.compare(bodyOfMany(10), bodyOfMany(12), approximate), /median of price.*within 10 %/);
  assert.throws(() => question.compare(bodyOfMany(10), bodyOfMany(10.5), exact), /median of price/);
});

const measured = facetQuery({ facets: ["make"], metric: { name: "price.p95", column: "price", fraction: 0.95 } });
const metricBody = (metric: unknown, sample = 9) => ({
  data: { total: 12, facets: { make: [{ value: "Ford", count: 12, metric, sample }] } },
});

test("a metric of fewer than ten values may be missing; any other may not", () => {
  measured.compare(metricBody(null), metricBody(5), exact);
  measured.compare(metricBody({ value: 5 }), metricBody(5), exact);
  assert.throws(() => measured.compare(metricBody(null), metricBody(5, 10), exact), /price\.p95 of Ford/);
  assert.throws(() => measured.compare(metricBody({ value: 5 }), metricBody(6), exact), /price\.p95 of Ford/);
});

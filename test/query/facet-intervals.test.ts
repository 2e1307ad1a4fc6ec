/** Range facets with a fixed `interval`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";

/** A hundred cars whose prices, MSRPs and miles are evenly spread; one in four lacks a price. */
const cars: readonly CarRow[] = Array.from({ length: 100 }, (_, step) => ({
  make: step % 2 === 0 ? "Even" : "Odd",
  price: step % 4 === 3 ? "" : 10_000 + 300 * step,
  msrp: 20_000 + 300 * step,
  miles: 1000 * step,
}));
const client = await serveFeeds(fileScope, feedsOf(cars));

const rangesOf = async (query: string) =>
  (await client.getBody("getFacets", `/v1/facets?facets=make,price,msrp,miles,days_on_market${query}`)).data
    .range_facets;

test("a fixed width applies to its facet only", async () => {
  const plain = await rangesOf("");
  const priced = await rangesOf("&interval=price:4000");
  assert.deepEqual({ ...priced, price: plain.price }, plain);
  assert.deepEqual([plain.price?.interval, priced.price?.interval], [2000, 4000]);
  assert.equal(plain.price?.buckets.length, 15);
  assert.deepEqual(
    priced.price?.buckets.map(({ min, max, count }) => [min, max, count]),
    [
      [8000, 12_000, 6],
      [12_000, 16_000, 9],
      [16_000, 20_000, 11],
      [20_000, 24_000, 10],
      [24_000, 28_000, 9],
      [28_000, 32_000, 11],
      [32_000, 36_000, 10],
      [36_000, 40_000, 9],
    ],
  );
});

test("all four numeric facets take fixed widths, in any order and case", async () => {
  const ranges = await rangesOf("&interval=DAYS_ON_MARKET:7,miles:10000,Price:5000,msrp:10000000");
  const widths = Object.entries(ranges).map(([facet, { interval }]) => [facet, interval]);
  assert.deepEqual(Object.fromEntries(widths), { price: 5000, msrp: 10_000_000, miles: 10_000, days_on_market: 7 });
  assert.deepEqual(ranges.msrp, { buckets: [{ min: 0, max: 1e7, count: 100 }], interval: 1e7, min: 0, max: 1e7 });
  assert.deepEqual(ranges.days_on_market, {
    buckets: [{ min: 0, max: 7, count: 100 }],
    interval: 7,
    min: 0,
    max: 7,
  });
});

test("a facet named twice with the same width has that width", async () => {
  assert.deepEqual(await rangesOf("&interval=price:5000,PRICE:5000"), await rangesOf("&interval=price:5000"));
});

test("with a fixed width, the edges of two answers coincide", async () => {
  const edgesOf = async (make: string): Promise<readonly number[]> => {
    const { miles } = await rangesOf(`&interval=miles:10000&make=${make}`);
    return miles?.buckets.map(({ min }) => min) ?? [];
  };
  const decades = Array.from({ length: 10 }, (_, decade) => 10_000 * decade);
  assert.deepEqual([await edgesOf("even"), await edgesOf("odd")], [decades, decades]);
});

test("a fixed width changes neither values, metrics nor statistics", async () => {
  const path = "/v1/facets?facets=make,price&metric=miles.mean&sort=metric";
  const [plain, fixed] = await Promise.all(
    ["", "&interval=price:9999"].map((interval) => client.getBody("getFacets", `${path}${interval}`)),
  );
  assert.deepEqual(
    [fixed?.data.facets, fixed?.data.stats, fixed?.meta],
    [plain?.data.facets, plain?.data.stats, plain?.meta],
  );
  assert.deepEqual([plain?.data.range_facets.price?.interval, fixed?.data.range_facets.price?.interval], [2000, 9999]);
});

test("a fixed width is kept if no listing matches; otherwise it is null", async () => {
  const { price, miles } = await rangesOf("&interval=price:5000&make=unknown");
  assert.deepEqual(price, { buckets: [], interval: 5000, min: null, max: null });
  assert.deepEqual(miles, { buckets: [], interval: null, min: null, max: null });
});

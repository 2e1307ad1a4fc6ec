/** Metrics of facet values: aggregates, samples and order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCaseTable } from "../support/case-table.ts";
import { dealerIdOf } from "../support/lakes/feeds.ts";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";

/** Eleven cars from 10,000 to 20,000 in steps of a thousand; other measures in equal steps. */
const eleven = (make: string, more: (step: number) => CarRow = () => ({})): readonly CarRow[] =>
  Array.from({ length: 11 }, (_, step) => ({ make, price: 10_000 + 1000 * step, ...more(step) }));

/** Makes by number of listings and number of known prices: 30,000 and up, in steps of 2000. */
const sampled = parseCaseTable(
  ["make", "count", "known", "median"],
  `
  make         | count | known | median
  None of 9    | 9     | 0     | insufficient_sample
  3 of 9       | 9     | 3     | insufficient_sample
  9 of 9       | 9     | 9     | insufficient_sample
  None of 10   | 10    | 0     | no_values
  1 of 10      | 10    | 1     | insufficient_sample
  3 of 10      | 10    | 3     | insufficient_sample
  9 of 10      | 10    | 9     | insufficient_sample
  10 of 10     | 10    | 10    | 39000
  None of 11   | 11    | 0     | no_values
  3 of 11      | 11    | 3     | insufficient_sample
  10 of 11     | 11    | 10    | 39000
  11 of 11     | 11    | 11    | 40000
`,
);

const cars: readonly CarRow[] = [
  ...eleven("Steps", (step) => ({
    miles: 100 * step,
    msrp: 20_000,
    body_type: "Coupe",
    exterior_color: "Sky",
    doors: 2,
    inventory_type: "used",
    features: "alpha|beta",
    options_packages: "X1",
    keywords: "fleet|clean_title",
    dealer_id: dealerIdOf(2),
  })),
  ...sampled.flatMap(({ make, known, count }) => [
    ...Array.from({ length: Number(known) }, (_, step) => ({ make, price: 30_000 + 2000 * step })),
    ...Array.from({ length: Number(count) - Number(known) }, () => ({ make })),
  ]),
];
const dealers = [
  { dealer_id: dealerIdOf(1), state: "TX" },
  { dealer_id: dealerIdOf(2), state: "CA", type: "franchise" },
];
const client = await serveFeeds(fileScope, feedsOf(cars, dealers));

async function bucketsOf(facet: string, query: string) {
  const { data } = await client.getBody("getFacets", `/v1/facets?facets=${facet}&${query}`);
  return data.facets[facet] ?? [];
}

const metricCases = parseCaseTable(
  ["metric", "value"],
  `
  metric                    | value
  price.mean                | 15000
  price.p5                  | 10500
  price.p25                 | 12500
  price.median              | 15000
  price.p75                 | 17500
  price.p95                 | 19500
  miles.mean                | 500
  miles.p5                  | 50
  miles.p95                 | 950
  msrp.mean                 | 20000
  msrp.p25                  | 20000
  days_on_market.mean       | 0
  days_on_market.p75        | 0
  discount_from_msrp.mean   | -0.25
  discount_from_msrp.p5     | -0.475
  discount_from_msrp.p25    | -0.375
  discount_from_msrp.median | -0.25
  discount_from_msrp.p75    | -0.125
  discount_from_msrp.p95    | -0.025
`,
);

for (const { metric, value } of metricCases) {
  test(`${metric} of eleven cars in equal steps is ${value}`, async () => {
    const [bucket] = await bucketsOf("make", `metric=${metric}&make=steps`);
    assert.deepEqual(bucket, { value: "Steps", count: 11, metric: { name: metric, value: Number(value), sample: 11 } });
  });
}

const metricOf = (name: string, known: string, median: string) => ({
  name,
  sample: Number(known),
  ...(/^\d/.test(median) ? { value: Number(median) } : { value: null, null_reason: median }),
});

for (const { make, count, known, median } of sampled) {
  test(`a metric needs 10 listings and one known value: ${make} is ${median}`, async () => {
    const [bucket] = await bucketsOf("make", `metric=price.median&make=${encodeURIComponent(make)}`);
    assert.deepEqual(bucket, { value: make, count: Number(count), metric: metricOf("price.median", known, median) });
  });
}

test("the sample of a discount counts the listings with both a price and an MSRP", async (scope) => {
  const priced = { make: "Kia", price: 18_000 };
  const client = await serveFeeds(
    scope,
    feedsOf([
      ...Array.from({ length: 12 }, () => ({ ...priced, msrp: 20_000 })),
      ...Array.from({ length: 5 }, () => priced),
      ...Array.from({ length: 4 }, () => ({ make: "Kia", msrp: 20_000 })),
    ]),
  );
  for (const [metric, sample, value] of [
    ["discount_from_msrp.mean", 12, -0.1],
    ["price.mean", 17, 18_000],
    ["msrp.mean", 16, 20_000],
    ["days_on_market.mean", 21, 0],
  ] as const) {
    const { data } = await client.getBody("getFacets", `/v1/facets?facets=make&metric=${metric}`);
    assert.deepEqual(data.facets.make, [{ value: "Kia", count: 21, metric: { name: metric, value, sample } }]);
  }
  const { data } = await client.getBody("getFacets", "/v1/facets?facets=make&metric=miles.p95");
  const metric = { name: "miles.p95", value: null, sample: 0, null_reason: "no_values" };
  assert.deepEqual(data.facets.make, [{ value: "Kia", count: 21, metric }]);
});

for (const [facet, values] of Object.entries({
  model: [],
  body_type: ["Coupe"],
  doors: ["2"],
  exterior_color: ["Sky"],
  inventory_type: ["used"],
  state: ["CA"],
  dealer_type: ["franchise"],
  features: ["alpha", "beta"],
  options_packages: ["X1"],
  keywords: ["clean_title", "fleet"],
})) {
  test(`a metric by ${facet} measures the listings of each value`, async () => {
    const metric = { name: "price.p25", value: 12_500, sample: 11 };
    const buckets = await bucketsOf(facet, "metric=price.p25&state=CA");
    assert.deepEqual(
      buckets,
      values.map((value) => ({ value, count: 11, metric })),
    );
  });
}

const orders = parseCaseTable(
  ["sort", "makes"],
  `
  sort    | makes
  -count  | 10 of 11, 11 of 11, 3 of 11, None of 11, Steps, 1 of 10, 10 of 10, 3 of 10, 9 of 10, None of 10, 3 of 9, 9 of 9, None of 9
  count   | 3 of 9, 9 of 9, None of 9, 1 of 10, 10 of 10, 3 of 10, 9 of 10, None of 10, 10 of 11, 11 of 11, 3 of 11, None of 11, Steps
  -metric | 11 of 11, 10 of 10, 10 of 11, Steps, 1 of 10, 3 of 10, 3 of 11, 3 of 9, 9 of 10, 9 of 9, None of 10, None of 11, None of 9
  metric  | Steps, 10 of 10, 10 of 11, 11 of 11, 1 of 10, 3 of 10, 3 of 11, 3 of 9, 9 of 10, 9 of 9, None of 10, None of 11, None of 9
`,
);

for (const { sort, makes } of orders) {
  test(`sort=${sort} orders makes: ${makes}`, async () => {
    const buckets = await bucketsOf("make", `metric=price.mean&sort=${sort}`);
    assert.equal(buckets.map(({ value }) => value).join(", "), makes);
    const first = await bucketsOf("make", `metric=price.mean&sort=${sort}&facet_value_limit=3`);
    assert.deepEqual(first, buckets.slice(0, 3));
  });
}

test("with a metric, buckets are ordered by count by default", async () => {
  assert.deepEqual(
    await bucketsOf("make", "metric=price.mean"),
    await bucketsOf("make", "metric=price.mean&sort=-count"),
  );
});

test("with a metric, numeric facets are counted in ranges as without it", async () => {
  const [plain, measured] = await Promise.all(
    ["", "&metric=miles.p95"].map((metric) =>
      client.getBody("getFacets", `/v1/facets?facets=price,make,msrp${metric}`),
    ),
  );
  assert.deepEqual(measured?.data.range_facets, plain?.data.range_facets);
  assert.deepEqual(measured?.data.stats, plain?.data.stats);
  assert.deepEqual([measured?.meta.metric, measured?.meta.minimum_metric_count], ["miles.p95", 10]);
  assert.deepEqual([plain?.meta.metric, plain?.meta.minimum_metric_count], ["count", 10]);
});

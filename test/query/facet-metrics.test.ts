import assert from "node:assert/strict";
import { test } from "node:test";
import { dealerIdOf } from "../support/feeds.ts";
import { type Car, feedsOf, marketOf } from "../support/markets.ts";
import { wholeFile } from "../support/scope.ts";
import { casesOf } from "../support/words.ts";

/** Eleven cars from 10,000 to 20,000, a thousand apart, with all else that is measured in the same steps. */
const eleven = (make: string, more: (step: number) => Car = () => ({})): readonly Car[] =>
  Array.from({ length: 11 }, (_, step) => ({ make, price: 10_000 + 1000 * step, ...more(step) }));

const of = (count: number, car: Car): readonly Car[] => Array.from({ length: count }, () => car);

const cars: readonly Car[] = [
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
  ...of(9, { make: "Nine", price: 30_000 }),
  ...of(10, { make: "Ten", price: 30_000 }),
  ...of(9, { make: "Nine of twelve", price: 30_000 }),
  ...of(3, { make: "Nine of twelve" }),
  ...of(12, { make: "None of twelve" }),
  ...of(10, { make: "Eleventh", price: 30_000 }),
  { make: "Eleventh" },
];
const dealers = [
  { dealer_id: dealerIdOf(1), state: "TX" },
  { dealer_id: dealerIdOf(2), state: "CA", type: "franchise" },
];
const client = await marketOf(wholeFile, feedsOf(cars, dealers));

async function bucketsOf(facet: string, query: string) {
  const { data } = await client.found("getFacets", `/v1/facets?facets=${facet}&${query}`);
  return data.facets[facet] ?? [];
}

const metricCases = casesOf(
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
  test(`${metric} of eleven cars in even steps is ${value}`, async () => {
    const [bucket] = await bucketsOf("make", `metric=${metric}&make=steps`);
    assert.deepEqual(bucket, { value: "Steps", count: 11, metric: { name: metric, value: Number(value) } });
  });
}

const samples = casesOf(
  ["make", "count", "median"],
  `
  make           | count | median
  Nine           | 9     | too few
  Ten            | 10    | 30000
  Nine of twelve | 12    | too few
  None of twelve | 12    | too few
  Eleventh       | 11    | 30000
`,
);

for (const { make, count, median } of samples) {
  test(`a metric of ${make}: ${median}, the sample being the listings with a price`, async () => {
    const [bucket] = await bucketsOf("make", `metric=price.median&make=${make}`);
    const metric =
      median === "too few" ? { value: null, null_reason: "insufficient_sample" } : { value: Number(median) };
    assert.deepEqual(bucket, { value: make, count: Number(count), metric: { name: "price.median", ...metric } });
  });
}

for (const [facet, values] of Object.entries({
  model: [],
  body_type: ["Coupe"],
  doors: [2],
  exterior_color: ["Sky"],
  inventory_type: ["used"],
  state: ["CA"],
  dealer_type: ["franchise"],
  features: ["alpha", "beta"],
  options_packages: ["X1"],
  keywords: ["clean_title", "fleet"],
})) {
  test(`a metric by ${facet} measures the listings of each of its values`, async () => {
    const metric = { name: "price.p25", value: 12_500 };
    const buckets = await bucketsOf(facet, "metric=price.p25&state=CA");
    assert.deepEqual(
      buckets,
      values.map((value) => ({ value, count: 11, metric })),
    );
  });
}

const orders = casesOf(
  ["sort", "makes"],
  `
  sort    | makes
  -count  | Nine of twelve, None of twelve, Eleventh, Steps, Ten, Nine
  count   | Nine, Ten, Eleventh, Steps, Nine of twelve, None of twelve
  -metric | Eleventh, Ten, Steps, Nine, Nine of twelve, None of twelve
  metric  | Steps, Eleventh, Ten, Nine, Nine of twelve, None of twelve
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

test("with a metric, buckets are ordered by count unless another order is asked for", async () => {
  assert.deepEqual(
    await bucketsOf("make", "metric=price.mean"),
    await bucketsOf("make", "metric=price.mean&sort=-count"),
  );
});

test("beside a metric, numeric facets are counted in ranges as without it", async () => {
  const [plain, measured] = await Promise.all(
    ["", "&metric=miles.p95"].map((metric) => client.found("getFacets", `/v1/facets?facets=price,make,msrp${metric}`)),
  );
  assert.deepEqual(measured?.data.range_facets, plain?.data.range_facets);
  assert.deepEqual(measured?.data.stats, plain?.data.stats);
  assert.deepEqual([measured?.meta.metric, measured?.meta.minimum_metric_count], ["miles.p95", 10]);
  assert.deepEqual([plain?.meta.metric, plain?.meta.minimum_metric_count], [null, null]);
});

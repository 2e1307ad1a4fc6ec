/** Statistics of numeric facets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCaseTable } from "../support/case-table.ts";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";

/** Statistics of prices, calculated by hand; `-` is an unknown price, or no statistic. */
const cases = parseCaseTable(
  ["prices", "count", "missing", "min", "max", "mean", "median", "stddev"],
  `
  prices                          | count | missing | min     | max      | mean      | median  | stddev
  -                               | 0     | 1       | -       | -        | -         | -       | -
  20000                           | 1     | 0       | 20000   | 20000    | 20000     | 20000   | -
  20000, -, -                     | 1     | 2       | 20000   | 20000    | 20000     | 20000   | -
  20000, 20000                    | 2     | 0       | 20000   | 20000    | 20000     | 20000   | 0
  10000, 20001                    | 2     | 0       | 10000   | 20001    | 15000.5   | 15000.5 | 7071.774918646662
  10000, 20000, 60000, -          | 3     | 1       | 10000   | 60000    | 30000     | 20000   | 26457.513110645905
  2, 4, 4, 4, 5, 5, 7, 9          | 8     | 0       | 2       | 9        | 5         | 4.5     | 2.138089935299395
  10000000, 9999999, 9999998      | 3     | 0       | 9999998 | 10000000 | 9999999   | 9999999 | 1
`,
);

const cars: readonly CarRow[] = cases.flatMap(({ prices }, index) =>
  prices.split(",").map((price) => ({ make: `case ${index}`, price: price.trim() === "-" ? "" : price.trim() })),
);
const client = await serveFeeds(fileScope, feedsOf(cars));

for (const [index, { prices, ...expected }] of cases.entries()) {
  test(`the statistics of the prices ${prices}`, async () => {
    const { data } = await client.getBody("getFacets", `/v1/facets?facets=price&make=case%20${index}`);
    const stats = Object.entries(data.stats.price ?? {});
    assert.equal(stats.length, 7);
    for (const [name, value] of stats) {
      const cell = expected[name as keyof typeof expected];
      if (cell === "-") assert.equal(value, null, name);
      else assert.ok(Math.abs(Number(value) - Number(cell)) <= 1e-9 * Number(cell), `${name}: ${value}, not ${cell}`);
    }
  });
}

test("all numeric facets are answered together, each with its own ranges and statistics", async () => {
  const { data, meta } = await client.getBody("getFacets", "/v1/facets?facets=days_on_market,price,msrp,miles");
  const names = ["days_on_market", "price", "msrp", "miles"];
  assert.deepEqual([Object.keys(data.range_facets), Object.keys(data.stats), meta.facets], [names, names, names]);
  assert.deepEqual(data.facets, {});
  assert.equal(data.stats.days_on_market?.max, 0);
  assert.deepEqual([data.stats.miles?.count, data.stats.miles?.missing], [0, data.total]);
});

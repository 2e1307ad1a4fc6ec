/** Range facets: widths, edges and counts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../src/contract/types.ts";
import { forEachConcurrently } from "../oracle/compare/oracle.ts";
import { parseCaseTable } from "../support/case-table.ts";
import { writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

type RangeFacet = AnswerOf<"getFacets">["data"]["range_facets"][string];

/** Parses numbers: `20 x 1000` repeats one, `100 .. 104` is each whole number, `-` is unknown. */
function parseNumbers(words: string): readonly (number | "")[] {
  return words.split(",").flatMap((word) => {
    const [, count, repeated] = /(\d+) x (.+)/.exec(word) ?? [];
    if (repeated !== undefined) return Array.from({ length: Number(count) }, () => parseNumbers(repeated)).flat();
    const [, from, to] = /(\d+) \.\. (\d+)/.exec(word) ?? [];
    if (from !== undefined) {
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
    }
    return word.trim() === "-" ? [""] : [Number(word)];
  });
}

/** Returns buckets as text: `0-5: 7` counts 7, and `0-15 (3): 7` is three buckets of one width that count 7 each. */
function formatBuckets({ buckets }: RangeFacet): string {
  const runs: { min: number; max: number; count: number; width: number; length: number }[] = [];
  for (const { min, max, count } of buckets) {
    const run = runs.at(-1);
    if (run?.max === min && run.width === max - min && run.count === count) {
      run.max = max;
      run.length += 1;
    } else runs.push({ min, max, count, width: max - min, length: 1 });
  }
  return runs
    .map(({ min, max, count, length }) => `${min}-${max}${length === 1 ? "" : ` (${length})`}: ${count}`)
    .join(", ");
}

/** Without `interval`; `width` follows from the values. */
const chosen = parseCaseTable(
  ["case", "miles", "width", "buckets"],
  `
  case                                   | miles                             | width | buckets
  no known value                         | 3 x -                             | null  |
  one value                              | 20000                             | 1     | 20000-20001: 1
  one value beside unknown ones          | 20000, 3 x -                      | 1     | 20000-20001: 1
  equal values                           | 7 x 20000                         | 1     | 20000-20001: 7
  only zeros                             | 12 x 0                            | 1     | 0-1: 12
  two neighbors, one above the 99th      | 20000, 20001                      | 1     | 20000-20002 (2): 1
  19 regular buckets and one above       | 100 .. 119                        | 1     | 100-120 (20): 1
  20 regular buckets and one above       | 100 .. 120                        | 1     | 100-121 (21): 1
  21 of width 1 are 11 of width 2        | 100 .. 121                        | 2     | 100-122 (11): 2
  a value on an edge is above it         | 999, 1000, 1001, 1019, 1021       | 2     | 998-1000: 1, 1000-1002: 2, 1002-1018 (8): 0, 1018-1022 (2): 1
  edges are multiples of the width       | 40 x 333, 40 x 777                | 50    | 300-350: 40, 350-750 (8): 0, 750-800: 40
  far values on both sides               | 3, 100 x 5000, 100 x 5009, 999999 | 1     | 3-5000: 1, 5000-5001: 100, 5001-5009 (8): 0, 5009-5010: 100, 5010-1000000: 1
  a far value below                      | 3, 199 x 5000                     | 1     | 3-5000: 1, 5000-5001: 199
  a far value above                      | 199 x 5000, 999999                | 1     | 5000-5001: 199, 5001-1000000: 1
  least value on the first regular edge  | 1000, 100 x 1005, 100 x 1105      | 10    | 1000-1010: 101, 1010-1100 (9): 0, 1100-1110: 100
  least value just below that edge       | 999, 100 x 1005, 100 x 1105       | 10    | 999-1000: 1, 1000-1010: 100, 1010-1100 (9): 0, 1100-1110: 100
  greatest value just below the last edge | 100 x 1005, 100 x 1105, 1109     | 10    | 1000-1010: 100, 1010-1100 (9): 0, 1100-1110: 101
  greatest value on the last edge        | 100 x 1005, 100 x 1105, 1110      | 10    | 1000-1010: 100, 1010-1100 (9): 0, 1100-1110: 100, 1110-1111: 1
  1st percentile between two values      | 3, 50 x 5000, 3 x 9000            | 500   | 3-2500: 1, 2500-5000 (5): 0, 5000-5500: 50, 5500-9000 (7): 0, 9000-9500: 3
  99th percentile exactly on an edge     | 12 x 0, 2500                      | 200   | 0-200: 12, 200-2400 (11): 0, 2400-2501: 1
  the widest span                        | 0, 1000000                        | 50000 | 0-50000: 1, 50000-1000000 (19): 0, 1000000-1000001: 1
`,
);

/** With `interval=miles:width`. */
const fixed = parseCaseTable(
  ["case", "miles", "width", "buckets"],
  `
  case                                   | miles                             | width    | buckets
  no known value                         | 3 x -                             | 5000     |
  one value                              | 20000                             | 5000     | 20000-25000: 1
  one value beside unknown ones          | 7499, 2 x -                       | 2500     | 5000-7500: 1
  equal values                           | 7 x 20000                         | 7000     | 14000-21000: 7
  equal values, least width              | 7 x 20000                         | 1        | 20000-20001: 7
  wider than the span                    | 3, 5000                           | 10000000 | 0-10000000: 2
  values on edges                        | 5000, 9999, 10000                 | 5000     | 5000-10000: 2, 10000-10001: 1
  far values on both sides               | 3, 100 x 5000, 100 x 5009, 999999 | 7        | 3-4998: 1, 4998-5012 (2): 100, 5012-1000000: 1
  a far value within a regular bucket    | 3, 199 x 5000                     | 10000    | 0-10000: 200
  the width that would be chosen         | 40 x 333, 40 x 777                | 50       | 300-350: 40, 350-750 (8): 0, 750-800: 40
  narrower than would be chosen          | 40 x 333, 40 x 777                | 10       | 330-340: 40, 340-770 (43): 0, 770-780: 40
  100 regular buckets                    | 100 x 0, 100 x 99000              | 1000     | 0-1000: 100, 1000-99000 (98): 0, 99000-100000: 100
  100 regular buckets and one more       | 200 x 0, 200 x 99000, 100000      | 1000     | 0-1000: 200, 1000-99000 (98): 0, 99000-100000: 200, 100000-100001: 1
`,
);

/** More than 100 regular buckets: the error names the smallest width with at most 100. */
const refused = parseCaseTable(
  ["case", "miles", "width", "min"],
  `
  case                                    | miles                  | width | min  
  101 regular buckets from 0              | 100 x 0, 100 x 100000  | 1000  | 1001
  101 regular buckets from above 0        | 100 x 999, 100 x 10899 | 99    | 100
  101 although a smaller width has 100   | 100 x 200, 100 x 20150 | 201   | 200
  the least width of all                  | 100 x 0, 100 x 900000  | 1     | 9001
`,
);

/** The cars of each table, one make per case. */
const carsOf = (table: string, cases: readonly { readonly miles: string }[]): readonly CarRow[] =>
  cases.flatMap(({ miles }, index) =>
    parseNumbers(miles).map((value) => ({ make: `${table} ${index}`, miles: value })),
  );
const cars = [...carsOf("chosen", chosen), ...carsOf("fixed", fixed), ...carsOf("refused", refused)];
const client = await serveFeeds(fileScope, feedsOf(cars));

/** Checks that ranges adjoin, that regular edges are multiples of the width, and that searches find what they count. */
async function assertRanges(range: RangeFacet, make: string, values: readonly number[]): Promise<void> {
  const { buckets, interval, min, max } = range;
  assert.deepEqual([min, max], [buckets[0]?.min ?? null, buckets.at(-1)?.max ?? null]);
  const isRegular = buckets.map((bucket) => bucket.max - bucket.min === interval && bucket.min % interval === 0);
  assert.equal(isRegular.slice(1, -1).includes(false), false, "only the first and the last bucket may be irregular");
  for (const [index, bucket] of buckets.slice(1).entries()) assert.equal(bucket.min, buckets[index]?.max);
  for (const bucket of buckets) {
    assert.equal(values.filter((value) => bucket.min <= value && value < bucket.max).length, bucket.count);
  }
  await forEachConcurrently(buckets, async (bucket) => {
    const path = `/v1/listings?limit=1&make=${make}&min_mileage=${bucket.min}&max_mileage=${bucket.max - 1}`;
    assert.equal((await client.getBody("searchListings", path)).pagination.total, bucket.count, path);
  });
}

for (const [table, cases] of Object.entries({ chosen, fixed })) {
  for (const [index, { case: title, miles, width, buckets }] of cases.entries()) {
    test(`ranges of a ${table} width: ${title}`, async () => {
      const make = `${table}%20${index}`;
      const interval = table === "fixed" ? `&interval=miles:${width}` : "";
      const { data } = await client.getBody("getFacets", `/v1/facets?facets=miles&make=${make}${interval}`);
      const range = data.range_facets.miles;
      const stats = data.stats.miles;
      assert.ok(range && stats);
      assert.deepEqual([String(range.interval), formatBuckets(range)], [width, buckets]);
      const values = parseNumbers(miles);
      const known = values.filter((value) => value !== "");
      assert.deepEqual([stats.count, stats.missing], [known.length, values.length - known.length]);
      assert.equal(data.total, values.length);
      await assertRanges(range, make, known);
    });
  }
}

for (const [index, { case: title, width, min }] of refused.entries()) {
  test(`a width is refused: ${title}`, async () => {
    const path = (interval: string): string =>
      `/v1/facets?facets=miles&make=refused%20${index}&interval=miles:${interval}`;
    const { status, code, message } = await client.getError(path(width));
    assert.deepEqual([status, code], [400, "invalid_parameter_value"]);
    assert.match(message, /\binterval\b/);
    assert.match(message, new RegExp(`\\b${min}\\b`));
    const { data } = await client.getBody("getFacets", path(min));
    assert.equal(data.range_facets.miles?.interval, Number(min));
    assert.ok((data.range_facets.miles?.buckets.length ?? 0) <= 100);
  });
}

test("a number near the largest one counts in the bucket above the others", async () => {
  const cars = Array.from({ length: 60 }, (_, n): CarRow => {
    const items = [{ amount_usd: n === 0 ? 2_147_483_640 : 10, direction: "add", raw_label: "gold" }];
    return { dealer_adjusted_vehicle_price_usd: 20 * n + 1, line_items: JSON.stringify(items) };
  });
  const feeds = await temporaryFolder(fileScope);
  await writeFeeds(feeds, "2026-11-19", feedsOf(cars));
  const { lake } = await createLake(fileScope, feeds);
  const answer = await answerPath(await openVersion(fileScope, lake), "/v1/facets?facets=all_in_price,make");
  assert.match(JSON.stringify(answer), /"min":0,"max":\d+,"count":\d.*"max":2147483\d\d\d/);
});

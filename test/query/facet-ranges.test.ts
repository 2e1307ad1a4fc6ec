import assert from "node:assert/strict";
import { test } from "node:test";
import { type Car, feedsOf, marketOf } from "../support/markets.ts";
import { wholeFile } from "../support/scope.ts";
import { casesOf } from "../support/words.ts";

/** Numbers in words: `20 x 1000` is twenty of the same, `100 .. 104` each whole number, `-` an unknown one. */
function numbersOf(words: string): readonly (number | "")[] {
  return words.split(",").flatMap((word) => {
    const [, count, repeated] = /(\d+) x (.+)/.exec(word) ?? [];
    if (repeated !== undefined) return Array.from({ length: Number(count) }, () => numbersOf(repeated)).flat();
    const [, from, to] = /(\d+) \.\. (\d+)/.exec(word) ?? [];
    if (from !== undefined) {
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
    }
    return word.trim() === "-" ? [""] : [Number(word)];
  });
}

const rangeCases = casesOf(
  ["case", "miles", "interval", "ranges"],
  `
  case                                              | miles                     | interval | ranges
  nobody tells the miles                            | 3 x -                     | none     |
  one car                                           | 20000                     | 1        | 20000: 1
  all the same                                      | 7 x 20000                 | 1        | 20000: 7
  all new                                           | 12 x 0                    | 1        | 0: 12
  twenty values are twenty ranges                   | 100 .. 119                | 1        | 100: 1, 101: 1, 102: 1, 103: 1, 104: 1, 105: 1, 106: 1, 107: 1, 108: 1, 109: 1, 110: 1, 111: 1, 112: 1, 113: 1, 114: 1, 115: 1, 116: 1, 117: 1, 118: 2
  one more still fits, its end outside the 99th     | 100 .. 120                | 1        | 100: 1, 101: 1, 102: 1, 103: 1, 104: 1, 105: 1, 106: 1, 107: 1, 108: 1, 109: 1, 110: 1, 111: 1, 112: 1, 113: 1, 114: 1, 115: 1, 116: 1, 117: 1, 118: 1, 119: 2
  two more need ranges of two                       | 100 .. 121                | 2        | 100: 2, 102: 2, 104: 2, 106: 2, 108: 2, 110: 2, 112: 2, 114: 2, 116: 2, 118: 2, 120: 2
  a value on an edge belongs to the range above it  | 999, 1000, 1001, 1019, 1021 | 2      | 998: 1, 1000: 2, 1002: 0, 1004: 0, 1006: 0, 1008: 0, 1010: 0, 1012: 0, 1014: 0, 1016: 0, 1018: 1, 1020: 1
  edges are multiples of the width                  | 40 x 333, 40 x 777        | 50       | 300: 40, 350: 0, 400: 0, 450: 0, 500: 0, 550: 0, 600: 0, 650: 0, 700: 0, 750: 40
  what lies far outside is in the end ranges        | 3, 100 x 5000, 100 x 5009, 999999 | 1 | 5000: 101, 5001: 0, 5002: 0, 5003: 0, 5004: 0, 5005: 0, 5006: 0, 5007: 0, 5008: 0, 5009: 101
  among few, the 1st percentile is between two values | 3, 50 x 5000, 3 x 9000  | 500      | 2500: 1, 3000: 0, 3500: 0, 4000: 0, 4500: 0, 5000: 50, 5500: 0, 6000: 0, 6500: 0, 7000: 0, 7500: 0, 8000: 0, 8500: 0, 9000: 3
`,
);

/** Every case is a make of its own in one market. */
const cars: readonly Car[] = rangeCases.flatMap(({ miles }, index) =>
  numbersOf(miles).map((value) => ({ make: `case ${index}`, miles: value })),
);
const client = await marketOf(wholeFile, feedsOf(cars));

async function milesOf(make: string) {
  const { data } = await client.found("getFacets", `/v1/facets?facets=miles&make=${encodeURIComponent(make)}`);
  const [range, stats] = [data.range_facets.miles, data.stats.miles];
  assert.ok(range && stats);
  return { total: data.total, range, stats };
}

for (const [index, { case: title, miles, interval, ranges }] of rangeCases.entries()) {
  test(`ranges: ${title}`, async () => {
    const { range, stats, total } = await milesOf(`case ${index}`);
    assert.equal(String(range.interval ?? "none"), interval);
    assert.equal(range.buckets.map(({ min, count }) => `${min}: ${count}`).join(", "), ranges);
    assert.ok(range.buckets.length <= 20);
    assert.deepEqual([range.min, range.max], [range.buckets[0]?.min ?? null, range.buckets.at(-1)?.max ?? null]);
    for (const [place, { min, max }] of range.buckets.entries()) {
      assert.equal(max - min, range.interval);
      assert.equal(max, range.buckets[place + 1]?.min ?? range.max);
    }
    const known = numbersOf(miles).filter((value) => value !== "");
    assert.equal(
      range.buckets.reduce((sum, { count }) => sum + count, 0),
      stats.count,
    );
    assert.deepEqual(
      [stats.count, stats.missing, total],
      [known.length, total - known.length, numbersOf(miles).length],
    );
  });
}

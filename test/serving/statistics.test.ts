/** Statistics of numbers that were fetched from the index. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { summarizeNumbers } from "../../src/serving/index/statistics.ts";
import { oracleStats, percentile } from "../oracle/answers/statistics.ts";

const numbers = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 9_999_000, max: 10_000_000 }),
  fc.constant(-1),
);

test("statistics of fetched numbers equal those of sorting them all, without unknown values", () => {
  fc.assert(
    fc.property(fc.array(fc.array(numbers, { maxLength: 200 }), { maxLength: 6 }), (parts) => {
      const known = parts.flat().filter((value) => value >= 0);
      const sorted = known.toSorted((one, other) => one - other);
      const summary = summarizeNumbers(parts.map((part) => Int32Array.from(part)));
      if (summary === undefined) return assert.equal(known.length, 0);
      const { min, max, count, mean, median, stddev } = oracleStats(sorted, known.length);
      assert.deepEqual(
        { min: summary.min, max: summary.max, count: summary.known, mean: summary.mean, median: summary.median },
        { min, max, count, mean, median },
      );
      assert.deepEqual([summary.p1, summary.p99], [percentile(sorted, 0.01), percentile(sorted, 0.99)]);
      const difference = Math.abs((summary.stddev ?? -1) - (stddev ?? -1));
      assert.ok(difference <= 1e-9 * Math.max(1, stddev ?? 0), `${summary.stddev} is not ${stddev}`);
    }),
    { seed: 20261122, numRuns: 2000 },
  );
});

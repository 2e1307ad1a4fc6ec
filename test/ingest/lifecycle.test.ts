/** Random feeds, ingested and compared with the lifecycle oracle; the campaign `life` is longer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compareLifecycle, compareRepeatedIngests } from "../lifecycle/trial.ts";
import { skipInShortRun, skipUnlessFull } from "../support/extent.ts";

describe("random lakes", { concurrency: 3 }, () => {
  test("match the oracle day by day, and an incremental sync misses no listing", async (scope) => {
    const { missing, sold } = await compareLifecycle(scope, { seed: 4, days: 9, dealers: 12, cars: 80, dayless: 0.1 });
    assert.ok(missing > 5 && sold > 0, `${missing} became missing, ${sold} were sold`);
  });

  for (const [extent, skip, share] of [
    [{ seed: 20261119, days: 30, dealers: 40, cars: 300, dayless: 0.05 }, skipUnlessFull, 1],
    [{ seed: 20261120, days: 30, dealers: 30, cars: 200, dayless: 0.3 }, skipUnlessFull, 1],
    [{ seed: 20261121, days: 12, dealers: 20, cars: 120, dayless: 0.2 }, skipInShortRun, 0.1],
  ] as const) {
    test(`match the oracle day by day: ${JSON.stringify(extent)}`, { skip }, async (scope) => {
      const summary = await compareLifecycle(scope, extent);
      assert.ok(summary.missing > 100 * share, `${summary.missing} became missing`);
      assert.ok(summary.sold > 20 * share, `${summary.sold} were sold`);
      assert.ok(summary.superseded > 80 * share, `${summary.superseded} changed owner`);
      assert.ok(summary.collapsed > 20 * share, `${summary.collapsed} collapsed feeds`);
      assert.ok(summary.priceChanges > 80 * share, `${summary.priceChanges} price changes`);
    });
  }

  test("end listings that were missing for ninety days", { skip: skipUnlessFull }, async (scope) => {
    const quiet = { from: 9, to: 92 };
    const summary = await compareLifecycle(scope, { seed: 90, days: 102, dealers: 5, cars: 40, dayless: 0.05, quiet });
    assert.ok(summary.expired > 3, `${summary.expired} were missing for too long`);
  });

  test("are byte-identical in another lake and after repeated replays", { skip: skipInShortRun }, async (scope) => {
    await compareRepeatedIngests(scope, { seed: 7, days: 5, dealers: 14, cars: 90, dayless: 0.1 });
  });
});

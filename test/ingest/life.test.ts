import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { liveAgain, liveThrough } from "../life/trial.ts";

describe("random markets", { concurrency: 3 }, () => {
  for (const extent of [
    { seed: 20261119, days: 30, dealers: 40, cars: 300, dayless: 0.05 },
    { seed: 20261120, days: 30, dealers: 30, cars: 200, dayless: 0.3 },
  ]) {
    test(`live day by day as a plain telling of their feeds does: ${JSON.stringify(extent)}`, async (scope) => {
      const lived = await liveThrough(scope, extent);
      assert.ok(lived.missing > 100, `${lived.missing} became missing`);
      assert.ok(lived.sold > 20, `${lived.sold} were sold`);
      assert.ok(lived.superseded > 80, `${lived.superseded} moved`);
      assert.ok(lived.collapsed > 20, `${lived.collapsed} feeds were not believed`);
      assert.ok(lived.priceChanges > 80, `${lived.priceChanges} changes of price`);
    });
  }

  test("end what was missing for ninety days", async (scope) => {
    const quiet = { from: 9, to: 92 };
    const lived = await liveThrough(scope, { seed: 90, days: 102, dealers: 5, cars: 40, dayless: 0.05, quiet });
    assert.ok(lived.expired > 3, `${lived.expired} were missing for too long`);
  });

  test("are the same bytes in another lake, and after a replay, and after a second one", async (scope) => {
    await liveAgain(scope, { seed: 7, days: 8, dealers: 14, cars: 90, dayless: 0.1 });
  });
});

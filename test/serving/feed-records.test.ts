/** The report of a day's feeds for operators. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";

const day = "2026-11-18";
const dealer_id = dealerIdOf(1);
const feeds = await writeFeeds(await temporaryFolder(fileScope), day, {
  dealers: [{ dealer_id, name: "Cars", type: "independent", postal_code: "90001" }],
  inventory: [
    { vin: vinOf(1), dealer_id, price: "soon", miles: "few" },
    { vin: "short", dealer_id: "none" },
    { vin: "", dealer_id },
  ],
});
const { lake } = await createLake(fileScope, feeds, { hasServingFiles: false });
const { feeds: records } = await openVersion(fileScope, lake, { hasServingFiles: false });

test("a row that is refused for two reasons is one rejected row; unknown values are counted one by one", async () => {
  const [summary, ...others] = await records.summaries([day]);
  assert.deepEqual(others, []);
  assert.deepEqual([summary?.rejected, summary?.unknown, summary?.feeds], [2, 2, 1]);
});

test("issues are grouped by outcome, field and reason, the largest group first", async () => {
  const issues = await records.issues(day);
  const rejected = issues.filter(({ outcome }) => outcome === "rejected");
  assert.deepEqual(
    rejected.map(({ field, reason, count, example }) => [field, reason, count, example]),
    [
      ["inventory.dealer_id", "not a UUID", 1, "none"],
      ["inventory.vin", "missing", 1, null],
      ["inventory.vin", "not 17 characters", 1, "short"],
    ],
  );
});

/** What operators see of feeds: missing cars are those of the dealer's own feed before, even if it sent none on the published day before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { feedDetails, feedOverview } from "../../../src/query/quality/feed-overview.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";
import { openVersion } from "../../support/versions.ts";

const pausing = dealerIdOf(1);
const steady = dealerIdOf(2);
const carsOf = (dealer: string, first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    vin: vinOf(first + index),
    dealer_id: dealer,
    make: "Kia",
    price: 20_000,
  }));

test("the missing cars of a held feed are those of the dealer's feed before it", async () => {
  const folder = await temporaryFolder(fileScope);
  const dealers = [
    { dealer_id: pausing, name: "Pausing" },
    { dealer_id: steady, name: "Steady" },
  ];
  for (const [day, cars] of [
    ["2026-11-15", 40],
    ["2026-11-16", 40],
    ["2026-11-17", 40],
    ["2026-11-18", undefined],
    ["2026-11-19", 3],
  ] as const)
    await writeFeeds(folder, day, {
      dealers,
      inventory: [...carsOf(steady, 100, 30), ...(cars === undefined ? [] : carsOf(pausing, 0, cars))],
    });
  const { lake } = await createLake(fileScope, folder);
  const version = await openVersion(fileScope, lake);
  const { problems } = await feedOverview(version, 10);
  assert.deepEqual(
    problems.map(({ name, state, missing, before }) => ({ name, state, missing, before })),
    [{ name: "Pausing", state: "held", missing: 37, before: "2026-11-17" }],
  );
  const { missing } = await feedDetails(version, pausing, "2026-11-19");
  const expected = carsOf(pausing, 3, 37).map(({ vin }) => vin);
  assert.deepEqual(
    missing.map(({ vin }) => vin),
    expected.sort(),
  );
});

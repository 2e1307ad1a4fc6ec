/** Answers of the index, of Parquet and of the oracle, compared; the campaign `index` is longer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operation } from "../../src/contract/document.ts";
import {
  compareGrowingLake,
  compareRealLake,
  compareRespelledLake,
  compareSample,
  compareVariedLake,
  type TrialResult,
} from "../oracle/compare/index-trials.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { skipWithoutRealCsv } from "../support/lakes/feeds.ts";

const seed = 20261122;

const varied = extentOf({ draws: 60, days: 2, cars: 120 }, { draws: 400, days: 5, cars: 250 });

/** The campaign `index` for one small lake of each kind. */
const trials: readonly (readonly [
  what: string,
  draws: number,
  ask: () => Promise<TrialResult>,
  skip?: string | undefined,
])[] = [
  ["a random lake", varied.draws, () => compareVariedLake({ seed, ...varied })],
  [
    "a lake of values in two spellings",
    extentOf(40, 120),
    () => compareRespelledLake({ seed, draws: extentOf(40, 120), days: 2, cars: extentOf(100, 150) }),
    skipInShortRun || undefined,
  ],
  [
    "a lake that grows day by day",
    extentOf(30, 150),
    () => compareGrowingLake({ seed, draws: extentOf(30, 150), days: extentOf(2, 3), cars: 150 }),
  ],
  ["the sample", 60, () => compareSample({ seed, draws: 60 })],
  ["real auctions", 60, () => compareRealLake({ seed, draws: 60 }), skipWithoutRealCsv || undefined],
];

const requestedParameters = new Set<string>();

for (const [what, draws, compare, skip = false] of trials) {
  test(`the search index, the Parquet files and the oracle answer alike in ${what}`, { skip }, async () => {
    const { requests, found, compared, lookUps, parameters } = await compare();
    assert.equal(requests, draws);
    assert.ok(found > draws / 5, `only ${found} of ${draws} requests found anything`);
    assert.ok(compared > draws && lookUps > 0, `${compared} listings and buckets, ${lookUps} look-ups`);
    for (const parameter of parameters) requestedParameters.add(parameter);
  });
}

test("each parameter of searches and facets was requested, except the format", () => {
  const all = (["searchListings", "searchListingsByPage", "getFacets"] as const).flatMap((id) =>
    operation(id).parameters.map(({ name }) => name),
  );
  assert.deepEqual([...requestedParameters, "format", "csv_raw"].sort(), [...new Set(all)].sort());
});

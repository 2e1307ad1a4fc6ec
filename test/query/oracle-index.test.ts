import assert from "node:assert/strict";
import { test } from "node:test";
import { operation } from "../../src/contract/document.ts";
import {
  askGrown,
  askReal,
  askRespelled,
  askSample,
  askVaried,
  hasReal,
  type TrialResult,
} from "../oracle/compare/index-trials.ts";

const seed = 20261122;

/** The same as the campaign `index`, for one small market of each kind. */
const trials: readonly (readonly [
  what: string,
  draws: number,
  ask: () => Promise<TrialResult>,
  skip?: string | undefined,
])[] = [
  ["a varied market", 400, () => askVaried({ seed, draws: 400, days: 5, cars: 250 })],
  ["a market of values in two spellings", 120, () => askRespelled({ seed, draws: 120, days: 2, cars: 150 })],
  ["a market that grows day by day", 150, () => askGrown({ seed, draws: 150, days: 3, cars: 150 })],
  ["the sample", 60, () => askSample({ seed, draws: 60 })],
  ["real auctions", 60, () => askReal({ seed, draws: 60 }), hasReal ? undefined : "there are no real feeds"],
];

const given = new Set<string>();

for (const [what, draws, ask, skip = false] of trials) {
  test(`the search index, the Parquet files and a plain search answer alike in ${what}`, { skip }, async () => {
    const { requests, found, compared, lookUps, parameters } = await ask();
    assert.equal(requests, draws);
    assert.ok(found > draws / 5, `only ${found} of ${draws} requests found anything`);
    assert.ok(compared > draws && lookUps > 0, `${compared} listings and buckets, ${lookUps} look-ups`);
    for (const parameter of parameters) given.add(parameter);
  });
}

test("each parameter of searches and facets was given", () => {
  const all = (["searchListings", "searchListingsByPage", "getFacets"] as const).flatMap((id) =>
    operation(id).parameters.map(({ name }) => name),
  );
  assert.deepEqual([...given].sort(), [...new Set(all)].sort());
});

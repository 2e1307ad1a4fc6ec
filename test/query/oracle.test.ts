/**
 * Random requests, answered from serving files over HTTP, from Parquet files and by the oracle; see the campaigns `index` and `consistency`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operation } from "../../src/contract/document.ts";
import { oracleCategoricalFacets, oracleNumericFacets } from "../oracle/answers/facets.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import { compareThreeWays } from "../oracle/compare/both-ways.ts";
import { compareBucketsWithSearch } from "../oracle/compare/buckets.ts";
import { compareWithConditions } from "../oracle/compare/conditions.ts";
import { forEachConcurrently } from "../oracle/compare/oracle.ts";
import { pageThrough, sorts } from "../oracle/compare/pages.ts";
import { compareTrendsWithFacets } from "../oracle/compare/trends.ts";
import {
  compareFewValues,
  compareGrowingLake,
  compareRealLake,
  compareRespelledLake,
  compareSample,
  compareTrial,
  compareVariedLake,
  type TrialResult,
} from "../oracle/compare/trials.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { type Query, queryValues } from "../oracle/random-requests/query.ts";
import {
  type RandomRequest,
  randomFacets,
  randomFilters,
  randomGroups,
  randomRequests,
  randomTrends,
} from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { serveBothWays } from "../support/implementations.ts";
import { skipWithoutRealCsv } from "../support/lakes/feeds.ts";
import { fileScope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";

const [lakeSeed, requestSeed, seed] = extentOf([20261136, 20261151, 20261166], [20261119, 20261119, 20261119]);

const [days, cars] = extentOf([7, 700], [11, 600]);
const { lake } = await createRandomLake(fileScope, { seed: lakeSeed, days, cars });
const inventory = await readInventory(lake);
const both = await serveBothWays(fileScope, lake);
const { client } = both;

const isUnknown = (value: string | number | null): boolean => value === null;

const hasParameter =
  (mode: string, value?: string) =>
  ({ query }: RandomRequest): boolean =>
    query.has(mode) && (value === undefined || query.get(mode)?.toLowerCase() === value);

test("the random lake has values, ties and locations of every kind", () => {
  const { active, sold, snapshots, all } = inventory;
  assert.ok(active.length > 200 && sold.length > 80 && snapshots.size === days);
  assert.ok(new Set(sold.map(({ sold_date }) => sold_date?.slice(0, 7))).size > 1, "sold in several months");
  for (const [field, value] of Object.entries(active[0] ?? {})) {
    const values = all.map((listing) => listing[field as "make"]);
    assert.ok(new Set(values.map((value) => JSON.stringify(value))).size > 1, `${field}: always ${value}`);
  }
  const west = all.filter(({ longitude }) => (longitude ?? 0) > 100);
  const withoutCoordinates = all.filter(({ latitude, longitude }) => latitude === null && longitude === null);
  assert.ok(
    all.some(({ dealer_type, dealer_id }) => dealer_type === null && dealer_id !== null),
    "unknown dealer types",
  );
  assert.ok(inventory.assemblyLocations.includes("Graz/Steyr"));
  assert.ok(west.length > 10 && withoutCoordinates.length > 10);
  assert.ok(new Set(withoutCoordinates.map(({ dealer_id }) => dealer_id)).size >= 2, "dealers without coordinates");
});

test("most token lists are unique, some texts are odd, and some cars are unknown except for their VIN", () => {
  const { active } = inventory;
  for (const field of ["features", "options_packages"] as const) {
    const lists = active.map(({ [field]: list }) => JSON.stringify([...list].sort())).filter((list) => list !== "[]");
    const unique = lists.filter((list) => lists.indexOf(list) === lists.lastIndexOf(list));
    assert.ok(unique.length > 0.75 * lists.length, `${unique.length} of ${lists.length} lists of ${field}`);
  }
  const texts = active.flatMap(({ trim, version }) => [trim ?? "", version ?? ""]);
  for (const odd of [/%/, /_/, /'/, /"/, /é/i, /^0\d/, /\p{Extended_Pictographic}/u, /^.{199,}$/]) {
    assert.ok(
      texts.some((text) => odd.test(text)),
      `a text like ${odd}`,
    );
  }
  assert.ok(active.some(({ make, model, year, price, miles }) => [make, model, year, price, miles].every(isUnknown)));
});

const [searchCount, facetCount] = extentOf([60, 50], [400, 350]);

const searches = [...randomRequests(inventory, { seed: requestSeed, count: searchCount })];
const facetRequests = [...randomFacets(inventory, { seed: requestSeed, count: facetCount })];

test("the random requests cover every past day and sold listings", () => {
  for (const day of inventory.snapshots.keys())
    assert.ok(searches.some(hasParameter("snapshot_date", day)), `no request for ${day}`);
  assert.ok(searches.filter(hasParameter("inventory_status", "sold")).length > searchCount / 12);
  assert.ok(searches.filter(hasParameter("sold_within_days")).length > searchCount / 20);
});

test("random requests find what the oracle finds, in every mode", async () => {
  const { found } = await compareThreeWays(both, inventory, searches);
  assert.ok(found > searchCount / 2, `only ${found} requests found anything`);
});

test("the engine finds the pages of random requests by conditions too, in the same order", async () => {
  const version = await openVersion(fileScope, lake);
  const compared = await compareWithConditions(version, searches);
  assert.ok(compared > 5 * searchCount, `only ${compared} listings`);
});

test("random facets count what the oracle counts", async () => {
  const facets = new Set(facetRequests.flatMap(({ query }) => queryValues(query.get("facets"))));
  const metrics = new Set(facetRequests.map(({ query }) => query.get("metric")?.toLowerCase()));
  assert.ok(facets.size === 36 && metrics.size > extentOf(15, 25), `${facets.size} facets, ${metrics.size} metrics`);
  assert.ok(facetRequests.filter(({ query }) => query.has("interval")).length > facetCount / 8);
  const { found, refused, compared } = await compareThreeWays(both, inventory, facetRequests);
  assert.ok(
    found > facetCount / 2 && compared > 5.5 * facetCount,
    `${found} requests found anything, ${compared} buckets`,
  );
  assert.ok(refused > extentOf(0, 1), `${refused} requests had a width with too many buckets`);
});

test("random groups are what the oracle counts and measures", async () => {
  const requests = [...randomGroups(inventory, { seed, count: extentOf(20, 400) })];
  const { found, compared } = await compareThreeWays(both, inventory, requests);
  assert.ok(found > requests.length / 2 && compared > 5 * requests.length, `${found} found, ${compared} groups`);
  const { data } = await client.getBody("getGroups", "/v1/groups?group_by=make,state&metric=days_supply,sell_through");
  const known = data.filter(({ metrics }) => metrics.every(({ value }) => value !== null));
  assert.ok(known.length > 3, `${known.length} groups have metrics of supply`);
});

test("a search for a bucket's value or range finds as many listings as the bucket counts, under random filters", async () => {
  const queries = [new Map(), ...randomFilters(inventory, { seed, count: extentOf(1, 6) })];
  const { buckets, facets } = await compareBucketsWithSearch(client, new Chance(seed), queries, 4);
  assert.ok(buckets > extentOf(80, 200), `only ${buckets} buckets`);
  assert.equal(facets, oracleCategoricalFacets.length + oracleNumericFacets.length);
});

test("random trends are what the oracle finds by walking through the days", async () => {
  const count = extentOf(30, 300);
  const { found, compared } = await compareThreeWays(both, inventory, randomTrends(inventory, { seed, count }));
  assert.ok(found > 0.6 * count && compared > 20 * count, `${found} requests found anything, ${compared} points`);
});

test("levels of a trend are the facets of each day, and its sales those of sold searches, under random filters", async () => {
  const queries = [new Map(), ...randomFilters(inventory, { seed, count: extentOf(2, 30) })];
  const { levels, sales } = await compareTrendsWithFacets(client, inventory, queries);
  assert.ok(levels > extentOf(60, 100) && sales > extentOf(25, 50), `${levels} levels, ${sales} sales`);
});

const modes: Readonly<Record<string, Query>> = {
  today: new Map(),
  "on a past day": new Map([["snapshot_date", [...inventory.snapshots.keys()][4] ?? ""]]),
  sold: new Map([["inventory_status", "sold"]]),
};

for (const [mode, query] of Object.entries(modes)) {
  // The lake has 90 sold listings.
  const [large, filteredMin] = mode === "sold" ? [50, 7] : [100, 14];
  test(`paging through any sort ${mode}, 1, 7 or ${large} at a time, returns each listing once, in order`, {
    skip: mode !== "today" && skipInShortRun,
  }, async () => {
    const origin: Query = new Map([["postal_code", "96813"]]);
    const isEvery = mode === "today" && extentOf(false, true);
    const isKnown = (sort: string): boolean => mode === "today" || !sort.endsWith("value");
    const walks = sorts.filter((sort, at) => isKnown(sort) && (isEvery || at % extentOf(4, 2) === 0));
    await forEachConcurrently(walks, async (sort) => {
      const sorted = new Map([...query, ["fields", "id"], ["sort", sort], ...(sort === "distance" ? origin : [])]);
      const filtered = new Map([...sorted, ["year", "2020,2021"]]);
      const narrow = new Map([...filtered, ["drivetrain", "fwd,awd"]]);
      assert.ok((await pageThrough(client, inventory, sorted, large)) > large);
      assert.ok((await pageThrough(client, inventory, filtered, 7)) > filteredMin);
      assert.ok((await pageThrough(client, inventory, narrow, 1)) > 2);
    });
    both.assertNoFallback();
  });
}

const trialSeed = 20261350;
const unknowns = [
  ["make", "model", "year", "features", "msrp", "base_msrp", "availability_status"],
  ["trim", "cylinders", "price", "miles", "options_packages", "keywords", "inventory_type", "exterior_color"],
];
const unknownExtent = { seed: trialSeed, draws: extentOf(25, 90), days: 3, cars: 120 };

/** The campaign `index` for one small lake of each kind. */
const trials: readonly (readonly [what: string, ask: () => Promise<TrialResult>, skip?: string | false])[] = [
  ["the random lake", () => compareTrial(both, inventory, { seed: trialSeed, draws: extentOf(10, 400) })],
  [
    "a lake of values in two spellings",
    () => compareRespelledLake({ seed: trialSeed, draws: extentOf(30, 120), days: 2, cars: extentOf(100, 150) }),
    skipInShortRun,
  ],
  [
    "a lake that grows day by day",
    () => compareGrowingLake({ seed: trialSeed, draws: extentOf(30, 150), days: extentOf(2, 3), cars: 150 }),
    skipInShortRun,
  ],
  ["a lake with few distinct values", () => compareFewValues({ seed: trialSeed, draws: 60 }), skipInShortRun],
  ...unknowns.map(
    (unknown) =>
      [
        `a lake where ${unknown.join(", ")} are never known`,
        () => compareVariedLake({ ...unknownExtent, unknown }),
        skipInShortRun,
      ] as const,
  ),
  ["the sample", () => compareSample({ seed: trialSeed, draws: extentOf(40, 150) }), skipInShortRun],
  ["real auctions", () => compareRealLake({ seed: trialSeed, draws: 150 }), skipWithoutRealCsv],
];

const requestedParameters = new Set([...searches, ...facetRequests].flatMap(({ query }) => [...query.keys()]));

for (const [what, ask, skip = false] of trials) {
  test(`the serving files, the Parquet files and the oracle answer alike in ${what}`, { skip }, async () => {
    const { requests, found, compared, lookUps, parameters } = await ask();
    assert.ok(found > requests / 5, `only ${found} of ${requests} requests found anything`);
    assert.ok(compared > requests && lookUps > 0, `${compared} listings and buckets, ${lookUps} look-ups`);
    for (const parameter of parameters) requestedParameters.add(parameter);
  });
}

test("each parameter of searches, facets and groups was requested, except those of formats and versions", () => {
  const all = (["searchListings", "searchListingsByPage", "getFacets", "getGroups"] as const).flatMap((id) =>
    operation(id).parameters.map(({ name }) => name),
  );
  const others = ["format", "csv_raw", "data_version", "cursor"];
  assert.deepEqual([...requestedParameters, ...others].sort(), [...new Set(all)].sort());
});

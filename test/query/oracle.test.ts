/** Random requests to both implementations, compared with the oracle; see the campaigns `search`, `facets` and `trends`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { readMapping } from "../../src/ingest/feed/mapping.ts";
import { oracleCategoricalFacets, oracleNumericFacets } from "../oracle/answers/facets.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import { compareBucketsWithSearch } from "../oracle/compare/buckets.ts";
import { compareWithOracle, forEachConcurrently } from "../oracle/compare/oracle.ts";
import { pageThrough, sorts } from "../oracle/compare/pages.ts";
import { compareTrendsWithFacets } from "../oracle/compare/trends.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { type Query, queryValues } from "../oracle/random-requests/query.ts";
import {
  type RandomRequest,
  randomFacets,
  randomFilters,
  randomRequests,
  randomTrends,
} from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { serveBothWays } from "../support/implementations.ts";
import { realCsvPath, skipWithoutRealCsv } from "../support/lakes/feeds.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const seed = extentOf(20261125, 20261119);

const [days, cars] = extentOf([7, 700], [11, 600]);
const { lake } = await createRandomLake(fileScope, { seed, days, cars });
const inventory = await readInventory(lake);
const implementations = await serveBothWays(fileScope, lake);

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

const [searchCount, facetCount] = extentOf([80, 80], [250, 200]);

/** The requests to each implementation. */
const searches = implementations.map((_, place) => [
  ...randomRequests(inventory, { seed: seed + place, count: searchCount }),
]);

test("the random requests cover every past day and sold listings", () => {
  const requests = searches.flat();
  for (const day of inventory.snapshots.keys())
    assert.ok(requests.some(hasParameter("snapshot_date", day)), `no request for ${day}`);
  assert.ok(requests.filter(hasParameter("inventory_status", "sold")).length > searchCount / 10);
  assert.ok(requests.filter(hasParameter("sold_within_days")).length > searchCount / 10);
});

for (const [place, { name, client, assertNoFallback }] of implementations.entries()) {
  test(`random requests to ${name} find what the oracle finds, in every mode`, async () => {
    const { found } = await compareWithOracle(client, inventory, searches[place] ?? []);
    assert.ok(found > searchCount / 2, `only ${found} requests found anything`);
    assertNoFallback();
  });

  test(`random facets of ${name} count what the oracle counts`, async () => {
    const requests = [...randomFacets(inventory, { seed: seed + place, count: facetCount })];
    const facets = new Set(requests.flatMap(({ query }) => queryValues(query.get("facets"))));
    const metrics = new Set(requests.map(({ query }) => query.get("metric")?.toLowerCase()));
    assert.ok(facets.size === 30 && metrics.size > extentOf(15, 25), `${facets.size} facets, ${metrics.size} metrics`);
    assert.ok(requests.filter(({ query }) => query.has("interval")).length > facetCount / 8);
    const { found, refused, compared } = await compareWithOracle(client, inventory, requests);
    assert.ok(
      found > facetCount / 2 && compared > 6.5 * facetCount,
      `${found} requests found anything, ${compared} buckets`,
    );
    assert.ok(refused > extentOf(0, 1), `${refused} requests had a width that gives too many buckets`);
    assertNoFallback();
  });

  test(`a search of ${name} for a bucket's value or range finds as many listings as the bucket counts, under random filters`, async () => {
    const queries = [new Map(), ...randomFilters(inventory, { seed: seed + place, count: 4 })];
    const { buckets, facets } = await compareBucketsWithSearch(client, new Chance(seed + place), queries, 4);
    assert.ok(buckets > 200, `only ${buckets} buckets`);
    assert.equal(facets, oracleCategoricalFacets.length + oracleNumericFacets.length);
    assertNoFallback();
  });
}

test("random trends are what the oracle finds by walking through the days", async () => {
  const [{ client } = assert.fail("no implementation")] = implementations;
  const count = extentOf(30, 300);
  const { found, compared } = await compareWithOracle(client, inventory, randomTrends(inventory, { seed, count }));
  assert.ok(found > 0.6 * count && compared > 20 * count, `${found} requests found anything, ${compared} points`);
});

test("levels of a trend are the facets of each day, and its sales those of sold searches, under random filters", async () => {
  const [{ client } = assert.fail("no implementation")] = implementations;
  const queries = [new Map(), ...randomFilters(inventory, { seed, count: extentOf(4, 30) })];
  const { levels, sales } = await compareTrendsWithFacets(client, inventory, queries);
  assert.ok(levels > 100 && sales > 50, `${levels} levels, ${sales} sales`);
});

const modes: Readonly<Record<string, Query>> = {
  today: new Map(),
  "on a past day": new Map([["snapshot_date", [...inventory.snapshots.keys()][4] ?? ""]]),
  sold: new Map([["inventory_status", "sold"]]),
};

for (const [mode, query] of Object.entries(modes)) {
  test(`paging through any sort ${mode}, 1, 7 or 100 at a time, returns each listing once, in order`, {
    skip: mode !== "today" && skipInShortRun,
  }, async () => {
    const origin: Query = new Map([["postal_code", "96813"]]);
    const isEvery = mode === "today" && extentOf(false, true);
    const walks = implementations.flatMap(({ client }, place) =>
      sorts.flatMap((sort, at) => (isEvery || at % extentOf(4, 2) === place ? [{ client, sort }] : [])),
    );
    await forEachConcurrently(walks, async ({ client, sort }) => {
      const sorted = new Map([...query, ["fields", "id"], ["sort", sort], ...(sort === "distance" ? origin : [])]);
      const filtered = new Map([...sorted, ["year", "2020,2021"]]);
      const narrow = new Map([...filtered, ["drivetrain", "fwd,awd"]]);
      assert.ok((await pageThrough(client, inventory, sorted, 100)) > 100);
      assert.ok((await pageThrough(client, inventory, filtered, 7)) > 14);
      assert.ok((await pageThrough(client, inventory, narrow, 1)) > 2);
    });
    for (const { assertNoFallback } of implementations) assertNoFallback();
  });
}

/** Compares half of the requests with each implementation; returns how many found something. */
async function compareHalfEach(scope: Scope, lake: string, count: number): Promise<number> {
  const inventory = await readInventory(lake);
  let found = 0;
  for (const [place, { client, assertNoFallback }] of (await serveBothWays(scope, lake)).entries()) {
    const requests = randomRequests(inventory, { seed: seed + place, count: count / 2 });
    found += (await compareWithOracle(client, inventory, requests)).found;
    assertNoFallback();
  }
  return found;
}

test("random requests to the sample find what the oracle finds", async (scope) => {
  const found = await compareHalfEach(scope, (await createLake(scope)).lake, extentOf(50, 150));
  assert.ok(found > extentOf(15, 50), `only ${found} requests found anything`);
});

test("random requests to real auctions find what the oracle finds", { skip: skipWithoutRealCsv }, async (scope) => {
  const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
  const found = await compareHalfEach(scope, (await createLake(scope, realCsvPath, { mapping })).lake, 150);
  assert.ok(found > 35, `only ${found} requests found anything`);
});

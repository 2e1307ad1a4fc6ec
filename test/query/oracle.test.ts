import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { readMapping } from "../../src/ingest/feed/mapping.ts";
import { oracleCategoricalFacets, oracleNumericFacets } from "../oracle/answers/facets.ts";
import { readMarket } from "../oracle/answers/market.ts";
import { agree, eachOf } from "../oracle/compare/agree.ts";
import { searchBuckets } from "../oracle/compare/buckets.ts";
import { pageThrough, sorts } from "../oracle/compare/pages.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { variedLake } from "../oracle/random-market/lakes.ts";
import { type Query, queryValues } from "../oracle/random-requests/query.ts";
import { type Request, randomFacets, randomFilters, randomRequests } from "../oracle/random-requests/requests.ts";
import { implementationsOf } from "../support/implementations.ts";
import { lakeOf } from "../support/lakes/lakes.ts";
import { type Scope, wholeFile } from "../support/scope.ts";

const seed = 20261119;

const { lake } = await variedLake(wholeFile, { seed, days: 11, cars: 600 });
const market = await readMarket(lake);
const implementations = await implementationsOf(wholeFile, lake);

const isUnknown = (value: string | number | null): boolean => value === null;

const isOf =
  (mode: string, value?: string) =>
  ({ query }: Request): boolean =>
    query.has(mode) && (value === undefined || query.get(mode)?.toLowerCase() === value);

test("the market has all that a search can differ by", () => {
  const { active, sold, snapshots, everywhere } = market;
  assert.ok(active.length > 200 && sold.length > 80 && snapshots.size === 11);
  assert.ok(new Set(sold.map(({ sold_date }) => sold_date?.slice(0, 7))).size > 1, "sold in several months");
  for (const [field, value] of Object.entries(active[0] ?? {})) {
    const values = everywhere.map((listing) => listing[field as "make"]);
    assert.ok(new Set(values.map((one) => JSON.stringify(one))).size > 1, `${field}: always ${value}`);
  }
  const west = everywhere.filter(({ longitude }) => (longitude ?? 0) > 100);
  const unplaced = everywhere.filter(({ latitude, longitude }) => latitude === null && longitude === null);
  assert.ok(west.length > 10 && unplaced.length > 10);
  assert.ok(new Set(unplaced.map(({ dealer_id }) => dealer_id)).size >= 2, "dealers without coordinates");
});

test("most lists of features and options are like no other, some texts are odd, of some cars nothing is known", () => {
  const { active } = market;
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

/** The requests to each implementation. */
const searches = implementations.map((_, place) => [...randomRequests(market, { seed: seed + place, count: 250 })]);

test("the random requests are of every past day, and of what was sold", () => {
  const requests = searches.flat();
  for (const day of market.snapshots.keys())
    assert.ok(requests.some(isOf("snapshot_date", day)), `no request for ${day}`);
  assert.ok(requests.filter(isOf("inventory_status", "sold")).length > 25);
  assert.ok(requests.filter(isOf("sold_within_days")).length > 25);
});

for (const [place, { name, client, confirm }] of implementations.entries()) {
  test(`random requests to ${name} find what a plain search of every listing finds: today, on past days, and sold`, async () => {
    const { found } = await agree(client, market, searches[place] ?? []);
    assert.ok(found > 125, `only ${found} requests found anything`);
    confirm();
  });

  test(`random requests to ${name} for facets count what a plain count of every listing counts`, async () => {
    const requests = [...randomFacets(market, { seed: seed + place, count: 200 })];
    const facets = new Set(requests.flatMap(({ query }) => queryValues(query.get("facets"))));
    const metrics = new Set(requests.map(({ query }) => query.get("metric")?.toLowerCase()));
    assert.ok(facets.size === 30 && metrics.size > 25, `${facets.size} facets, ${metrics.size} metrics`);
    assert.ok(requests.filter(({ query }) => query.has("interval")).length > 25);
    const { found, refused, compared } = await agree(client, market, requests);
    assert.ok(found > 100 && compared > 1300, `${found} requests found anything, ${compared} buckets`);
    assert.ok(refused > 1, `${refused} requests had a width that gives too many buckets`);
    confirm();
  });

  test(`a search of ${name} for a bucket's value or range finds as many as the bucket counts, under random filters`, async () => {
    const queries = [new Map(), ...randomFilters(market, { seed: seed + place, count: 4 })];
    const { buckets, facets } = await searchBuckets(client, new Chance(seed + place), queries, 4);
    assert.ok(buckets > 200, `only ${buckets} buckets`);
    assert.equal(facets, oracleCategoricalFacets.length + oracleNumericFacets.length);
    confirm();
  });
}

const modes: Readonly<Record<string, Query>> = {
  today: new Map(),
  "on a past day": new Map([["snapshot_date", [...market.snapshots.keys()][4] ?? ""]]),
  sold: new Map([["inventory_status", "sold"]]),
};

for (const [mode, query] of Object.entries(modes)) {
  test(`paging through any sort ${mode}, 1, 7 or 100 at a time, gives each listing once, in its order`, async () => {
    const origin: Query = new Map([["postal_code", "96813"]]);
    const walks = implementations.flatMap(({ client }, place) =>
      sorts.flatMap((sort, at) => (mode === "today" || at % 2 === place ? [{ client, sort }] : [])),
    );
    await eachOf(walks, async ({ client, sort }) => {
      const sorted = new Map([...query, ["fields", "id"], ["sort", sort], ...(sort === "distance" ? origin : [])]);
      const some = new Map([...sorted, ["year", "2020,2021"]]);
      const few = new Map([...some, ["drivetrain", "fwd,awd"]]);
      assert.ok((await pageThrough(client, market, sorted, 100)) > 100);
      assert.ok((await pageThrough(client, market, some, 7)) > 14);
      assert.ok((await pageThrough(client, market, few, 1)) > 2);
    });
    for (const { confirm } of implementations) confirm();
  });
}

/** Asks both implementations, each for half of the requests; returns how many of them found something. */
async function askHalfEach(scope: Scope, lake: string, count: number): Promise<number> {
  const asked = await readMarket(lake);
  let found = 0;
  for (const [place, { client, confirm }] of (await implementationsOf(scope, lake)).entries()) {
    const requests = randomRequests(asked, { seed: seed + place, count: count / 2 });
    found += (await agree(client, asked, requests)).found;
    confirm();
  }
  return found;
}

test("random requests find what a plain search finds in the sample", async (scope) => {
  const found = await askHalfEach(scope, (await lakeOf(scope)).lake, 150);
  assert.ok(found > 50, `only ${found} requests found anything`);
});

const realPath = projectPath("../shared/data/real/usa_cars.csv");
const skip = existsSync(realPath) ? false : `there is no ${realPath}`;

test("random requests find what a plain search finds in real auctions", { skip }, async (scope) => {
  const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
  const found = await askHalfEach(scope, (await lakeOf(scope, realPath, { mapping })).lake, 150);
  assert.ok(found > 35, `only ${found} requests found anything`);
});

/** Listings whose rows lie in several search indexes: of the published month, and of months that are over. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { indexLake } from "../../src/cli/commands/index-lake.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { verifyServingFiles } from "../../src/serving/files/verify-serving-files.ts";
import { indexedRows, indexSizes } from "../../src/serving/index/indexed-rows.ts";
import { ColumnCache } from "../../src/serving/index/segment.ts";
import { extentOf } from "../support/extent.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const days = [
  ...[
    "2026-02-26",
    "2026-02-27",
    ...extentOf<readonly string[]>([], ["2026-02-28", "2026-03-01"]),
    "2026-03-20",
    "2026-03-31",
  ],
  ...extentOf<readonly string[]>([], ["2026-04-01", "2026-04-10"]),
  ...["2026-04-30", "2026-05-01", "2026-05-02", "2026-05-03", "2026-05-05"],
];
const makes = ["Honda", "honda", "BMW", "Ford", "Kia"];
const feeds = await temporaryFolder(fileScope);
const dealers = [1, 2].map((n) => ({
  dealer_id: dealerIdOf(n),
  name: `Dealer ${n}`,
  state: ["CA", "NV"][n - 1] ?? "",
}));
for (const [index, day] of days.entries()) {
  // Some cars leave for ever, some come later, and the price of every fifth one changes.
  const cars = Array.from({ length: 90 }, (_, n) => n).filter(
    (n) => (n % 4 !== 0 || index < 2 + (n % 9)) && n < 50 + 5 * index,
  );
  const inventory = cars.map((n) => ({
    vin: vinOf(n),
    dealer_id: dealerIdOf(1 + (n % 2)),
    make: makes[n % makes.length] ?? "",
    model: `M${n % 7}`,
    price: 20_000 + 100 * (n % 13) - (n % 5 === index % 5 ? 500 : 0),
    miles: 10 * n,
    trim: n % 3 === 0 ? "EX" : "",
    // Car 0 leaves on the third day: no later listing has its color.
    exterior_color: n === 0 ? "Oxblood" : (["Red", "RED", "Blue"][(n + index) % 3] ?? ""),
    features: n % 2 === 0 ? "sunroof|heated_seats" : "sunroof",
  }));
  await writeFeeds(feeds, day, { dealers, inventory });
}
const created = await createLake(fileScope, feeds);
const lake = await temporaryCopy(fileScope, created.lake);

const usual = { ...indexSizes };
onScopeEnd(fileScope, async () => void Object.assign(indexSizes, usual));
Object.assign(indexSizes, { tierRows: 1, tierShare: 0, historyRows: 40 });
await indexLake({ lake });

const requests: readonly string[] = [
  ...days.flatMap((day) => [
    ...["price", "-days_on_market", ...extentOf<readonly string[]>([], ["-price", "miles", "listed_at"])].map(
      (sort) => `/v1/listings?snapshot_date=${day}&sort=${sort}&limit=7&offset=3`,
    ),
    `/v1/listings?snapshot_date=${day}&make=honda&min_days_on_market=2`,
    `/v1/facets?snapshot_date=${day}&facets=make,model,trim,exterior_color,features,state,price,days_on_market&exclude_make=kia`,
    `/v1/facets?snapshot_date=${day}&facets=features&metric=price.median&sort=metric`,
    `/v1/facets?snapshot_date=${day}&facets=exterior_color,miles&metric=days_on_market.mean`,
  ]),
  ...["inventory_status=sold", "sold_within_days=3", "sold_within_days=20&make=honda,ford"].flatMap((sold) => [
    ...["price", "-listed_at", "discount"].map((sort) => `/v1/listings?${sold}&sort=${sort}&limit=5&offset=2`),
    `/v1/facets?${sold}&facets=make,model,exterior_color,features,price,miles`,
    `/v1/facets?${sold}&facets=make,price&metric=price.median`,
  ]),
  ...["day", "week", "month", "quarter"].flatMap((interval) => [
    `/v1/trends?metric=count,price.median,price.mean&interval=${interval}&from=2026-02-26`,
    `/v1/trends?metric=count&interval=${interval}&facet=exterior_color&from=2026-03-01&to=2026-05-02`,
    `/v1/trends?metric=price.mean,miles.mean&interval=${interval}&facet=make&facet_limit=2&from=2026-02-27`,
    `/v1/trends?metric=price.p90,days_on_market.median&interval=${interval}&facet=features&from=2026-02-26&state=CA`,
    `/v1/trends?metric=count,new_listings,sold,price_drops&interval=${interval}&facet=make&min_days_on_market=3&from=2026-02-26`,
  ]),
];

test("answers from several indexes equal those from Parquet files", async (scope) => {
  const manifest = (await currentManifest(lake)) ?? assert.fail("nothing is published");
  const parts = indexedRows(manifest);
  assert.ok(parts.filter(({ first }) => first === "2026-05-01").length >= 3, "the published month has several indexes");
  assert.ok(parts.filter(({ first }) => first < "2026-05-01").length >= 2, "the months before have several indexes");
  const indexed = await openVersion(scope, lake);
  const parquet = await openVersion(scope, lake, { hasServingFiles: false });
  for (const request of requests) {
    const expected = await answerPath(parquet, request);
    assert.deepEqual(await answerPath(indexed, request), expected, request);
  }
  assert.deepEqual([indexed.served, indexed.faults], [{ index: true, rows: true }, []]);
  assert.deepEqual(await verifyServingFiles(lake, manifest, { threads: 1 }, () => undefined), []);
});

test("listings of several indexes with the same price are in the order of their builds, then of their ids", async (scope) => {
  const indexed = await openVersion(scope, lake);
  for (const day of days) {
    const path = `/v1/listings?snapshot_date=${day}&sort=price&limit=100&fields=price,make,model,trim,id`;
    const body = await answerPath(indexed, path);
    const rows = isObject(body) && Array.isArray(body.data) ? body.data.filter(isObject) : assert.fail(path);
    const keys = rows.map(({ price, make, model, trim, id }) => [price, make, model, trim ?? "~", id].join(" "));
    assert.deepEqual(keys, keys.toSorted(), path);
  }
});

test("values of several indexes that differ in case count as one, under the spelling that comes first", async (scope) => {
  const indexed = await openVersion(scope, lake);
  for (const day of days) {
    const path = `/v1/facets?snapshot_date=${day}&facets=make,exterior_color`;
    const body = await answerPath(indexed, path);
    const facets = isObject(body) && isObject(body.data) && isObject(body.data.facets) ? body.data.facets : {};
    const values = Object.values(facets).flatMap((counted) => (Array.isArray(counted) ? counted.filter(isObject) : []));
    assert.ok(values.length >= 6, path);
    const spelled = values.map(({ value }) => String(value));
    assert.deepEqual(new Set(spelled.map((value) => value.toLowerCase())).size, spelled.length, path);
    for (const later of ["honda", "Red"]) assert.ok(!spelled.includes(later), `${path}: ${spelled.join()}`);
  }
});

test("a color of any month is known, and a misspelled one is reported, without reading Parquet files", async (scope) => {
  const copy = await temporaryCopy(scope, lake);
  for (const opensAhead of [true, false]) {
    const version = await openVersion(scope, copy, { opensAhead });
    if (opensAhead) await rm(join(copy, "files", "past_listings"), { recursive: true });
    const body = await answerPath(version, "/v1/listings?exterior_color=oxblood,Oxblod,bleu,RED,qqqqq&limit=1");
    assert.deepEqual(isObject(body) && isObject(body.meta) ? body.meta.unmatched : body, [
      { parameter: "exterior_color", value: "Oxblod", did_you_mean: "Oxblood" },
      { parameter: "exterior_color", value: "bleu" },
      { parameter: "exterior_color", value: "qqqqq" },
    ]);
    assert.deepEqual(version.served, { index: true, rows: true });
  }
});

test("a version has the arrays that the previous one has in memory, and then answers without a statement", async (scope) => {
  const columns = new ColumnCache();
  const paths = [
    "/v1/listings?make=Ford&features=sunroof&sort=price",
    "/v1/listings?sort=-price",
    "/v1/listings?make=Ford",
  ].concat("/v1/facets?facets=make,features");
  const previous = await openVersion(scope, lake, { columns });
  const expected: unknown[] = [];
  for (const path of paths) expected.push(await answerPath(previous, path));
  let statements = 0;
  const onStatement = (): void => {
    statements += 1;
  };
  // Versions with one index share its columns until the last of them is closed.
  const twin = await openVersion(scope, lake, { columns });
  const { bytes } = columns;
  assert.ok(bytes > 0);
  twin.close();
  assert.equal(columns.bytes, bytes);
  // At another path, its index is another segment.
  const next = await openVersion(scope, await temporaryCopy(scope, lake), { columns, onStatement });
  await next.loadAsIn(previous);
  assert.ok(statements > 0);
  const before = { statements, bytes: columns.bytes };
  for (const [n, path] of paths.entries()) assert.deepEqual(await answerPath(next, path), expected[n], path);
  assert.deepEqual({ statements, bytes: columns.bytes }, before);
  for (const version of [previous, next]) version.close();
  assert.equal(columns.bytes, 0);
});

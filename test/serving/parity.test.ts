/** Answers from serving files equal those from Parquet files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { operation } from "../../src/contract/document.ts";
import { encodeExample } from "../support/examples.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

/** Writes ten days of cars with few distinct values; five of them are sold and relisted. */
async function writeFewValues(): Promise<string> {
  const folder = await temporaryFolder(fileScope);
  const equipment = ["apple_carplay|heated_seats", "apple_carplay", "sunroof", ""];
  const dealers = [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }];
  for (let day = 0; day < 10; day += 1) {
    const inventory = Array.from({ length: 80 }, (_, n) => n)
      .filter((n) => n % 16 !== 3 || day < 2 || day > 7)
      .map((n) => ({
        ...{ vin: vinOf(n), dealer_id: dealerIdOf(1), make: "Honda", model: n % 3 === 0 ? "Civic" : "Accord" },
        ...{ price: 20_000 + 100 * (n % 7), features: equipment[n % 4] ?? "" },
        options_packages: n % 5 === 0 ? "A1|B2" : "",
      }));
    await writeFeeds(folder, plusDays("2026-03-20", day), { dealers, inventory });
  }
  return folder;
}

/** Examples that need other parameters. */
const companions: Readonly<Record<string, string>> = {
  latitude: "latitude=37.5483&longitude=-121.9886",
  longitude: "latitude=37.5483&longitude=-121.9886",
  radius: "postal_code=94538&radius=50",
};

/** Returns a query for each parameter of an operation, or for each of its values. */
function queriesOf(id: "searchListings" | "getFacets"): readonly string[] {
  return operation(id).parameters.flatMap((parameter) => {
    const { name, schema } = parameter;
    const choices = ["sort", "include", "inventory_status", "facets", "metric"].includes(name);
    const values = choices ? (schema.items?.enum ?? schema.enum ?? []) : [];
    return choices
      ? values.map((value) => `${name}=${value}`)
      : [companions[name] ?? `${name}=${encodeExample(parameter)}`];
  });
}

const everyParameter: readonly string[] = [
  ...queriesOf("searchListings").map((query) =>
    query === "sort=distance" ? `/v1/listings?${query}&postal_code=94538` : `/v1/listings?${query}`,
  ),
  ...queriesOf("getFacets").map((query) => {
    if (query.startsWith("facets=")) return `/v1/facets?${query}`;
    const isOfMetric = query.startsWith("metric=") || query.endsWith("metric");
    return `/v1/facets?facets=make,price,miles,msrp,days_on_market&${isOfMetric ? "metric=price.median&" : ""}${query}`.replace(
      /metric=price.median&(metric=)/,
      "$1",
    );
  }),
].map((path) => path.replace("2026-10-01", "2026-11-18"));

const combined: readonly string[] = [
  "fields=default,features,options_packages&include=price_history,options&limit=100",
  ...["price", "-price", "miles", "-listed_at", "discount", "-days_on_market"].map((sort) => `sort=${sort}&offset=20`),
  ...["features=apple_carplay", "exclude_features=apple_carplay", "features=apple_carplay,heated_seats"],
  ...["features=nothing", "exclude_features=nothing", "options_packages=A1", "make=honda", "exclude_make=honda,toyota"],
  ...["state=CA", "exclude_state=CA&min_price=1", "state=CA&dealer_type=franchise", "state=CA,NV&make=honda"],
  ...["vin_pattern=1", "vin_pattern=*", "vin_pattern=?H,5*", "vin_pattern=1HGCM8263", "keywords=one_owner,branded"],
  ...[
    "exclude_keywords=clean_title,fleet",
    "postal_code=94538&radius=100&sort=distance",
    "postal_code=94538&sort=distance",
  ],
  ...[
    "bbox=-123,33,-116,39",
    "make=honda,toyota&year=2021,2022&body_type=sedan,suv",
    "year=1999",
    "min_price=25000&max_price=25000",
  ],
  ...["min_days_on_market=0&max_days_on_market=999999", "offset=150&limit=100", "offset=100000"],
].map((query) => `/v1/listings?${query}`);

const facets = "make,model,year,trim,exterior_color,inventory_type,features,options_packages,keywords,state";
const facetRequests: readonly string[] = [
  `facets=${facets},price,miles,msrp,days_on_market`,
  `facets=${facets},price&make=honda`,
  `facets=${facets},miles&exclude_make=honda&sort=count&facet_value_limit=3`,
  "facets=features,options_packages,price&features=apple_carplay",
  "facets=price,miles&make=nothing",
  "facets=price,miles&interval=price:7777,miles:20000",
  ...["features", "keywords", "state", "year", "exterior_color"].flatMap((facet) => [
    `facets=${facet}&metric=price.median&sort=-metric`,
    `facets=${facet},price&metric=discount_from_msrp.mean&make=honda&sort=metric`,
  ]),
].map((query) => `/v1/facets?${query}`);

/** Requests at an edge, which every run makes: a box without width, on the meridian of a dealer. */
const edges: readonly string[] = ["/v1/listings?bbox=-121.8776,36,-121.8776,43"];

/** Returns a version's answer, or the message of its refusal. */
async function answerOrRefusal(version: Awaited<ReturnType<typeof openVersion>>, path: string): Promise<unknown> {
  return answerPath(version, path).catch((thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown));
}

/** In the short run, every fourth request. */
const drawn = (requests: readonly string[]): readonly string[] =>
  requests.filter((_, place) => place % extentOf(8, 1) === 0);

for (const [name, path, requests] of [
  ["the sample", samplePath, [...everyParameter, ...combined, ...facetRequests]],
  ["a lake with few distinct values", await writeFewValues(), [...combined, ...facetRequests]],
] as const) {
  const skip = path !== samplePath && skipInShortRun;
  test(`the search index and the row store answer as the Parquet files do: ${name}`, { skip }, async (scope) => {
    const { lake } = await createLake(scope, path);
    const served = await openVersion(scope, lake);
    const parquet = await openVersion(scope, lake, { hasServingFiles: false });
    assert.deepEqual(
      [served.served, parquet.served],
      [
        { index: true, rows: true },
        { index: false, rows: false },
      ],
    );
    for (const request of [...drawn(requests), ...edges])
      assert.deepEqual(await answerOrRefusal(served, request), await answerOrRefusal(parquet, request), request);
    for (const { id, vin } of await queryLake(lake, "SELECT id, vin FROM active UNION SELECT id, vin FROM sold")) {
      const listing = String(id).replaceAll("-", "");
      for (const request of [`/v1/listings/${listing}?include=options,price_history`, `/v1/vins/${vin}`])
        assert.deepEqual(await answerOrRefusal(served, request), await answerOrRefusal(parquet, request), request);
    }
    assert.deepEqual(served.served, { index: true, rows: true }, "no file fell back to Parquet");
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { textIn } from "../../src/base/json.ts";
import { sql } from "../../src/base/sql.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { endpoints } from "../../src/http/endpoints.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { Market, type MarketOptions } from "../../src/lake/market.ts";
import { dealerIdOf, deliver, vinOf } from "../support/feeds.ts";
import { lakeOf, samplePath, temporaryFolder } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";

/** Ten days in which equipment is the same from car to car, and five cars are sold and come back. */
async function alikeFeeds(): Promise<string> {
  const folder = await temporaryFolder(wholeFile);
  const equipment = ["apple_carplay|heated_seats", "apple_carplay", "sunroof", ""];
  const dealers = [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }];
  for (let day = 0; day < 10; day += 1) {
    const inventory = Array.from({ length: 80 }, (_, n) => n)
      .filter((n) => n % 16 !== 3 || day < 2 || day > 7)
      .map((n) => ({
        ...{ vin: vinOf(n), dealer_id: dealerIdOf(1), make: "Honda", model: n % 3 === 0 ? "Civic" : "Accord" },
        ...{
          price: 20_000 + 100 * (n % 7),
          features: equipment[n % 4] ?? "",
          options_packages: n % 5 === 0 ? "A1|B2" : "",
        },
      }));
    await deliver(folder, plusDays("2026-03-20", day), { dealers, inventory });
  }
  return folder;
}

const searches = [
  "fields=default,features,options_packages&include=price_history,options&limit=100",
  ...["price", "-price", "miles", "-listed_at", "discount", "-days_on_market"].map((sort) => `sort=${sort}&offset=20`),
  ...["features=apple_carplay", "exclude_features=apple_carplay", "features=apple_carplay,heated_seats"],
  ...["features=nothing", "options_packages=A1", "make=honda", "state=CA", "exclude_state=CA&min_price=1"],
  ...["vin_pattern=1", "keywords=one_owner", "postal_code=94538&radius=100&sort=distance"],
  // Full pages: their totals are summed up by a key, by several requirements on one key, or counted where two keys are required.
  ...["state=CA", "state=CA&dealer_type=franchise", "postal_code=94538&radius=500", "bbox=-123,33,-116,39", "state=XX"]
    .concat([
      "make=HONDA",
      "make=honda,toyota&year=2021,2022,2023,2024",
      "body_type=sedan,suv&make=honda",
      "make=nothing",
    ])
    .concat(["features=apple_carplay&exclude_make=nothing", "make=honda&state=CA", "features=apple_carplay&state=CA"])
    .map((required) => `${required}&limit=1`),
];
const counts = [
  "facets=make,model,trim,exterior_color,inventory_type,features,options_packages,keywords,state,price,miles,msrp,days_on_market",
  "facets=features,options_packages,price&features=apple_carplay",
  "facets=features&metric=price.median",
];

/** What is asked of a version: pages, facets, and every active listing by its id and its VIN; and the columns whose values are numbered. */
async function answersOf(lake: string, options: MarketOptions) {
  const market = await Market.open(lake, (await currentManifest(lake))?.version ?? "", options);
  const [search, facets, listing, vehicle] = [
    decoderOf("searchListings"),
    decoderOf("getFacets"),
    decoderOf("getListing"),
    decoderOf("getVin"),
  ] as const;
  try {
    await market.warm();
    const active = market.activeOn(market.manifest.as_of);
    const found = await market.rows(sql`SELECT replace(id::VARCHAR, '-', '') AS id, vin FROM (${active.all})`);
    const bodies = new Map<string, unknown>();
    for (const query of searches)
      bodies.set(query, JSON.parse(await endpoints.searchListings(search(query, {}), market)));
    for (const query of counts) bodies.set(query, JSON.parse(await endpoints.getFacets(facets(query, {}), market)));
    for (const row of found) {
      const [listing_id, vin] = [textIn(row, "id"), textIn(row, "vin")];
      bodies.set(
        listing_id,
        JSON.parse(await endpoints.getListing(listing("include=options,price_history", { listing_id }), market)),
      );
      bodies.set(vin, JSON.parse(await endpoints.getVin(vehicle("", { vin }), market)));
    }
    return { bodies, numbered: active.numbered };
  } finally {
    await market.close();
  }
}

const plain = ["interior_color", "base_exterior_color", "base_interior_color", "inventory_type", "availability_status"];
const markets = [
  { name: "the sample", path: samplePath, numbered: ["features", ...plain] },
  {
    name: "a market of cars alike",
    path: await alikeFeeds(),
    numbered: ["features", "options_packages", "exterior_color", ...plain],
  },
] as const;

for (const { name, path, numbered } of markets) {
  test(`the hot copy of ${name} answers searches, facets and look-ups as the Parquet files do`, async () => {
    const { lake } = await lakeOf(wholeFile, path);
    const fromFiles = await answersOf(lake, { hasCopies: false });
    const fromCopy = await answersOf(lake, {});
    assert.deepEqual([fromFiles.numbered, fromCopy.numbered], [[], numbered]);
    assert.equal(fromCopy.bodies.size, fromFiles.bodies.size);
    for (const [asked, body] of fromFiles.bodies) assert.deepEqual(fromCopy.bodies.get(asked), body, asked);
  });
}

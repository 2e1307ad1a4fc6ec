/** The usage class and price of each kind of request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type MeteredId, prices, pricingVersion, usageClassOf } from "../../src/accounts/policy/prices.ts";
import { projectText } from "../../src/base/project-files.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operation, operations, vocabulary } from "../../src/contract/document.ts";
import { parseCaseTable } from "../support/case-table.ts";
import { encodeExample } from "../support/examples.ts";

const dealer = "0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40";

const cases = parseCaseTable(
  ["operation", "query", "class", "micros"],
  `
  operation            | query                                                            | class                                     | micros
  searchListings       | nothing                                                          | listing_search                            | 2000
  searchListings       | inventory_status=active                                          | listing_search                            | 2000
  searchListings       | inventory_status=sold                                            | listing_search_historical                 | 4000
  searchListings       | sold_within_days=30                                              | listing_search_historical                 | 4000
  searchListings       | snapshot_date=2026-11-19                                         | listing_search_historical                 | 4000
  searchListings       | dealer_id=${dealer}                                              | listing_search_dealer_filtered            | 3000
  searchListings       | dealer_id=${dealer}&inventory_status=sold                        | listing_search_dealer_filtered_historical | 6000
  searchListings       | dealer_id=${dealer}&snapshot_date=2026-11-19                     | listing_search_dealer_filtered_historical | 6000
  searchListings       | include=options                                                  | listing_search_enriched                   | 40000
  searchListings       | include=price_history,options                                    | listing_search_enriched                   | 40000
  searchListings       | include=options&dealer_id=${dealer}&sold_within_days=3           | listing_search_enriched                   | 40000
  searchListings       | dealer_type=franchise                                            | listing_search                            | 2000
  searchListings       | exclude_inventory_type=new&listed_after=2026-11-01               | listing_search                            | 2000
  searchListings       | fields=features,options_packages,dealer_id,sold_date             | listing_search                            | 2000
  searchListingsByPage | page=2&per_page=10                                               | listing_search                            | 2000
  searchListingsByPage | inventory_status=SOLD                                            | listing_search_historical                 | 4000
  searchListingsByPage | dealer_id=${dealer}                                              | listing_search_dealer_filtered            | 3000
  searchListingsByPage | dealer_id=${dealer}&sold_within_days=1                           | listing_search_dealer_filtered_historical | 6000
  searchListingsByPage | include=options                                                  | listing_search_enriched                   | 40000
  searchDealerListings | nothing                                                          | dealer_inventory_search                   | 3000
  searchDealerListings | inventory_status=sold                                            | dealer_inventory_search_historical        | 6000
  searchDealerListings | sold_within_days=9                                               | dealer_inventory_search_historical        | 6000
  searchDealerListings | snapshot_date=2026-11-18                                         | dealer_inventory_search_historical        | 6000
  searchDealerListings | include=price_history                                            | dealer_inventory_search                   | 3000
  searchDealerListings | include=options&inventory_status=sold                            | dealer_inventory_search_historical        | 6000
  exportListings       | nothing                                                          | listing_export                            | 10000
  exportListings       | dealer_id=${dealer}                                              | listing_export                            | 10000
  exportListings       | dealer_id=${dealer}&snapshot_date=2026-11-18                     | listing_export_historical                 | 20000
  exportListings       | snapshot_date_from=2026-11-18&snapshot_date_to=2026-11-19         | listing_export_historical                 | 20000
  exportListings       | include=options&sold_within_days=3                               | listing_export_enriched                   | 200000
  runSql               | nothing                                                          | sql_statement                             | 10000
  getFacets            | facets=make                                                      | facet_counts                              | 3000
  getFacets            | facets=make&dealer_id=${dealer}                                  | facet_counts                              | 3000
  getFacets            | facets=make&metric=price.median                                  | facet_counts                              | 3000
  getFacets            | facets=make&inventory_status=sold                                | facet_counts_historical                   | 6000
  getFacets            | facets=make&snapshot_date=2026-11-18&dealer_id=${dealer}         | facet_counts_historical                   | 6000
  getGroups            | group_by=make,state                                              | facet_counts                              | 3000
  getGroups            | group_by=make&sold_within_days=3                                 | facet_counts_historical                   | 6000
  getTrends            | metric=price.median                                              | trend_series                              | 20000
  getTrends            | metric=sold&facet=make&dealer_id=${dealer}                       | trend_series                              | 20000
  getListing           | nothing                                                          | vehicle_detail                            | 3000
  getListing           | include=options                                                  | vehicle_detail_enriched                   | 8000
  getVin               | nothing                                                          | vehicle_detail                            | 3000
  getVin               | include=price_history                                            | vehicle_detail_enriched                   | 8000
  getEvidence          | limit=20                                                         | evidence                                  | 10000
  findFittingDealers   | radius=50                                                        | dealer_fit                                | 10000
  findFittingModels    | nothing                                                          | dealer_fit                                | 10000
  searchDealers        | nothing                                                          | dealer_lookup                             | 1000
  searchDealers        | dealer_id=${dealer}                                              | dealer_lookup                             | 1000
  getDealer            | nothing                                                          | dealer_lookup                             | 1000
  interpretQuestion    | q=toyota                                                         | suggestion                                | 100
  suggestFilters       | q=toyota                                                         | suggestion                                | 100
  getListingComparables | nothing                                                         | comparables                               | 5000
  findComparables      | vin=1FTEW1EP7NFB87760                                            | comparables                               | 5000
  valueVehicles        | vin=1FTEW1EP7NFB87760                                            | valuations                                | 10000
  getDepreciation      | make=ford&model=f-150                                            | depreciation                              | 10000
  listChanges          | since=2026-11-18.1&dealer_id=${dealer}                           | listing_changes                           | 5000
`,
);

const pathOf = (id: MeteredId): Readonly<Record<string, string>> =>
  Object.fromEntries(
    operation(id)
      .parameters.filter(({ in: location }) => location === "path")
      .map((parameter) => [parameter.name, encodeExample(parameter)]),
  );

for (const { operation: id, query, class: expected, micros } of cases) {
  test(`${id} with ${query} is ${expected}, ${micros} micros`, () => {
    const metered = id as MeteredId;
    const queryString = query === "nothing" ? "" : query;
    const found = usageClassOf(metered, decoderOf(metered)(queryString, pathOf(metered)).query);
    assert.deepEqual([found, prices[found]], [expected, Number(micros)]);
  });
}

test("every operation except those about the account and the document has a price, and every usage class has an operation", () => {
  const free = [
    "getUsage",
    "getDocument",
    "listSearches",
    "createSearch",
    "deleteSearch",
    "resumeSearch",
    "rotateSearchSecret",
  ];
  assert.deepEqual(
    [...new Set(cases.map(({ operation: id }) => id))].sort(),
    [...operations.keys()].filter((id) => !free.includes(id)).sort(),
  );
  assert.deepEqual([...new Set(cases.map((row) => row.class))].sort(), Object.keys(prices).sort());
});

test("the document lists the same usage classes and prices", () => {
  const rows = [...projectText("schemas/openapi.yaml").matchAll(/^ +\| `(\w+)` \| .+ \| (\d\.\d{3,4}) \|$/gm)];
  assert.deepEqual(
    Object.fromEntries(rows.map(([, usageClass, usd]) => [usageClass, Math.round(Number(usd) * 1_000_000)])),
    prices,
  );
  assert.deepEqual([...vocabulary("getUsage", "metering_class")].sort(), Object.keys(prices).sort());
});

test("the price list is identified by a UUID that changes with the prices", () => {
  assert.match(pricingVersion, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(
    pricingVersion,
    "d3a6077d-737e-8753-a639-20c916df7313",
    "prices have changed: update the UUID of the price list",
  );
});

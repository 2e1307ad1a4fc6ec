/** The parameters, closed vocabularies, bounds and defaults of each operation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { operations, type Parameter } from "../../src/contract/document.ts";
import type { OperationId } from "../../src/contract/types.ts";

const words = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== "");
const sorted = (list: readonly string[]): readonly string[] => [...list].sort();

const sorts = words(`days_on_market -days_on_market listed_at -listed_at price -price miles -miles msrp -msrp
  discount -discount distance`);
const fields =
  words(`default, id, vin, year, make, model, trim, version, body_type, drivetrain, fuel_type, powertrain_type,
  transmission, engine, cylinders, doors, seating_capacity, exterior_color, interior_color, base_exterior_color,
  base_interior_color, msrp, discount_from_msrp, price, miles, days_on_market, listed_at, status, inventory_status,
  availability_status, inventory_type, stock_number, vdp_url, sold_date, dealer_id, dealer_name, dealer_type, city, state,
  postal_code, latitude, longitude, distance_miles, photo_urls, features, options_packages`);
const facets = words(`make, model, inventory_type, year, trim, version, base_exterior_color, exterior_color,
  base_interior_color, interior_color, seating_capacity, doors, engine, state, drivetrain, assembly_location,
  assembly_country, transmission, fuel_type, body_type, cylinders, dealer_type, availability_status, options_packages,
  features, keywords, price, msrp, miles, days_on_market`);
const numericFacets = words("price msrp miles days_on_market");
const metrics = words("price miles msrp days_on_market discount_from_msrp").flatMap((measure) =>
  words("mean p5 p25 median p75 p95").map((aggregate) => `${measure}.${aggregate}`),
);
const usageClasses = words(`listing_search, listing_search_historical, listing_search_dealer_filtered,
  listing_search_dealer_filtered_historical, dealer_inventory_search, dealer_inventory_search_historical,
  listing_search_enriched, facet_counts, facet_counts_historical, trend_series, vehicle_detail, vehicle_detail_enriched, dealer_lookup,
  listing_export, listing_export_historical, listing_export_enriched`);
const formats = words("json arrow parquet csv ndjson");
const inventoryTypes = words("new used certified cpo");
const keywords = words("one_owner clean_title branded fleet");

/** Returns the canonical values of an attribute, as ingest spells them. */
const spelled = (attribute: string): readonly string[] => {
  const rows = projectText("data/reference/spellings.csv").matchAll(/^(\w+),[^,]*,(.*)$/gm);
  return [...new Set([...rows].flatMap(([, name, canonical = ""]) => (name === attribute ? [canonical] : [])))];
};
const states = spelled("state");
const powertrains = spelled("powertrain_type");

/** The closed vocabularies of each operation, besides the filters that several share. */
const controls: Readonly<Partial<Record<OperationId, Readonly<Record<string, readonly string[]>>>>> = {
  searchListings: { format: formats, sort: sorts, fields, include: words("price_history options") },
  searchListingsByPage: { sort: sorts, fields, include: words("price_history options") },
  searchDealerListings: { format: formats, sort: sorts, fields, include: words("price_history options") },
  exportListings: {
    as: words("days intervals"),
    ...{ sort: sorts, fields, include: words("price_history options") },
    format: words("parquet arrow csv ndjson"),
  },
  getListing: { include: words("price_history options") },
  getVin: { include: words("price_history options") },
  getFacets: { format: formats, facets, metric: metrics, sort: words("-count count -metric metric") },
  searchDealers: { format: formats, type: words("franchise independent"), state: states },
  getTrends: {
    format: formats,
    interval: words("day week month quarter"),
    facet: facets.filter((facet) => !numericFacets.includes(facet)),
  },
  getUsage: { metering_class: usageClasses },
};

const filters: Readonly<Record<string, readonly string[]>> = {
  inventory_status: words("active sold"),
  inventory_type: inventoryTypes,
  exclude_inventory_type: inventoryTypes,
  availability_status: words("stock transit build"),
  dealer_type: words("franchise independent"),
  keywords,
  exclude_keywords: keywords,
  state: states,
  exclude_state: states,
  powertrain_type: powertrains,
  exclude_powertrain_type: powertrains,
};

const filtering: readonly OperationId[] = [
  "searchListings",
  "searchListingsByPage",
  "searchDealerListings",
  "exportListings",
  "getFacets",
  "getTrends",
];

const enumOf = ({ schema }: Parameter): readonly string[] | undefined => schema.items?.enum ?? schema.enum;

test("there are 50 states, DC, five territories, 13 provinces and six powertrains", () => {
  assert.deepEqual([states.length, powertrains.length], [50 + 1 + 5 + 13, 6]);
});

for (const { id, parameters } of operations.values()) {
  test(`${id} has exactly the expected closed vocabularies`, () => {
    const closed = parameters.flatMap((parameter) => {
      const known = enumOf(parameter);
      return known === undefined ? [] : [[parameter.name, sorted(known)] as const];
    });
    const shared = Object.entries(filtering.includes(id) ? filters : {}).filter(([name]) =>
      queryParameters[id].includes(name),
    );
    const expected = [...shared, ...Object.entries(controls[id] ?? {})];
    assert.deepEqual(
      Object.fromEntries(closed),
      Object.fromEntries(expected.map(([name, known]) => [name, sorted(known)])),
    );
  });
}

const listingFilters = words(`make model model_code trim version year body_type engine transmission drivetrain fuel_type
  powertrain_type cylinders doors seating_capacity exterior_color interior_color base_exterior_color base_interior_color
  options_packages features keywords assembly_country assembly_location vin_pattern inventory_type availability_status
  dealer_type state
  exclude_make exclude_model exclude_trim exclude_year exclude_state exclude_inventory_type exclude_body_type
  exclude_transmission exclude_drivetrain exclude_version exclude_engine exclude_assembly_country exclude_exterior_color
  exclude_interior_color exclude_base_exterior_color exclude_base_interior_color exclude_options_packages
  exclude_features exclude_fuel_type exclude_powertrain_type exclude_keywords exclude_assembly_location
  inventory_status sold_within_days snapshot_date listed_after
  min_price max_price min_mileage max_mileage min_msrp max_msrp min_days_on_market max_days_on_market
  latitude longitude postal_code radius bbox`);
const inventoryViews = words("inventory_status sold_within_days snapshot_date");
const page = words("limit offset sort fields include");

const queryParameters: Readonly<Record<OperationId, readonly string[]>> = {
  searchListings: ["format", ...page, "dealer_id", ...listingFilters],
  searchListingsByPage: [...page, "page", "per_page", "dealer_id", ...listingFilters],
  searchDealerListings: ["format", ...page, ...listingFilters],
  getFacets: [
    ...words("format facets facet_value_limit facet_value_prefix interval metric sort dealer_id"),
    ...listingFilters,
  ],
  getTrends: [
    ...words("format metric interval from to facet facet_limit dealer_id"),
    ...listingFilters.filter((name) => !inventoryViews.includes(name)),
  ],
  exportListings: [
    ...words("format sort fields include dealer_id snapshot_date_from snapshot_date_to as"),
    ...listingFilters,
  ],
  getListing: ["include"],
  getVin: ["include"],
  searchDealers: words("format dealer_id state country type make q limit offset"),
  getDealer: [],
  getUsage: words("start_date end_date metering_class"),
  getDocument: [],
};

for (const { id, parameters } of operations.values()) {
  test(`${id} takes exactly the expected query parameters`, () => {
    const names = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    assert.deepEqual(sorted(names), sorted(queryParameters[id]));
    assert.equal(new Set(names).size, names.length);
  });
}

test("lists are separated by commas, except assembly locations, which contain commas", () => {
  const separators = [...operations.values()].flatMap(({ parameters }) =>
    parameters
      .filter(({ schema }) => schema.items !== undefined)
      .map((parameter) => [parameter.name, parameter.schema["x-separator"] ?? parameter.style] as const),
  );
  const others = new Map(separators.filter(([, separator]) => separator !== "form"));
  assert.deepEqual(
    [...others],
    [
      ["assembly_location", "pipeDelimited"],
      ["exclude_assembly_location", "+"],
    ],
  );
});

const bounds: readonly (readonly [OperationId, string, min: number | undefined, max: number])[] = [
  ["searchListings", "limit", 1, 100],
  ["searchListings", "radius", undefined, 500],
  ["searchListingsByPage", "per_page", 1, 100],
  ["getFacets", "facet_value_limit", 1, 100],
  ["getTrends", "facet_limit", 1, 50],
  ["searchDealers", "limit", 1, 100],
  ["searchDealerListings", "limit", 1, 100],
];

const largestLists: readonly (readonly [OperationId, string, items: number])[] = [
  ["searchListings", "dealer_id", 50],
  ["searchListings", "vin_pattern", 10],
  ["searchDealers", "dealer_id", 100],
  ["getFacets", "dealer_id", 50],
  ["getFacets", "interval", 4],
  ["getTrends", "metric", 5],
  ["getTrends", "facet", 3],
];

const schemaOf = (id: OperationId, parameter: string) =>
  operations.get(id)?.parameters.find(({ name }) => name === parameter)?.schema;

test("the size of a request is bounded", () => {
  for (const [id, parameter, min, greatest] of bounds) {
    const schema = schemaOf(id, parameter);
    assert.deepEqual([schema?.minimum, schema?.maximum], [min, greatest], `${id} ${parameter}`);
  }
  for (const [id, parameter, items] of largestLists)
    assert.equal(schemaOf(id, parameter)?.maxItems, items, `${id} ${parameter}`);
});

const defaults: readonly (readonly [OperationId, Readonly<Record<string, unknown>>])[] = [
  ["searchListings", { limit: 50, offset: 0, sort: "days_on_market", fields: ["default"] }],
  ["searchDealerListings", { limit: 50, offset: 0, sort: "days_on_market", fields: ["default"] }],
  ["getFacets", { facet_value_limit: 20, sort: "-count" }],
  ["getTrends", { interval: "week", facet_limit: 10 }],
  ["searchDealers", { limit: 50, offset: 0 }],
];

test("parameters that are not sent have these defaults", () => {
  for (const [id, expected] of defaults) {
    const parameters = operations.get(id)?.parameters ?? [];
    const withDefault = parameters.filter(({ schema }) => schema.default !== undefined);
    assert.deepEqual(Object.fromEntries(withDefault.map(({ name, schema }) => [name, schema.default])), expected, id);
  }
});

/** Decoding of valid query strings into typed values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { epochMs } from "../../src/base/day.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import type { OperationId } from "../../src/contract/types.ts";

const listingDefaults = { limit: 50, offset: 0, sort: "days_on_market", fields: ["default"] };
const facetDefaults = { facet_mode: "conjunctive", facet_value_limit: 20, sort: "-count" };
const dealers = ["0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40", "0B8F6C1E-5D0A-5C3E-9A57-2F6D3B1C7E41"];

type Case = readonly [what: string, query: string, values: Readonly<Record<string, unknown>>];

const cases: readonly Case[] = [
  ["an empty query", "", {}],
  ["stray ampersands", "&&limit=5&", { limit: 5 }],
  ["a whole number", "limit=100", { limit: 100 }],
  ["the smallest page", "limit=1&offset=0", { limit: 1, offset: 0 }],
  ["leading zeros", "limit=007", { limit: 7 }],
  ["the largest offset", "offset=2147483647", { offset: 2_147_483_647 }],
  [
    "a whole number with decimals or an exponent",
    "limit=5.&offset=3E4&min_price=30000.00",
    { limit: 5, offset: 30_000, min_price: 30_000 },
  ],
  [
    "an exponent with a plus, encoded or not",
    "min_price=3e+04&max_price=3e%2B04",
    { min_price: 30_000, max_price: 30_000 },
  ],
  ["numbers as clients print them", "latitude=.5&longitude=-1.219886E2", { latitude: 0.5, longitude: -121.9886 }],
  ["any number of decimals", `latitude=0.1${"0".repeat(30)}1&longitude=-0`, { latitude: 0.1, longitude: 0 }],
  ["whole numbers of a list in two forms once", "year=2025.0,2025,2.026e3", { year: [2025, 2026] }],
  ["a comma list", "make=Toyota,Honda", { make: ["Toyota", "Honda"] }],
  [
    "a repeated list",
    "make=Toyota&year=2025&make=Honda,Kia&make=Toyota&y%65ar=2026",
    { make: ["Toyota", "Honda", "Kia"], year: [2025, 2026] },
  ],
  [
    "repeated places with commas",
    "assembly_location=San+Jose,+CA&assembly_location=Lyon|Rome",
    { assembly_location: ["San Jose, CA", "Lyon", "Rome"] },
  ],
  ["repeated masks in two forms once", "vin_pattern=ABC&vin_pattern=abc*", { vin_pattern: ["ABC"] }],
  ["a repeated box", "bbox=-10&bbox=10&bbox=10&bbox=20", { bbox: [-10, 10, 10, 20] }],
  [
    "bounds with decimals",
    "min_mileage=100.5&max_price=.5&min_days_on_market=1.0",
    { min_mileage: 100.5, max_price: 0.5, min_days_on_market: 1 },
  ],
  ["a value in quotes with a comma", "stock_number=%22A1,B2%22,C3", { stock_number: ["A1,B2", "C3"] }],
  ["escapes in quotes", "trim=%22a%5C%22,%5C%5Cb%22", { trim: ['a",\\b'] }],
  ["numbers and words in quotes", 'year="2025","2026"&state="ca"', { year: [2025, 2026], state: ["CA"] }],
  ["places in quotes", 'assembly_location="Lyon|Sud"|Rome', { assembly_location: ["Lyon|Sud", "Rome"] }],
  [
    "excluded places in quotes",
    'exclude_assembly_location="Wien,+AT"+"Bern,+CH"%2BRome',
    { exclude_assembly_location: ["Wien, AT", "Bern, CH", "Rome"] },
  ],
  ["a quote within a value", "trim=5%22,%22,%22open,%22a%22b", { trim: ['5"', '"', '"open', '"a"b'] }],
  ["composed and decomposed accents once", "trim=Caf%C3%A9,Cafe%CC%81,Caf%C3%A9%E2%80%8B", { trim: ["Caf\u00e9"] }],
  ["any white space as one blank", "trim=%C2%A0No%C2%A0%20%E3%80%80Break%09", { trim: ["No Break"] }],
  ["a word with invisible characters", "sort=%EF%BB%BFprice&state=C%C2%ADA", { sort: "price", state: ["CA"] }],
  ["a list of one", "make=Toyota", { make: ["Toyota"] }],
  ["an encoded comma separates too", "make=Toyota%2CHonda", { make: ["Toyota", "Honda"] }],
  ["a plus is a space", "model=Grand+Cherokee", { model: ["Grand Cherokee"] }],
  ["%20 is a space", "model=Grand%20Cherokee", { model: ["Grand Cherokee"] }],
  ["%2B is a plus", "trim=R%2B", { trim: ["R+"] }],
  ["spaces around items are dropped", "make=+Toyota%20,%20Honda+", { make: ["Toyota", "Honda"] }],
  ["other characters are kept", "trim=a;b|c=d%26e%22'", { trim: [`a;b|c=d&e"'`] }],
  ["a value may hold an equals sign", "trim=a=b", { trim: ["a=b"] }],
  ["UTF-8", "model=Citro%C3%ABn,%F0%9F%9A%97", { model: ["Citroën", "🚗"] }],
  ["an encoded name", "m%61ke=Toyota", { make: ["Toyota"] }],
  ["an open category keeps its case", "make=tOYOTA", { make: ["tOYOTA"] }],
  ["duplicates are dropped", "make=Ford,Kia,Ford", { make: ["Ford", "Kia"] }],
  ["whole numbers in a list", "year=2025,2026,2025", { year: [2025, 2026] }],
  ["electric cars have no cylinders", "cylinders=0,4", { cylinders: [0, 4] }],
  ["a pipe list keeps commas", "assembly_location=San+Jose,+CA|Lyon", { assembly_location: ["San Jose, CA", "Lyon"] }],
  ["an encoded pipe separates too", "assembly_location=A%7CB", { assembly_location: ["A", "B"] }],
  ["a sort in any case", "sort=-PRICE", { sort: "-price" }],
  ["fields in any case", "fields=ID,Make,Default", { fields: ["id", "make", "default"] }],
  ["duplicates in any case are dropped", "fields=make,MAKE", { fields: ["make"] }],
  ["a closed vocabulary in any case", "dealer_type=Franchise", { dealer_type: ["franchise"] }],
  ["cpo is certified", "inventory_type=cpo", { inventory_type: ["certified"] }],
  ["CPO too, once", "inventory_type=CPO,certified,new", { inventory_type: ["certified", "new"] }],
  ["cpo is certified in an exclusion", "exclude_inventory_type=Cpo", { exclude_inventory_type: ["certified"] }],
  ["keywords", "keywords=ONE_OWNER,branded", { keywords: ["one_owner", "branded"] }],
  ["a mode", "inventory_status=Active", { inventory_status: "active" }],
  ["a day", "snapshot_date=2024-02-29", { snapshot_date: "2024-02-29" }],
  ["a time with a zone", "listed_after=2026-11-01T00:00:00%2B01:00", { listed_after: "2026-11-01T00:00:00+01:00" }],
  ["a plain date as a time", "listed_after=2026-11-01", { listed_after: "2026-11-01" }],
  ["dealers", `dealer_id=${dealers.join(",")}`, { dealer_id: dealers }],
  ["a state in any case", "state=ca,NV,Ca", { state: ["CA", "NV"] }],
  ["a territory", "state=pr&exclude_state=dc,Gu", { state: ["PR"], exclude_state: ["DC", "GU"] }],
  [
    "a powertrain in any case",
    "powertrain_type=bev,Hev&exclude_powertrain_type=ice",
    { powertrain_type: ["BEV", "HEV"], exclude_powertrain_type: ["ICE"] },
  ],
  ["a point", "latitude=37.5483&longitude=-121.9886", { latitude: 37.5483, longitude: -121.9886 }],
  ["a ZIP code is a text", "postal_code=02108", { postal_code: "02108" }],
  ["a ZIP+4 code", "postal_code=90210-1234", { postal_code: "90210-1234" }],
  ["a radius with a fraction", "radius=0.5", { radius: 0.5 }],
  ["a box", "bbox=-122.6,37.2,-121.7,38.0", { bbox: [-122.6, 37.2, -121.7, 38] }],
  ["a box whose numbers repeat", "bbox=-10,10,10,20", { bbox: [-10, 10, 10, 20] }],
  ["a box around the origin", "bbox=-1,-1,1,1", { bbox: [-1, -1, 1, 1] }],
  ["masks", "vin_pattern=4t1,1FTFW1E5?NF*", { vin_pattern: ["4T1", "1FTFW1E5?NF"] }],
  ["a mask that is a prefix once", "vin_pattern=ABC,abc*,A*", { vin_pattern: ["ABC", "A"] }],
  ["the mask of every VIN", "vin_pattern=*", { vin_pattern: [""] }],
  [
    "ten masks in two forms each",
    `vin_pattern=${[..."ABCDEFGHJK"].flatMap((mask) => [mask, `${mask}*`]).join(",")}`,
    { vin_pattern: [..."ABCDEFGHJK"] },
  ],
  ["ten masks, one of them twice", `vin_pattern=${[..."ABCDEFGHJKA"].join(",")}`, { vin_pattern: [..."ABCDEFGHJK"] }],
  ["a range of one value", "min_price=5&max_price=5", { min_price: 5, max_price: 5 }],
];

const search = decoderOf("searchListings");

for (const [what, query, values] of cases) {
  test(`a search reads ${what}: ${query}`, () => {
    assert.deepEqual(search(query, {}).query, { ...listingDefaults, ...values });
  });
}

const others: readonly (readonly [OperationId, query: string, values: Readonly<Record<string, unknown>>])[] = [
  ["getFacets", "facets=make", { facets: ["make"], ...facetDefaults }],
  ["getFacets", "facets=Make,PRICE", { facets: ["make", "price"], ...facetDefaults }],
  ["getFacets", "facets=make&metric=Count", { facets: ["make"], ...facetDefaults }],
  ["getFacets", "facets=make&metric=Price.P95", { facets: ["make"], metric: "price.p95", ...facetDefaults }],
  [
    "getFacets",
    "facets=miles&interval=Miles:10000,%20PRICE:1,miles:10000",
    { facets: ["miles"], interval: ["miles:10000", "price:1"], ...facetDefaults },
  ],
  [
    "getFacets",
    "facets=make&sort=-Metric&facet_value_limit=100",
    { ...facetDefaults, facets: ["make"], sort: "-metric", facet_value_limit: 100 },
  ],
  [
    "searchDealers",
    "q=fremont+toyota&type=Franchise",
    { q: "fremont toyota", type: ["franchise"], limit: 50, offset: 0 },
  ],
  ["searchDealers", "country=US,ca&state=on", { country: ["US", "ca"], state: ["ON"], limit: 50, offset: 0 }],
  ["getUsage", "metering_class=Facet_Counts", { metering_class: ["facet_counts"] }],
  ["getUsage", "", {}],
  ["getDocument", "", {}],
];

for (const [id, query, values] of others) {
  test(`${id} reads ${query === "" ? "an empty query" : query}`, () => {
    assert.deepEqual(decoderOf(id)(query, {}).query, values);
  });
}

test("the deprecated search reports which paging parameters were sent", () => {
  const { query } = decoderOf("searchListingsByPage")("page=2&per_page=25", {});
  assert.deepEqual([query.page, query.per_page, query.limit, query.offset], [2, 25, undefined, undefined]);
});

test("a VIN is accepted in either case", () => {
  for (const vin of ["4T1DAACK3TU512345", "4t1daack3tu512345"])
    assert.deepEqual(decoderOf("getVin")("", { vin }).path, { vin });
});

test("each request has its own copy of the defaults", () => {
  const decode = decoderOf("searchListings");
  (decode("", {}).query.fields as string[]).push("features");
  assert.deepEqual(decode("", {}).query.fields, ["default"]);
});

const november = Date.UTC(2026, 10, 1);
const hour = 3_600_000;

/** Forms of ISO 8601 and of clients, by the hours after the beginning of November 2026 in UTC. */
const times: readonly (readonly [hours: number, forms: readonly string[]])[] = [
  [0, ["2026-11-01", "20261101", "2026-11", "2026-305", "2026305", "2026-11-01T00", "2026-10-31T24:00"]],
  [120, ["2026-W45-5", "2026W455", "2026-W45-5T00:00Z", "2026-310T00:00"]],
  [10.5, ["2026-11-01T10:30", "20261101T1030", "20261101T103000Z", "2026-11-01 10:30:00", "2026-11-01t10:30:00z"]],
  [10.5, ["2026-11-01T10:30:00.000Z", "2026-11-01T10:30:00,0", "2026-11-01T10:30:00.000000000"]],
  [8, ["2026-11-01T10:00+02", "2026-11-01T10:00+0200", "2026-11-01T10:00:00+02:00", "20261101T100000+0200"]],
  [8, ["2026-11-01T10:00 02", "2026-11-01T10:00 0200", "2026-11-01 10:00:00.0 02:00", "2026-11-01T00:00-08"]],
  [0, ["2026-10-31T23:59:60Z", "20261031T235960.5Z", "2026-10-31T15:59:60-08:00", "2026-11-01 05:29:60 05:30"]],
  [1 / 3600, ["2026-11-01T00:00:01Z"]],
  [0.5 / 3600, ["2026-11-01T00:00:00.5Z", "2026-11-01T00:00:00,500", "2026-11-01T00:00:00.4990001Z"]],
];

for (const [hours, forms] of times) {
  test(`a search reads ${forms.join(", ")} as the same time`, () => {
    for (const form of forms) {
      const { listed_after } = search(`listed_after=${encodeURIComponent(form)}`, {}).query;
      assert.equal(epochMs(listed_after ?? ""), november + hours * hour, form);
      const { listed_after: unescaped } = search(`listed_after=${form.replaceAll(" ", "%20")}`, {}).query;
      assert.equal(epochMs(unescaped ?? ""), november + hours * hour, `${form}, not encoded`);
    }
  });
}

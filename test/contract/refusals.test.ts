/** Refusals of invalid query strings and path parameters, with their messages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decoderOf } from "../../src/contract/decode.ts";
import { type ErrorCode, Refusal } from "../../src/contract/errors.ts";
import type { OperationId } from "../../src/contract/types.ts";

type Decode = (query: string, path: Readonly<Record<string, string>>) => unknown;

const decoders = new Map<OperationId, Decode>();

function decoder(id: OperationId): Decode {
  const known = decoders.get(id) ?? decoderOf(id);
  decoders.set(id, known);
  return known;
}

function refusal(id: OperationId, query: string, path: Readonly<Record<string, string>> = {}): Refusal {
  try {
    decoder(id)(query, path);
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
  assert.fail(`${id} takes ${query}`);
}

type Case = readonly [query: string, code: ErrorCode, message: string];

const invalid = (query: string, parameter: string, value: string, allowed: string): Case => [
  query,
  "invalid_parameter_value",
  `Invalid value ${value} for ${parameter}: expected ${allowed}`,
];
const unknown = (parameter: string, hint = ""): Case => [
  `${parameter}=1`,
  "unknown_query_parameter",
  `Unknown query parameter ${parameter}.${hint}`,
];
const repeated = (query: string, parameter: string, times = 2): Case => [
  query,
  "repeated_parameter",
  `Parameter ${parameter} appears ${times} times: expected once.`,
];

const page = "a whole number from 1 to 100.";
const offset = "a whole number from 0 to 2147483647.";
const dollars = "a number from 0 to 2147483647.";
const radius = "a number of miles above 0, at most 500; leave it out to search at any distance.";
const sorts =
  "one of days_on_market, -days_on_market, listed_at, -listed_at, price, -price, miles, -miles, msrp, -msrp, " +
  "discount, -discount, value, -value, price_drop, -price_drop, all_in_price, -all_in_price, distance.";
const powertrains = "one of BEV, FCEV, HEV, ICE, MHEV, PHEV.";
const texts = "a list of at most 100 items, each text of 1 to 200 characters, without empty items.";
const day = "a date, YYYY-MM-DD.";
const time = "an ISO 8601 date or time, such as 2026-11-01 or 2026-11-01T00:00:00Z.";
const mask = "a mask of at most 17 VIN characters (no I, O, Q) or ?, with * only at the end.";
const dealers = (count: number) =>
  Array.from({ length: count }, (_, index) => `0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c${String(1000 + index)}`).join(",");

const search: readonly Case[] = [
  // Empty
  invalid("make=", "make", `""`, texts),
  invalid("make", "make", `""`, texts),
  invalid("make=%20", "make", `" "`, texts),
  invalid("make=Ford,,Kia", "make", `"Ford,,Kia"`, texts),
  invalid("make=Ford,", "make", `"Ford,"`, texts),
  invalid("make=,", "make", `","`, texts),
  invalid("limit=", "limit", `""`, page),
  invalid("assembly_location=A||B", "assembly_location", `"A||B"`, texts),
  // Repeated
  repeated("limit=5&limit=5", "limit"),
  repeated("min_price=5&min%5Fprice=5&min_price=", "min_price", 3),
  // Unknown
  unknown("mak", " Did you mean make?"),
  unknown("colour", " Did you mean base_exterior_color?"),
  unknown("zip", " Did you mean postal_code?"),
  unknown("Zip-Code", " Did you mean postal_code?"),
  unknown("min_year", " Did you mean year? It takes a list of model years."),
  unknown("max_miles", " Did you mean max_mileage?"),
  unknown("inventory_types", " Did you mean inventory_type?"),
  unknown("Make", " Did you mean make?"),
  unknown("radius_id"),
  unknown("columns"),
  unknown("option_sort"),
  unknown("agnostic"),
  unknown("page", " Did you mean offset? It counts items."),
  unknown("per_page", " Did you mean limit?"),
  unknown("facets"),
  unknown("facet_value_limit"),
  unknown("metric"),
  ["nonsense=1&nonsense=2", "unknown_query_parameter", "Unknown query parameter nonsense."],
  ["make=%zz&limit=1&limit=2&mak=%zz", "unknown_query_parameter", "Unknown query parameter mak. Did you mean make?"],
  ["%zz=1", "unknown_query_parameter", "Unknown query parameter %zz."],
  unknown("__proto__"),
  unknown("constructor"),
  // Whole numbers
  ...["1.5", "--1", "0x10", "9999999999999999999", "1e99", "1e-1", ".", "1e", "ten", "1_0", "1,2", "NaN"]
    .concat(["Infinity", "٥", "5\u0000"])
    .map((value) => invalid(`limit=${encodeURIComponent(value)}`, "limit", JSON.stringify(value), page)),
  invalid("limit=1e3", "limit", "1000", page),
  invalid("limit=-1", "limit", "-1", page),
  invalid("limit=+1", "limit", `" 1"`, page),
  invalid("limit=%2B1", "limit", `"+1"`, page),
  invalid("limit=0", "limit", "0", page),
  invalid("limit=101", "limit", "101", page),
  invalid("offset=2147483648", "offset", "2147483648", offset),
  invalid("min_price=-0.5", "min_price", "-0.5", dollars),
  invalid("limit=12.5", "limit", `"12.5"`, page),
  invalid("make=Ford&make=", "make", `"Ford,"`, texts),
  invalid(
    "bbox=1,2,3,4&bbox=1,2,3,4",
    "bbox",
    "(8 items)",
    "four numbers, west,south,east,north: longitudes -180 to 180, latitudes -90 to 90.",
  ),
  invalid("max_price=$20000", "max_price", `"$20000"`, dollars),
  invalid("year=2025,next", "year", `"next"`, "a whole number from 1900 to 2100."),
  invalid("year=1899", "year", "1899", "a whole number from 1900 to 2100."),
  invalid("sold_within_days=0", "sold_within_days", "0", "a whole number from 1 to 36500."),
  // Closed vocabularies
  invalid("sort=prise", "sort", `"prise"`, `${sorts} Did you mean price?`),
  invalid("sort=price_asc", "sort", `"price_asc"`, `${sorts} Did you mean price?`),
  invalid("sort=Price:desc", "sort", `"Price:desc"`, `${sorts} Did you mean -price?`),
  invalid("sort=banana", "sort", `"banana"`, sorts),
  invalid("sort=-distance", "sort", `"-distance"`, `${sorts} Did you mean distance?`),
  invalid("inventory_status=missing", "inventory_status", `"missing"`, "one of active, sold."),
  invalid("inventory_type=cpo,demo", "inventory_type", `"demo"`, "one of new, used, certified, cpo."),
  invalid("availability_status=sold", "availability_status", `"sold"`, "one of stock, transit, build."),
  invalid("dealer_type=broker", "dealer_type", `"broker"`, "one of franchise, independent."),
  invalid("include=option", "include", `"option"`, "one of price_history, options. Did you mean options?"),
  invalid("keywords=theft", "keywords", `"theft"`, "one of one_owner, clean_title, branded, fleet."),
  // Forms
  invalid("dealer_id=7", "dealer_id", `"7"`, "a dealer UUID."),
  invalid(`dealer_id=urn:uuid:${dealers(1)}`, "dealer_id", `"urn:uuid:${dealers(1)}"`, "a dealer UUID."),
  invalid(`dealer_id=${dealers(51)}`, "dealer_id", "(51 items)", "a list of at most 50 items, each a dealer UUID."),
  invalid("vin_pattern=A,B,C,D,E,F,G,H,J,K,L", "vin_pattern", "(11 items)", `a list of at most 10 items, each ${mask}`),
  invalid("vin_pattern=1FT*W", "vin_pattern", `"1FT*W"`, mask),
  invalid("vin_pattern=1FTIOQ", "vin_pattern", `"1FTIOQ"`, `${mask} It contains I and O and Q.`),
  invalid("vin_pattern=**", "vin_pattern", `"**"`, mask),
  invalid("vin_pattern=??????????????????", "vin_pattern", `"??????????????????"`, mask),
  ...["CAL", "ZZ", "X", "California"].flatMap((state) =>
    ["state", "exclude_state"].map((parameter) =>
      invalid(
        `${parameter}=NV,${state}`,
        parameter,
        `"${state}"`,
        `the two-letter code of a state, such as CA.${/^CAL/i.test(state) ? " Did you mean CA?" : ""}`,
      ),
    ),
  ),
  invalid("powertrain_type=pev", "powertrain_type", `"pev"`, `${powertrains} Did you mean BEV?`),
  invalid("exclude_powertrain_type=V8", "exclude_powertrain_type", `"V8"`, powertrains),
  invalid("snapshot_date=2026-02-30", "snapshot_date", `"2026-02-30"`, day),
  invalid("snapshot_date=2026-2-3", "snapshot_date", `"2026-2-3"`, day),
  invalid("snapshot_date=yesterday", "snapshot_date", `"yesterday"`, day),
  ...[
    "2026-02-30",
    "2026-02-29T00:00Z",
    "2026-366",
    "2026-W54",
    "2026-13-01",
    "2026-11-01T25:00Z",
    "10:30",
    "yesterday",
  ]
    .concat(["2026-11-01T00:00+24:00", "2026-11-01T00:00+01:60", "2026-11-01T00:00[Europe/Paris]", "1793491200"])
    .map((value) => invalid(`listed_after=${encodeURIComponent(value)}`, "listed_after", JSON.stringify(value), time)),
  ...["9453", "94538-12", "945381234"].map((code) =>
    invalid(`postal_code=${code}`, "postal_code", `"${code}"`, "five digits, or a ZIP+4 code."),
  ),
  invalid("latitude=91", "latitude", "91", "a number from -90 to 90."),
  invalid("longitude=1e3", "longitude", "1000", "a number from -180 to 180."),
  invalid("longitude=1e999", "longitude", `"1e999"`, "a number from -180 to 180."),
  invalid("radius=0", "radius", "0", radius),
  invalid("radius=501", "radius", "501", radius),
  invalid(
    "bbox=1,2,3",
    "bbox",
    "(3 items)",
    "four numbers, west,south,east,north: longitudes -180 to 180, latitudes -90 to 90.",
  ),
  invalid(
    `trim=${"x".repeat(201)}`,
    "trim",
    `"${"x".repeat(98)}…"`,
    "text of 1 to 200 characters. It has 201 characters.",
  ),
  // Encoding
  invalid("make=%zz", "make", `"%zz"`, "percent-encoded UTF-8."),
  invalid("make=100%", "make", `"100%"`, "percent-encoded UTF-8."),
  invalid("make=%C3%28", "make", `"%C3%28"`, "percent-encoded UTF-8."),
];

for (const [query, code, message] of search) {
  test(`a search refuses ${query.slice(0, 60)}`, () => {
    const refused = refusal("searchListings", query);
    assert.equal(refused.message, message);
    assert.equal(refused.code, code);
  });
}

type OtherCase = readonly [OperationId, query: string, code: ErrorCode, message: RegExp];

const invalidIn = (id: OperationId, query: string, message: RegExp): OtherCase => [
  ...([id, query, "invalid_parameter_value", message] as const),
];
const unknownIn = (id: OperationId, query: string): OtherCase => [
  ...([id, query, "unknown_query_parameter"] as const),
  new RegExp(`^Unknown query parameter ${/(\w+)=\w+$/.exec(query)?.[1]}\\.`),
];

const others: readonly OtherCase[] = [
  [
    "getFacets",
    "",
    "missing_parameter",
    /^Missing parameter facets: expected a list of at most 100 items, each one of make, model, /,
  ],
  ["getFacets", "make=Kia", "missing_parameter", /^Missing parameter facets: /],
  ["getTrends", "", "missing_parameter", /^Missing parameter metric: .+ at most 5 items, each count, new_listings, /],
  invalidIn("getFacets", "facets=makes", /^Invalid value "makes" for facets: .* Did you mean make\?$/),
  invalidIn("getFacets", "facets=make&metric=price.max", /^Invalid value "price.max" for metric: /),
  invalidIn(
    "getFacets",
    "facets=make&facet_value_limit=101",
    /^Invalid value 101 for facet_value_limit: expected a whole number from 1 to 100\.$/,
  ),
  invalidIn(
    "getFacets",
    "facets=make&sort=price",
    /^Invalid value "price" for sort: expected one of -count, count, -metric, metric\.$/,
  ),
  ...["5000", "price", "price:", "price:0", "price:-5", "price:2.5", "price:05", "price:10000001", "year:5"]
    .concat(["mileage:5", "price:5000;miles:1"])
    .map((width) =>
      invalidIn(
        "getFacets",
        `facets=price&interval=${width}`,
        new RegExp(
          `^Invalid value "${width}" for interval: expected facet:width, such as price:5000, .+ 1 to 10000000`,
        ),
      ),
    ),
  invalidIn(
    "getFacets",
    `facets=price&interval=${Array.from({ length: 8 }, (_, index) => `price:${index + 1}`)}`,
    /^Invalid value \(8 items\) for interval: .+ 7\b/,
  ),
  ...["price", "price.p0", "price.p100", "price.p05", "year.median"].map((metric) =>
    invalidIn(
      "getTrends",
      `metric=${metric}`,
      new RegExp(
        `^Invalid value "${metric}" for metric: .+ measure\\.aggregate such as price\\.median, .+ p1 to p99\\.( Did you mean price\\.median\\?)?$`,
      ),
    ),
  ),
  invalidIn("getTrends", "metric=count&facet=make,model,state,year", /\(4 items\) for facet: .+ at most 3/),
  invalidIn(
    "searchDealers",
    `dealer_id=${dealers(101)}`,
    /^Invalid value \(101 items\) for dealer_id: expected a list of at most 100 items, /,
  ),
  invalidIn("getUsage", "metering_class=search", /^Invalid value "search" for metering_class: /),
  ...["limit", "offset", "fields", "include"].map((name) => unknownIn("getFacets", `facets=make&${name}=1`)),
  unknownIn("searchDealers", "sort=name"),
  unknownIn("searchDealerListings", "dealer_id=1"),
  unknownIn("getDealer", "limit=1"),
  unknownIn("getDocument", "pretty=1"),
];

for (const [id, query, code, message] of others) {
  test(`${id} refuses ${query === "" ? "an empty query" : query.slice(0, 60)}`, () => {
    const refused = refusal(id, query, { dealer_id: "x", listing_id: "x" });
    assert.match(refused.message, message);
    assert.equal(refused.code, code);
  });
}

const invalidVins: readonly (readonly [vin: string, reason: RegExp])[] = [
  ["4T1DAACK3TU51234O", /It contains O\.$/],
  ["4Q1DAACK3TU5I234O", /It contains Q and I and O\.$/],
  ["4T1DAACK3TU51234-", /It contains -\.$/],
  ["4T1DAACK3TU51234", /It has 16 characters\.$/],
  ["4T1DAACK3TU5123456", /It has 18 characters\.$/],
  ["%zz", /It has 3 characters\.$/],
];

for (const [vin, reason] of invalidVins) {
  test(`a look-up refuses the VIN ${vin} with the reason`, () => {
    const refused = refusal("getVin", "", { vin });
    assert.equal(refused.code, "invalid_parameter_value");
    assert.match(refused.message, /^Invalid value ".*" for vin: expected 17 letters and digits without I, O and Q\. /);
    assert.match(refused.message, reason);
  });
}

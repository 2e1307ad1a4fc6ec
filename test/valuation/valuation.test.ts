/** Values and comparables of a generated market, compared with oracles in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import type { AnswerOf } from "../../src/contract/types.ts";
import { integerLiteral } from "../../src/db/sql.ts";
import { supplyWindowStart } from "../../src/listing/aggregates.ts";
import { milesBetween } from "../../src/listing/geography.ts";
import { ratings } from "../../src/listing/schema.ts";
import { describedOfListing, subjectColumns } from "../../src/query/valuation/subject.ts";
import { nearness, ratingOf, rules } from "../../src/valuation/rules.ts";
import { extentOf } from "../support/extent.ts";
import { fetchListings } from "../support/http/paging.ts";
import { queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";
import { grouped, pricedVehicle, type Vehicle } from "./fit-oracle.ts";
import { oracleOf } from "./value-oracle.ts";
import { client, lake } from "./valued-market.ts";

const asOf = "2026-11-19";
const columns = `id, vin, make, model, trim, version, year, body_type, powertrain_type, state, price, msrp, miles, inventory_type, latitude, longitude,
  list_contains(keywords, 'branded') AS is_branded, options_packages, (SELECT sum(o.msrp)::INTEGER FROM (SELECT DISTINCT ON (make, code) * FROM options ORDER BY make, code, option_key DESC) AS o WHERE o.make = l.make AND list_contains(l.options_packages, o.code)) AS option_value`;
const market = await queryLake(
  lake,
  `SELECT ${columns}, NULL::VARCHAR AS sold_date FROM active AS l UNION ALL
   SELECT ${columns}, sold_date::VARCHAR FROM sold AS l WHERE sold_date > DATE '${asOf}' - ${rules.soldDays}`,
);
/** The newest listing of each car. */
const cars = [...grouped(market, ({ vin }) => String(vin)).values()].map((listings) => {
  const rank = ({ sold_date }: Row): string => (sold_date == null ? "9999" : String(sold_date));
  return listings.toSorted((one, other) => (rank(one) < rank(other) ? 1 : -1))[0] ?? {};
});
const priced = cars.filter(
  (row) =>
    Number(row.price) > 0 &&
    [row.miles, row.inventory_type, row.make, row.model, row.year].every((value) => value != null) &&
    (row.inventory_type !== "new" || Number(row.msrp) > 0),
);
const valuations = new Map((await queryLake(lake, "FROM valuations")).map((row) => [String(row.id), row]));
const active = await queryLake(lake, "FROM active ORDER BY id");

const oracle = oracleOf(priced.map(pricedVehicle));

const isNear = (found: unknown, wanted: number): boolean => Math.abs(Number(found) - wanted) <= 1 + wanted / 2000;

test("each listing has the value, interval and step that the oracle fits, or no value where it has none", () => {
  assert.ok(oracle.listed.size > 1500);
  assert.deepEqual(new Set(valuations.keys()), new Set(oracle.listed.keys()));
  for (const [id, { fitted, value, low, high, step, outOfRange }] of oracle.listed) {
    const row = valuations.get(id);
    const hasValue = step !== null && outOfRange === undefined;
    assert.equal(row?.value_step, hasValue ? step : null, `${id}: ${JSON.stringify({ step, outOfRange, row })}`);
    const found = [row?.market_value, row?.market_value_low, row?.market_value_high];
    for (const [index, wanted] of [value, low, high].entries()) {
      if (!hasValue) assert.equal(found[index], null, id);
      else assert.ok(isNear(found[index], wanted), `${id}: ${found} instead of ${[value, low, high]}`);
    }
    if (!Number.isNaN(fitted))
      assert.ok(isNear(row?.fitted_price, fitted), `${id}: ${row?.fitted_price} and ${fitted}`);
  }
});

test("a listing without enough listings of its model has a value by body type, model year and MSRP, or none", () => {
  const rows = [...valuations.values()];
  const steps = new Set(rows.map((row) => row.value_step));
  assert.deepEqual(steps, new Set(["trim", "model", "body_and_age", null]));
  for (const row of rows) assert.equal(row.value_step === null, row.market_value === null);
  const branded = market.filter((row) => row.is_branded === true);
  assert.ok(branded.length > 0 && branded.every(({ id }) => !valuations.has(String(id))));
});

/** Returns what a price is rated by the definition in the document. */
function ratingBy({ price, market_value, market_value_low, market_value_high }: Row): string | null {
  const [asked, value, low, high] = [price, market_value, market_value_low, market_value_high].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (asked < value / 2 || asked > value * 2) return null;
  if (asked < low) return "great";
  if (Math.log(asked) < Math.log(value) + Math.log(low / value) / 3) return "good";
  return asked <= high ? "fair" : "high";
}

test("ratings follow from prices and intervals, are counted, found and sorted", async () => {
  const valued = active.filter((row) => row.market_value !== null);
  for (const row of valued) {
    assert.equal(row.value_rating, ratingBy(row), String(row.id));
    if (row.value_rating === null) assert.equal(row.price_to_value, null, String(row.id));
    else assert.ok(Math.abs(Number(row.price_to_value) - (Number(row.price) / Number(row.market_value) - 1)) < 0.0001);
  }
  const { data } = await client.getBody("getFacets", "/v1/facets?facets=value_rating");
  for (const rating of ratings) {
    const count = active.filter((row) => row.value_rating === rating).length;
    assert.ok(count > 50, rating);
    assert.equal(data.facets.value_rating?.find(({ value }) => value === rating)?.count, count);
    const path = `/v1/listings?value_rating=${rating.toUpperCase()}&limit=1&fields=value_rating`;
    assert.equal((await client.getBody("searchListings", path)).pagination.total, count);
  }
});

const orders = [
  ["value", "great,good,fair,high"],
  ["-value", "high,fair,good,great"],
] as const;

for (const [sort, order] of orders)
  test(`sort=${sort} orders by rating, ${order}, then by the price relative to the value; listings without a rating come last`, async () => {
    const listings = await fetchListings(client, `sort=${sort}&fields=price,market_value,value_rating`, 100);
    assert.equal(listings.length, active.length);
    const keys = listings.map(({ value_rating: rating, price, market_value: value }) => ({
      group: rating == null ? 4 : order.split(",").indexOf(rating),
      ratio: rating == null ? 0 : (sort === "value" ? 1 : -1) * (Number(price) / Number(value)),
    }));
    assert.deepEqual(new Set(keys.map(({ group }) => group)), new Set([0, 1, 2, 3, 4]));
    assert.deepEqual(
      keys,
      keys.toSorted((one, other) => one.group - other.group || one.ratio - other.ratio),
    );
  });

test("prices at either end of the interval are within it: not great, and not high", async () => {
  const subject = active.find((row) => row.inventory_type === "used" && row.value_step === "trim") ?? assert.fail();
  const { year, make, model, trim, miles } = subject;
  const vehicle = { year, make, model, trim, miles, inventory_type: "used", limit: 1 };
  const valuationAt = async (price: number | undefined) => {
    const parameters = Object.entries({ ...vehicle, ...(price === undefined ? {} : { price }) });
    const query = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]));
    return (await client.getBody("findComparables", `/v1/comparables?${query}`)).data.valuation;
  };
  const { market_value: value, market_value_low, market_value_high } = await valuationAt(undefined);
  const low = Number(market_value_low);
  const high = Number(market_value_high);
  for (const [price, rating] of [
    [low - 1, "great"],
    [low, "good"],
    [high, "fair"],
    [high + 1, "high"],
  ] as const) {
    assert.equal((await valuationAt(price)).value_rating, rating, `${price} of ${low} to ${high}`);
    const ends = { value: integerLiteral(Number(value)), low: integerLiteral(low), high: integerLiteral(high) };
    const [row] = await queryLake(lake, `SELECT ${ratingOf(integerLiteral(price), ends).text} AS rating`);
    assert.equal(row?.rating, rating, `${price} of ${low} to ${high} in SQL`);
  }
});

type Comparables = AnswerOf<"findComparables">["data"];

interface Weighed {
  readonly id: string;
  readonly weight: number;
  readonly adjusted: number;
}

/** Returns the nearest listings by the documented distance, over all rows. */
function nearestByOracle(subject: Row, value: number): readonly Weighed[] {
  const point = (row: Row) => ({ latitude: Number(row.latitude), longitude: Number(row.longitude) });
  const weigh = (row: Row): Weighed => {
    const fit = valuations.get(String(row.id));
    const sameTrim = row.trim === subject.trim;
    const ofVersion = sameTrim && row.version === subject.version;
    const miles = Number(row.miles);
    const own = Number(subject.miles);
    const gone = row.sold_date == null ? 0 : (Date.parse(asOf) - Date.parse(String(row.sold_date))) / 86_400_000;
    const isLocated = row.latitude != null && subject.latitude != null;
    const exponent =
      -0.5 * ((Number(row.year) - Number(subject.year)) / nearness.yearScale) ** 2 -
      0.5 * ((miles - own) / (nearness.mileageScale + nearness.mileageShare * own)) ** 2 -
      gone / nearness.soldScale -
      Math.abs(Number(row.option_value ?? 0) - Number(subject.option_value ?? 0)) / nearness.optionScale -
      (isLocated ? milesBetween(point(subject), point(row)) / nearness.distanceScale : 0);
    const factor = ofVersion ? 1 : sameTrim ? nearness.trimWeight : nearness.modelWeight;
    return {
      id: String(row.id),
      weight: factor * Math.exp(exponent),
      adjusted: Math.round((value * Number(row.price)) / Number(fit?.fitted_price)),
    };
  };
  const isNew = (row: Row): boolean => row.inventory_type === "new";
  return priced
    .filter(
      (row) =>
        row.id !== subject.id &&
        row.make === subject.make &&
        row.model === subject.model &&
        isNew(row) === isNew(subject) &&
        Math.abs(Number(row.year) - Number(subject.year)) <= nearness.yearsMax &&
        Math.abs(Number(valuations.get(String(row.id))?.residual ?? Number.NaN)) < Math.log(rules.outlierRatio),
    )
    .map(weigh)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, nearness.comparablesMax);
}

function assertComparables(subject: Row, { valuation, summary, comparables }: Comparables, id: string): void {
  const expected = nearestByOracle(subject, Number(valuation.market_value));
  assert.equal(comparables.length, expected.length, id);
  const byId = new Map(expected.map((one) => [one.id, one]));
  for (const [index, { listing_id: of, weight, adjusted_price, adjustment, price }] of comparables.entries()) {
    // Weights have four digits: listings whose weights differ by less can change places.
    const at = expected[index] ?? assert.fail(id);
    const own = byId.get(of) ?? at;
    for (const { weight: exact } of [at, own]) assert.ok(Math.abs(weight - exact) <= 0.0002, `${id}: weight ${index}`);
    if (own.id === of) assert.ok(Math.abs(adjusted_price - own.adjusted) <= 2, `${id}: price ${index}`);
    assert.equal(adjustment, adjusted_price - price);
  }
  if (expected.length < rules.sampleMin) {
    assert.equal(summary, null);
    return;
  }
  const total = expected.reduce((sum, { weight }) => sum + weight, 0);
  const below = expected.filter(({ adjusted }) => adjusted < Number(subject.price));
  const share = (100 * below.reduce((sum, { weight }) => sum + weight, 0)) / total;
  assert.ok(Math.abs(Number(summary?.percentile) - share) < 3, `${id}: percentile ${summary?.percentile} and ${share}`);
  const effective = total ** 2 / expected.reduce((sum, { weight }) => sum + weight ** 2, 0);
  assert.ok(Math.abs(Number(summary?.effective_sample) - effective) <= 0.06, id);
  assert.equal(summary?.sample, expected.length);
}

test("comparables are the nearest listings by the documented distance, with their adjusted prices", async () => {
  const subjects = priced.filter(
    ({ id }, index) => index % extentOf(194, 97) === 0 && valuations.get(String(id))?.market_value != null,
  );
  assert.ok(subjects.length > extentOf(7, 15));
  for (const subject of subjects) {
    const path = `/v1/listings/${subject.id}/comparables?limit=60`;
    const { data } = await client.getBody("getListingComparables", path);
    if (subject.sold_date == null) {
      const { market_value, value_rating, value_step } = valuations.get(String(subject.id)) ?? {};
      const { valuation } = data;
      assert.deepEqual(
        [valuation.market_value, valuation.value_rating, valuation.step],
        [market_value, value_rating, value_step],
      );
    }
    assertComparables(subject, data, String(subject.id));
    const isOfGroup = (row: Row): boolean =>
      row.make === subject.make &&
      row.model === subject.model &&
      (row.inventory_type === "new") === (subject.inventory_type === "new") &&
      Math.abs(Number(row.year) - Number(subject.year)) <= nearness.yearsMax;
    const group = priced.filter((row) => isOfGroup(row) && valuations.has(String(row.id)));
    assert.equal(data.supply.active, group.filter((row) => row.sold_date == null && isUsual(row)).length, path);
    const others = group.filter((row) => row.id !== subject.id && isUsual(row));
    const isRecent = ({ sold_date: day }: Row): boolean => day != null && String(day) >= supplyWindowStart(asOf);
    assert.equal(data.supply.sold, others.filter(isRecent).length, "sales count by sold_date");
  }
});

const isUsual = (row: Row): boolean =>
  Math.abs(Number(valuations.get(String(row.id))?.residual)) < Math.log(rules.outlierRatio);

/** A described vehicle: what of a listing a request says. */
const descriptions = ["trim and version", "trim", "model", "trim, version and options", "trim and options"] as const;

function describedAs(row: Row, description: (typeof descriptions)[number]): readonly [path: string, vehicle: Vehicle] {
  const listed = pricedVehicle(row);
  const hasOptions = description.includes("options");
  const zip = zips.get(String(row.state));
  const trim = description === "model" ? "" : listed.trim;
  const version = description.includes("version") ? listed.version : "";
  const { make, model, year, miles, msrp } = listed;
  const codes = Array.isArray(row.options_packages) ? row.options_packages.join() : "";
  const parameters = {
    make,
    model,
    year,
    miles,
    trim,
    version,
    inventory_type: String(row.inventory_type),
    postal_code: zip,
    options: hasOptions ? codes : "",
    msrp: listed.isNew ? msrp : null,
  };
  const given = Object.entries(parameters).filter(([, value]) => value != null && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const options = listed.isNew ? 0 : hasOptions && codes !== "" ? listed.options : null;
  const state = zip === undefined ? "" : listed.state;
  return [`/v1/comparables?${query}`, { ...listed, trim, version, options, state, body: "" }];
}

for (const description of descriptions)
  test(`a vehicle that is described by ${description} has the value and interval of the oracle`, async () => {
    const rows = priced.filter(({ is_branded }, index) => is_branded !== true && index % extentOf(106, 53) === 0);
    const outcomes = new Set<string>();
    for (const row of rows) {
      const [path, vehicle] = describedAs(row, description);
      const { data } = await client.getBody("findComparables", path);
      const isDescribed = vehicle.options === null || vehicle.version === "";
      const { step, value, low, high, options, outOfRange } = oracle.valueOf(vehicle, isDescribed);
      const { valuation } = data;
      outcomes.add(valuation.null_reason ?? String(valuation.step));
      if (step === null || outOfRange !== undefined) {
        assert.equal(valuation.null_reason, step === null ? "insufficient_sample" : "out_of_range", path);
        assert.deepEqual(valuation.range, outOfRange ?? null, path);
        continue;
      }
      assert.equal(valuation.step, step, path);
      const found = [valuation.market_value, valuation.market_value_low, valuation.market_value_high];
      for (const [index, wanted] of [value, low, high].entries())
        assert.ok(isNear(found[index], wanted), `${path}: ${found} instead of ${[value, low, high]}`);
      const counted = vehicle.isNew ? undefined : vehicle.options === null ? "mean" : "vehicle";
      assert.equal(valuation.options?.of, counted, path);
      if (counted !== undefined) assert.ok(Math.abs(Number(valuation.options?.value) - options) <= 1, path);
    }
    assert.ok(outcomes.has("model") && (description === "model" || outcomes.has("trim")), [...outcomes].join());
  });

/** A ZIP code of each state that has dealers. */
const zips = new Map(active.map(({ state, postal_code }) => [String(state), String(postal_code)]));

test("values of several VINs are those of their latest listings", async () => {
  const some = active.slice(0, 99);
  const vins = [...some.map(({ vin }) => String(vin)), "1HGCM82633A004352"];
  const { data } = await client.getBody("valueVehicles", `/v1/valuations?vin=${vins.join().toLowerCase()}`);
  assert.deepEqual(
    data.map(({ vin }) => vin),
    vins,
  );
  for (const [index, { id, market_value }] of some.entries()) {
    assert.equal(data[index]?.subject?.listing_id, id);
    // A listing without a price has a value too, but no rating.
    if (market_value !== null) assert.equal(data[index]?.valuation.market_value, market_value);
  }
  const last = data.at(-1);
  assert.deepEqual([last?.subject, last?.valuation.null_reason], [null, "not_found"]);
});

test("what cannot be valued or compared is refused or has a reason", async () => {
  const refused: readonly (readonly [query: string, code: string, message: RegExp])[] = [
    ["", "missing_parameter", /^Missing parameter make: expected a make, together with model and year, or vin\.$/],
    ["make=ford&model=f-150&year=2022", "missing_parameter", /^Missing parameter miles: expected the odometer reading/],
    ["make=ford&model=f-150&year=2026&inventory_type=new", "missing_parameter", /^Missing parameter msrp: /],
    ["vin=1HGCM82633A004352&make=ford", "incompatible_parameters", /^vin and make cannot be combined/],
    ["make=ford&model=f-150&year=2022&miles=1&postal_code=00000", "unknown_postal_code", /"00000"/],
    ["vin=1HGCM82633A004352", "missing_parameter", /^Missing parameter miles: /],
  ];
  for (const [query, code, message] of refused) {
    const answer = await client.getError(`/v1/comparables?${query}`);
    assert.equal(answer.code, code, query);
    assert.match(answer.message, message);
  }
  for (const query of [
    "value_rating=great&snapshot_date=2026-11-18",
    "sort=-value&inventory_status=sold",
    "sort=value&sold_within_days=3",
  ])
    assert.equal((await client.getError(`/v1/listings?${query}`)).code, "incompatible_parameters", query);
  const unknown = await client.getBody("findComparables", "/v1/comparables?make=toyotta&model=camry&year=2022&miles=1");
  assert.equal(unknown.data.valuation.null_reason, "insufficient_sample");
  assert.deepEqual(
    unknown.meta.unmatched?.map(({ did_you_mean }) => did_you_mean),
    ["Toyota"],
  );
  const [{ vin } = { vin: "" }] = (await client.getBody("searchListings", "/v1/listings?limit=1&sort=price")).data;
  const ofVersion = `/v1/comparables?vin=${vin}&data_version=${unknown.meta.data_version}`;
  assert.equal((await client.getBody("findComparables", ofVersion)).data.subject.vin, vin);
  const branded = market.find((row) => row.is_branded === true && row.sold_date == null);
  const { data } = await client.getBody("getListingComparables", `/v1/listings/${branded?.id}/comparables`);
  assert.equal(data.valuation.null_reason, "branded_title");
});

test("a new listing without an MSRP is not valued", async () => {
  const version = await openVersion(fileScope, lake);
  const listed = market.find((row) => row.inventory_type === "new" && row.sold_date == null && Number(row.msrp) > 0);
  const [found] = await version.lookUp("id", String(listed?.id), subjectColumns);
  assert.ok(found !== undefined);
  const subjectWith = (msrp: number | null) =>
    describedOfListing({ ...found, row: { ...found.row, msrp } }, version.dimensions).subject;
  assert.deepEqual([subjectWith(30_000)?.msrp, subjectWith(null), subjectWith(0)], [30_000, undefined, undefined]);
});

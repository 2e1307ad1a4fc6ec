/** Values of vehicles as requests describe them: their options, their title, their VIN, and how far comparables may be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../src/contract/types.ts";
import { queryLake } from "../support/lakes/lakes.ts";
import { client, lake } from "./valued-market.ts";

type Found = AnswerOf<"findComparables">;

const compare = (query: Readonly<Record<string, unknown>>): Promise<Found> => {
  const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return client.getBody("findComparables", `/v1/comparables?${new URLSearchParams(given)}`);
};

/** Used listings with options whose model and miles are within what is valued. */
const rows = await queryLake(
  lake,
  `SELECT vin, make, model, year, miles, trim, version, state, postal_code, options_packages, keywords, market_value,
          (SELECT sum(o.msrp)::INTEGER FROM (SELECT DISTINCT ON (make, code) * FROM options ORDER BY make, code, option_key DESC) AS o WHERE o.make = l.make AND list_contains(l.options_packages, o.code)) AS worth
   FROM active AS l WHERE inventory_type = 'used' AND value_step = 'trim' AND len(options_packages) > 0 ORDER BY id`,
);
const [row = {}] = rows.filter(({ worth, version }) => Number(worth) > 500 && version !== null);
const { make, model, year, miles, trim, version, postal_code } = row;
const vehicle = { make, model, year, miles, trim, version };
const codes = Array.isArray(row.options_packages) ? row.options_packages.map(String) : [];

test("a value counts the given options, else the mean of the listings that it rests on, and says which", async () => {
  const usual = (await compare(vehicle)).data.valuation;
  assert.equal(usual.options?.of, "mean");
  assert.ok(Number(usual.options?.value) >= 0);
  const found = await compare({ ...vehicle, options: codes.join() });
  assert.ok(!("unmatched" in found.meta));
  const own = found.data.valuation;
  assert.deepEqual(own.options, { value: row.worth, of: "vehicle" });
  const difference = Number(own.options?.value) - Number(usual.options?.value);
  const rise = Number(own.market_value) - Number(usual.market_value);
  assert.ok(rise * difference >= 0, `${rise} for ${difference} of options`);
});

test("option codes that the data has never had count for nothing and are named", async () => {
  const { data, meta } = await compare({ ...vehicle, options: [...codes, "NO-SUCH-CODE"].join() });
  assert.deepEqual(data.valuation.options, { value: row.worth, of: "vehicle" });
  assert.deepEqual(
    meta.unmatched?.map(({ parameter, value }) => [parameter, value]),
    [["options", "NO-SUCH-CODE"]],
  );
});

test("a vehicle with a branded title has no value, however it is described", async () => {
  for (const query of [vehicle, { vin: row.vin, miles }]) {
    const { valuation } = (await compare({ ...query, title: "BRANDED" })).data;
    assert.deepEqual([valuation.market_value, valuation.null_reason], [null, "branded_title"]);
  }
  const [branded] = await queryLake(
    lake,
    "SELECT vin FROM active WHERE list_contains(keywords, 'branded') AND miles IS NOT NULL AND inventory_type = 'used' ORDER BY id LIMIT 1",
  );
  const ofListing = (await compare({ vin: branded?.vin, miles: 50_000 })).data.valuation;
  assert.equal(ofListing.null_reason, "branded_title");
  const clean = (await compare({ vin: branded?.vin, miles: 50_000, title: "clean" })).data.valuation;
  assert.notEqual(clean.null_reason, "branded_title");
});

test("a listed VIN with miles and a ZIP code is valued with its build and that state", async () => {
  const { data } = await compare({ vin: String(row.vin).toLowerCase(), miles, postal_code });
  const { subject, valuation } = data;
  assert.deepEqual(
    [subject.vin, subject.listing_id, subject.status, subject.make, subject.model, subject.trim, subject.version],
    [row.vin, null, null, make, model, trim, version],
  );
  assert.deepEqual([subject.miles, subject.state], [miles, row.state]);
  const same = (await compare({ ...vehicle, postal_code })).data.valuation;
  assert.deepEqual(valuation, same);
  const worn = (await compare({ vin: row.vin, miles: Number(miles) + 3000, postal_code })).data.valuation;
  assert.ok(Number(worn.market_value ?? 0) <= Number(valuation.market_value));
  const error = await client.getError(`/v1/comparables?vin=${row.vin}&year=2020`);
  assert.equal(error.code, "incompatible_parameters");
});

test("a listed VIN is not compared with its own listing, whose miles or price may be others by now", async () => {
  const query = { vin: row.vin, limit: 60 };
  const { data: listed } = await compare(query);
  const { data: described } = await compare({ ...query, miles, price: 12_345 });
  const ids = described.comparables.map(({ listing_id }) => listing_id);
  assert.ok(ids.length > 0 && !ids.includes(listed.subject.listing_id ?? ""));
  assert.deepEqual(described.supply, listed.supply);
});

test("supply counts a vehicle's own listing only among listings of the condition and the place that are asked for", async () => {
  const [listed] = await queryLake(
    lake,
    `SELECT vin, make, model, "year", trim, version FROM active
     WHERE inventory_type = 'new' AND value_step = 'trim' AND state = 'TX' AND version IS NOT NULL ORDER BY id LIMIT 1`,
  );
  const { vin, ...build } = listed ?? assert.fail();
  const states = [{ miles: 5000 }, { inventory_type: "new", msrp: 40_000 }];
  for (const place of [{}, { postal_code: "02108", radius: 50 }])
    for (const state of states) {
      const own = await compare({ vin, ...state, ...place });
      const described = await compare({ ...build, ...state, ...place });
      assert.deepEqual(own.data.supply, described.data.supply, JSON.stringify({ ...state, ...place }));
    }
});

test("a VIN that was never listed is valued as what it stands for, and needs miles", async () => {
  const vin = "1HGCM82633A004352";
  const missing = await client.getError(`/v1/comparables?vin=${vin}`);
  assert.match(missing.message, /^Missing parameter miles: /);
  const { subject, valuation } = (await compare({ vin, miles: 90_000, postal_code })).data;
  assert.deepEqual([subject.vin, subject.listing_id, subject.make, subject.year], [vin, null, "Honda", 2003]);
  const known = { make: subject.make, model: subject.model, year: 2003, miles: 90_000, postal_code };
  const same = await compare(subject.trim === null ? known : { ...known, trim: subject.trim });
  assert.deepEqual(valuation, same.data.valuation);
});

test("a new vehicle whose VIN was never listed is valued with its MSRP", async () => {
  const vin = "1HGCM82633A004352";
  const missing = await client.getError(`/v1/comparables?vin=${vin}&inventory_type=new`);
  assert.match(missing.message, /^Missing parameter msrp: /);
  const { subject } = (await compare({ vin, inventory_type: "new", msrp: 31_000 })).data;
  assert.deepEqual([subject.vin, subject.inventory_type, subject.msrp], [vin, "new", 31_000]);
});

test("comparables are within the radius, of a listing and of a described vehicle, which then needs a place", async () => {
  const [listing] = await queryLake(
    lake,
    "SELECT id FROM active WHERE value_step = 'trim' AND latitude IS NOT NULL ORDER BY id LIMIT 1",
  );
  const answers = [
    async (radius: string) =>
      (await client.getBody("getListingComparables", `/v1/listings/${listing?.id}/comparables?limit=60${radius}`)).data,
    async (radius: string) => {
      const query = new URLSearchParams(
        Object.entries({ ...vehicle, postal_code, limit: 60 }).map(([name, value]) => [name, String(value)]),
      );
      return (await client.getBody("findComparables", `/v1/comparables?${query}${radius}`)).data;
    },
  ];
  for (const answer of answers) {
    const every = await answer("");
    const near = await answer("&radius=500");
    assert.deepEqual(near.valuation, every.valuation);
    const distances = near.comparables.map(({ distance_miles }) => distance_miles);
    assert.ok(distances.every((distance) => distance !== null && distance <= 500));
    assert.ok(Number(near.supply.active) < Number(every.supply.active));
    const within = every.comparables.filter(({ distance_miles }) => (distance_miles ?? Number.NaN) <= 500);
    const ids = new Set(near.comparables.map(({ listing_id }) => listing_id));
    assert.ok(within.length > 0 && within.every(({ listing_id }) => ids.has(listing_id)));
  }
  const query = new URLSearchParams(Object.entries(vehicle).map(([name, value]) => [name, String(value)]));
  const error = await client.getError(`/v1/comparables?${query}&radius=100`);
  assert.equal(error.code, "missing_parameter");
  assert.match(error.message, /^Missing parameter postal_code: expected a ZIP code/);
});

test("each fit stores the accuracy of its values of listings and of described cars, as a whole and by step, age and price", async () => {
  const accuracy = await queryLake(lake, "FROM price_effects WHERE kind = 'accuracy' AND NOT is_new");
  for (const isDescribed of [false, true]) {
    const own = accuracy.filter(({ is_described }) => is_described === isDescribed);
    const [all] = own.filter((one) => one.step === null && one.band === null && one.price_band === null);
    assert.ok(Number(all?.inside) > 0.75 && Number(all?.inside) < 0.87, String(all?.inside));
    assert.ok(Number(all?.error) > 0 && Number(all?.error) < 0.15);
    for (const column of ["step", "band", "price_band"]) {
      const parts = own.filter((one) => one[column] !== null);
      const sum = parts.reduce((total, { listings }) => total + Number(listings), 0);
      assert.ok(parts.length > 1 && sum === all?.listings, column);
    }
  }
});

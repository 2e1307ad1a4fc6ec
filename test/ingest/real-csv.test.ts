/** A real CSV of auctioned cars, ingested with its mapping. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { projectPath } from "../../src/base/project-files.ts";
import type { DeliveryReport } from "../../src/ingest/delivery-report.ts";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { realCsvPath, skipWithoutRealCsv } from "../support/lakes/feeds.ts";
import { createLake, queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

type AuctionRow = Readonly<
  Record<
    "price" | "brand" | "model" | "year" | "title_status" | "mileage" | "vin" | "lot" | "state" | "country",
    string
  >
>;

const skip = skipWithoutRealCsv;
const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
const cars: readonly AuctionRow[] = skip ? [] : parse(readFileSync(realCsvPath, "utf8"), { columns: true, trim: true });
const { lake, reports } = skip
  ? { lake: "", reports: [] as readonly DeliveryReport[] }
  : await createLake(fileScope, realCsvPath, { mapping });

const carOf = (row: unknown): AuctionRow => {
  const car = cars[Number(row) - 1];
  assert.ok(car !== undefined, `row ${String(row)}`);
  return car;
};

const listingsWithRow = () =>
  queryLake(
    lake,
    `SELECT active.*, claims."row"::INTEGER AS "row" FROM active
     JOIN claims ON claims.vin = active.vin AND is_owner`,
  );

/** UUIDv5 as in RFC 9562: SHA-1 of namespace and name, with the version and variant bits set. */
function uuid5(namespace: string, text: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(text)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

test("2,499 auctioned cars yield 2,494 listings, 4 merged rows and 1 rejected", { skip }, () => {
  const [report] = reports;
  assert.deepEqual(
    [report?.day, report?.rows, report?.listed, report?.elsewhere, report?.merged, report?.rejected],
    ["2020-05-01", 2499, 2494, 0, 4, 1],
  );
  assert.equal(report?.active, 2494);
});

test("every row is exactly one of listing, merged or rejected", { skip }, async () => {
  const rows = await queryLake(
    lake,
    `SELECT file, "row"::INTEGER AS "row" FROM claims WHERE is_owner
     UNION ALL SELECT file, "row"::INTEGER FROM rejects WHERE outcome IN ('rejected', 'merged') AND feed = 'inventory' ORDER BY ALL`,
  );
  assert.deepEqual(
    rows,
    cars.map((_, index) => ({ file: "usa_cars.csv", row: index + 1 })),
  );
});

test("each listing has the values of its row", { skip }, async () => {
  for (const listing of await listingsWithRow()) {
    const car = carOf(listing.row);
    const price = Number(car.price);
    const miles = Number(car.mileage);
    const { vin, stock_number, year, inventory_type, keywords } = listing;
    assert.deepEqual(
      { vin, stock_number, year, price: listing.price, miles: listing.miles, inventory_type, keywords },
      {
        vin: car.vin.toUpperCase(),
        stock_number: car.lot,
        year: Number(car.year),
        price: price === 0 ? null : price,
        miles: miles > 1_000_000 ? null : miles,
        inventory_type: "used",
        keywords: [car.title_status === "salvage insurance" ? "branded" : "clean_title"],
      },
    );
  }
});

test("43 prices of zero and one mileage above a million become unknown and are recorded", { skip }, async () => {
  assert.equal(cars.filter((car) => Number(car.price) === 0).length, 43);
  const recorded = await queryLake(
    lake,
    `SELECT field, reason, count(*)::INTEGER AS n FROM rejects WHERE outcome = 'unknown' GROUP BY ALL ORDER BY ALL`,
  );
  assert.deepEqual(recorded, [
    { field: "miles", reason: "above 1000000", n: 1 },
    { field: "price", reason: "below 1", n: 43 },
  ]);
});

test("a VIN of 13 characters is rejected with its reason", { skip }, async () => {
  const short = cars.flatMap((car, index) => (car.vin.length === 17 ? [] : [{ car, row: index + 1 }]));
  assert.equal(short.length, 1);
  assert.deepEqual(
    await queryLake(
      lake,
      `SELECT file, "row"::INTEGER AS "row", value, reason FROM rejects WHERE outcome = 'rejected'`,
    ),
    short.map(({ car, row }) => ({ file: "usa_cars.csv", row, value: car.vin, reason: "not 17 characters" })),
  );
});

test("of two rows with the same VIN and state the later one is listed", { skip }, async () => {
  const merged = await queryLake(lake, `SELECT "row"::INTEGER AS "row", vin FROM rejects WHERE outcome = 'merged'`);
  const owners = new Map((await listingsWithRow()).map(({ vin, row }) => [vin, Number(row)]));
  assert.equal(merged.length, 4);
  for (const { row, vin } of merged) assert.ok(Number(owners.get(vin ?? "")) > Number(row), String(vin));
});

test("the auctions of a state are one dealer, whose id is a UUIDv5 of state and country", { skip }, async () => {
  const namespace = uuid5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "carquet");
  const places = [...new Set(cars.map(({ state, country }) => `${state}\u001f${country}`))];
  const dealers = await queryLake(lake, "SELECT dealer_id FROM dealers");
  assert.deepEqual(
    dealers.map(({ dealer_id }) => dealer_id).sort(),
    places.map((place) => uuid5(namespace, place)).sort(),
  );
});

test("dealers have two-letter states; Ontario is in Canada, all others in the United States", { skip }, async () => {
  const dealers = await queryLake(lake, "SELECT name, type, state, country, latitude FROM dealers");
  for (const { state, country, type, latitude } of dealers) {
    assert.match(String(state), /^[A-Z]{2}$/);
    assert.deepEqual([country, type, latitude], [state === "ON" ? "CA" : "US", "independent", null]);
  }
  assert.ok(dealers.some(({ name, state }) => name === "Auctions of ontario" && state === "ON"));
  assert.ok(dealers.some(({ name, state }) => name === "Auctions of new jersey" && state === "NJ"));
});

test("makes are spelled as their manufacturers spell them", { skip }, async () => {
  const spelled = new Map((await listingsWithRow()).map(({ row, make }) => [carOf(row).brand, make]));
  const expected = { ford: "Ford", bmw: "BMW", gmc: "GMC", "mercedes-benz": "Mercedes-Benz", land: "Land Rover" };
  for (const [brand, make] of Object.entries(expected)) assert.equal(spelled.get(brand), make);
});

test("body types in the place of a model are not a model, which the VIN says instead", { skip }, async () => {
  const noModels = new Set(["door", "mpv", "pickup", "suv", "sedan", "vehicl", "van", "wagon", "truck"]);
  const listings = await listingsWithRow();
  const without = listings.filter(({ row }) => noModels.has(carOf(row).model));
  assert.ok(without.length > 100);
  for (const { vin, model, filled_from_vin: filled, make } of without) {
    if (model !== null) assert.ok(Array.isArray(filled) && filled.includes("model") && make !== null, String(vin));
    assert.ok(!noModels.has(String(model).toLowerCase()), String(vin));
  }
  assert.ok(without.filter(({ model }) => model !== null).length > 0.95 * without.length);
  const cruiser = listings.find(({ row }) => carOf(row).model === "cruiser");
  assert.equal(typeof cruiser?.model, "string");
});

test("VINs are of the stated year and make, and fill nearly every body type, fuel and place of assembly", {
  skip,
}, async () => {
  const listings = await listingsWithRow();
  assert.deepEqual(await queryLake(lake, "SELECT vin FROM rejects WHERE reason = 'differs from the VIN'"), []);
  const shares = {
    body_type: 0.98,
    fuel_type: 0.98,
    assembly_location: 0.98,
    cylinders: 0.9,
    drivetrain: 0.6,
    doors: 0.7,
  };
  for (const [name, share] of Object.entries(shares)) {
    const filled = listings.filter((row) => Array.isArray(row.filled_from_vin) && row.filled_from_vin.includes(name));
    assert.ok(filled.length > share * listings.length, `${name}: ${filled.length}`);
    assert.ok(filled.every((row) => row[name] !== null));
  }
});

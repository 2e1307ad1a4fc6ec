/** Values that dealers spell differently. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { feed, unknownMarkers } from "../../src/ingest/feed/feed-schema.ts";
import { dealerIdOf, type FeedRow, vinOf as honda, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";

/** Returns the `n`-th VIN that says nothing of its vehicle. */
const vinOf = (n: number): string => honda(n).replace("CM", "ZZ");

const north = dealerIdOf(1);
const south = dealerIdOf(2);
const dealers = [
  { dealer_id: north, name: "North" },
  { dealer_id: south, name: "South" },
];

/** Attributes of an open vocabulary, each with a word that no reference list has. */
const words: FeedRow = {
  make: "Veritas",
  model: "Scorpion",
  trim: "Comète",
  body_type: "Barquette",
  engine: "2.0L Bmw 328",
  exterior_color: "Ravenglass",
  base_exterior_color: "Mauve",
  interior_color: "Oxblood",
  base_interior_color: "Puce",
};

const upperCased = Object.fromEntries(
  Object.entries(words).map(([field, word]) => [field, String(word).toUpperCase()]),
);

test("the first spelling of a value in the lake is kept, however later rows spell it", async (context) => {
  const folder = await temporaryFolder(context);
  await writeFeeds(folder, "2026-03-01", {
    dealers,
    inventory: [{ vin: vinOf(1), dealer_id: north, year: 2024, ...words }],
  });
  const others = [2, 3, 4].map((n) => ({ vin: vinOf(n), dealer_id: south, year: 2024, ...upperCased }));
  await writeFeeds(folder, "2026-03-02", { inventory: others });
  const lake = `${folder}/lake`;
  await ingestPath(lake, folder, { hasServingFiles: false });
  assert.deepEqual(await queryLake(lake, `SELECT DISTINCT ${Object.keys(words).join()} FROM active`), [words]);
  assert.equal((await queryLake(lake, "FROM active")).length, 4);
});

test("a spelling stays one after weeks in which no listing has it, in batches and in an ingest for each day", async (context) => {
  const folder = await temporaryFolder(context);
  const day = (n: number): string => `2026-03-${String(n).padStart(2, "0")}`;
  const option = { make: words.make ?? "", code: "Zq1", msrp: 500 };
  await writeFeeds(folder, day(1), {
    dealers: dealers.map((dealer) => ({ ...dealer, country: "Ruritania" })),
    inventory: [{ vin: vinOf(1), dealer_id: north, year: 2024, ...words }],
    options: [option],
  });
  // The only car is gone for weeks, and sold.
  for (const n of [2, 3, 24])
    await writeFeeds(folder, day(n), { inventory: [{ vin: vinOf(9), dealer_id: north, make: "Kia" }] });
  const others = [2, 3, 4].map((n) => ({ vin: vinOf(n), dealer_id: north, year: 2024, ...upperCased }));
  await writeFeeds(folder, day(25), {
    dealers: [{ dealer_id: north, name: "North", country: "RURITANIA" }],
    inventory: others.map((car) => ({ ...car, options_packages: "ZQ1" })),
  });
  const single = `${folder}/single`;
  for (const n of [1, 2, 3, 24, 25]) await ingestPath(single, `${folder}/${day(n)}`, { hasServingFiles: false });
  const batch = `${folder}/batch`;
  await ingestPath(batch, folder, { hasServingFiles: false });
  for (const lake of [single, batch]) {
    const cars = `active WHERE make <> 'Kia'`;
    assert.equal((await queryLake(lake, `FROM ${cars}`)).length, 3);
    assert.deepEqual(await queryLake(lake, `SELECT DISTINCT ${Object.keys(words).join()} FROM ${cars}`), [words]);
    assert.deepEqual(await queryLake(lake, "SELECT DISTINCT country FROM dealers"), [{ country: "Ruritania" }]);
    assert.deepEqual(await queryLake(lake, `SELECT DISTINCT options_packages AS codes FROM ${cars}`), [
      { codes: ["Zq1"] },
    ]);
  }
});

/** The text fields of a vehicle in which every marker is an unknown value. */
const unmarked = Object.entries(feed.inventory.properties)
  .filter(([, field]) => field.type === "string" && field["x-words-are-values"] === undefined)
  .filter(([, field]) => field.enum === undefined && field.format === undefined && field.pattern === undefined)
  .map(([field]) => field);

test("a marker of an unknown value is null, in any case and with blanks around it", async (context) => {
  const folder = await temporaryFolder(context);
  const cars = unknownMarkers.flatMap((marker) =>
    [marker, ` ${marker.toUpperCase()}\u00a0`].map((text) => ({
      ...Object.fromEntries(unmarked.map((field) => [field, text])),
      features: text,
      options_packages: `${text}|AB1`,
      stock_number: text,
    })),
  );
  const inventory = cars.map((car, n) => ({ vin: vinOf(n), dealer_id: north, ...car }));
  const lists = { vin: vinOf(900), dealer_id: north, features: "Heated Seats|N/A|—", city: "none" };
  const marked = { dealer_id: south, name: "None", city: "unknown", line1: "-", phone: "n/a", makes: "tbd|Ford" };
  await writeFeeds(folder, "2026-03-01", {
    dealers: [dealers[0] ?? {}, marked],
    inventory: [...inventory, lists, { vin: vinOf(901), dealer_id: south }],
  });
  const lake = `${folder}/lake`;
  const [report] = await ingestPath(lake, folder, { hasServingFiles: false });
  assert.equal(report?.unknown, 0);
  const isKnown = unmarked.map((field) => `"${field}" IS NOT NULL`).join(" OR ");
  const known = `FROM active WHERE vin < '${vinOf(900)}' AND (${isKnown} OR len(features) > 0)`;
  assert.deepEqual(await queryLake(lake, known), []);
  const found = await queryLake(lake, `SELECT features FROM active WHERE vin = '${vinOf(900)}'`);
  assert.deepEqual(found, [{ features: ["Heated Seats"] }]);
  const stock = await queryLake(
    lake,
    "SELECT DISTINCT upper(stock_number) AS word FROM active WHERE stock_number IS NOT NULL",
  );
  const words = unknownMarkers.filter((marker) => /\p{Letter}/u.test(marker)).map((marker) => marker.toUpperCase());
  assert.deepEqual(stock.map(({ word }) => word).sort(), words.sort());
  const [dealer] = await queryLake(
    lake,
    `SELECT name, city, line1, phone, makes FROM dealers WHERE dealer_id = '${south}'`,
  );
  assert.deepEqual(dealer, { name: "None", city: null, line1: null, phone: null, makes: ["Ford"] });
});

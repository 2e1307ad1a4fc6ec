/** Columns of feed files: they have the names of their fields, or aliases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { feed, feedTables } from "../../src/ingest/feed/feed-schema.ts";
import { csvOf, dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { foreignReader } from "../support/lakes/foreign-files.ts";
import { createLake, ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const day = "2026-11-18";
const dealers = csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "Almaden" }]);

const lines = (...rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `${row.join()}\n`).join("");

test("a column has the name of its field or an alias, in any case", async (t) => {
  const object = { Vin: vinOf(2), dealer_id: dealerIdOf(1), Mileage: 20, STOCK: "B2", features: ["sunroof"] };
  const folder = await temporaryFolder(t);
  await writeFeedFiles(folder, day, {
    "dealers.csv": dealers,
    "inventory.csv": lines(
      ["VIN", "Dealer_ID", "Odometer", "Stock #", "Features"],
      [vinOf(1), dealerIdOf(1), 10, "A1", "sunroof|tow_hitch"],
    ),
    "inventory.ndjson": `${JSON.stringify(object)}\n`,
  });
  const { lake, reports } = await createLake(t, folder, { hasServingFiles: false });
  assert.deepEqual(reports[0]?.remarks, []);
  assert.deepEqual(
    await queryLake(lake, "SELECT miles, stock_number, list_sort(features) AS features FROM active ORDER BY vin"),
    [
      { miles: 10, stock_number: "A1", features: ["sunroof", "tow_hitch"] },
      { miles: 20, stock_number: "B2", features: ["sunroof"] },
    ],
  );
});

/** Headers with two columns for one field, and how they are refused. */
const ambiguous: Readonly<Record<string, RegExp>> = {
  "vin,dealer_id,miles,Mileage":
    /^UserError: inventory\.csv, row 0 \(header\): columns "miles" and "Mileage" are both the field miles: expected one of them\.$/,
  "vin,dealer_id,stock,stock_no": /columns "stock" and "stock_no" are both the field stock_number/,
};

for (const [header, message] of Object.entries(ambiguous))
  test(`a file with two columns for one field is refused: ${header}`, async () => {
    const folder = await temporaryFolder(fileScope);
    await writeFeedFiles(folder, day, { "dealers.csv": dealers, "inventory.csv": `${header}\n` });
    await assert.rejects(ingestPath(`${folder}/lake`, `${folder}/${day}`), message);
  });

test("no alias is the name of a field, or stands for two", () => {
  for (const table of feedTables) {
    const fields = Object.entries(feed[table].properties);
    const names = fields.flatMap(([name, field]) => [name, ...(field["x-column-aliases"] ?? [])]);
    assert.equal(new Set(names).size, names.length, table);
    assert.deepEqual(
      names.filter((name) => name !== name.toLowerCase()),
      [],
    );
  }
});

test("an ingest names the fields whose columns a file lacks that its mapping does not require, once for all such files", async (scope) => {
  const read = await foreignReader(scope);
  const mapping = {
    version: 1,
    required: ["vin", "dealer"],
    fields: { vin: "VIN", price: ["Price", "Internet Price"], miles: "Miles", inventory_type: [{ constant: "used" }] },
    dealer: { key: ["Lot"], fields: { name: ["Lot"] } },
  };
  const cars = (price: string, miles: string, n: number): string =>
    lines(["VIN", "Lot", price, miles], [vinOf(n), "Almaden", 20000, 10]);
  const { remarks } = await read(
    {
      "one.csv": cars("Sale Price", "Miles", 1),
      "two.csv": cars("Cost", "miles", 2),
      "three.csv": cars("Sale Price", "Distance", 3),
      "whole.csv": cars("Internet Price", "Miles", 4),
    },
    mapping,
  );
  assert.deepEqual(remarks, [
    'one.csv and 1 more: no column of price: expected "Price", as the mapping names them.',
    'three.csv: no column of price, miles: expected "Price", "Miles", as the mapping names them.',
  ]);
});

test("columns with the names of JavaScript's own properties are unknown ones, in CSV and NDJSON", async (t) => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const car = `"vin":"${vinOf(2)}","dealer_id":"${dealerIdOf(1)}"`;
  const folder = await temporaryFolder(t);
  await writeFeedFiles(folder, day, {
    "dealers.csv": dealers,
    "inventory.csv": lines(["vin", "dealer_id", ...names], [vinOf(1), dealerIdOf(1), ...names]),
    "inventory.ndjson": `{${car},${names.map((name) => `"${name}":{"price":1}`).join()}}\n`,
  });
  const { lake, reports } = await createLake(t, folder, { hasServingFiles: false });
  const [remarks] = reports.map((report) => report.remarks.join("\n"));
  for (const name of names) assert.ok(remarks?.includes(name), `${name} in ${remarks}`);
  assert.deepEqual(await queryLake(lake, "SELECT count(*)::INTEGER AS n FROM active WHERE price IS NULL"), [{ n: 2 }]);
});

test("websites of dealers are addresses of the web; anything else is unknown, with its reason", async (t) => {
  const websites = {
    "https://www.Almaden.example/used?x=1": "almaden.example",
    "almaden.example": "almaden.example",
    "http://autohaus-müller.example:8080": "autohaus-müller.example",
    "javascript:alert(1)": null,
    "https://user:secret@almaden.example": null,
    "ftp://almaden.example": null,
    "call us": null,
    almaden: null,
  };
  const folder = await temporaryFolder(t);
  const rows = Object.keys(websites).map((website, n) => ({ dealer_id: dealerIdOf(n), name: `Dealer ${n}`, website }));
  await writeFeedFiles(folder, day, { "dealers.csv": csvOf("dealers", rows) });
  const { lake } = await createLake(t, folder, { hasServingFiles: false });
  const stored = await queryLake(lake, "SELECT website FROM dealers ORDER BY dealer_id");
  assert.deepEqual(
    stored.map(({ website }) => website),
    Object.values(websites),
  );
  const refused = await queryLake(lake, "SELECT DISTINCT field, reason FROM rejects");
  assert.deepEqual(refused, [{ field: "website", reason: "not a website" }]);
});

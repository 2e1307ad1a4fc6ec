/** Dealers: coordinates from the ZIP, and lists of dealers by the provider's key. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readDealerList } from "../../src/ingest/feed/dealer-list.ts";
import { dealerIdOf, vinOf, writeFeedFiles, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";

const day = "2026-03-01";

test("a dealer without coordinates has those of its ZIP, marked, and delivered ones stay", async (t) => {
  const folder = await temporaryFolder(t);
  const dealers = [
    { dealer_id: dealerIdOf(1), name: "By ZIP", postal_code: "93722-1234" },
    { dealer_id: dealerIdOf(2), name: "Delivered", postal_code: "93722", latitude: 40, longitude: -100 },
    { dealer_id: dealerIdOf(3), name: "Half", postal_code: "93722", latitude: 40 },
    { dealer_id: dealerIdOf(4), name: "Unknown ZIP", postal_code: "00000" },
    { dealer_id: dealerIdOf(5), name: "Abroad", postal_code: "93722", country: "DE" },
    { dealer_id: dealerIdOf(6), name: "Short ZIP", postal_code: "2134" },
    { dealer_id: dealerIdOf(7), name: "No ZIP" },
  ];
  await writeFeeds(folder, day, { dealers, inventory: [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }] });
  const lake = join(folder, "lake");
  await ingestPath(lake, folder, { hasServingFiles: false });
  const rows = await queryLake(
    lake,
    "SELECT name, postal_code, round(latitude, 1) AS latitude, round(longitude, 1) AS longitude, coordinates_source AS source FROM dealers ORDER BY dealer_id",
  );
  const fresno = { postal_code: "93722", latitude: 36.8, longitude: -119.9, source: "postal_code" };
  const none = { latitude: null, longitude: null, source: null };
  assert.deepEqual(rows, [
    { name: "By ZIP", ...fresno },
    { name: "Delivered", postal_code: "93722", latitude: 40, longitude: -100, source: "feed" },
    { name: "Half", ...fresno },
    { name: "Unknown ZIP", postal_code: "00000", ...none },
    { name: "Abroad", postal_code: "93722", ...none },
    { name: "Short ZIP", postal_code: "02134", latitude: 42.4, longitude: -71.1, source: "postal_code" },
    { name: "No ZIP", postal_code: null, ...none },
  ]);
});

test("states are read in their usual abbreviations, and others of the United States and Canada are noted", async (t) => {
  const folder = await temporaryFolder(t);
  const states = ["Calif.", "N.Y.", "n. carolina", "Ontario", "Californai", "US-TX"];
  const dealers = states.map((state, index) => ({ dealer_id: dealerIdOf(index), name: state, state }));
  const abroad = { dealer_id: dealerIdOf(9), name: "Abroad", state: "Bavaria", country: "DE" };
  const cars = [...dealers, abroad].map(({ dealer_id }, index) => ({ vin: vinOf(index), dealer_id }));
  await writeFeeds(folder, day, { dealers: [...dealers, abroad], inventory: cars });
  const lake = join(folder, "lake");
  await ingestPath(lake, folder, { hasServingFiles: false });
  const rows = await queryLake(lake, "SELECT state FROM dealers ORDER BY dealer_id");
  assert.deepEqual(
    rows.map(({ state }) => state),
    ["CA", "NY", "NC", "ON", "Californai", "US-TX", "Bavaria"],
  );
  const reason = "not a state of the United States, nor a province of Canada";
  const rejects = `SELECT outcome, "value", reason FROM rejects WHERE field = 'state' ORDER BY "row"`;
  assert.deepEqual(await queryLake(lake, rejects), [
    { outcome: "noted", value: "Californai", reason },
    { outcome: "noted", value: "US-TX", reason },
  ]);
});

const mapping = {
  version: 1,
  fields: { vin: "VIN" },
  dealer: { key: ["Dealer"], fields: { name: "Dealer", phone: "Phone" } },
};
const list = "Key,Name,City,State,ZIP\nN1,North Motors,Fresno,CA,93722\ns2,South Motors,,TX,\n";

test("the list of dealers in a source's folder names the dealers of its files, and keys that it lacks are named", async (t) => {
  const folder = await temporaryFolder(t);
  const source = join(folder, day, "vendor");
  const cars = `VIN,Dealer,Phone\n${["n1", "S2", "X3"].map((key, index) => `${vinOf(index)},${key},555-0100`).join("\n")}\n`;
  await mkdir(join(source, "n1"), { recursive: true });
  await writeFile(join(source, "mapping.json"), JSON.stringify(mapping));
  await writeFile(join(source, "dealers.csv"), list);
  await writeFile(join(source, "cars.csv"), cars);
  await writeFile(join(source, "n1", "more.csv"), `VIN,Dealer,Phone\n${vinOf(9)},N1,555-0100\n`);
  const lake = join(folder, "lake");
  const [report] = await ingestPath(lake, folder, { hasServingFiles: false });
  assert.deepEqual(report?.remarks, ['vendor/cars.csv, row 3: dealer key "x3": not in vendor/dealers.csv.']);
  const dealers = await queryLake(
    lake,
    "SELECT name, city, state, postal_code, phone, count(*)::INTEGER AS cars FROM (SELECT dealer_id FROM active) JOIN dealers USING (dealer_id) GROUP BY ALL ORDER BY name",
  );
  const phone = "555-0100";
  assert.deepEqual(dealers, [
    { name: "North Motors", city: "Fresno", state: "CA", postal_code: "93722", phone, cars: 2 },
    { name: "South Motors", city: null, state: "TX", postal_code: null, phone, cars: 1 },
    { name: "X3", city: null, state: null, postal_code: null, phone, cars: 1 },
  ]);
});

test("a list of dealers that cannot be read is refused by name", async (t) => {
  const folder = await temporaryFolder(t);
  for (const [text, says] of [
    ["name,city\nA,B\n", /dealers\.csv, row 0 \(header\): missing column "key": expected the key of each dealer\.$/],
    ["key,colour\nA,B\n", /dealers\.csv, row 0 \(header\): unknown column "colour": expected key, name, /],
    ["key,name\nA,B\na,C\n", /dealers\.csv, row 2: key "a" again: expected each key once\.$/],
    ["key,name\n,B\n", /dealers\.csv, row 1: no key: expected each key once\.$/],
    ['key,name\n"A,B\n', /dealers\.csv: .*: expected a CSV file with the column key\.$/],
    [
      "key,zip,postal_code\nA,B,C\n",
      /dealers\.csv, row 0 \(header\): column "postal_code" is postal_code again: expected it once\.$/,
    ],
    ["key,KEY\nA,B\n", /dealers\.csv, row 0 \(header\): column "KEY" is key again: expected it once\.$/],
    [
      Buffer.from("key,name\nA,B\nC,Peña\n", "latin1"),
      /dealers\.csv, row 2: invalid byte sequence: expected text in the encoding UTF-8\.$/,
    ],
  ] as const) {
    const path = await writeFeedFiles(folder, day, { "dealers.csv": text });
    await assert.rejects(readDealerList(join(path, "dealers.csv")), { message: says });
  }
});

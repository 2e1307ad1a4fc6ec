/** Mappings that turn a foreign CSV into feeds. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { vinOf } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";

interface ForeignFile {
  readonly mapping: object;
  readonly csv: string | Uint8Array;
}

const dealer = { key: ["seller"], fields: { name: "seller" } };
const fields = { vin: "vin" };

/** Reads a mapping file with a text, or with the rules of an object. */
async function mappingOf(t: TestContext, mapping: string | object) {
  const path = join(await temporaryFolder(t), "mapping.json");
  await writeFile(path, typeof mapping === "string" ? mapping : JSON.stringify({ version: 1, ...mapping }));
  return readMapping(path);
}

async function lakeOfForeign(t: TestContext, { mapping, csv }: ForeignFile): Promise<string> {
  const path = join(await temporaryFolder(t), "cars.csv");
  await writeFile(path, csv);
  const options = { day: "2026-03-01", mapping: await mappingOf(t, mapping), hasServingFiles: false };
  return (await createLake(t, path, options)).lake;
}

/** Ingests a foreign CSV and returns its listings by VIN. */
async function listingsOf(t: TestContext, foreign: ForeignFile): Promise<readonly Row[]> {
  return queryLake(await lakeOfForeign(t, foreign), "FROM active ORDER BY vin");
}

const csvOf = (...rows: readonly string[]): string => rows.map((row) => `${row}\n`).join("");

test("a constant fills a field in every row", async (t) => {
  const listings = await listingsOf(t, {
    mapping: { fields: { ...fields, inventory_type: [{ constant: "used" }], make: [{ constant: "Ford" }] }, dealer },
    csv: csvOf("vin,seller", `${vinOf(1)},North`, `${vinOf(2)},North`),
  });
  assert.deepEqual(
    listings.map(({ inventory_type, make }) => [inventory_type, make]),
    [
      ["used", "Ford"],
      ["used", "Ford"],
    ],
  );
});

test("a template joins columns, with spaces around their values removed", async (t) => {
  const [listing] = await listingsOf(t, {
    mapping: {
      fields: { ...fields, version: [{ template: "{line} {doors}-door" }], stock_number: [{ template: "S-{lot}" }] },
      dealer,
    },
    csv: csvOf("vin,seller,line,doors,lot", `${vinOf(1)},North, SE ,4,17`),
  });
  assert.deepEqual([listing?.version, listing?.stock_number], ["SE 4-door", "S-17"]);
});

test("a value map is case-insensitive, maps null to unknown, and keeps unmapped values", async (t) => {
  const listings = await listingsOf(t, {
    mapping: {
      fields: { ...fields, exterior_color: { from: "paint", values: { rot: "Red", KEINE: null } } },
      dealer,
    },
    csv: csvOf(
      "vin,seller,paint",
      ...["rot", " ROT ", "keine", "Teal"].map((paint, n) => `${vinOf(n)},North,${paint}`),
    ),
  });
  assert.deepEqual(
    listings.map(({ exterior_color }) => exterior_color),
    ["Red", "Red", null, "Teal"],
  );
});

test("a list may have its own separator", async (t) => {
  const [listing] = await listingsOf(t, {
    mapping: { fields: { ...fields, features: { from: "extras", list: { separator: ";" } } }, dealer },
    csv: csvOf("vin,seller,extras", `${vinOf(1)},North,sunroof; heated_seats;tow_package`),
  });
  assert.deepEqual(listing?.features, ["heated_seats", "sunroof", "tow_package"]);
});

test("rows that agree in the dealer's columns, ignoring case and spaces, belong to one dealer", async (t) => {
  const lake = await lakeOfForeign(t, {
    mapping: {
      fields,
      dealer: {
        key: ["seller", "state"],
        fields: { name: [{ template: "{seller} of {state}" }], state: "state" },
      },
    },
    csv: csvOf(
      "vin,seller,state",
      `${vinOf(1)},North,Texas`,
      `${vinOf(2)}, NORTH ,texas`,
      `${vinOf(3)},North,Ohio`,
      `${vinOf(4)},,`,
    ),
  });
  assert.deepEqual(await queryLake(lake, "SELECT vin, dealer_name, state FROM active ORDER BY vin"), [
    { vin: vinOf(1), dealer_name: "North of Texas", state: "TX" },
    { vin: vinOf(2), dealer_name: "North of Texas", state: "TX" },
    { vin: vinOf(3), dealer_name: "North of Ohio", state: "OH" },
  ]);
  assert.deepEqual(
    await queryLake(
      lake,
      `SELECT "row"::INTEGER AS "row", field, outcome, reason FROM rejects WHERE outcome <> 'noted'`,
    ),
    [{ row: 4, field: "dealer_id", outcome: "rejected", reason: "missing" }],
  );
});

test("a dealer is that of the first row that leaves the fewest of its fields unknown", async (t) => {
  const mapping = { fields, dealer: { key: ["id"], fields: { name: "seller", city: "town" } } };
  const csv = csvOf("vin,id,seller,town", `${vinOf(1)},7,,`, `${vinOf(2)},7,North,Boise`, `${vinOf(3)},7,South,Reno`);
  const lake = await lakeOfForeign(t, { mapping, csv });
  const dealers = await queryLake(lake, "SELECT name, city FROM dealers");
  assert.deepEqual(dealers, [{ name: "North", city: "Boise" }]);
  assert.equal((await queryLake(lake, "FROM active")).length, 3);
});

test("a file may use semicolons and latin-1", async (t) => {
  const lake = await lakeOfForeign(t, {
    mapping: {
      file: { delimiter: ";", encoding: "latin-1" },
      fields: { ...fields, trim: "Ausführung", price: "Preis" },
      dealer: { key: ["Händler"], fields: { name: "Händler" } },
    },
    csv: Buffer.from(csvOf("vin;Händler;Ausführung;Preis", `${vinOf(1)};Müller;Coupé;12500`), "latin1"),
  });
  assert.deepEqual(await queryLake(lake, "SELECT trim, price, dealer_name FROM active"), [
    { trim: "Coupé", price: 12_500, dealer_name: "Müller" },
  ]);
});

test("a file may use UTF-16", async (t) => {
  const lake = await lakeOfForeign(t, {
    mapping: { file: { encoding: "utf-16" }, fields: { ...fields, trim: "trim" }, dealer },
    csv: Buffer.from(`\ufeff${csvOf("vin,seller,trim", `${vinOf(1)},Müller,Coupé`)}`, "utf16le"),
  });
  assert.deepEqual(await queryLake(lake, "SELECT trim, dealer_name FROM active"), [
    { trim: "Coupé", dealer_name: "Müller" },
  ]);
});

/** Invalid mappings and their errors. */
const refused: Readonly<Record<string, readonly [mapping: string | object, message: RegExp]>> = {
  "an unknown inventory field": [
    { fields: { ...fields, colour: "colour" }, dealer },
    /unknown field "colour" of inventory: expected one of vin, dealer_id, /,
  ],
  "an unknown dealer field": [
    { fields, dealer: { ...dealer, fields: { ...dealer.fields, owner: "seller" } } },
    /unknown field "owner" of dealers: expected one of dealer_id, name, /,
  ],
  "a rule without a source": [{ fields: { vin: { values: {} } }, dealer }, /fields\.vin must have .*'from'/],
  "a rule for the derived dealer id": [
    { fields: { ...fields, dealer_id: "seller" }, dealer },
    /fields .*property name/,
  ],
  "a dealer without a name": [{ fields, dealer: { key: ["seller"], fields: {} } }, /dealer\.fields .*'name'/],
  "an unknown key": [{ fields, dealer, separator: ";" }, /must NOT have additional .*\(separator\)/],
  "an unknown encoding": [{ file: { encoding: "ebcdic" }, fields, dealer }, /file\.encoding /],
  "text that is not JSON": ["fields: vin", /mapping\.json: invalid JSON in mapping file: /],
  "a list": ["[]", /mapping\.json: must be object/],
};

for (const [what, [mapping, message]] of Object.entries(refused)) {
  test(`a mapping is refused: ${what}`, async (t) => {
    await assert.rejects(mappingOf(t, mapping), { name: "UserError", message });
  });
}

test("a mapping is refused: a missing file", async () => {
  await assert.rejects(readMapping("/nowhere/mapping.json"), { name: "UserError", message: /mapping file not found/ });
});

test("a mapping that reads a missing column is refused with the columns of the file", async (t) => {
  const csv = csvOf("vin,seller,preis", `${vinOf(1)},North,1`);
  const mappings = [
    { fields: { ...fields, price: "price" }, dealer },
    { fields: { ...fields, price: [{ template: "{price}00" }] }, dealer },
    { fields, dealer: { key: ["seller", "price"], fields: dealer.fields } },
  ];
  for (const mapping of mappings) {
    await assert.rejects(lakeOfForeign(t, { mapping, csv }), {
      name: "UserError",
      message: /^cars\.csv, row 0 \(header\): missing column "price": .*; found vin, seller, preis/,
    });
  }
});

test("words that every object has as properties are columns, values and unknown fields like others", async (t) => {
  const words = Object.getOwnPropertyNames(Object.prototype);
  for (const word of words) {
    await assert.rejects(
      mappingOf(t, `{"version": 1, "fields": {"vin": "vin", "${word}": "x"}, "dealer": ${JSON.stringify(dealer)}}`),
      { name: "UserError" },
      word,
    );
  }
  const values = `{${words.map((word, index) => `"${word}": "Color ${index}"`).join(", ")}}`;
  const sources = words.map((word) => `"${word}"`).join(", ");
  const mapping = `{"version": 1, "fields": {"vin": "vin", "exterior_color": {"from": "paint", "values": ${values}}, "make": [${sources}],
    "body_type": "body", "trim": "body"}, "dealer": ${JSON.stringify(dealer)}}`;
  const path = join(await temporaryFolder(t), "cars.csv");
  const rows = words.map((word, n) => `${vinOf(n)},North,${word},${word},${words.map(() => "Ford").join(",")}`);
  await writeFile(path, csvOf(`vin,seller,paint,body,${words.join(",")}`, ...rows));
  const { lake } = await createLake(t, path, {
    day: "2026-03-01",
    mapping: await mappingOf(t, mapping),
    hasServingFiles: false,
  });
  const listings = await queryLake(lake, "FROM active ORDER BY vin");
  assert.deepEqual(
    new Set(listings.map(({ exterior_color, make, trim }) => [exterior_color, make, trim].join())),
    new Set(words.map((word, index) => `Color ${index},Ford,${word}`)),
  );
});

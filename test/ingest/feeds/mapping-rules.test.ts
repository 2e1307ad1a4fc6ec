/** Rules of mappings: the texts that they derive from the rows of a foreign file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mappingOf } from "../../../src/ingest/mapping/mapping.ts";
import { foreignReader } from "../../support/lakes/foreign-files.ts";
import { fileScope } from "../../support/scope.ts";

const read = await foreignReader(fileScope);

const dealer = { key: ["seller"], fields: { name: "seller" } };

/** Reads a file of one or more columns beside `vin` and `seller` by a rule of a field; returns the field's texts. */
async function textsOf(field: string, rule: unknown, csv: string, more: object = {}): Promise<unknown> {
  const content = { version: 1, fields: { vin: "vin", [field]: rule }, dealer, ...more };
  const lines = csv
    .trim()
    .split("\n")
    .map((line, row) => `${row === 0 ? "vin,seller" : `V${row},North`},${line.trim()}`);
  const { inventory } = await read({ "cars.csv": `${lines.join("\n")}\n` }, content);
  return inventory.map((row) => row[field]);
}

interface RuleCase {
  readonly field: string;
  readonly rule: unknown;
  readonly csv: string;
  readonly texts: readonly unknown[];
  readonly more?: object;
}

const cars = `Internet Price,Retail
  20000,21000
  0.00,21000
  ,0`;

const rules: Readonly<Record<string, RuleCase>> = {
  "the first column that is not empty": {
    field: "trim",
    rule: ["A", "B"],
    csv: "A,B\nx,y\n,y\n   ,\n",
    texts: ["x", "y", null],
  },
  "zero as unknown": {
    field: "price",
    rule: {
      from: [
        { column: "internet_price", zeroIsUnknown: true },
        { column: "RETAIL", zeroIsUnknown: true },
      ],
    },
    csv: cars,
    texts: ["20000", "21000", null],
  },
  "zero with units, and numbers that only contain zeros": {
    field: "price",
    rule: { from: { column: "p", zeroIsUnknown: true } },
    csv: 'p\n"$0"\n"0.00 USD"\n100\n0.50\n"1,000"\n',
    texts: [null, null, "100", "0.50", "1,000"],
  },
  "names without case, spaces and punctuation": {
    field: "cylinders",
    rule: "Num Cylinders",
    csv: '"num_cylinders "\n6\n',
    texts: ["6"],
  },
  "a column that a file may lack": {
    field: "price",
    rule: "Ask",
    csv: "A\n1\n",
    texts: [null],
    more: { required: ["vin"] },
  },
  "two columns to one value": {
    field: "inventory_type",
    rule: [{ constant: "certified", when: { column: "CPO", in: ["yes", "TRUE"] } }, "N/U"],
    csv: "N/U,CPO\nU,Yes\nU,no\nN,\nU, true\n",
    texts: ["certified", "U", "N", "certified"],
  },
  "texts for no value": {
    field: "trim",
    rule: ["A", "B"],
    csv: "A,B\nNaN,SE\n{feature,nan\n",
    texts: ["SE", null],
    more: { unknown: ["nan", "{feature"] },
  },
  "a number with currency, separators and unit": {
    field: "miles",
    rule: { from: "m", number: {} },
    csv: 'm\n"52,777 miles"\n"10499 USD"\n"US$10,499.00"\n    1500.00\n1500 KM\n12 furlongs\nexempt\n',
    texts: ["52,777 miles", "10499 USD", "US$10,499.00", "1500.00", "1500 KM", "12 furlongs", "exempt"],
  },
  "a unit in another column, else a constant one": {
    field: "miles",
    rule: { from: "m", number: { unitColumn: "u", unit: "km" } },
    csv: "m,u\n1000,MI\n1000,km\n1000,\n1000 miles,km\n45k,km\n45 K,\n50,K\n",
    texts: ["1000 MI", "1000 km", "1000 km", "1000 miles", "45k km", "45 K km", "50 (K)"],
  },
  "a decimal comma": {
    field: "price",
    rule: { from: "p", number: { decimal: "," } },
    csv: 'p\n"12.345,50"\n"20000,125"\n"15.990 €"\n',
    texts: ["12,345.50", "20000.1250", "15,990 €"],
  },
  "a regular expression with a group, and without": {
    field: "doors",
    rule: [
      { column: "n", match: "[1-9]" },
      { column: "Body", match: "^([1-5])D" },
    ],
    csv: "n,Body\n,4D Sport Utility\n2 doors,4D Sedan\n,Sedan\n",
    texts: ["4", "2", null],
  },
  "formats of dates": {
    field: "observed_at",
    rule: { from: "d", dates: ["%m/%d/%Y", "%m/%d/%Y %I:%M:%S %p"] },
    csv: "d\n 4/10/2024\n4/27/2017 7:19:50 AM\n2026-03-01\nsoon\n",
    texts: ["2024-04-10T00:00:00Z", "2017-04-27T07:19:50Z", "2026-03-01", "soon"],
  },
  "HTML and doubled apostrophes": {
    field: "trim",
    rule: { from: "t", html: true },
    csv: "t\n\"<b>King</b>&nbsp;Ranch<br />&amp; Co\"\ndriver''s\n",
    texts: ["King Ranch & Co", "driver's"],
  },
  "lists with a separator at the end": {
    field: "features",
    rule: { from: "f", list: { separator: [";", "|"] } },
    csv: "f\nAir; Power Windows;\na|b\n\n",
    texts: [
      ["Air", " Power Windows", ""],
      ["a", "b"],
    ],
  },
  "URLs that contain their separator": {
    field: "photo_urls",
    rule: { from: "f", list: { separator: [",", "|"], before: "https?://" } },
    csv: 'f\n"https://a/1.jpg?size=1200,663,https://a/2.jpg, http://b|http://c"\n',
    texts: [["https://a/1.jpg?size=1200,663", "https://a/2.jpg", "http://b", "http://c"]],
  },
  "a part of each item": {
    field: "features",
    rule: { from: "f", list: { separator: "~", item: "[^@]*$" }, values: { "no smoker": null } },
    csv: "f\nSeats@Heated~Audio@CD~Other@No Smoker\n",
    texts: [["Heated", "CD", null]],
  },
  "numbered columns in the order of their numbers": {
    field: "photo_urls",
    rule: { from: "image[*].url", list: { all: true } },
    csv: "image[10].url,image[2].url,image[0].url,image.tag\nten,two,zero,x\n,b,a,x\n",
    texts: [
      ["zero", "two", "ten"],
      ["a", "b"],
    ],
  },
  "the name of the file": {
    field: "stock_number",
    rule: { from: { file: "name", match: "^(\\w+)\\." } },
    csv: "a\n1\n",
    texts: ["cars"],
  },
  "the rows that a filter keeps": {
    field: "trim",
    rule: "t",
    csv: "t,kind\na,Car\nb, BOAT \nc,\nd,Trailer\n",
    texts: ["a", "c"],
    more: {
      filter: [
        { column: "kind", notIn: ["boat"] },
        { column: "Kind", notMatches: "^Trail" },
        { column: "absent", notIn: ["x"] },
      ],
    },
  },
  "columns of one name": { field: "trim", rule: "Photo (2)", csv: "Photo,Photo,,row\na,b,c,d\n", texts: ["b"] },
  "columns without a name, and one named row": {
    field: "trim",
    rule: { from: { template: "{column 5}-{row}" } },
    csv: "Photo,Photo,,row\na,b,c,d\n",
    texts: ["c-d"],
  },
  "a template whose columns are empty": {
    field: "trim",
    rule: { from: { template: "{a} of {b}" } },
    csv: "a,b\nx,\n,\n",
    texts: ["x of ", null],
  },
};

for (const [what, { field, rule, csv, texts, more }] of Object.entries(rules))
  test(`a rule reads: ${what}`, async () => {
    assert.deepEqual(await textsOf(field, rule, csv, more), texts);
  });

test("a file without a header has columns by position", async () => {
  const { inventory } = await read(
    { "cars.txt": "V1|x|'it|North\nV2|y||North\n" },
    {
      version: 1,
      file: { header: false, columns: ["vin", "trim"], quote: "" },
      fields: { vin: "vin", trim: "trim", model: "column 3" },
      dealer: { key: ["column 4"], fields: { name: "column 4" } },
    },
  );
  assert.deepEqual(
    inventory.map(({ row, vin, trim, model }) => [row, vin, trim, model]),
    [
      [1, "V1", "x", "'it"],
      [2, "V2", "y", null],
    ],
  );
});

/** Invalid mappings and their errors, which name the rule. */
const refused: Readonly<Record<string, readonly [change: object, message: RegExp]>> = {
  "an invalid regular expression": [
    { fields: { vin: { from: [{ column: "vin", match: "(" }] } } },
    /^new\.json: fields\.vin\.from\[0\]\.match: invalid regular expression: /,
  ],
  "two origins of a source": [
    { fields: { vin: [{ column: "vin", constant: "x" }] } },
    /^new\.json: fields\.vin: invalid source 1: expected exactly one of column, template, constant, file\.$/,
  ],
  "a list for a field that is none": [
    { fields: { vin: { from: "vin", list: {} } } },
    /^new\.json: fields\.vin\.list: expected only in fields that are lists: photo_urls, features, options_packages, keywords\.$/,
  ],
  "a date format that does not exist": [
    { fields: { vin: { from: "vin", dates: ["%Q"] } } },
    /fields\.vin\.dates\.0 must match pattern/,
  ],
  "a condition of two tests": [
    { filter: [{ column: "vin", in: ["a"], matches: "b" }] },
    /filter\.0 must NOT have more than 2/,
  ],
  "an unknown conversion": [{ fields: { vin: { from: "vin", upper: true } } }, /fields\.vin .*\(upper\)/],
  "a filter of a column that the file lacks": [
    { filter: [{ column: "Status", in: ["active"] }] },
    /^cars\.csv, row 0 \(header\): missing column "Status": expected by the mapping of filter; found vin, seller\.$/,
  ],
  "two columns of which the file has none": [
    { fields: { vin: "vin", price: ["Ask", "Retail"] } },
    /^cars\.csv, row 0 \(header\): missing column "Ask" or "Retail": expected by the mapping of price; found/,
  ],
};

for (const [what, [change, message]] of Object.entries(refused))
  test(`refused: ${what}`, async () => {
    const content = { version: 1, fields: { vin: "vin" }, dealer, ...change };
    await assert.rejects(async () => read({ "cars.csv": "vin,seller\nV1,North\n" }, mappingOf(content, "new.json")), {
      name: "UserError",
      message,
    });
  });

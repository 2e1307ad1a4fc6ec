/** `carquet map`: what it proposes, prints, refuses and writes, and that its trial refuses what ingest refuses. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { fieldsByColumn } from "../../src/ingest/proposal/match-columns.ts";
import { carquetHere } from "../support/command-line.ts";
import { realCsvPath, skipWithoutRealCsv, vinOf } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);
const pathOf = (name: string): string => join(folder, name);

async function written(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(pathOf(name), content);
  return pathOf(name);
}

/** Runs the command in one thread, which needs less processor time for small files. */
const map = (...args: readonly string[]) => carquetHere(["map", "--threads", "1", ...args]);

/** Returns the cells of the line of a column in the printed table. */
const lineOf = (out: string, column: string): readonly string[] =>
  out
    .split("\n")
    .find((line) => line.startsWith(`${column}  `))
    ?.split(/ {2,}/) ?? [];

const header = "Seller,Vin Nr,Stk #,Yr,Brand,Selling Price,Odometer (km),Drive,Notes,Body";
const cars = [
  `North,${vinOf(1)},A1,2021,Ford,"$21,500",10000,4x4,clean,SUV`,
  `North,${vinOf(2)},A2,2020,Fjord,call,20000,2WD,,SUV`,
  `North,SHORT,A3,2020,Ford,0,30000,AWD,,Sedan`,
  `,${vinOf(4)},A4,1800,Honda,19000,x,AWD,,Sedan`,
  `South,${vinOf(5)},A5,2019,Honda,18000,90000,sideways,,Tricycle`,
];
const csv = (head: string, rows: readonly string[]): string => [head, ...rows, ""].join("\n");

const file = await written("cars.csv", csv(header, cars));
await written("cars.json", "{}");
const proposed = await map(file, "--output", pathOf("cars.json"), "--force");

test("each column is matched, suggested or unmapped, with values before and after", () => {
  const { out, err, code } = proposed;
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /cars\.csv: 10 columns; no preset has these\./);
  assert.deepEqual(
    ["Seller", "Vin Nr", "Stk #", "Yr", "Brand", "Selling Price", "Odometer (km)", "Drive", "Notes", "Body"].map(
      (column) => lineOf(out, column).slice(1, 3),
    ),
    [
      ["matched", "dealer, dealer.name"],
      ["suggested", "vin"],
      ["matched", "stock_number"],
      ["matched", "year"],
      ["matched", "make"],
      ["matched", "price"],
      ["matched", "miles"],
      ["matched", "drivetrain"],
      ["unmapped", "unknown name"],
      ["matched", "body_type"],
    ],
  );
  assert.equal(lineOf(out, "Selling Price").slice(3).join("  "), "name  100 %  $21,500 → 21500; 0");
  assert.match(lineOf(out, "Odometer (km)").at(-1) ?? "", /^10000 → 6214; 20000 → 12427$/);
  assert.match(lineOf(out, "Drive").at(-1) ?? "", /^4x4 → 4WD; /);
});

test("the trial reports the rows and values that ingest refuses with the written mapping", async () => {
  const mapping = await readMapping(pathOf("cars.json"));
  const [report] = await ingestPath(pathOf("lake"), file, { mapping, hasServingFiles: false, day: "2026-03-01" });
  const expected = (report?.reasons ?? []).map(
    ({ outcome, field, reason, count, first }) => `${outcome}: ${count} × ${field}: ${reason}; first: ${first}`,
  );
  const printed = proposed.out.split("\n");
  assert.deepEqual(
    printed.filter((line) => line.includes(" × ")),
    expected,
  );
  assert.ok(
    expected.some((line) => /^rejected: 1 × inventory\.dealer_id: missing; first: cars\.csv, row 4$/.test(line)),
    String(expected),
  );
  assert.equal(report?.rejected, 2);
  assert.ok(printed.includes("5 rows = 3 usable + 2 refused; dealers: 2"));
});

test("values outside the vocabularies are printed with their rows", () => {
  const [, table = ""] = proposed.out.split("Values outside the vocabularies (3 of 3):\n");
  assert.deepEqual(
    table
      .split("\n")
      .slice(2, 5)
      .map((line) => line.split(/ {2,}/)),
    [
      ["body_type", "Tricycle", "1"],
      ["drivetrain", "sideways", "1"],
      ["make", "Fjord", "1"],
    ],
  );
});

test("a mapping file is replaced only by --force", async () => {
  assert.match(proposed.out, /^Written to \S+cars\.json\.$/m);
  const { code, err } = await map(file, "--output", pathOf("cars.json"));
  assert.deepEqual([code, err], [1, `carquet: ${pathOf("cars.json")}: exists: expected another file, or --force.\n`]);
});

test("a check prints columns that are gone and not used, and fails if rows would be refused", async () => {
  const second = await written(
    "march.csv",
    csv(header.replace("Selling Price", "Ask").replace("Notes", "Vin Nr 2"), cars.slice(0, 4)),
  );
  const { out, err, code } = await map("--mapping", pathOf("cars.json"), "--check", second);
  assert.deepEqual([code, err], [1, `carquet: ${second}: 2 of 4 rows would be refused.\n`]);
  assert.match(out, /^gone: "Selling Price" of price, which has no other column$/m);
  assert.deepEqual(
    ["Ask", "Vin Nr 2", "Yr"].map((column) => lineOf(out, column).slice(1, 4)),
    [
      ["unmapped", "not in the mapping", "$21,500; 0"],
      ["unmapped", "not in the mapping", "clean"],
      ["matched", "year", "mapping"],
    ],
  );
  const without = await written("may.csv", csv(header.replace("Vin Nr", "Nr"), cars));
  const failed = await map("--mapping", pathOf("cars.json"), "--check", without);
  assert.equal(failed.code, 1);
  assert.match(
    failed.err,
    /^carquet: may\.csv, row 0 \(header\): missing column "Vin Nr": expected by the mapping of vin; /,
  );
});

test("the mapping of a recognized file starts from its preset, and adds the columns that it lacks; it passes a check", async () => {
  const columns =
    "Provider ID|VIN|Stock Number|Year|Make|Trim Level|Asking Price|Photo Url List|Package Code|Vehicle Detail Link|Cylinders";
  const path = await written(
    "stock.txt",
    csv(columns, [`77|${vinOf(7)}|B1|2022|Ford|XLT|20000|||https://dealer.example/1|V6`]),
  );
  const { out, code } = await map(path, "--output", pathOf("stock.json"), "--check", path);
  assert.equal(code, 0);
  assert.match(out, /recognized as provider-pipe, from which the mapping starts\./);
  assert.deepEqual(
    [lineOf(out, "Trim Level").slice(1, 4), lineOf(out, "Cylinders").slice(1)],
    [
      ["matched", "trim", "preset provider-pipe"],
      ["matched", "cylinders", "name", "100 %", "V6 → 6"],
    ],
  );
  const { name: _, fields, dealer, file: layout } = await readMapping(pathOf("stock.json"));
  assert.deepEqual(
    [fields.vdp_url?.from, dealer.namespace, layout?.delimiter],
    [[{ column: "Vehicle Detail Link" }], "provider", "|"],
  );
});

const invalid: Readonly<Record<string, readonly [content: string | Uint8Array, says: RegExp]>> = {
  "empty.csv": ["", /empty\.csv, row 0 \(header\): empty file: expected column names\.$/],
  "binary.csv": [
    Uint8Array.from({ length: 300 }, (_, index) => (index * 7) % 256),
    /binary\.csv: NUL byte at offset 0: expected text\.$/,
  ],
  "wide.csv": [
    `${"c,".repeat(1_000_000)}c\n`,
    /wide\.csv, row 0 \(header\): row too large: expected at most 262144 bytes/,
  ],
  "columns.csv": [
    `${Array.from({ length: 1001 }, (_, index) => `c${index}`).join()}\n`,
    /too many columns: expected at most 1000\.$/,
  ],
  "unknown.csv": [
    "a,b\n1,2\n",
    /unknown\.csv, row 0 \(header\): no column of VINs: expected one named VIN, .*; found 2 unknown names\.$/,
  ],
  "header.csv": ["VIN,Price\n", /header\.csv: no rows with values: expected at least one\.$/],
  "feed.csv": [
    `vin,dealer_id\n${vinOf(1)},00000000-0000-4000-8000-000000000001\n`,
    /feed\.csv: in the Carquet format: expected a file that needs a mapping\.$/,
  ],
  "cars.xlsx": ["PK", /cars\.xlsx: unknown file format: expected \.csv, /],
};

describe("a file that cannot be mapped is refused in one line", () => {
  for (const [name, [content, says]] of Object.entries(invalid))
    test(name, async () => {
      const { code, out, err } = await map(await written(name, content));
      assert.deepEqual([code, out, err.split("\n").length], [1, "", 2]);
      assert.match(err.trimEnd(), says);
    });

  test("other arguments", async () => {
    for (const [args, says] of [
      [[], /expected a file to map, or --mapping and --check\./],
      [[file, "--mapping", "a.json", "--check", "b.csv"], /expected a file to map, or --mapping and --check\./],
      [["--mapping", "a.json", "--check", file, "--output", "b.json"], /expected --output only with a file to map\./],
      [[pathOf("nowhere.csv")], /nowhere\.csv: no such file or folder\./],
      [[folder], /a folder of \d+ files: expected one file\./],
    ] as const) {
      const { code, err } = await map(...args);
      assert.equal(code, 1);
      assert.match(err, says);
    }
  });
});

/** Fields of a reviewed mapping of the real file that the proposal lacks or fills from other columns. */
test("the mapping of a real file needs three corrections", { skip: skipWithoutRealCsv }, async () => {
  const { code, out } = await map(realCsvPath, "--output", pathOf("real.json"));
  assert.equal(code, 0);
  assert.match(out, /^2499 rows = 2498 usable \+ 1 refused; dealers: 44$/m);
  const reviewed = await readMapping(projectPath("data/mappings/usa_cars.json"));
  const mapping = await readMapping(pathOf("real.json"));
  const columns = "price,brand,model,year,title_status,mileage,color,vin,lot,state,country,condition".split(",");
  const [expected, found] = [reviewed, mapping].map((one) => fieldsByColumn(one, columns));
  const differing = columns.filter((column) => String(expected?.get(column)) !== String(found?.get(column)));
  const constants = Object.keys(reviewed.fields).filter(
    (field) => reviewed.fields[field]?.from[0]?.constant !== undefined,
  );
  assert.deepEqual([...differing, ...constants], ["title_status", "inventory_type", "availability_status"]);
});

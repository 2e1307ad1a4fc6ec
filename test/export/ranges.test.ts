/** Exports of a range of days: those of its days one after the other, or intervals that hold on the same days. */
import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isObject, type Row } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { vocabulary } from "../../src/contract/document.ts";
import { type Column, tableColumns } from "../../src/contract/tables.ts";
import { countRows, partsOf } from "../../src/export/parts.ts";
import { writeExport } from "../../src/export/write-export.ts";
import { exportFormats, type TableFormat } from "../../src/formats/table-formats.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { carquetHere } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { responseReaders } from "../support/http/read-formats.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

/** In the short run the lake of the pages' test, which is cached. */
const extent = extentOf({ seed: 20261119, days: 7, cars: 150 }, { seed: 20261124, days: 11, cars: 400 });
const { lake } = await createRandomLake(fileScope, extent);
const folder = await temporaryFolder(fileScope);
const version = await openVersion(fileScope, lake, { hasServingFiles: false, writableFolders: [folder] });
const served = await openVersion(fileScope, lake);
const decode = decoderOf("exportListings");
const readers = await responseReaders(fileScope);

const days = [...(await readInventory(lake)).snapshots.keys()].sort();
const from = days[1] ?? "";
const to = days.at(-2) ?? "";
const range = `snapshot_date_from=${from}&snapshot_date_to=${to}`;
const inRange = days.filter((day) => day >= from && day <= to);

/** Reads an export that is written in small ranges of each part. */
async function rowsOf(query: string, format: TableFormat, columns: readonly Column[]): Promise<readonly Row[]> {
  const options = { format, folder: await mkdtemp(join(folder, "export-")), rangeRows: 40 };
  const decoded = decode(query, {}).query;
  const { path, rows } = await writeExport(decoded, version, options);
  for (const opened of [version, served]) assert.equal(await countRows(partsOf(decoded, opened)), rows, query);
  const table = await readers[format](await readFile(path), columns);
  assert.equal(table.rows.length, rows);
  return table.rows;
}

const dayColumn = (name: string): Column => ({ name, type: { kind: "date" }, isNullable: true });

/** The columns of the pages of a range's days. */
const pageFields = vocabulary("searchListings", "fields").filter(
  (field) => !["default", "features", "keywords", "options_packages"].includes(field),
);

const columnsOf = (names: readonly string[], first: readonly string[]): readonly Column[] => [
  ...first.map(dayColumn),
  ...tableColumns("searchListings").filter(({ name }) => names.includes(name)),
];

/** Returns the pages of a search on a day. */
async function pagesOn(day: string, query: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let offset = 0; ; offset += 100) {
    const path = `/v1/listings?${query}&snapshot_date=${day}&limit=100&offset=${offset}`;
    const page = await answerPath(served, path);
    assert.ok(isObject(page) && Array.isArray(page.data));
    rows.push(...page.data);
    if (page.data.length < 100) return rows;
  }
}

const searches = [
  `sort=-price&fields=${pageFields},features,options_packages&include=price_history,options`,
  `exclude_make=Ford&sort=days_on_market&fields=${pageFields}`,
  "max_days_on_market=9&postal_code=94538&sort=distance&fields=price,distance_miles",
  "make=nosuchmake&fields=price",
];

for (const [index, query] of searches.entries())
  test(`an export of a range has the listings of each day: ${query}`, async () => {
    const pages: Row[] = [];
    for (const day of inRange) for (const row of await pagesOn(day, query)) pages.push({ snapshot_date: day, ...row });
    assert.equal(pages.length === 0, query.startsWith("make=nosuchmake"));
    const names = Object.keys(pages[0] ?? { id: "", vin: "", price: "" });
    const formats = extentOf<readonly TableFormat[]>(
      [exportFormats[index % exportFormats.length] ?? "csv", "parquet"],
      exportFormats,
    );
    for (const format of formats) {
      const rows = await rowsOf(`${range}&${query}`, format, columnsOf(names, ["snapshot_date"]));
      assert.deepEqual(rows, pages, format);
    }
  });

/** Returns rows as sorted texts, without columns that follow from a single day. */
const textsOf = (rows: readonly Row[]): readonly string[] =>
  rows.map(({ days_on_market: _, ...row }) => JSON.stringify(row)).sort();

for (const query of [
  `sort=-price&fields=${pageFields},features`,
  `make=Ford,Honda&min_price=9000&sort=miles&fields=${pageFields}`,
  `fields=${pageFields}`,
  `sort=-days_on_market&fields=${pageFields}`,
])
  test(`the intervals of a range hold on the days on which its listings are active: ${query}`, async () => {
    const [listing] = await pagesOn(from, query);
    const names = Object.keys(listing ?? {});
    const intervals = await rowsOf(
      `${range}&as=intervals&${query}`,
      "ndjson",
      columnsOf(names, ["valid_from", "valid_to"]),
    );
    assert.ok(intervals.every(({ days_on_market }) => days_on_market === null));
    const expanded = intervals.flatMap(({ valid_from, valid_to, ...row }) =>
      inRange
        .filter((day) => day >= String(valid_from) && (valid_to === null || day < String(valid_to)))
        .map((snapshot_date) => ({ snapshot_date, ...row })),
    );
    const daily = await rowsOf(`${range}&as=days&${query}`, "ndjson", columnsOf(names, ["snapshot_date"]));
    assert.ok(intervals.length > 0 && intervals.length < daily.length);
    assert.deepEqual(textsOf(expanded), textsOf(daily));
  });

test("a range that cannot be exported is refused with the name of the missing or unsuitable parameter", async () => {
  const refused: readonly (readonly [query: string, message: RegExp, code?: number])[] = [
    [`snapshot_date_from=${from}`, /^Missing parameter snapshot_date_to: expected a date/],
    [`snapshot_date_to=${from}`, /^Missing parameter snapshot_date_from: expected a date/],
    ["as=days", /^Missing parameter snapshot_date_from: expected a date/],
    [`${range}&as=weeks`, /^Invalid value "weeks" for as: expected one of days, intervals/, 2],
    [
      `snapshot_date_from=${to}&snapshot_date_to=${from}`,
      new RegExp(`^Invalid value ${from} for snapshot_date_to: .*${to}`),
    ],
    [`snapshot_date_from=${from}&snapshot_date_to=2026-02-30`, /^Invalid value "2026-02-30" for snapshot_date_to/, 2],
    [`${range}&snapshot_date=${from}`, /^snapshot_date_from and snapshot_date cannot be combined/],
    [`${range}&sold_within_days=3`, /^snapshot_date_from and sold_within_days cannot be combined/],
    [`${range}&inventory_status=sold`, /^snapshot_date_from and inventory_status cannot be combined/],
    [`${range}&as=intervals&max_days_on_market=3`, /^as=intervals and max_days_on_market cannot be combined/],
    [`${range}&as=intervals&value_rating=great`, /^value_rating and as=intervals cannot be combined/],
    [`${range}&as=intervals&sort=-value`, /^sort=-value and as=intervals cannot be combined/],
    [
      "snapshot_date_from=1999-01-01&snapshot_date_to=1999-02-01",
      /^No snapshot for .*1999-01-01 to 1999-02-01: expected/,
    ],
    [
      "as=intervals&snapshot_date_from=1999-01-01&snapshot_date_to=1999-02-01",
      /^No snapshot for .*1999-01-01 to 1999-02-01: expected/,
    ],
  ];
  const output = join(folder, "refused.csv");
  for (const [query, message, expected = 1] of refused) {
    const { code, err } = await carquetHere(["export", "--lake", lake, ...query.split("&"), "--output", output]);
    assert.equal(code, expected, query);
    assert.match(err.replace("carquet: ", ""), message);
  }
});

/** Exports equal the pages of the same search, in every format; `carquet export`. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tableFromIPC } from "apache-arrow";
import { parse } from "csv-parse/sync";
import { isObject, type Json } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { type Column, type ColumnType, tableColumns } from "../../src/contract/tables.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { type ExportFormat, exportFormats } from "../../src/export/export-formats.ts";
import { writeExport } from "../../src/export/write-export.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { randomRequests } from "../oracle/random-requests/requests.ts";
import { carquet, spawnCarquet } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const seed = 20261119;
const formats = Object.keys(exportFormats) as readonly ExportFormat[];
const allFields = "fields=default,features,options_packages&include=price_history,options";

const { lake } = await createRandomLake(fileScope, { seed, days: 11, cars: 600 });
const folder = await temporaryFolder(fileScope);
const version = await openVersion(fileScope, lake, { hasServingFiles: false, writableFolders: [folder] });
const served = await openVersion(fileScope, lake);
const decode = decoderOf("exportListings");

/** Returns all listings of a search, page after page. */
async function pagesOf(query: string): Promise<readonly Readonly<Record<string, Json>>[]> {
  const rows: Readonly<Record<string, Json>>[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await answerPath(
      served,
      `/v1/listings?${[query, `limit=100&offset=${offset}`].filter(Boolean).join("&")}`,
    );
    assert.ok(isObject(page) && Array.isArray(page.data));
    rows.push(...page.data);
    if (page.data.length < 100) return rows;
  }
}

/** Writes an export in small ranges; returns its rows as JSON. */
async function exportOf(query: string, format: ExportFormat, rangeRows = 50): Promise<readonly unknown[]> {
  const path = join(folder, "export");
  const { rows, bytes } = await writeExport(
    decode([query, `format=${format}`].filter(Boolean).join("&"), {}).query,
    version,
    path,
    { rangeRows },
  );
  const file = await readFile(path);
  assert.equal(file.length, bytes);
  const read = await readers[format](path, file);
  assert.equal(read.length, rows);
  return read;
}

const readers: Readonly<Record<ExportFormat, (path: string, file: Buffer) => Promise<readonly unknown[]>>> = {
  parquet: async (path) => {
    const rows = await query(sql`FROM read_parquet(${literal(path)}, file_row_number = true) ORDER BY file_row_number`);
    return rows.map(({ file_row_number: _, ...row }) => withIsoTimes(row));
  },
  arrow: async (_path, file) => {
    const table = tableFromIPC(file);
    return table.toArray().map((row) => plainRow(row, tableColumns("searchListings")));
  },
  csv: async (_path, file) => {
    const [names = [], ...lines]: string[][] = parse(file);
    return lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]])));
  },
  ndjson: async (_path, file) =>
    file
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line)),
};

async function query(statement: ReturnType<typeof sql>): Promise<readonly Readonly<Record<string, Json>>[]> {
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    return await database.using((session) => session.rows(statement));
  } finally {
    database.close();
  }
}

/** DuckDB prints timestamps with a space and an offset. */
function withIsoTimes(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\+00$/, "$1T$2Z");
  if (Array.isArray(value)) return value.map(withIsoTimes);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withIsoTimes(inner)]))
    : value;
}

/** Returns an Arrow row as JSON. */
function plainRow(row: { readonly [name: string]: unknown }, columns: readonly Column[]): unknown {
  const names = new Set(Object.keys(row));
  return Object.fromEntries(
    columns.filter(({ name }) => names.has(name)).map(({ name, type }) => [name, plainValue(row[name], type)]),
  );
}

function plainValue(value: unknown, type: ColumnType): unknown {
  if (value === null) return null;
  if (type.kind === "list") return [...(value as Iterable<unknown>)].map((item) => plainValue(item, type.items));
  if (type.kind === "struct")
    return Object.fromEntries(
      type.columns.map(({ name, type: inner }) => [name, plainValue((value as Record<string, unknown>)[name], inner)]),
    );
  if (type.kind === "date") return new Date(Number(value)).toISOString().slice(0, 10);
  return type.kind === "timestamp" ? `${new Date(Number(value)).toISOString().slice(0, 19)}Z` : value;
}

/** Returns the text of a CSV cell. */
const cellOf = (value: unknown): string =>
  value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);

async function assertEqualsPages(query: string, format: ExportFormat): Promise<number> {
  const pages = await pagesOf(query);
  const expected =
    format === "csv"
      ? pages.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)])))
      : pages;
  assert.deepEqual(await exportOf(query, format), expected, `${query} as ${format}`);
  return pages.length;
}

for (const format of formats) {
  test(`an export as ${format} has the rows, columns and values of the pages in every mode`, async () => {
    const days = (await readInventory(lake)).snapshots.keys();
    const modes = ["", `snapshot_date=${[...days][4]}`, "inventory_status=sold", "sold_within_days=5"];
    for (const mode of modes) {
      const rows = await assertEqualsPages(
        [mode, allFields, "postal_code=94538&sort=distance"].filter(Boolean).join("&"),
        format,
      );
      assert.ok(rows > 0, mode);
    }
    assert.equal(await assertEqualsPages("make=nosuchmake", format), 0);
  });
}

test("exports of random searches equal their pages", async () => {
  const inventory = await readInventory(lake);
  let rows = 0;
  for (const { query } of randomRequests(inventory, { seed: extentOf(seed, seed + 1), count: extentOf(20, 600) })) {
    const pairs = [...query].filter(([name]) => !["limit", "offset", "page", "per_page"].includes(name));
    const search = pairs.map(([name, value]) => `${name}=${value}`).join("&");
    rows += await assertEqualsPages(search, formats[rows % formats.length] ?? "parquet");
  }
  assert.ok(rows > 100);
});

test("a Parquet export has the types of the document's table", async () => {
  await exportOf(allFields, "parquet");
  const rows = await query(
    sql`SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet(${literal(join(folder, "export"))}))`,
  );
  const types = Object.fromEntries(rows.map(({ column_name, column_type }) => [column_name, column_type]));
  assert.deepEqual(
    Object.keys(types),
    tableColumns("searchListings").map(({ name }) => name),
  );
  const { id, year, latitude, listed_at, sold_date, photo_urls, price_history } = types;
  assert.deepEqual([id, year, latitude], ["VARCHAR", "INTEGER", "DOUBLE"]);
  assert.deepEqual([listed_at, sold_date, photo_urls], ["TIMESTAMP WITH TIME ZONE", "DATE", "VARCHAR[]"]);
  assert.match(String(price_history), /^STRUCT\(.*date.* DATE, price INTEGER, changed_at TIMESTAMP WITH TIME ZONE/);
});

test("the same export has the same bytes", async () => {
  const bytesOf = async (format: ExportFormat): Promise<Buffer> => {
    await exportOf(allFields, format);
    return readFile(join(folder, "export"));
  };
  for (const format of formats) assert.deepEqual(await bytesOf(format), await bytesOf(format), format);
});

test("carquet export writes a file in the format of its extension, or to standard output", async () => {
  const output = join(folder, "fords.csv");
  const search = ["make=Ford", "sort=-price&fields=id,price"];
  const written = await carquet(["export", "--lake", lake, ...search, "--output", output, "--json"]);
  assert.equal(written.code, 0, written.err);
  const expected = await pagesOf("make=Ford&sort=-price&fields=id,price");
  const lines = expected.map(({ id, vin, price }) => `${id},${vin},${price ?? ""}\n`);
  const text = ["id,vin,price\n", ...lines].join("");
  assert.equal(await readFile(output, "utf8"), text);
  assert.deepEqual(JSON.parse(written.out), { rows: expected.length, bytes: text.length });
  const printed = await carquet(["export", "--lake", lake, ...search, "--output", "-", "--format", "csv"]);
  assert.equal(printed.out, text);
});

test("carquet export refuses parameters with the messages of the API, and writes nothing", async () => {
  const refused: readonly (readonly [args: readonly string[], message: string])[] = [
    [["mak=Ford"], "Unknown query parameter mak. Did you mean make?"],
    [["make=Ford", "limit=5"], "Unknown query parameter limit."],
    [["min_price=5&max_price=1"], "min_price and max_price cannot be combined: the minimum 5 is above the maximum 1."],
    [["snapshot_date=1999-01-01"], "No snapshot for snapshot_date 1999-01-01: expected a day"],
  ];
  const empty = await temporaryFolder(fileScope);
  for (const [args, message] of refused) {
    const { code, err, out } = await carquet(["export", "--lake", lake, ...args, "--output", join(empty, "x.parquet")]);
    assert.equal(code, 1);
    assert.equal(out, "");
    assert.ok(err.startsWith(`carquet: ${message}`), err);
  }
  const missing = await carquet(["export", "--lake", lake, "--output", join(empty, "none", "x.csv")]);
  assert.match(missing.err, /^carquet: Cannot write .*x\.csv: ENOENT/);
  assert.deepEqual(await readdir(empty), []);
});

test("a killed carquet export leaves nothing under the final name", async () => {
  const target = await temporaryFolder(fileScope);
  const child = spawnCarquet(["export", "--lake", lake, "--output", join(target, "x.parquet")], {});
  const ended = new Promise((resolve) => child.once("exit", resolve));
  while (child.exitCode === null && !(await readdir(target)).some((name) => name.includes(".part"))) await sleep(1);
  child.kill("SIGKILL");
  await ended;
  const names = await readdir(target);
  if (child.exitCode === null) assert.ok(!names.includes("x.parquet"), names.join());
});

test("memory does not grow with the rows", { skip: skipInShortRun }, async () => {
  const peakOf = async (listings: number): Promise<number> => {
    const { lake: large } = await createLake(
      fileScope,
      await generateFeeds(fileScope, { listings, days: 1, format: "parquet" }),
    );
    const output = join(await temporaryFolder(fileScope), "all.parquet");
    const child = spawnCarquet(
      ["export", "--lake", large, "--output", output, "--memory", "512MiB", "--threads", "1"],
      {},
    );
    let peak = 0;
    while (child.exitCode === null) {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
      await sleep(20);
    }
    assert.equal(child.exitCode, 0);
    return peak;
  };
  const [small, large] = [await peakOf(300_000), await peakOf(900_000)];
  assert.ok(large < 1024, `${large} MiB`);
  assert.ok(large < 1.25 * small, `${small} MiB, then ${large} MiB`);
});

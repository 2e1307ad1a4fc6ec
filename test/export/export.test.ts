/** Exports equal the pages of the same search, in every format; `carquet export`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isObject, type Row } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { tableColumns } from "../../src/contract/tables.ts";
import { exportColumns } from "../../src/export/columns.ts";
import { writeExport } from "../../src/export/write-export.ts";
import { exportFormats, type FormatName, type TableFormat } from "../../src/formats/table-formats.ts";
import { extensionNames } from "../../src/listing/schema.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { randomRequests } from "../oracle/random-requests/requests.ts";
import { carquet, carquetHere, spawnCarquet } from "../support/command-line.ts";
import { extentOf, sampled, skipInShortRun, skipUnlessFull } from "../support/extent.ts";
import { arrowTypeOf, parquetTypeOf, type ReadTable, responseReaders } from "../support/http/read-formats.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const seed = 20261119;
const allFields = `fields=default,features,options_packages,${extensionNames}&include=price_history,options`;
const allColumns = `fields=default,features,options_packages,pricing,${extensionNames}&include=price_history,options`;

const { lake } = await createRandomLake(fileScope, { seed, days: extentOf(7, 11), cars: extentOf(150, 600) });
const folder = await temporaryFolder(fileScope);
const version = await openVersion(fileScope, lake, { hasServingFiles: false, writableFolders: [folder] });
const served = await openVersion(fileScope, lake);
const decode = decoderOf("exportListings");
const readers = await responseReaders(fileScope);

/** Returns all listings of a search, page after page. */
async function pagesOf(query: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let offset = 0; ; offset += 100) {
    const search = [query, `limit=100&offset=${offset}`].filter(Boolean).join("&");
    const page = await answerPath(served, `/v1/listings?${search}`);
    assert.ok(isObject(page) && Array.isArray(page.data));
    rows.push(...page.data);
    if (page.data.length < 100) return rows;
  }
}

/** Writes an export in small ranges; returns its bytes and their number. */
async function exportOf(query: string, format: FormatName, rangeRows = 60): Promise<Buffer> {
  const options = { format, folder: await mkdtemp(join(folder, "export-")), rangeRows };
  const { path, bytes } = await writeExport(decode(query, {}).query, version, options);
  const file = await readFile(path);
  assert.equal(file.length, bytes);
  assert.deepEqual(await readdir(options.folder), ["export"]);
  return file;
}

const readExport = async (query: string, format: TableFormat, names: readonly string[]): Promise<ReadTable> => {
  const columns = exportColumns.filter(({ name }) => names.includes(name));
  return readers[format](await exportOf(query, format), columns);
};

async function assertEqualsPages(query: string, formats: readonly TableFormat[]): Promise<number> {
  const pages = await pagesOf(query);
  const [listing] = pages.length > 0 ? pages : await pagesOf(query.replaceAll(/(?<=^|&)(?!fields|include)[^&]*/g, ""));
  const names = Object.keys(listing ?? {});
  const { fields } = decode(query, {}).query;
  const added = addedNames.filter((name) => name !== "pricing" && fields.includes("default"));
  for (const format of formats) {
    const { rows } = await readExport(query, format, [...names, ...added]);
    assert.deepEqual(
      rows.map((row) => pick(row, names)),
      pages,
      `${query} as ${format}`,
    );
  }
  return pages.length;
}

/** The columns that exports have by default and pages have not. */
const addedNames = ["keywords", ...tableColumns("exportListings").map(({ name }) => name)];

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

test("columns that pages do not have equal those of listings and of the analysts' views, in every format", async () => {
  const columns = ["model_code", "assembly_country", "keywords", "days_seen", "missing_since", "sold_on_record"];
  const viewOf = (name: string): string =>
    `SELECT id, ${columns.map((column) => (/_(since|record)$/.test(column) ? `${column}::VARCHAR AS ${column}` : column))} FROM ${name}`;
  const printed = await carquet([
    "sql",
    "--lake",
    lake,
    "--format",
    "ndjson",
    `${viewOf("active")} UNION ALL ${viewOf("sold")}`,
  ]);
  assert.equal(printed.code, 0, printed.err);
  const viewed = new Map(
    printed.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map((row) => [row.id, row]),
  );
  for (const mode of ["", "inventory_status=sold&"]) {
    const tables = await Promise.all(
      exportFormats.map(async (format) => (await readExport(`${mode}${allColumns}`, format, exportNames)).rows),
    );
    const [rows = [], ...others] = tables;
    assert.ok(rows.length > 10);
    for (const other of others) assert.deepEqual(other, rows);
    for (const row of sampled(rows, 5)) {
      assert.deepEqual({ id: row.id ?? null, ...pick(row, columns) }, viewed.get(row.id));
      const answer = await answerPath(served, `/v1/listings/${row.id}`);
      assert.ok(
        isObject(answer) && isObject(answer.data) && isObject(answer.data.vehicle) && isObject(answer.data.dealer),
      );
      const { build } = answer.data.vehicle;
      assert.ok(isObject(build));
      const { dealer, last_checked_at: checked } = answer.data;
      const last_checked_at = `${String(checked)
        .replace(" ", "T")
        .replace(/\.?0*$/, "")}Z`;
      const detailed = { ...build, ...answer.data, dealer_phone: dealer.phone, last_checked_at };
      for (const name of addedNames.filter((one) => !columns.includes(one)))
        assert.deepEqual(row[name], detailed[name as keyof typeof detailed], `${row.id} ${name}`);
    }
    assert.ok(rows.some(({ keywords }) => String(keywords) !== ""));
  }
});

const exportNames = exportColumns.map(({ name }) => name);

test("a JSON export is an array of the rows of NDJSON", async () => {
  for (const query of [`${allFields}&sort=-price`, "make=nosuchmake"]) {
    const lines = String(await exportOf(query, "ndjson"))
      .split("\n")
      .slice(0, -1);
    assert.deepEqual(
      JSON.parse(String(await exportOf(query, "json"))),
      lines.map((line) => JSON.parse(line)),
    );
  }
});

test("an export has the rows, columns and values of the pages in every mode and format", async () => {
  const days = (await readInventory(lake)).snapshots.keys();
  const modes = ["", `snapshot_date=${[...days][4]}`, "inventory_status=sold", "sold_within_days=5"];
  for (const [index, mode] of modes.entries()) {
    const query = [mode, allFields, "postal_code=94538&sort=distance"].filter(Boolean).join("&");
    const formats = exportFormats.slice(extentOf(index, 0));
    assert.ok((await assertEqualsPages(query, formats.slice(0, extentOf(2, formats.length)))) > 0, mode);
  }
  assert.equal(await assertEqualsPages("make=nosuchmake", exportFormats), 0);
  assert.ok(
    (await assertEqualsPages("include=options,price_history&fields=price,make", sampled(exportFormats, 2))) > 0,
  );
});

test("exports of random searches equal their pages", async () => {
  const inventory = await readInventory(lake);
  let rows = 0;
  for (const { query } of randomRequests(inventory, { seed: extentOf(seed, seed + 1), count: extentOf(4, 600) })) {
    const pairs = [...query].filter(([name]) => !["limit", "offset", "page", "per_page"].includes(name));
    const search = pairs.map(([name, value]) => `${name}=${value}`).join("&");
    rows += await assertEqualsPages(search, [exportFormats[rows % exportFormats.length] ?? "parquet"]);
  }
  assert.ok(rows > 20, `${rows} rows`);
});

test("Parquet and Arrow exports have the types of the document's table, and the metadata of pages", async () => {
  const columns = exportColumns;
  for (const [format, typeOf] of [["parquet", parquetTypeOf] as const, ["arrow", arrowTypeOf] as const]) {
    const { types, metadata } = await readExport(`${allColumns}&make=nosuchmake`, format, exportNames);
    assert.deepEqual(
      types,
      columns.map(({ name, type }) => [name, typeOf(type)]),
    );
    const page = await answerPath(served, "/v1/listings?make=nosuchmake");
    assert.ok(isObject(page));
    assert.deepEqual(JSON.parse(metadata?.["carquet.meta"] ?? ""), page.meta);
  }
});

test("numbers are numbers in NDJSON, and whole ones have no fraction", async () => {
  const lines = String(await exportOf(`${allColumns}&postal_code=94538`, "ndjson"))
    .split("\n")
    .slice(0, -1);
  for (const { name, type } of exportColumns.filter(({ type: { kind } }) => kind === "integer" || kind === "number"))
    for (const line of lines) {
      const [, text] = new RegExp(`"${name}":([^,}]*)`).exec(line) ?? [];
      assert.match(text ?? "", type.kind === "integer" ? /^(null|-?\d+)$/ : /^(null|-?\d+\.?\d*(e-?\d+)?)$/, name);
    }
});

test("the same export has the same bytes", async () => {
  for (const format of sampled(exportFormats, 2))
    assert.deepEqual(await exportOf(allFields, format), await exportOf(allFields, format), format);
});

test("carquet export writes a file in the format of its extension, or to standard output", async () => {
  const output = join(folder, "fords.csv");
  const search = ["make=Ford,Fordd", "sort=-price&fields=id,price"];
  const written = await carquetHere(["export", "--lake", lake, ...search, "--output", output, "--json"]);
  assert.equal(written.code, 0, written.err);
  assert.match(written.err, /^Warning: no listing has ever had make Fordd\. Did you mean Ford\?$/m);
  const expected = await pagesOf("make=Ford&sort=-price&fields=id,price");
  const lines = expected.map(({ id, vin, price }) => `${id},${vin},${price ?? ""}\r\n`);
  const text = ["id,vin,price\r\n", ...lines].join("");
  assert.equal(await readFile(output, "utf8"), text);
  assert.deepEqual(JSON.parse(written.out), { rows: expected.length, bytes: text.length });
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith("fords")),
    ["fords.csv"],
  );
  const array = join(folder, "fords.json");
  await carquetHere(["export", "--lake", lake, "make=Ford", ...search.slice(1), "--output", array]);
  assert.deepEqual(
    JSON.parse(await readFile(array, "utf8")),
    expected.map(({ id, vin, price }) => ({ id, vin, price })),
  );
  const pipe = join(folder, "pipe");
  await promisify(execFile)("mkfifo", [pipe]);
  const exportTo = (name: string) =>
    carquet(["export", "--lake", lake, "make=Ford", "format=CSV", ...search.slice(1), "--output", name]);
  const [printed, , piped] = await Promise.all([exportTo("-"), exportTo(pipe), readFile(pipe, "utf8")]);
  assert.deepEqual([printed.out, piped], [text, text]);
});

test("carquet export refuses parameters with the messages of the API, and writes nothing", async () => {
  const empty = await temporaryFolder(fileScope);
  const path = join(empty, "x.parquet");
  const refused: readonly (readonly [args: readonly string[], message: RegExp, code?: number])[] = [
    [["mak=Ford", "--output", path], /^Unknown query parameter mak\. Did you mean make\?/],
    [["limit=5", "--output", path], /^Unknown query parameter limit\./],
    [
      ["format=csv", "--format", "csv", "--output", path],
      /^Invalid format=csv beside --format csv: expected one of them/,
    ],
    [
      ["--output", join(empty, "x.csv.gz")],
      /^Unknown extension \.gz of --output .*x\.csv\.gz: expected \.parquet, .*\.csv, .*\.json, or --format\./,
    ],
    [["snapshot_date=1999-01-01", "--output", path], /^No snapshot for snapshot_date 1999-01-01: expected a day/, 1],
    [["--output", join(empty, "none", "x.csv")], /^Cannot write .*x\.csv: ENOENT/, 1],
    [["--output", empty], /^Cannot write .*: expected a file, not a folder/, 1],
  ];
  for (const [args, message, expected = 2] of refused) {
    const { code, err } = await carquetHere(["export", "--lake", lake, ...args]);
    assert.equal(code, expected, err);
    assert.match(err.replace("carquet: ", ""), message);
  }
  assert.deepEqual(await readdir(empty), []);
});

for (const [signal, expected] of [
  ["SIGKILL", /^x\.parquet\.part-\w+$/] as const,
  ["SIGTERM", /^$/] as const,
  ["SIGINT", /^$/] as const,
]) {
  test(`a carquet export that ${signal} ends leaves nothing under the final name`, {
    skip: signal === "SIGINT" && skipInShortRun,
  }, async () => {
    const target = await temporaryFolder(fileScope);
    const child = spawnCarquet(["export", "--lake", lake, "--output", join(target, "x.parquet")], {});
    const ended = once(child, "exit");
    while ((await readdir(target)).length === 0) await sleep(1);
    child.kill(signal);
    assert.deepEqual(await ended, [null, signal]);
    assert.match((await readdir(target)).join(), expected);
  });
}

test("memory does not grow with the rows", { skip: skipUnlessFull }, async () => {
  const feeds = await generateFeeds(fileScope, { listings: 600_000, days: 1, format: "parquet" });
  const { lake: large } = await createLake(fileScope, feeds);
  const output = join(await temporaryFolder(fileScope), "rows.parquet");
  const measure = async (
    parameters: readonly string[],
  ): Promise<{ readonly rows: number; readonly peakMib: number }> => {
    const settings = ["--lake", large, "--output", output, "--memory", "512MiB", "--threads", "1", "--json"];
    const child = spawnCarquet(["export", ...settings, ...parameters], {});
    let peakMib = 0;
    let printed = "";
    child.stdout?.on("data", (text: Buffer) => {
      printed += text.toString();
    });
    while (child.exitCode === null) {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
      peakMib = Math.max(peakMib, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
      await sleep(20);
    }
    assert.equal(child.exitCode, 0);
    return { rows: JSON.parse(printed).rows, peakMib };
  };
  // The first is written as one range, the second as three smaller ones.
  const some = await measure(["max_price=32000"]);
  const all = await measure([]);
  const measured = JSON.stringify([some, all]);
  assert.ok(all.rows > 2 * some.rows, measured);
  assert.ok(all.peakMib < 1280 && all.peakMib < 1.5 * some.peakMib, measured);
});

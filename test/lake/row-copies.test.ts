import assert from "node:assert/strict";
import { readdir, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Row, textIn } from "../../src/base/json.ts";
import { sql } from "../../src/base/sql.ts";
import { Engine } from "../../src/base/sqlite.ts";
import type { ListingState } from "../../src/lake/lookups.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { type Listings, Market, type MarketOptions } from "../../src/lake/market.ts";
import { listingLines, type Reading } from "../../src/lake/readings.ts";
import { rowFormat } from "../../src/lake/row-file.ts";
import { wholeFile } from "../support/scope.ts";
import { lakeOfEveryState } from "../support/states.ts";

const { lake, listings } = await lakeOfEveryState(wholeFile);
const manifest = (await currentManifest(lake)) ?? assert.fail("nothing is published");
const rows = join(lake, "hot", "rows");

/** Does some work on the published version when its copies are there. */
async function opened<T>(options: MarketOptions, work: (market: Market) => Promise<T>): Promise<T> {
  const market = await Market.open(lake, manifest.version, options);
  try {
    await market.warm();
    return await work(market);
  } finally {
    await market.close();
  }
}

type Found = readonly { readonly state: ListingState; readonly row: Row }[];

const inOrder = (found: Found): Found =>
  [...found].sort((one, other) => (String(one.row.id) < String(other.row.id) ? -1 : 1));

/** All that is found by ids and VINs, and all that is read by place of what is active and of what was sold. */
async function everything(market: Market) {
  const found = new Map<string, Found>();
  for (const row of listings) {
    const [id, vin] = [textIn(row, "id"), textIn(row, "vin")];
    found.set(id, await market.lookUp("id", id, listingLines.columns));
    found.set(vin, inOrder(await market.lookUp("vin", vin, listingLines.columns)));
  }
  found.set("unknown", await market.lookUp("vin", "WBAXXXXXXXXXXXXXX", listingLines.columns));
  const [active, sold] = [market.activeOn(manifest.as_of), market.soldSince(undefined)];
  const read = async (from: Listings, names: readonly Reading[]): Promise<readonly Row[]> => {
    const backwards = Array.from({ length: from.count }, (_, place) => from.count - 1 - place);
    return (await from.read(backwards, names)).map((lines) => listingLines.rowOf(lines, names));
  };
  return {
    found,
    active: await read(active, listingLines.columns),
    sold: await read(sold, ["vin", "price"]),
  };
}

const fromFiles = await opened({ hasCopies: false }, everything);

const copies = async (): Promise<readonly string[]> => (await readdir(rows)).sort();

test("row copies tell of every listing there ever was what the Parquet files tell", async () => {
  const states = new Set(listings.map(({ state }) => state));
  assert.deepEqual([...states].sort(), ["active", "ended", "missing", "sold"]);
  assert.ok(fromFiles.active.length > 10 && fromFiles.sold.length > 10);
  const fromCopies = await opened({}, everything);
  assert.deepEqual(fromCopies, fromFiles);
  assert.ok((await copies()).length >= 4);
});

test("they answer without the engine, and not before each file has one", async () => {
  await opened({}, async (market) => {
    const id = textIn(listings[0], "id");
    const asked = market.lookUp("id", id, ["vin"]);
    const first = await Promise.race([asked, new Promise((late) => setImmediate(late, "late"))]);
    assert.deepEqual(first, await asked);
  });
  const market = await Market.open(lake, manifest.version);
  try {
    assert.deepEqual(await market.lookUp("id", "0".repeat(32), ["vin"]), []);
  } finally {
    await market.close();
  }
});

test("a copy that is damaged is made again, and what no version has goes", async () => {
  const before = await copies();
  await truncate(join(rows, before[0] ?? ""), 1000);
  await writeFile(join(rows, `${"0".repeat(32)}-${rowFormat}.db`), "of another version");
  const left = join(rows, `${"0".repeat(32)}-${rowFormat}.db.1.new`);
  await writeFile(left, "of a process that was killed");
  await utimes(left, new Date(0), new Date(0));
  const kept = await stat(join(rows, before[1] ?? ""));
  assert.deepEqual(await opened({}, everything), fromFiles);
  assert.deepEqual(await copies(), before);
  assert.equal((await stat(join(rows, before[1] ?? ""))).ino, kept.ino);
});

test("a copy that lacks a row is made again", async () => {
  for (const name of await copies()) {
    const copy = new Engine(join(rows, name));
    copy.exec("DELETE FROM rows WHERE place = 0; PRAGMA user_version = 0");
    copy.close();
  }
  assert.deepEqual(await opened({}, everything), fromFiles);
});

test("versions that are opened at the same time make whole copies, whoever is first", async () => {
  await rm(rows, { recursive: true });
  const said: string[] = [];
  const options: MarketOptions = { onNoCopies: (message) => said.push(message) };
  const all = await Promise.all([1, 2, 3].map(() => opened(options, everything)));
  for (const one of all) assert.deepEqual(one, fromFiles);
  assert.deepEqual(said, []);
});

test("when a copy can no longer be read, the Parquet files answer, it is said why, and the copies are made anew", async () => {
  const said: string[] = [];
  await opened({ onNoCopies: (message) => said.push(message) }, async (market) => {
    for (const name of await copies()) await writeFile(join(rows, name), "x".repeat(100_000));
    assert.deepEqual(await everything(market), fromFiles);
  });
  assert.match(said.join("\n"), /malformed|not a database|disk image|corrupt/);
  assert.deepEqual(await opened({}, everything), fromFiles);
});

test("a version can be closed while its rows are copied", async () => {
  const said: string[] = [];
  const options: MarketOptions = { onNoCopies: (message) => said.push(message) };
  for (const pauseMs of [0, 50, 200, 400]) {
    for (const name of await copies().catch(() => [])) await truncate(join(rows, name), 100);
    const market = await Market.open(lake, manifest.version, options);
    await new Promise((passed) => setTimeout(passed, pauseMs));
    await market.close();
  }
  assert.deepEqual(said, []);
  assert.equal((await opened({}, (market) => market.rows(sql`SELECT 1 AS one`))).length, 1);
  assert.deepEqual(
    (await copies()).filter((name) => name.endsWith(".new")),
    [],
  );
});

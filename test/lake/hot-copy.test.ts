import assert from "node:assert/strict";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "../../src/base/sql.ts";
import { hotCopyName } from "../../src/lake/hot-copy.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { Market, type MarketOptions } from "../../src/lake/market.ts";
import { lakeOf } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";

const { lake } = await lakeOf(wholeFile);
const version = (await currentManifest(lake))?.version ?? "";
const hot = join(lake, "hot");

/** What a version answers: all of its active listings, with their row numbers and without. */
async function answersOf(options: MarketOptions) {
  const market = await Market.open(lake, version, options);
  try {
    await market.warm();
    const active = market.activeOn(market.manifest.as_of);
    const columns = sql`vin, make, price, features, keywords, row_number::INTEGER AS row_number`;
    return {
      all: await market.rows(sql`SELECT ${columns} FROM (${active.all}) ORDER BY row_number`),
      unordered: await market.rows(sql`SELECT vin FROM (${active.unordered}) ORDER BY vin`),
      isHot: active.all.text.includes("hot."),
    };
  } finally {
    await market.close();
  }
}

const fromParquet = await answersOf({ hasCopies: false });

test("the hot copy holds the same listings at the same row numbers as the Parquet files", async () => {
  const fromCopy = await answersOf({});
  assert.deepEqual([fromParquet.isHot, fromCopy.isHot], [false, true]);
  assert.equal(fromCopy.all.length, 206);
  assert.deepEqual({ ...fromCopy, isHot: false }, fromParquet);
  assert.deepEqual((await readdir(hot)).sort(), [hotCopyName(version), "rows"]);
});

test("a hot copy that was deleted is made again, and those of other versions go", async () => {
  await rm(hot, { recursive: true });
  await answersOf({});
  await writeFile(join(hot, "2026-11-01.1.duckdb"), "of another version");
  await writeFile(join(hot, "2026-11-01.1.duckdb.1.new"), "of a process that was killed");
  await utimes(join(hot, "2026-11-01.1.duckdb.1.new"), new Date(0), new Date(0));
  assert.deepEqual((await answersOf({})).all, fromParquet.all);
  assert.deepEqual((await readdir(hot)).sort(), [hotCopyName(version), "rows"]);
});

test("where no copies can be made, the Parquet files answer, and it is said why", async () => {
  await rm(hot, { recursive: true, force: true });
  await writeFile(hot, "a file where the folder should be");
  const said: string[] = [];
  assert.deepEqual(await answersOf({ onNoCopies: (message) => said.push(message) }), fromParquet);
  assert.match(said.join("\n"), /hot/);
  await rm(hot);
});

test("a version can be closed while its copy is being made", async () => {
  const said: string[] = [];
  const market = await Market.open(lake, version, { onNoCopies: (message) => said.push(message) });
  await market.close();
  assert.deepEqual(said, []);
  assert.deepEqual((await answersOf({})).all, fromParquet.all);
});

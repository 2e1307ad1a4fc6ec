import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { tableNames } from "../../src/lake/tables.ts";
import { contentsOf, filesUnder } from "../support/lakes/contents.ts";
import { lakeOf, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

const byThreads = async (path: string) => ({
  one: (await lakeOf(wholeFile, path, { threads: 1 })).lake,
  two: (await lakeOf(wholeFile, path, { threads: 2 })).lake,
});

const sample = await byThreads(samplePath);

test("the same feeds give the same bytes, with one thread and with two", async () => {
  const contents = await contentsOf(sample.one);
  assert.ok(Object.keys(contents).length >= 20);
  assert.deepEqual(await contentsOf(sample.two), contents);
});

test("files are named after the day and a sequence, never after a clock", async () => {
  const day = "2026-11-1[89]";
  const allowed = new RegExp(
    `^(CURRENT|versions/${day}\\.1\\.(json|sql)|(${tableNames.join("|")})/(\\w+=(${day}|2026-11)/)?${day}\\.1\\.parquet|serving/${day}\\.1-\\d\\.(duckdb|db))$`,
  );
  for (const path of await filesUnder(sample.one)) assert.match(path, allowed);
});

/** A day's feeds, as Parquet: enough rows for two threads to share the work, and few enough to be quick. */
async function largeFeeds(folder: string): Promise<void> {
  const day = join(folder, "2026-03-01");
  await mkdir(day);
  const database = await DuckDatabase.open();
  try {
    await database.using(async (session) => {
      await session.run(sql`
        COPY (SELECT format('00000000-0000-4000-8000-{:012d}', n) AS dealer_id, 'Dealer ' || n AS name, 'TX' AS state
              FROM range(40) AS numbers(n)) TO ${literal(join(day, "dealers.parquet"))}`);
      await session.run(sql`
        COPY (SELECT format('1HGCM82633A{:06d}', (n * 7919) % 120000) AS vin,
                     format('00000000-0000-4000-8000-{:012d}', (n * 13) % 40) AS dealer_id,
                     ['Honda', 'HONDA', 'honda', 'Ford'][n % 4 + 1] AS make, 'Model ' || (n % 37) AS model,
                     ['xle', 'XLE', 'Xle', 'Sport Touring', 'sport touring'][n % 5 + 1] AS trim, 2015 + n % 10 AS year,
                     10000 + (n * 31) % 20000 AS price, n % 99 AS miles,
                     ['Ruby Red', 'RUBY RED', 'Blue', 'midnight blue'][n % 4 + 1] AS exterior_color,
                     ['feature ' || n % 11, 'Feature ' || n % 7, 'feature ' || n % 5] AS features
              FROM range(130000) AS numbers(n))
        TO ${literal(join(day, "inventory.parquet"))} (ROW_GROUP_SIZE 20480)`);
    });
  } finally {
    database.close();
  }
}

test("so does a market of 130,000 rows, with spellings that compete and VINs at several dealers", async () => {
  const folder = await temporaryFolder(wholeFile);
  await largeFeeds(folder);
  const { one, two } = await byThreads(folder);
  assert.deepEqual(await contentsOf(two), await contentsOf(one));
});

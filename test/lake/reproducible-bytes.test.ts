/** Ingests of the same feeds are byte-identical. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { tableNames } from "../../src/lake/tables.ts";
import { skipUnlessFull } from "../support/extent.ts";
import { hashLakeFiles, listLakeFiles } from "../support/lakes/contents.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const ingestOnEach = async (path: string) => ({
  one: (await createLake(fileScope, path, { threads: 1 })).lake,
  two: (await createLake(fileScope, path, { threads: 2 })).lake,
});

const sample = await ingestOnEach(samplePath);

test("the same feeds produce the same bytes, with one thread and with two", async () => {
  const contents = await hashLakeFiles(sample.one);
  assert.ok(Object.keys(contents).length >= 20);
  assert.deepEqual(await hashLakeFiles(sample.two), contents);
});

test("files are named by day and sequence, never by time", async () => {
  const day = "2026-11-1[89]";
  const allowed = new RegExp(
    `^(CURRENT|versions/${day}\\.1\\.(json|sql)|files/(${tableNames.join("|")})/(\\w+=(2026-11|open)/)?${day}\\.1\\.parquet|serving/${day}\\.1-\\d\\.(duckdb|db))$`,
  );
  for (const path of await listLakeFiles(sample.one)) assert.match(path, allowed);
});

/** Writes a day's feeds as Parquet: enough rows for two threads to share, and few enough to be quick. */
async function writeLargeFeeds(folder: string): Promise<void> {
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

test("130,000 rows with competing spellings and several dealers per VIN produce the same bytes too", {
  skip: skipUnlessFull,
}, async () => {
  const folder = await temporaryFolder(fileScope);
  await writeLargeFeeds(folder);
  const { one, two } = await ingestOnEach(folder);
  assert.deepEqual(await hashLakeFiles(two), await hashLakeFiles(one));
});

/** Batches: many days that one ingest writes are the same versions as those of an ingest for each day, and publish what readers open once. */
import assert from "node:assert/strict";
import { cp, mkdir, readdir, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { currentManifest, currentVersion } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { randomLifecycleFeeds } from "../lifecycle/random-feeds.ts";
import { killBatches } from "../support/campaigns/batch-kills.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { hashLakeFiles, lakeFaults, unreferencedFiles } from "../support/lakes/contents.ts";
import { writeFeeds } from "../support/lakes/feeds.ts";
import { copyLake, ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { differingFolders } from "../support/lakes/version-folder.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const market = { dealers: 5, cars: 40, dayless: 0.1 };
const noServingFiles = { hasServingFiles: false };

async function writeDays(scope: Scope, days: number, seed: number) {
  const folder = await temporaryFolder(scope);
  const deliveries = randomLifecycleFeeds({ ...market, days, seed });
  for (const { day, feeds } of deliveries) await writeFeeds(folder, day, feeds);
  return { folder, days: deliveries.map(({ day }) => day) };
}

/** Feeds over the turn of a month, and the lake of an ingest for each day. */
const history = await writeDays(fileScope, extentOf(4, 9), 1);
const single = join(await temporaryFolder(fileScope), "lake");
for (const day of history.days) await ingestPath(single, join(history.folder, day), noServingFiles);

const newLake = async (scope: Scope): Promise<string> => join(await temporaryFolder(scope), "lake");

/** Returns the hashes of the files and manifests of all days: each manifest lists the rows of its day. */
async function versionsOf(lake: string): Promise<readonly string[]> {
  const hashes = Object.entries(await hashLakeFiles(lake)).filter(([path]) => !path.endsWith(".sql"));
  return hashes.map(([path, hash]) => `${path} ${hash}`);
}

const foldersOf = async (lake: string): Promise<readonly string[]> =>
  (await readdir(join(lake, "versions"), { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test("the days of one ingest are the versions of an ingest for each day, byte for byte, however it is cut into batches", async (t) => {
  for (const batchMs of extentOf([700], [60_000, 700, 0])) {
    const lake = await newLake(t);
    await ingestPath(lake, history.folder, { ...noServingFiles, batchMs });
    assert.deepEqual(await versionsOf(lake), await versionsOf(single), `batches of ${batchMs} ms`);
    assert.deepEqual([await unreferencedFiles(lake), await lakeFaults(lake)], [[], []], `batches of ${batchMs} ms`);
  }
});

test("random histories are the same versions in one ingest and in an ingest for each day", {
  skip: skipInShortRun,
}, async (t) => {
  for (let seed = 2; seed < 2 + extentOf(1, 8); seed += 1) {
    const { folder, days } = await writeDays(t, extentOf(5, 45), seed);
    const one = await newLake(t);
    await ingestPath(one, folder, noServingFiles);
    const each = await newLake(t);
    for (const day of days) await ingestPath(each, join(folder, day), noServingFiles);
    assert.deepEqual(await versionsOf(one), await versionsOf(each), `seed ${seed}`);
  }
});

test("a batch writes views, a folder, a catalog and Iceberg metadata for its last day alone", async (t) => {
  const lake = await newLake(t);
  await ingestPath(lake, history.folder, noServingFiles);
  const first = `${history.days[0]}.1`;
  const last = `${history.days.at(-1)}.1`;
  assert.deepEqual(await foldersOf(lake), [first, last], "the folder before the batch is kept for who reads it");
  const names = await readdir(join(lake, "versions"));
  assert.deepEqual(
    names.filter((name) => name.endsWith(".sql")),
    [`${first}.sql`, `${last}.sql`],
  );
  assert.equal(names.filter((name) => name.endsWith(".json")).length, history.days.length);
  assert.equal(await readlink(join(lake, "current")), `versions/${last}`);
  assert.deepEqual(await differingFolders(lake), []);
  assert.deepEqual(await currentManifest(lake), await currentManifest(single), "a single day is a batch of one");
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await foldersOf(lake), [last], "the next writer removes it");
});

test("a failing day publishes the days before it, and a second run of the same command continues there", async (t) => {
  const folder = await temporaryFolder(t);
  await cp(history.folder, folder, { recursive: true });
  const { days } = history;
  const broken = days[2] ?? "";
  const inventory = join(folder, broken, "inventory.csv");
  await rename(inventory, join(folder, "kept"));
  await writeFile(inventory, "vin,vin\n");
  const lake = await newLake(t);
  await assert.rejects(ingestPath(lake, folder, noServingFiles), /duplicate/);
  assert.equal(await currentVersion(lake), `${days[1]}.1`);
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
  await rename(join(folder, "kept"), inventory);
  const skipped: (readonly string[])[] = [];
  const reports = await ingestPath(lake, folder, { ...noServingFiles, onSkipped: (some) => skipped.push(some) });
  assert.deepEqual([skipped, reports.map(({ day }) => day)], [[days.slice(0, 2)], days.slice(2)]);
  assert.deepEqual(await versionsOf(lake), await versionsOf(single));
});

test("days are skipped only if the lake has them and later ones follow", async (t) => {
  const lake = await newLake(t);
  await copyLake(single, lake);
  const again = ingestPath(lake, history.folder, noServingFiles);
  await assert.rejects(again, new RegExp(`^UserError: Cannot ingest ${history.days[0]}: the lake is at`));
  const folder = await temporaryFolder(t);
  await cp(history.folder, folder, { recursive: true });
  // A day that came late, of which the lake has nothing.
  await mkdir(join(folder, "2026-01-01"));
  await cp(join(folder, history.days[0] ?? ""), join(folder, "2026-01-01"), { recursive: true });
  await cp(join(folder, history.days[0] ?? ""), join(folder, "2026-12-01"), { recursive: true });
  await assert.rejects(ingestPath(lake, folder, noServingFiles), /Cannot ingest 2026-01-01: the lake is at/);
  await rm(join(folder, "2026-01-01"), { recursive: true });
  const reports = await ingestPath(lake, folder, noServingFiles);
  assert.deepEqual(
    reports.map(({ day }) => day),
    ["2026-12-01"],
  );
});

test("the engine of a writer keeps nothing of the files that it has read", async () => {
  const manifest = (await currentManifest(single)) ?? assert.fail();
  const kept = await withWriter(single, {}, async ({ session }) => {
    for (const table of ["listings", "feeds", "builds"] as const)
      await session.rows(
        sql`SELECT count(DISTINCT rows) AS n FROM (${rowsOfFiles(table, manifest.tables[table], single)}) AS rows`,
      );
    return session.rows(
      sql`SELECT tag FROM duckdb_memory() WHERE memory_usage_bytes > 0 AND tag IN ('EXTERNAL_FILE_CACHE', 'OBJECT_CACHE')`,
    );
  });
  assert.deepEqual(kept, []);
});

test("an ingest of many days that is killed leaves a published day, and the same command continues there", {
  skip: skipInShortRun,
}, async (t) => {
  const { kills, versions } = await killBatches(t, { kills: 12, seed: 20_260_324 });
  assert.ok(kills > 0 && versions.size > 0);
});

/** Lakes of earlier formats: read, served and extended as current ones. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { indexLake } from "../../src/cli/commands/index-lake.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql, join as sqlJoin } from "../../src/db/sql.ts";
import { openAnalystDatabase } from "../../src/lake/analyst/analyst-database.ts";
import { castToCurrentSchema, isCurrentSchema } from "../../src/lake/file-rows.ts";
import { migrateLake } from "../../src/lake/maintenance/migrate.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { currentManifest, currentVersion, lakeFormat, manifestPath } from "../../src/lake/manifest.ts";
import { priceHistoryType, tableNames } from "../../src/lake/tables.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { extentOf } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { copyFixtureLake, createCurrentLake, fixtureDays } from "../support/lakes/fixtures.ts";
import { icebergVersion } from "../support/lakes/iceberg.ts";
import { createLake, ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { differingFolders } from "../support/lakes/version-folder.ts";
import { fileScope, type Scope } from "../support/scope.ts";

/**
 * Views that hold the same in all formats. A claim's first day, and how long a listing was seen, are not known of formats that were vacuumed;
 * a listing was last checked when its dealer delivered, not when its row was observed.
 */
const views = ["active", "missing", "contenders", "sold", "ended", "builds", "dealers", "tokens", "options"];
const sameColumns = (view: string): string =>
  ["active", "missing", "contenders", "sold", "ended"].includes(view) ? "* EXCLUDE (last_checked_at)" : "*";

const formats = extentOf<readonly (1 | 2)[]>([2], [1, 2]);

const currentLake = await createCurrentLake(fileScope);

/** Copies the current lake of the fixtures' feeds. */
async function copyCurrentLake(scope: Scope): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(currentLake, lake, { recursive: true, verbatimSymlinks: true });
  return lake;
}

let service: Promise<Client> | undefined;

/** Returns a service on the current lake, which the formats share. */
function currentService(): Promise<Client> {
  service ??= startService(fileScope, currentLake);
  return service;
}

/** Returns the rows of each view, and those of `active_days` on some days. */
const rowsOfViews = (lake: string, days: readonly string[]): Promise<readonly (readonly Row[])[]> =>
  openAnalystDatabase(lake, {}, async (database) => {
    const rows: (readonly Row[])[] = [];
    const past = `SELECT * EXCLUDE (last_checked_at) FROM active_days WHERE snapshot_date IN (${days.map((day) => `'${day}'`).join()})`;
    for (const query of [...views.map((view) => `SELECT ${sameColumns(view)} FROM ${view}`), past])
      rows.push((await database.query(`${query} ORDER BY ALL`)).rows);
    return rows;
  });

/** Fails unless all views of two lakes have the same rows, and so has each of some days. */
async function assertSameRows(olderLake: string, newerLake: string, days: readonly string[]): Promise<void> {
  const [older, newer] = [await rowsOfViews(olderLake, days), await rowsOfViews(newerLake, days)];
  for (const [index, view] of [...views, "active_days"].entries()) assert.deepEqual(older[index], newer[index], view);
}

const [north, south] = [dealerIdOf(1), dealerIdOf(2)];
const car = (n: number, dealer_id: string, more: FeedRow = {}): FeedRow => ({
  ...{ vin: vinOf(n), dealer_id, year: 2024, make: "Honda", model: "Civic", trim: "LX", price: 20_000, miles: 1_000 },
  ...more,
});

for (const format of formats)
  test(`carquet index refuses a lake of format ${format}, which it would publish as one of the current format`, async (scope) => {
    const lake = await copyFixtureLake(scope, format);
    const before = await currentManifest(lake);
    await assert.rejects(indexLake({ lake }), /has lake format \d: expected 3\. Run "carquet migrate --lake/);
    assert.deepEqual(await currentManifest(lake), before);
  });

/** Writes two more days: a price cut, a sale, a change of dealer, and a price that is unknown for a day. */
async function writeMoreDays(scope: Scope): Promise<string> {
  const folder = await temporaryFolder(scope);
  const rows = (more: FeedRow): readonly FeedRow[] => [
    ...[1, 2, 3, 8].map((n) => car(n, north)),
    car(4, north, { price: 18_000 }),
    car(7, south),
    car(9, north, { trim: "Sport", ...more }),
    car(10, north, { price: 24_000 }),
  ];
  await writeFeeds(folder, "2026-11-25", { inventory: rows({ price: "" }) });
  await writeFeeds(folder, "2026-11-26", { inventory: rows({ price: 16_500 }) });
  return folder;
}

for (const format of formats) {
  const days = fixtureDays[format];

  test(`a lake of format ${format} passes verification`, async (t) => {
    const lake = await copyFixtureLake(t, format);
    const manifest = await currentManifest(lake);
    assert.equal(manifest?.format, format);
    assert.deepEqual(Object.keys(manifest.days), days);
    assert.deepEqual(await lakeFaults(lake), []);
  });

  test(`a lake of format ${format} has the rows of a current lake of the same feeds`, async (t) => {
    await assertSameRows(await copyFixtureLake(t, format), await copyCurrentLake(t), days);
  });

  test(`a lake of format ${format} answers as a current lake does`, async (t) => {
    const [older, newer] = [await startService(t, await copyFixtureLake(t, format)), await currentService()];
    const golden = ["schemas/examples", "test/golden"].map(projectPath).flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => file.endsWith(".url"))
        .map((file) => readFileSync(join(folder, file), "utf8").trim()),
    );
    const vins = [4, 5, 6, 7, 8].map((n) => `/v1/vins/${vinOf(n)}?include=price_history,options`);
    const searches = [
      "/v1/listings?include=price_history,options&limit=100",
      "/v1/listings?inventory_status=sold&include=price_history",
      ...days.flatMap((day) => [
        `/v1/listings?snapshot_date=${day}&sort=price`,
        `/v1/facets?facets=make,price&snapshot_date=${day}`,
      ]),
    ];
    // Trends, unavailable days, changes and windows of sales depend on the days and versions that were kept; daily copies name no files.
    const drawn = golden.filter(
      (request, place) =>
        place % extentOf(10, 1) === 0 && !/trends|snapshot_date|changes|dealer-fit|\/fit|evidence/.test(request),
    );
    const differs = ["request_id", "requestId", "version", "next_cursor", "last_checked_at"];
    const plain = (body: unknown): unknown =>
      JSON.parse(JSON.stringify(body, (key, value) => (differs.includes(key) ? "" : value)));
    for (const request of [...drawn, ...vins, ...searches]) {
      const [olderAnswer, other] = [await older.get(request), await newer.get(request)];
      assert.deepEqual([olderAnswer.status, plain(olderAnswer.body)], [other.status, plain(other.body)], request);
    }
  });

  test(`a lake of format ${format} refuses a day and the removal of months until it is migrated, then takes both`, async (t) => {
    const [older, newer] = [await copyFixtureLake(t, format), await copyCurrentLake(t)];
    const more = await writeMoreDays(t);
    const expected = new RegExp(`lake format ${format}: expected ${lakeFormat}.*carquet migrate --lake`);
    await assert.rejects(ingestPath(older, more), expected);
    const retention = { months: 1, versionDays: 1 };
    await assert.rejects(
      withWriter(older, {}, (writer) => vacuum(writer, retention, Date.now(), 0)),
      expected,
    );
    await withWriter(older, {}, (writer) => migrateLake(writer));
    assert.deepEqual(await differingFolders(older), []);
    const version = await currentVersion(older);
    for (const table of tableNames) assert.equal(await icebergVersion(older, table), version, table);
    for (const lake of [older, newer]) await ingestPath(lake, more, { hasServingFiles: false });
    await assertSameRows(older, newer, [...days, "2026-11-25", "2026-11-26"]);
    assert.deepEqual(await lakeFaults(older), []);
    const manifest = await currentManifest(older);
    for (const table of tableNames)
      for (const file of manifest?.tables[table] ?? []) assert.ok(isCurrentSchema(table, file), file.path);
    const [reappeared] = await queryLake(older, `SELECT price_history FROM active WHERE vin = '${vinOf(9)}'`);
    const cut = { changed_at: "2026-11-26 00:00:00", price: 16_500, price_before: 17_000, miles: 1_000 };
    assert.deepEqual(reappeared?.price_history, [cut]);
    await withWriter(older, {}, (writer) => vacuum(writer, retention, Date.now(), 0));
    assert.deepEqual(await lakeFaults(older), []);
  });
}

const database = await DuckDatabase.open();
fileScope.after(async () => database.close());

test("a column that a file lacks reads as null, and a column that the schema lacks is dropped", async (t) => {
  const lake = await copyFixtureLake(t, 1);
  const [file] = (await currentManifest(lake))?.tables.snapshots ?? [];
  const older = sql`read_parquet(${literal(join(lake, file?.path ?? ""))})`;
  const columns = {
    vin: "VARCHAR",
    price_history: priceHistoryType,
    battery_health: "STRUCT(percent INTEGER, tested_on DATE)",
    recalls: "INTEGER[]",
  };
  const rows = await database.using((session) => session.rows(castToCurrentSchema(columns, older)));
  assert.equal(rows.length, file?.rows);
  for (const row of rows) {
    assert.deepEqual(Object.keys(row), Object.keys(columns));
    assert.deepEqual([row.battery_health, row.recalls], [null, null]);
  }
});

test("every column of every file of a lake has a type that other engines read", async () => {
  const types = [
    ...["", "LIST", "BOOLEAN", "DOUBLE", "BYTE_ARRAY UTF8", "INT32 INT_16", "INT32 INT_32", "INT64 INT_64"],
    ...["INT32 DATE", "INT32 DECIMAL", "INT64 TIMESTAMP_MICROS"],
  ];
  // The market of the other lake is too small to be valued.
  const { lake: sample } = await createLake(fileScope);
  const lakes = await Promise.all(
    [currentLake, sample].map(async (lake) => ({ lake, tables: (await currentManifest(lake))?.tables })),
  );
  const paths = tableNames.flatMap((table) => {
    const found = lakes.flatMap(
      ({ lake, tables }) => tables?.[table].map(({ path }) => literal(join(lake, path))) ?? [],
    );
    assert.ok(found.length > 0, `expected a file of ${table}`);
    return found;
  });
  const columns = await database.using((session) =>
    session.rows(sql`
      SELECT file_name, name, concat_ws(' ', type, converted_type) AS type FROM parquet_schema([${sqlJoin(paths)}])`),
  );
  assert.ok(columns.length > 200);
  for (const { file_name: file, name, type } of columns)
    assert.ok(types.includes(String(type)), `${file}: ${name} ${type}`);
});

test("a lake of a newer release is refused", async (t) => {
  const lake = await copyFixtureLake(t, 1);
  const manifest = await currentManifest(lake);
  const path = manifestPath(lake, manifest?.version ?? "");
  writeFileSync(path, JSON.stringify({ ...manifest, format: 4, shards: 7 }));
  await assert.rejects(currentManifest(lake), {
    message: `${path}: unsupported lake format 4: expected 1 to 3. Use a newer release of Carquet.`,
  });
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { castToCurrentSchema, isCurrentSchema, rowsOfFiles } from "../../src/lake/file-rows.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { currentManifest, lakeFormat, manifestPath } from "../../src/lake/manifest.ts";
import { priceHistoryType, tableNames } from "../../src/lake/tables.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { faultsOf } from "../support/lakes/contents.ts";
import { dealerIdOf, deliver, type FeedRow, vinOf } from "../support/lakes/feeds.ts";
import { fixtureLake, freshLake, keptFixtureDays } from "../support/lakes/fixtures.ts";
import { ask, ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { type Scope, wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

const views = [...tableNames, "active"];

/** Fails unless all views of two lakes have the same rows. */
async function assertSameRows(one: string, other: string): Promise<void> {
  for (const view of views) {
    const rows = (lake: string) => ask(lake, `FROM ${view} ORDER BY ALL`);
    assert.deepEqual(await rows(one), await rows(other), view);
  }
}

const [north, south] = [dealerIdOf(1), dealerIdOf(2)];
const car = (n: number, dealer_id: string, more: FeedRow = {}): FeedRow => ({
  ...{ vin: vinOf(n), dealer_id, year: 2024, make: "Honda", model: "Civic", trim: "LX", price: 20_000, miles: 1_000 },
  ...more,
});

/** Two more days: a cut of a price, a car that is sold, one that moves, and one whose price is unknown for a day. */
async function deliverMore(scope: Scope): Promise<string> {
  const folder = await temporaryFolder(scope);
  const rows = (more: FeedRow): readonly FeedRow[] => [
    ...[1, 2, 3, 8].map((n) => car(n, north)),
    car(4, north, { price: 18_000 }),
    car(7, south),
    car(9, north, { trim: "Sport", ...more }),
    car(10, north, { price: 24_000 }),
  ];
  await deliver(folder, "2026-11-25", { inventory: rows({ price: "" }) });
  await deliver(folder, "2026-11-26", { inventory: rows({ price: 16_500 }) });
  return folder;
}

test("a lake of format 1 is whole", async (t) => {
  const lake = await fixtureLake(t, 1);
  const manifest = await currentManifest(lake);
  assert.equal(manifest?.format, 1);
  assert.deepEqual(
    manifest.tables.snapshots.map(({ partition }) => partition),
    keptFixtureDays,
  );
  assert.deepEqual(await faultsOf(lake), []);
});

test("a lake of format 1 has the rows of a lake of today from the same feeds", async (t) => {
  await assertSameRows(await fixtureLake(t, 1), await freshLake(t));
});

test("a lake of format 1 answers as a lake of today does", async (t) => {
  const [older, newer] = [await serviceOf(t, await fixtureLake(t, 1)), await serviceOf(t, await freshLake(t))];
  const golden = ["schemas/examples", "test/golden"].map(projectPath).flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".url"))
      .map((file) => readFileSync(join(folder, file), "utf8").trim()),
  );
  const vins = [4, 5, 6, 7, 8].map((n) => `/v1/vins/${vinOf(n)}?include=price_history,options`);
  const searches = [
    "/v1/listings?include=price_history,options&limit=100",
    "/v1/listings?inventory_status=sold&include=price_history",
    `/v1/listings?snapshot_date=${keptFixtureDays[0]}&sort=price`,
    `/v1/facets?facets=make,price&snapshot_date=${keptFixtureDays[0]}`,
  ];
  for (const request of [...golden, ...vins, ...searches]) {
    const [one, other] = [await older.get(request), await newer.get(request)];
    const plain = (body: unknown): unknown =>
      JSON.parse(JSON.stringify(body, (key, value) => (key === "request_id" || key === "requestId" ? "" : value)));
    assert.deepEqual([one.status, plain(one.body)], [other.status, plain(other.body)], request);
  }
});

test("a day published on a lake of format 1 is what it is on a lake of today, and upgrades what it merges", async (t) => {
  const [older, newer] = [await fixtureLake(t, 1), await freshLake(t)];
  const more = await deliverMore(t);
  for (const lake of [older, newer]) await ingestPath(lake, more);
  await assertSameRows(older, newer);
  const manifest = await currentManifest(older);
  assert.ok(manifest !== undefined);
  assert.equal(manifest.format, lakeFormat);
  assert.deepEqual(await faultsOf(older), []);
  const ofToday = (table: "snapshots" | "sold"): readonly boolean[] =>
    manifest.tables[table].map((file) => isCurrentSchema(table, file));
  assert.deepEqual(ofToday("snapshots"), [false, false, true, true]);
  assert.deepEqual(ofToday("sold"), [true], "older layers are rewritten with the new");
  assert.equal((await ask(older, "SELECT count(*)::INTEGER AS n FROM sold"))[0]?.n, 2);
  const [reappeared] = await ask(older, `SELECT price_history FROM active WHERE vin = '${vinOf(9)}'`);
  const cut = { changed_at: "2026-11-26 00:00:00", price: 16_500, price_before: 17_000, miles: 1_000 };
  assert.deepEqual(reappeared?.price_history, [cut]);
});

test("vacuum lets days of format 1 go", async (t) => {
  const lake = await fixtureLake(t, 1);
  await ingestPath(lake, await deliverMore(t));
  const retention = { dailyDays: 2, weeklyDays: 0, versionDays: 1 };
  const done = await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now(), 0));
  assert.deepEqual(done.days, [keptFixtureDays[0]]);
  assert.deepEqual(await faultsOf(lake), []);
});

const database = await DuckDatabase.open();
wholeFile.after(async () => database.close());

test("a column that a file lacks is null, and one that the layout lacks is dropped", async (t) => {
  const lake = await fixtureLake(t, 1);
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

test("no column of the lake has a type that other engines refuse", async () => {
  const refused = /UUID|UTINYINT|USMALLINT|UINTEGER|UBIGINT|HUGEINT|INTERVAL|ENUM|BIT\b|TIME\b|JSON|MAP|UNION/;
  for (const table of tableNames) {
    const described = await database.using((session) => session.rows(sql`DESCRIBE ${rowsOfFiles(table, [], "")}`));
    for (const { column_name: column, column_type: type } of described)
      assert.doesNotMatch(String(type), refused, `${table}.${column}`);
  }
});

test("a lake of a newer release is refused", async (t) => {
  const lake = await fixtureLake(t, 1);
  const manifest = await currentManifest(lake);
  const path = manifestPath(lake, manifest?.version ?? "");
  writeFileSync(path, JSON.stringify({ ...manifest, format: 3, shards: 7 }));
  await assert.rejects(currentManifest(lake), {
    message: `${path}: unsupported lake format 3: expected 1 to 2. Use a newer release of Carquet.`,
  });
});

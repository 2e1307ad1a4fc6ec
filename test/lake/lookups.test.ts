import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { textIn } from "../../src/base/json.ts";
import { literal, sql } from "../../src/base/sql.ts";
import { Database } from "../../src/lake/duckdb.ts";
import { layersFor } from "../../src/lake/layers.ts";
import { listingAt, type Place, placesOf } from "../../src/lake/lookups.ts";
import { currentManifest, type LakeFile } from "../../src/lake/manifest.ts";
import { dealerIdOf, deliver, vinOf } from "../support/feeds.ts";
import { ask, lakeOf, temporaryFolder } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";

/** Twenty days in which a car is sold every day, one comes back, and one moves to another dealer. */
const feeds = await temporaryFolder(wholeFile);
const [north, south] = [dealerIdOf(1), dealerIdOf(2)];
for (let day = 0; day < 20; day += 1) {
  const at = (dealer_id: string, numbers: readonly number[]) =>
    numbers.map((n) => ({
      vin: vinOf(n),
      dealer_id,
      make: n % 2 === 0 ? "Honda" : "",
      model: "Civic",
      price: 20_000 + n,
    }));
  const stock = Array.from({ length: 30 }, (_, n) => n + day).filter((n) => n !== 25 || day < 2 || day > 12);
  const inventory = [
    ...at(
      north,
      stock.filter((n) => n !== 35 || day < 8),
    ),
    ...at(south, day < 8 ? [100] : [100, 35]),
  ];
  const dealers = [north, south].map((dealer_id) => ({ dealer_id, name: dealer_id }));
  await deliver(feeds, plusDays("2026-03-20", day), { dealers, inventory });
}
const { lake } = await lakeOf(wholeFile, feeds);
const manifest = await currentManifest(lake);
assert.ok(manifest !== undefined);
const known = manifest;
const folder = resolve(lake);
const database = await Database.open();
after(() => database.close());

const listings = await ask(
  lake,
  `SELECT id, vin, 'active' AS state FROM active UNION ALL SELECT id, vin, 'missing' FROM missing WHERE as_of = '${known.as_of}'
   UNION ALL SELECT id, vin, 'sold' FROM sold UNION ALL SELECT id, vin, 'ended' FROM ended ORDER BY vin, id`,
);

const places = async (by: "vin" | "id", value: string): Promise<readonly Place[]> => {
  const rows = await database.using((session) => session.rows(placesOf(known, folder, by, value)));
  return rows.map((row) => row as unknown as Place);
};

test("there is something of every state", () => {
  assert.deepEqual([...new Set(listings.map(({ state }) => state))].sort(), ["active", "ended", "missing", "sold"]);
});

test("every listing there ever was is found by its id, in its state, and leads to its row", async () => {
  for (const listing of listings) {
    const id = textIn(listing, "id");
    const found = await places("id", id);
    assert.deepEqual(
      found.map(({ state }) => state),
      [listing.state],
      id,
    );
    const [place] = found;
    assert.ok(place !== undefined);
    const rows = await database.using((session) =>
      session.rows(sql`SELECT vin FROM (${listingAt(known, folder, place)})`),
    );
    assert.deepEqual(rows, [{ vin: listing.vin }]);
  }
});

test("a VIN leads to all its listings, also to those it had before", async () => {
  for (const vin of new Set(listings.map((listing) => textIn(listing, "vin")))) {
    const expected = listings.filter((listing) => listing.vin === vin).map(({ id, state }) => `${id} ${state}`);
    const found = (await places("vin", vin)).map(({ id, state }) => `${id.replaceAll("-", "")} ${state}`);
    assert.deepEqual(found.sort(), expected.sort(), vin);
  }
  assert.ok(listings.filter(({ vin }) => vin === vinOf(25)).length > 1, "the car that came back has two");
});

test("an unknown VIN or id leads nowhere", async () => {
  assert.deepEqual(await places("vin", "WBAXXXXXXXXXXXXXX"), []);
  assert.deepEqual(await places("id", "00000000-0000-0000-0000-000000000000"), []);
});

test("history stays in few files, each row in exactly one", async () => {
  for (const table of ["past_by_vin", "past_by_id", "sold", "builds"] as const) {
    assert.ok(known.tables[table].length <= 4, `${table}: ${known.tables[table].length} files`);
  }
  const files = known.tables.past_by_vin.map((file) => literal(`${folder}/${file.path}`).text);
  const [row] = await ask(
    lake,
    `SELECT count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids FROM read_parquet([${files.join(", ")}])`,
  );
  assert.equal(row?.n, row?.ids);
  assert.equal(row?.n, listings.filter(({ state }) => state === "sold" || state === "ended").length);
});

test("a file is written again only with rows that are not far fewer than its own", () => {
  const file = (rows: number): LakeFile => ({
    path: String(rows),
    partition: null,
    rows,
    bytes: 1,
    sha256: "",
    min: null,
    max: null,
  });
  const cases: readonly (readonly [files: readonly number[], newRows: number, kept: readonly number[]])[] = [
    [[], 1, []],
    [[1], 1, []],
    [[4], 1, [4]],
    [[3], 1, []],
    [[100, 20, 4], 1, [100, 20, 4]],
    [[100, 20, 3], 1, [100, 20]],
    [[70, 15, 3], 1, []],
  ];
  for (const [files, newRows, kept] of cases) {
    assert.deepEqual(
      layersFor(files.map(file), newRows).kept.map(({ rows }) => rows),
      kept,
      `${files} + ${newRows}`,
    );
  }
});

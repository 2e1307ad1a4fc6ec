import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, test } from "node:test";
import { textIn } from "../../src/base/json.ts";
import { literal } from "../../src/base/sql.ts";
import { Database } from "../../src/lake/duckdb.ts";
import { layersFor } from "../../src/lake/layers.ts";
import { type Place, placesOf, rowAt } from "../../src/lake/lookups.ts";
import { currentManifest, type LakeFile } from "../../src/lake/manifest.ts";
import { vinOf } from "../support/feeds.ts";
import { ask } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { lakeOfEveryState } from "../support/states.ts";

const { lake, listings } = await lakeOfEveryState(wholeFile);
const manifest = await currentManifest(lake);
assert.ok(manifest !== undefined);
const known = manifest;
const folder = resolve(lake);
const database = await Database.open();
after(() => database.close());

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
    const rows = await database.using((session) => session.rows(rowAt(known, folder, place, ["vin"])));
    assert.deepEqual(rows, [{ vin: listing.vin }]);
  }
});

test("a VIN leads to all its listings, also to those it had before", async () => {
  for (const vin of new Set(listings.map((listing) => textIn(listing, "vin")))) {
    const expected = listings.filter((listing) => listing.vin === vin).map(({ id, state }) => `${id} ${state}`);
    const found = (await places("vin", vin)).map(({ id, state }) => `${id} ${state}`);
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

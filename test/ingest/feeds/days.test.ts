/** Days of foreign files: in their names, and in a column of files with history. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { sql } from "../../../src/db/sql.ts";
import { deliveriesAt, deliveriesByColumn, mappedDayOf, undatedFiles } from "../../../src/ingest/feed/delivery.ts";
import { defaultFeedLimits as limits } from "../../../src/ingest/feed/feed-file.ts";
import { readDelivery } from "../../../src/ingest/feed/read-files.ts";
import { mappingOf } from "../../../src/ingest/mapping/mapping.ts";
import { writeFeedFiles } from "../../support/lakes/feeds.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";

const mappingWith = (day: object) =>
  mappingOf(
    { version: 1, day, fields: { vin: "vin" }, dealer: { key: ["seller"], fields: { name: "seller" } } },
    "history.json",
  );
const byColumn = mappingWith({ column: "Snapshot Date", dates: ["%m/%d/%Y"] });

test("a file with a column of days becomes a delivery for each day, with its rows", async (t) => {
  const rows = ["V1,North,3/2/2026", "V1,North,3/1/2026", "V2,North,2026-03-02", "V3,South, 03/02/2026"];
  const folder = await writeFeedFiles(await temporaryFolder(t), "feeds", {
    "cars.csv": `vin,seller,snapshot_date\n${rows.join("\n")}\n`,
  });
  const deliveries = await deliveriesByColumn(await undatedFiles(join(folder, "cars.csv")), byColumn, { limits });
  const database = await DuckDatabase.open({ threads: 1 });
  t.after(() => database.close());
  const found: unknown[] = [];
  await database.using(async (session) => {
    for (const delivery of deliveries)
      await readDelivery(session, delivery, { limits, mapping: byColumn }, async (table, read) => {
        if (table !== "inventory") return;
        const cars = await session.rows(sql`SELECT "row"::INTEGER AS "row", vin FROM (${read}) ORDER BY "row"`);
        found.push([delivery.day, ...cars.map(({ row, vin }) => `${row} ${vin}`)]);
      });
  });
  assert.deepEqual(found, [
    ["2026-03-01", "2 V1"],
    ["2026-03-02", "1 V1", "3 V2", "4 V3"],
  ]);
});

/** Files that have no day for a row, and the error. */
const withoutDay: Readonly<Record<string, RegExp>> = {
  "vin,seller,Snapshot Date\nV1,North,3/1/2026\nV2,North,soon\n":
    /^cars\.csv, row 2: no day in column "Snapshot Date": expected a date, as in day\.dates\.$/,
  "vin,seller\nV1,North\n":
    /^cars\.csv, row 0 \(header\): missing column "Snapshot Date": expected by the mapping of day\.$/,
};

for (const [csv, message] of Object.entries(withoutDay))
  test(`refused: ${message.source}`, async (t) => {
    const folder = await writeFeedFiles(await temporaryFolder(t), "feeds", { "cars.csv": csv });
    const deliveries = undatedFiles(folder).then((files) => deliveriesByColumn(files, byColumn, { limits }));
    await assert.rejects(deliveries, { name: "UserError", message });
  });

test("files of one folder are of the days in their names", async (t) => {
  const names = ["stock_20260302_b.csv", "stock_20260301.csv", "stock_20260302_a.csv"];
  const folder = await writeFeedFiles(
    await temporaryFolder(t),
    "feeds",
    Object.fromEntries(names.map((name) => [name, ""])),
  );
  const mapped = mappedDayOf(mappingWith({ fileName: "stock_%Y%m%d" }));
  const deliveries = await deliveriesAt(folder, undefined, mapped);
  assert.deepEqual(
    deliveries.map(({ day, files }) => [day, ...files.map(({ name }) => name)]),
    [
      ["2026-03-01", "stock_20260301.csv"],
      ["2026-03-02", "stock_20260302_a.csv", "stock_20260302_b.csv"],
    ],
  );
  await writeFeedFiles(folder, ".", { "stock.csv": "" });
  await assert.rejects(deliveriesAt(folder, undefined, mapped), {
    message: "stock.csv: no day in its name: expected stock_%Y%m%d, as in history.json.",
  });
});

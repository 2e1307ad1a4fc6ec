/** The dialects of providers: cars of the sample that are written in each, with VINs that differ in one character, become the same listings on one day. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { integerIn, type Row } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { fileLiteral, pathLiteral, type Sql, sql } from "../../../src/db/sql.ts";
import { writeDialect } from "../../../src/demo/deliveries/dialect-files.ts";
import { type DialectName, dialectNames, dialects } from "../../../src/demo/deliveries/dialects.ts";
import { preset, presetNames } from "../../../src/ingest/mapping/mapping.ts";
import { writeFeedFiles } from "../../support/lakes/feeds.ts";
import { createLake, ingestPath, queryLake, samplePath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

/** Fields that presets read if a file has them, and that the generator does not write. */
const unwritten: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  homenet: ["vdp_url"],
  vauto: ["vdp_url"],
  "vauto-web": ["options_packages"],
  "google-ads": ["features"],
};

const day = "2026-11-18";

/** The character of a VIN, after ten others, that says how it is written; the last six are those of the car. */
const markAt = 10;
const markOf = (dialect: DialectName): string => "ABCDEFGHJK"[dialectNames.indexOf(dialect)] ?? "";

const baseMark = "0";

const { listings, remarks, unusable } = await (async () => {
  const folder = await temporaryFolder(fileScope);
  const sample = await createLake(fileScope);
  const rejected = await queryLake(
    sample.lake,
    `SELECT DISTINCT "row"::INTEGER AS "row" FROM rejects WHERE delivery_date = '${day}' AND file = 'inventory.csv'`,
  );
  const feeds = await writeFeedFiles(folder, join("feeds", day), {});
  const database = await DuckDatabase.open({ threads: 1 });
  await database.using(async (session) => {
    const csv = (table: string): Sql =>
      sql`read_csv(${pathLiteral(join(samplePath, day, `${table}.csv`))}, all_varchar = true)`;
    await session.createTempTable(
      "dealers",
      sql`SELECT row_number() OVER () AS dealer, * EXCLUDE (makes) FROM ${csv("dealers")}`,
    );
    await session.createTempTable(
      "day_rows",
      // Without rows that have an unusable value, what no dialect has, and the fields that are derived from it.
      sql`SELECT line, dealer, cars.* EXCLUDE (line, observed_at, base_msrp, powertrain_type)
          FROM (SELECT row_number() OVER () - 1 AS line, * FROM ${csv("inventory")}) AS cars JOIN dealers USING (dealer_id)
          WHERE NOT list_contains(${rejected.map((row) => integerIn(row, "row") - 1)}, line)`,
    );
    const carsIn = (mark: string) => (condition: Sql) => {
      const vin = sql`'1HGZZ82633' || ${mark} || lpad(line::VARCHAR, 6, '0')`;
      return sql`SELECT * EXCLUDE (line, dealer) REPLACE (${vin} AS vin) FROM day_rows WHERE ${condition} ORDER BY line`;
    };
    const copy = (rowsOf: Sql, name: string) =>
      session.run(sql`COPY (${rowsOf}) TO ${fileLiteral(join(feeds, name))} (HEADER true)`);
    await copy(carsIn(baseMark)(sql`true`), "inventory.csv");
    await copy(sql`SELECT * EXCLUDE (dealer) FROM dealers`, "dealers.csv");
    for (const name of dialectNames)
      await writeDialect(session, feeds, { dialect: dialects[name], rows: 1000, carsIn: carsIn(markOf(name)) });
  });
  database.close();
  const lake = join(folder, "lake");
  const [report] = await ingestPath(lake, join(folder, "feeds"), { hasServingFiles: false });
  const lists = ["features", "options_packages"].map((list) => `list_sort(${list}) AS ${list}`).join();
  return {
    listings: await queryLake(lake, `SELECT * REPLACE (${lists}) FROM active ORDER BY right(vin, 6)`),
    remarks: report?.remarks ?? [],
    unusable:
      report?.reasons.filter(
        ({ reason, outcome }) => reason !== "wrong check digit" && outcome !== "merged" && reason !== "above 90",
      ) ?? [],
  };
})();

const listingsWith = (mark: string): readonly Row[] => listings.filter(({ vin }) => String(vin)[markAt] === mark);
const base = listingsWith(baseMark);

/** Returns for each listing the first of its dealer. */
const dealersOf = (rows: readonly Row[]) =>
  rows.map(({ dealer_id: id }) => rows.findIndex((row) => row.dealer_id === id));

test("there is a dialect for each preset, and no value of any is refused", () => {
  assert.deepEqual([...dialectNames].sort(), [...presetNames].sort());
  assert.deepEqual(unusable, []);
  assert.ok(base.length > 150, `${base.length} listings`);
});

for (const dialect of dialectNames)
  test(`cars in the dialect ${dialect} are recognized, and become the same listings`, () => {
    const { fields, dealer } = preset(dialect);
    const found = listingsWith(markOf(dialect));
    assert.ok(
      remarks.some(
        (remark) => remark.includes(dialects[dialect].file) && remark.includes(`: recognized as ${dialect};`),
      ),
      remarks.join("\n"),
    );
    const columns = Object.keys(base[0] ?? {}).filter(
      (column) => column in fields && column !== "vin" && unwritten[dialect]?.includes(column) !== true,
    );
    assert.ok(columns.length >= 10, columns.join());
    for (const column of columns)
      assert.deepEqual(
        found.map((row) => row[column]),
        base.map((row) => row[column]),
        column,
      );
    assert.deepEqual(dealersOf(found), dealersOf(base), "the same cars are together at a dealer");
    const ofDealer = ["dealer_name", "city", "state", "postal_code"].filter(
      (column) => column.replace("dealer_", "") in dealer.fields,
    );
    if ("city" in dealer.fields)
      for (const column of ofDealer)
        assert.deepEqual(
          found.map((row) => row[column]),
          base.map((row) => row[column]),
          column,
        );
  });

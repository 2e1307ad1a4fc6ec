/**
 * Accuracy of values: fits the market of past days of a lake, and values the listings that were first seen and sold afterwards, which the fit has not
 * seen, by their last asking prices. Beside it, the median price of the model and year.
 *
 * `node --import tsx/esm bench/valuation/run.ts --lake DIR --days 2026-10-09,2026-10-24 [--json FILE]`
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Row } from "../../src/base/json.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { integerLiteral, literal, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/file-rows.ts";
import { activeOn, unorderedListings } from "../../src/lake/market.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { withFit } from "../../src/valuation/fit.ts";
import { pricedListings } from "../../src/valuation/priced-listings.ts";
import { bandOf, rules } from "../../src/valuation/rules.ts";

const { values: options } = parseArgs({
  options: { lake: { type: "string" }, days: { type: "string" }, json: { type: "string" } },
});

/** The segments that are reported, each as an expression over a judged sale. */
const segments: Readonly<Record<string, Sql>> = {
  all: sql`'all'`,
  step: sql`step`,
  age: sql`['0 to 2 years', '3 to 5', '6 to 8', '9 or more'][band + 1]`,
  price: sql`CASE WHEN price < 15000 THEN 'below 15,000' WHEN price < 30000 THEN 'below 30,000' WHEN price < 50000 THEN 'below 50,000' ELSE 'more' END`,
};

/** Judges the sales after a day by the fit of that day: adds rows to table `judged`. */
async function judge(session: Session, lake: string, day: string): Promise<void> {
  const manifest = await requireManifest(lake);
  const today = sql`DATE ${literal(day)}`;
  const rows = (table: "sold" | "builds" | "dealers" | "tokens" | "options"): Sql =>
    rowsOfFiles(table, manifest.tables[table], lake);
  const dimensions = {
    ...{ builds: rows("builds"), dealers: rows("dealers"), tokens: rows("tokens"), options: rows("options") },
  };
  const inventory = { ...activeOn(manifest, day), valuations: [] };
  const active = unorderedListings(inventory, { folder: lake, hasDeliveries: false });
  const sold = sql`SELECT * FROM (${rows("sold")}) WHERE sold_on_record <= ${today}`;
  const later = sql`SELECT * FROM (${rows("sold")}) WHERE listed_at::DATE > ${today}`;
  await withFit(session, pricedListings({ active, sold, ...dimensions }, day), async () => {
    await session.createTempTable(
      "subjects",
      pricedListings({ active: later, sold: sql`FROM (${later}) WHERE false`, ...dimensions }, day),
    );
    await session.run(sql`INSERT INTO judged BY NAME ${judged}`);
  });
}

const judged = sql`
  WITH keyed AS (
    SELECT subjects.*, model_key, trim_key, version_key, ${bandOf(sql`"year"`, sql`(SELECT max("year") FROM fit_priced)`)} AS band
    FROM subjects LEFT JOIN (SELECT DISTINCT is_new, make, model, model_key FROM fit_keys) USING (is_new, make, model)
    LEFT JOIN (SELECT DISTINCT model_key, trim, trim_key FROM fit_keys) USING (model_key, trim)
    LEFT JOIN (SELECT trim_key, version, version_key FROM fit_keys) USING (trim_key, version)
    WHERE NOT is_branded
  ), valued AS (
    SELECT keyed.*, CASE WHEN trim_n >= ${integerLiteral(rules.sampleMin)} THEN 'trim' WHEN model_n >= ${integerLiteral(rules.sampleMin)} THEN 'model' END AS step,
           y - (by_year * "year" + by_mileage * m + by_options * o + by_certificate * certified) - coalesce(level, trim_level, model_level)
             - coalesce(year_effect, 0) - coalesce(state_effect, 0) AS error
    FROM keyed LEFT JOIN (SELECT * EXCLUDE (is_new, n) FROM fit_slopes) USING (model_key) LEFT JOIN fit_models USING (model_key)
    LEFT JOIN fit_trims USING (trim_key) LEFT JOIN fit_versions USING (version_key)
    LEFT JOIN fit_years USING (model_key, "year") LEFT JOIN fit_states USING (is_new, state)
  ), medians AS (SELECT is_new, make, model, "year", median(y) AS usual FROM fit_priced GROUP BY ALL HAVING count(*) >= 3)
  SELECT is_new, step, band, price, error, y - usual AS error_of_median, error / spread BETWEEN z_low AND z_high AS is_inside,
         exp(spread * z_high) - exp(spread * z_low) AS width
  FROM valued LEFT JOIN fit_spreads USING (model_key, band) LEFT JOIN fit_calibration USING (is_new, step, band)
  LEFT JOIN medians USING (is_new, make, model, "year")`;

const report = (segment: string, value: Sql): Sql => sql`
  SELECT if(is_new, 'new', 'used') AS condition, ${segment} AS segment, ${value} AS "value", count(*)::INTEGER AS sales,
         round(100 * median(abs(exp(-error) - 1)), 1) AS "error %", round(100 * median(error), 1) AS "bias %",
         round(100 * avg(is_inside::INTEGER), 1) AS "coverage %", round(100 * median(width), 1) AS "width %",
         round(100 * median(abs(exp(-error_of_median) - 1)), 1) AS "error of the median %"
  FROM judged WHERE step IS NOT NULL GROUP BY ALL ORDER BY ALL`;

const { lake, days, json } = options;
if (lake === undefined || days === undefined) throw new Error("Expected --lake DIR and --days with days of the lake.");
const database = await DuckDatabase.open({});
const results = await database.using(async (session) => {
  await session.run(sql`CREATE TABLE judged (is_new BOOLEAN, step VARCHAR, band INTEGER, price INTEGER, error DOUBLE, error_of_median DOUBLE,
    is_inside BOOLEAN, width DOUBLE)`);
  for (const day of days.split(",")) await judge(session, lake, day);
  const found: Row[] = [];
  for (const [segment, value] of Object.entries(segments)) found.push(...(await session.rows(report(segment, value))));
  return found;
});
database.close();
console.table(results);
if (json !== undefined) await writeFile(json, `${JSON.stringify(results, null, 1)}\n`);

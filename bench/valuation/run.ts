/**
 * Accuracy of values: fits the market of past days of a lake, and values the listings that were first seen and sold afterwards, which the fit has not
 * seen, by their last asking prices. Beside it, two plain baselines: the median price of the model and year, and a regression of the price on the
 * year and the mileage by model.
 *
 * `node --import tsx/esm bench/valuation/run.ts --lake DIR --days 2026-10-09,2026-10-24 [--json FILE]`
 */
import { parseArgs } from "node:util";
import { type Row, textIn } from "../../src/base/json.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { integerLiteral, literal, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { activeOn, unorderedListings } from "../../src/lake/market.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { withFit } from "../../src/valuation/fit.ts";
import { bandOf, rules } from "../../src/valuation/rules.ts";
import { pricedListings } from "../../src/valuation/value-market.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured } from "../report/results.ts";

const { values: options } = parseArgs({
  options: { lake: { type: "string" }, days: { type: "string" }, json: { type: "string" } },
});

/** The segments that are reported, each as an expression over a judged sale. */
const segments: readonly Sql[] = [
  sql`NULL`,
  sql`'by ' || step`,
  sql`['0 to 2 years', '3 to 5 years', '6 to 8 years', '9 years or more'][band + 1]`,
  sql`CASE WHEN price * exp(-error) < 15000 THEN 'worth below $15,000' WHEN price * exp(-error) < 30000 THEN 'worth $15,000 to $29,999' WHEN price * exp(-error) < 50000 THEN 'worth $30,000 to $49,999' ELSE 'worth $50,000 or more' END`,
];

/** Judges the sales after a day by the fit of that day: adds rows to table `judged`. */
async function judge(session: Session, lake: string, day: string): Promise<void> {
  const manifest = await requireManifest(lake);
  const today = sql`DATE ${literal(day)}`;
  const rows = (table: "sold" | "builds" | "dealers" | "tokens" | "options"): Sql =>
    rowsOfFiles(table, manifest.tables[table], lake);
  const dimensions = {
    builds: rows("builds"),
    dealers: rows("dealers"),
    tokens: rows("tokens"),
    options: rows("options"),
  };
  const inventory = { ...activeOn(manifest, day), valuations: [] };
  const active = unorderedListings(inventory, { folder: lake, hasFeeds: false });
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
  ), medians AS (SELECT is_new, make, model, "year", median(y) AS usual FROM fit_priced GROUP BY ALL HAVING count(*) >= 3
  ), sums AS (
    SELECT is_new, make, model, avg(y) AS y0, avg("year") AS a0, avg(m) AS m0, regr_sxx(y, "year") AS aa, regr_sxx(y, m) AS mm,
           regr_sxy("year", m) AS am, regr_sxy(y, "year") AS ay, regr_sxy(y, m) AS my
    FROM fit_priced WHERE y IS NOT NULL AND m IS NOT NULL GROUP BY ALL HAVING count(*) >= ${integerLiteral(rules.sampleMin)}
  ), lines AS (
    SELECT *, coalesce((ay * mm - my * am) / nullif(aa * mm - am * am, 0), ay / nullif(aa, 0), 0) AS a,
           coalesce((my * aa - ay * am) / nullif(aa * mm - am * am, 0), 0) AS b FROM sums
  )
  SELECT is_new, step, band, price, error, y - usual AS error_of_median, y - y0 - a * ("year" - a0) - b * (m - m0) AS error_of_regression, error / spread BETWEEN z_low AND z_high AS is_inside,
         exp(spread * z_high) - exp(spread * z_low) AS width
  FROM valued LEFT JOIN fit_spreads USING (model_key, band) LEFT JOIN fit_calibration USING (is_new, step, band)
  LEFT JOIN medians USING (is_new, make, model, "year") LEFT JOIN lines USING (is_new, make, model)`;

const errorPercent = (error: Sql): Sql => sql`round(100 * median(abs(exp(-${error}) - 1)), 1)`;

const report = (value: Sql): Sql => sql`
  SELECT concat_ws(', ', if(is_new, 'new', 'used'), ${value}) AS "name", count(*)::INTEGER AS sales, ${errorPercent(sql`error`)} AS error,
         round(100 * median(error), 1) AS bias, round(100 * avg(is_inside::INTEGER), 1) AS inside, round(100 * median(width), 1) AS width,
         ${errorPercent(sql`error_of_median`)} AS of_median, ${errorPercent(sql`error_of_regression`)} AS of_regression
  FROM judged WHERE step IS NOT NULL GROUP BY ALL ORDER BY ALL`;

function measurementsOf(row: Row): readonly Measurement[] {
  const name = textIn(row, "name");
  const number = (column: string): number => Number(row[column]);
  const percent = (column: string): { readonly "median error %": number } => ({ "median error %": number(column) });
  return [
    ...measured(name, "carquet", {
      sales: number("sales"),
      ...percent("error"),
      "bias %": number("bias"),
      "in the interval %": number("inside"),
      "width %": number("width"),
    }),
    ...measured(name, "median of model and year", percent("of_median")),
    ...measured(name, "regression by model", percent("of_regression")),
  ];
}

const { lake, days, json } = options;
if (lake === undefined || days === undefined) throw new Error("Expected --lake DIR and --days with days of the lake.");
const database = await DuckDatabase.open({});
const found = await database.using(async (session) => {
  await session.run(sql`CREATE TABLE judged (is_new BOOLEAN, step VARCHAR, band INTEGER, price INTEGER, error DOUBLE, error_of_median DOUBLE,
    error_of_regression DOUBLE, is_inside BOOLEAN, width DOUBLE)`);
  for (const day of days.split(",")) await judge(session, lake, day);
  const reports = await Promise.all(segments.map((segment) => session.rows(report(segment))));
  return reports.flat();
});
database.close();
const { as_of } = await requireManifest(lake);
const notes = [
  `Sales of vehicles that were first seen after a fitted day and sold by ${as_of}, by their last asking prices; fitted on ${days.replaceAll(",", ", ")}.`,
  "The baselines are the median price of the model and year, and a regression of the price on year and mileage by model.",
];
await reportMeasurements({ title: "Values", notes, programs: {} }, found.flatMap(measurementsOf), json);

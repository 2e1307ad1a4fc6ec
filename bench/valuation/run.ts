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
import { asKnown } from "../../src/valuation/judge.ts";
import { predicted } from "../../src/valuation/predict.ts";
import { rules } from "../../src/valuation/rules.ts";
import { pricedListings } from "../../src/valuation/value-market.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured } from "../report/results.ts";

const { values: options } = parseArgs({
  options: { lake: { type: "string" }, days: { type: "string" }, json: { type: "string" } },
});

const dollars = (amount: number): string => `$${amount.toLocaleString("en-US")}`;

/** The names of the bands, in their order. */
const ageBandNames = [0, ...rules.ageBands].map((from, band) => {
  const next = rules.ageBands[band];
  return next === undefined ? `${from} years and more` : `${from} to ${next - 1} years`;
});
const priceBandNames = [0, ...rules.priceBands].map((above, band) => {
  const upTo = rules.priceBands[band];
  if (upTo === undefined) return `above ${dollars(above)}`;
  return above === 0 ? `up to ${dollars(upTo)}` : `${dollars(above + 1)} to ${dollars(upTo)}`;
});

/** The segments that are reported, each as an expression over a judged sale. */
const segments: readonly Sql[] = [
  sql`NULL`,
  sql`'by ' || step`,
  sql`(${ageBandNames})[band + 1]`,
  sql`'worth ' || (${priceBandNames})[price_band + 1]`,
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
  WITH medians AS (SELECT is_new, make, model, "year", median(y) AS usual FROM fit_priced GROUP BY ALL HAVING count(*) >= 3
  ), sums AS (
    SELECT is_new, make, model, avg(y) AS y0, avg("year") AS a0, avg(m) AS m0, regr_sxx(y, "year") AS aa, regr_sxx(y, m) AS mm,
           regr_sxy("year", m) AS am, regr_sxy(y, "year") AS ay, regr_sxy(y, m) AS my
    FROM fit_priced WHERE y IS NOT NULL AND m IS NOT NULL GROUP BY ALL HAVING count(*) >= ${integerLiteral(rules.sampleMin)}
  ), lines AS (
    SELECT *, coalesce((ay * mm - my * am) / nullif(aa * mm - am * am, 0), ay / nullif(aa, 0), 0) AS a,
           coalesce((my * aa - ay * am) / nullif(aa * mm - am * am, 0), 0) AS b FROM sums
  )
  SELECT is_new, knowledge, step, band, price_band, y - fit AS error, y - usual AS error_of_median, y - y0 - a * ("year" - a0) - b * (m - m0) AS error_of_regression,
         error BETWEEN to_low AND to_high AS is_inside, exp(to_high) - exp(to_low) AS width
  FROM (${predicted(asKnown(sql`SELECT *, 0 AS fold FROM subjects WHERE NOT is_branded`), sql`fit_judged`)}) LEFT JOIN medians USING (is_new, make, model, "year") LEFT JOIN lines USING (is_new, make, model)
  WHERE step IN ('trim', 'model') AND out_of_range IS NULL`;

const errorPercent = (error: Sql): Sql => sql`round(100 * median(abs(exp(-${error}) - 1)), 1)`;

const report = (value: Sql): Sql => sql`
  SELECT concat_ws(', ', if(is_new, 'new', 'used'), knowledge, ${value}) AS "name", count(*)::INTEGER AS sales, ${errorPercent(sql`error`)} AS error,
         round(100 * median(error), 1) AS bias, round(100 * avg(is_inside::INTEGER), 1) AS inside, round(100 * median(width), 1) AS width,
         ${errorPercent(sql`error_of_median`)} AS of_median, ${errorPercent(sql`error_of_regression`)} AS of_regression
  FROM judged WHERE knowledge = 'listed' OR ${value} IS NULL GROUP BY ALL ORDER BY ALL`;

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
  await session.run(sql`CREATE TABLE judged (is_new BOOLEAN, knowledge VARCHAR, step VARCHAR, band INTEGER, price_band INTEGER, error DOUBLE, error_of_median DOUBLE,
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

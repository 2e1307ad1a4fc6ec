/**
 * Fits the prices of a market: a hedonic regression with median levels.
 *
 * The logarithm of a used car's price, and of a new car's price to MSRP, is the sum of a level (of its version, pulled towards that of its trim, which is
 * pulled towards that of its model), of what a year, 10,000 miles, options and a certificate are worth, and of the effects of its model year and
 * state. What a year and 10,000 miles are worth is measured within versions, by model. Medians and a bound on outliers keep misspelled prices out.
 */
import type { Session } from "../db/duckdb.ts";
import { ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { bandOf, pulled, ratingOf, rules } from "./rules.ts";

/** Calls `work` while the temporary tables `valuations` and `price_effects` exist: the fit of the given listings (see `pricedListings`). */
export async function withFit<T>(session: Session, priced: Sql, work: () => Promise<T>): Promise<T> {
  const tables = [["fit_priced", priced] as const, ...fitTables];
  try {
    for (const [table, query] of tables) await session.createTempTable(table, query);
    return await work();
  } finally {
    await session.drop(...tables.map(([table]) => table));
  }
}

/** Sums are rounded, so that the order in which threads add does not show. */
const rounded = (value: Sql): Sql => sql`round(${value}, 6)`;

const tails = sql`[${numberLiteral((1 - rules.coverage) / 2)}, ${numberLiteral((1 + rules.coverage) / 2)}]`;

/** The same quantiles of a normal distribution. */
const normalTails = sql`[${numberLiteral(-rules.normalTail)}, ${numberLiteral(rules.normalTail)}]`;

const enoughOf = (quantiles: string): Sql =>
  sql`CASE WHEN ${ident(quantiles, "n")} >= ${integerLiteral(rules.calibrationMin)} THEN ${ident(quantiles, "quantiles")} END`;

/** Returns the quantiles of `z` at both ends of the interval, by some columns of `judged`. */
const quantilesOf = (columns: Sql, where: Sql): Sql =>
  sql`SELECT ${columns}, count(*) AS n, quantile_cont(z, ${tails}) AS quantiles FROM judged ${where} GROUP BY ALL`;

/** Keys of models, trims and versions, new and used apart. */
const keys = sql`
  SELECT *, dense_rank() OVER (ORDER BY is_new, make, model)::INTEGER AS model_key,
         dense_rank() OVER (ORDER BY is_new, make, model, trim)::INTEGER AS trim_key,
         dense_rank() OVER (ORDER BY is_new, make, model, trim, version)::INTEGER AS version_key
  FROM (SELECT DISTINCT is_new, make, model, trim, version FROM fit_priced)`;

/** `is_regular`: the listing counts in levels, slopes and spreads. */
const rows = sql`
  WITH usual AS (SELECT is_new, make, model, "year", median(y) AS usual FROM fit_priced WHERE NOT is_branded GROUP BY ALL)
  SELECT fit_priced.*, model_key, trim_key, version_key,
         ${bandOf(sql`"year"`, sql`(SELECT max("year") FROM fit_priced)`)} AS band,
         NOT is_branded AND abs(y - usual) < ln(${integerLiteral(rules.outlierRatio)}) AS is_regular
  FROM fit_priced JOIN fit_keys USING (is_new, make, model, trim, version) LEFT JOIN usual USING (is_new, make, model, "year")`;

const pull = integerLiteral(rules.levelPull);

/** What a year, 10,000 miles, options and a certificate are worth: sums of squares and products within versions, by model. */
const slopes = sql`
  WITH cells AS (
    SELECT is_new, model_key, max(body) AS body, count(*) AS n,
           regr_sxx(y, "year") AS aa, regr_sxx(y, m) AS mm, regr_sxy(y, "year") AS ay, regr_sxy(y, m) AS my, regr_sxy("year", m) AS am,
           regr_sxx(y, o) AS oo, regr_sxy(y, o) AS oy, regr_sxy("year", o) AS ao, regr_sxy(m, o) AS mo,
           regr_sxx(y, certified) AS cc, regr_sxy(y, certified) AS cy, regr_sxy("year", certified) AS ac, regr_sxy(m, certified) AS mc
    FROM fit_rows WHERE is_regular GROUP BY is_new, model_key, version_key
  ), sums AS (
    SELECT is_new, model_key, max(body) AS body, sum(n) AS n, sum(aa) AS aa, sum(am) AS am, sum(mm) AS mm, sum(ay) AS ay, sum(my) AS my
    FROM cells GROUP BY is_new, model_key
  ), pooled AS (
    SELECT is_new, model_key, n, ${integerLiteral(rules.slopePull)} / sum(n) OVER of_body AS k,
           aa + k * sum(aa) OVER of_body + 1e-6 AS aa, am + k * sum(am) OVER of_body AS am, mm + k * sum(mm) OVER of_body + 1e-6 AS mm,
           ay + k * sum(ay) OVER of_body AS ay, my + k * sum(my) OVER of_body AS my
    FROM sums WINDOW of_body AS (PARTITION BY is_new, body)
  ), own AS (
    SELECT is_new, model_key, n, ${rounded(sql`(mm * ay - am * my) / (aa * mm - am * am)`)} AS by_year,
           ${rounded(sql`(aa * my - am * ay) / (aa * mm - am * am)`)} AS by_mileage
    FROM pooled
  ), shared AS (
    SELECT cells.is_new, ${rounded(sql`coalesce(sum(oy - by_year * ao - by_mileage * mo) / nullif(sum(oo), 0), 0)`)} AS by_options,
           ${rounded(sql`coalesce(sum(cy - by_year * ac - by_mileage * mc) / nullif(sum(cc), 0), 0)`)} AS by_certificate
    FROM cells JOIN own USING (model_key) GROUP BY cells.is_new
  )
  SELECT own.*, by_options, by_certificate FROM own JOIN shared USING (is_new)`;

/** `rest`: what the slopes leave of a price. */
const rest = sql`
  SELECT fit_rows.*, y - (by_year * "year" + by_mileage * m + by_options * o + by_certificate * certified) AS rest
  FROM fit_rows JOIN (SELECT * EXCLUDE (is_new, n) FROM fit_slopes) USING (model_key)`;

const models = sql`
  SELECT model_key, count(*) AS model_n, median(rest) AS model_level FROM fit_rest WHERE is_regular GROUP BY model_key`;

const trims = sql`
  SELECT trim_key, trim_n, ${pulled(sql`raw`, sql`model_level`, sql`trim_n`, rules.levelPull)} AS trim_level
  FROM (SELECT model_key, trim_key, count(*) AS trim_n, median(rest) AS raw FROM fit_rest WHERE is_regular GROUP BY ALL) JOIN fit_models USING (model_key)`;

const versions = sql`
  SELECT version_key, version_n, ${pulled(sql`raw`, sql`trim_level`, sql`version_n`, rules.levelPull)} AS level
  FROM (SELECT trim_key, version_key, count(*) AS version_n, median(rest) AS raw FROM fit_rest WHERE is_regular GROUP BY ALL) JOIN fit_trims USING (trim_key)`;

/** The effect of a model year beyond the slope. */
const years = sql`
  SELECT model_key, "year", count(*) AS year_n, ${pulled(sql`median(rest - level)`, sql`0`, sql`count(*)`, rules.yearPull)} AS year_effect
  FROM fit_rest JOIN fit_versions USING (version_key) WHERE is_regular GROUP BY ALL`;

const states = sql`
  SELECT is_new, state, count(*) AS state_n, ${rounded(pulled(sql`median(rest - level - year_effect)`, sql`0`, sql`count(*)`, rules.statePull))} AS state_effect
  FROM fit_rest JOIN fit_versions USING (version_key) JOIN fit_years USING (model_key, "year")
  WHERE is_regular AND state IS NOT NULL GROUP BY is_new, state`;

/**
 * `residual`: the logarithm of the price to the fitted price; `without`: the same if the listing had been left out of the levels of its version and trim
 * and of the effect of its model year, in which it has the weights `in_level` and `in_year`.
 */
const residuals = sql`
  SELECT fit_rest.*, rest - coalesce(level, trim_level, model_level) - coalesce(year_effect, 0) - coalesce(state_effect, 0) AS residual,
         1 / (version_n + ${pull}) * (1 + 1 / (trim_n + ${pull})) AS in_level, 1 / (year_n + ${integerLiteral(rules.yearPull)}) AS in_year,
         if(is_regular, residual / ((1 - in_level) * (1 - in_year)), residual) AS without,
         CASE WHEN trim_n >= ${integerLiteral(rules.sampleMin)} THEN 'trim' WHEN model_n >= ${integerLiteral(rules.sampleMin)} THEN 'model' END AS step
  FROM fit_rest LEFT JOIN fit_models USING (model_key)
  LEFT JOIN fit_trims USING (trim_key) LEFT JOIN fit_versions USING (version_key)
  LEFT JOIN fit_years USING (model_key, "year") LEFT JOIN fit_states USING (is_new, state)`;

/** How far prices of a model and age are from their fitted prices. */
const spreads = sql`
  WITH misses AS (SELECT is_new, model_key, band, least(abs(without), 1) AS miss FROM fit_residuals WHERE is_regular),
       bands AS (SELECT is_new, band, avg(miss * miss) AS overall FROM misses GROUP BY ALL)
  SELECT model_key, band, greatest(0.001, round(sqrt((coalesce(sum(miss * miss), 0) + ${integerLiteral(rules.spreadPull)} * max(overall)) / (count(miss) + ${integerLiteral(rules.spreadPull)})), 6)) AS spread
  FROM (SELECT is_new, model_key FROM fit_models JOIN fit_slopes USING (model_key)) JOIN bands USING (is_new)
  LEFT JOIN (SELECT model_key, band, miss FROM misses) USING (model_key, band) GROUP BY ALL`;

/**
 * The quantiles of residuals in spreads, by condition, step and age band: those of sales, of all ages where one band has too few, of all listings where
 * both have; those of a normal distribution where even these are too few.
 */
const calibration = sql`
  WITH judged AS (
    SELECT is_new, step, band, without / spread AS z, sold_date IS NOT NULL AS is_sale FROM fit_residuals JOIN fit_spreads USING (model_key, band)
    WHERE is_regular AND step IS NOT NULL
  ), of_band AS (${quantilesOf(sql`is_new, step, band`, sql`WHERE is_sale`)}),
  of_sales AS (${quantilesOf(sql`is_new, step`, sql`WHERE is_sale`)}),
  of_all AS (${quantilesOf(sql`is_new, step`, sql``)}),
  chosen AS (
    SELECT is_new, step, band, coalesce(${join(["of_band", "of_sales", "of_all"].map(enoughOf))}, ${normalTails}) AS quantiles
    FROM of_all JOIN (SELECT DISTINCT band FROM fit_spreads) ON true
    LEFT JOIN of_sales USING (is_new, step) LEFT JOIN of_band USING (is_new, step, band)
  )
  SELECT is_new, step, band, round(quantiles[1], 6) AS z_low, round(quantiles[2], 6) AS z_high FROM chosen`;

/** Without enough listings of the model: prices to MSRP by body type and model year. */
const bodies = sql`
  SELECT is_new, body, "year", count(*) AS n, median(ratio) AS level, quantile_cont(ratio, ${tails}) AS ends, ends[1] - level AS z_low, ends[2] - level AS z_high
  FROM (SELECT is_new, body, "year", ln(price / msrp) AS ratio FROM fit_rows WHERE is_regular AND msrp > 0 AND body <> '') GROUP BY is_new, body, "year"
  HAVING count(*) >= ${integerLiteral(rules.bodySampleMin)}`;

/** Each listing with its value; null where there is no step. */
const valued = sql`
  SELECT fit_residuals.*, coalesce(step, if(bodies.level IS NULL OR msrp IS NULL, NULL, 'body_and_age')) AS step_taken,
         CASE WHEN step IS NOT NULL THEN price * exp(-without) ELSE msrp * exp(bodies.level) END AS value,
         CASE WHEN step IS NOT NULL THEN fit_calibration.z_low * spread ELSE bodies.z_low END AS to_low,
         CASE WHEN step IS NOT NULL THEN fit_calibration.z_high * spread ELSE bodies.z_high END AS to_high
  FROM fit_residuals LEFT JOIN fit_spreads USING (model_key, band) LEFT JOIN fit_calibration USING (is_new, step, band)
  LEFT JOIN (SELECT is_new, body, "year", level, z_low, z_high FROM fit_bodies) AS bodies USING (is_new, body, "year")`;

/** Whole dollars, at least one. */
const dollars = (value: Sql): Sql =>
  sql`CASE WHEN ${value} IS NOT NULL THEN round(greatest(1, least(${value}, 2e9)))::INTEGER END`;

/** Table `valuations`. A price beyond the bound on outliers has no rating: it may be a deposit, or misspelled. */
const valuations = sql`
  WITH estimates AS (
    SELECT *, ${dollars(sql`value`)} AS market_value, ${dollars(sql`value * exp(to_low)`)} AS market_value_low, ${dollars(sql`value * exp(to_high)`)} AS market_value_high
    FROM fit_valued WHERE NOT is_branded
  )
  SELECT *, round(if(is_new, msrp, 1) * exp(y - log_residual), 2) AS fitted_price, round(log_residual, 6) AS residual, step_taken AS value_step,
         try_cast(round(10000.0 * (price - market_value) / market_value) / 10000 AS DECIMAL(9,4)) AS price_to_value,
         CASE WHEN market_value_low IS NOT NULL AND price BETWEEN market_value / ${integerLiteral(rules.outlierRatio)} AND market_value * ${integerLiteral(rules.outlierRatio)}
              THEN ${ratingOf(sql`price`, { value: sql`market_value`, low: sql`market_value_low`, high: sql`market_value_high` })} END AS value_rating
  FROM (SELECT * RENAME (residual AS log_residual, step AS own_step) FROM estimates)`;

/** The spread of each age band; null for a band without listings. */
const spreadOfBands = [0, ...rules.ageBands].map((_, band) => sql`max(spread) FILTER (band = ${integerLiteral(band)})`);

/** Table `price_effects`. */
const effects = sql`
  WITH names AS (SELECT DISTINCT is_new, make, model, model_key FROM fit_keys),
       trim_names AS (SELECT DISTINCT is_new, make, model, trim, trim_key FROM fit_keys),
       bands AS (SELECT model_key, [${join(spreadOfBands)}] AS spreads FROM fit_spreads GROUP BY model_key)
  SELECT 'model' AS kind, is_new, make, model, model_n AS listings, model_level AS level, by_year, by_mileage, by_options, by_certificate, spreads
  FROM names JOIN fit_models USING (model_key) JOIN (SELECT * EXCLUDE (is_new, n) FROM fit_slopes) USING (model_key) JOIN bands USING (model_key)
  UNION ALL BY NAME SELECT 'trim' AS kind, is_new, make, model, trim, trim_n AS listings, trim_level AS level FROM trim_names JOIN fit_trims USING (trim_key)
  UNION ALL BY NAME SELECT 'version' AS kind, is_new, make, model, trim, version, version_n AS listings, level FROM fit_keys JOIN fit_versions USING (version_key)
  UNION ALL BY NAME SELECT 'year' AS kind, is_new, make, model, "year", year_n AS listings, year_effect AS level FROM names JOIN fit_years USING (model_key)
  UNION ALL BY NAME SELECT 'state' AS kind, is_new, state, state_n AS listings, state_effect AS level FROM fit_states
  UNION ALL BY NAME SELECT 'interval' AS kind, is_new, step, band, (SELECT max("year") FROM fit_priced) AS "year", z_low, z_high FROM fit_calibration
  UNION ALL BY NAME SELECT 'body_and_age' AS kind, is_new, body, "year", n AS listings, level, z_low, z_high FROM fit_bodies`;

const fitTables: readonly (readonly [table: string, query: Sql])[] = [
  ["fit_keys", keys],
  ["fit_rows", rows],
  ["fit_slopes", slopes],
  ["fit_rest", rest],
  ["fit_models", models],
  ["fit_trims", trims],
  ["fit_versions", versions],
  ["fit_years", years],
  ["fit_states", states],
  ["fit_residuals", residuals],
  ["fit_spreads", spreads],
  ["fit_calibration", calibration],
  ["fit_bodies", bodies],
  ["fit_valued", valued],
  ["valuations", valuations],
  ["price_effects", effects],
];

/**
 * Fits the prices of a market: a hedonic regression with median levels.
 *
 * The logarithm of a used car's price, and of a new car's price to MSRP, is the sum of a level (of its version, pulled towards that of its trim, which is
 * pulled towards that of its model), of what a year, 10,000 miles, options and a certificate are worth, and of the effects of its model year and
 * state. What a year and 10,000 miles are worth is measured within versions, by model. Medians and a bound on outliers keep misspelled prices out.
 *
 * Tables of the fit have a column `fold`: 0 is the fit of all listings, another one that of the listings outside of that fold, which judges those in it.
 */
import type { Session } from "../db/duckdb.ts";
import { ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { tableOf } from "../lake/tables.ts";
import { accuracy, heldOut, intervals, spreads } from "./judge.ts";
import { predicted } from "./predict.ts";
import { pulled, ratingOf, rules } from "./rules.ts";

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

/** Keys of models, trims and versions, new and used apart; 0 is an unknown trim or version, which has no level. */
const keys = sql`
  SELECT *, dense_rank() OVER (ORDER BY is_new, make, model)::INTEGER AS model_key,
         if(trim = '', 0, dense_rank() OVER (ORDER BY is_new, make, model, trim))::INTEGER AS trim_key,
         if(version = '', 0, dense_rank() OVER (ORDER BY is_new, make, model, trim, version))::INTEGER AS version_key
  FROM (SELECT DISTINCT is_new, make, model, trim, version FROM fit_priced)`;

/** `is_regular`: the listing counts in levels, slopes and spreads. `own_fold`: the fold that it is in. */
const rows = sql`
  WITH usual AS (SELECT is_new, make, model, "year", median(y) AS usual FROM fit_priced WHERE NOT is_branded GROUP BY ALL)
  SELECT fit_priced.*, model_key, trim_key, version_key,
         1 + ('0x' || substr(md5(id), 1, 6))::INTEGER % ${integerLiteral(rules.folds)} AS own_fold,
         NOT is_branded AND miles <= ${integerLiteral(rules.milesMax)} AND abs(y - usual) < ln(${integerLiteral(rules.outlierRatio)}) AS is_regular
  FROM fit_priced JOIN fit_keys USING (is_new, make, model, trim, version) LEFT JOIN usual USING (is_new, make, model, "year")`;

/** Folds are held out in turn until enough listings have been: a large market needs one of them. */
const folds = sql`
  SELECT fold::INTEGER AS fold FROM (SELECT count(*) AS n FROM fit_rows WHERE is_regular),
    range(0, 1 + least(${integerLiteral(rules.folds)}, ceil(${integerLiteral(rules.folds * rules.heldOutMin)} / greatest(n, 1)))::BIGINT) AS folds(fold)`;

/** What each fit counts: the columns of levels and slopes. */
const counted = sql`
  SELECT fold, is_new, model_key, trim_key, version_key, body, state, "year", miles, price, msrp, y, m, o, certified
  FROM fit_rows JOIN fit_folds ON fold <> own_fold WHERE is_regular`;

const sums = ["n", "aa", "am", "mm", "ay", "my"] as const;
const sumsBy = (sum: (name: Sql) => Sql): Sql => join(sums.map((name) => sql`${sum(ident(name))} AS ${ident(name)}`));

/** 10,000 miles cost at most this, unless enough listings of the model say so; they never add to a price. */
const mileageBound = (value: Sql): Sql =>
  sql`least(0, greatest(${value}, if(n >= ${integerLiteral(rules.slopeListingsMin)}, -1, ln(${numberLiteral(1 - rules.mileageLossMax)}))))`;

/**
 * What a year, 10,000 miles, options and a certificate are worth: sums of squares and products within versions, by model. Those of a model are pulled
 * towards its body type, which is pulled towards the market. A year never lowers a price, 10,000 miles never raise one: where least squares say otherwise,
 * the slope is at its bound, and the other one is fitted again.
 */
const slopes = sql`
  WITH cells AS (
    SELECT fold, is_new, model_key, max(body) AS body, count(*) AS n,
           regr_sxx(y, "year") AS aa, regr_sxx(y, m) AS mm, regr_sxy(y, "year") AS ay, regr_sxy(y, m) AS my, regr_sxy("year", m) AS am,
           regr_sxx(y, o) AS oo, regr_sxy(y, o) AS oy, regr_sxy("year", o) AS ao, regr_sxy(m, o) AS mo,
           regr_sxx(y, certified) AS cc, regr_sxy(y, certified) AS cy, regr_sxy("year", certified) AS ac, regr_sxy(m, certified) AS mc
    FROM fit_counted GROUP BY fold, is_new, model_key, trim_key, version_key
  ), models AS (
    SELECT fold, is_new, model_key, max(body) AS body, ${sumsBy((name) => sql`sum(${name})`)} FROM cells GROUP BY fold, is_new, model_key
  ), markets AS (
    SELECT fold, is_new, ${sumsBy((name) => sql`sum(${name})`)} FROM models GROUP BY fold, is_new
  ), bodies AS (
    SELECT fold, is_new, body, ${sumsBy((name) => sql`(sum(models.${name}) + ${integerLiteral(rules.slopePull)} / max(markets.n) * max(markets.${name}))`)}
    FROM models JOIN markets USING (fold, is_new) GROUP BY fold, is_new, body
  ), pooled AS (
    SELECT fold, is_new, model_key, models.n, ${integerLiteral(rules.slopePull)} / bodies.n AS k, ${join(
      sums.slice(1).map((name) => sql`models.${ident(name)} + k * bodies.${ident(name)} + 1e-6 AS ${ident(name)}`),
    )}
    FROM models JOIN bodies USING (fold, is_new, body)
  ), free AS (
    SELECT *, ${mileageBound(sql`(aa * my - am * ay) / (aa * mm - am * am)`)} AS of_miles, greatest(0, (ay - am * of_miles) / aa) AS of_years FROM pooled
  ), own AS (
    SELECT fold, is_new, model_key, n, ${rounded(sql`of_years`)} AS by_year,
           ${rounded(sql`if(of_years > 0, of_miles, ${mileageBound(sql`my / mm`)})`)} AS by_mileage
    FROM free
  ), shared AS (
    SELECT fold, cells.is_new, ${rounded(sql`greatest(0, coalesce(sum(oy - by_year * ao - by_mileage * mo) / nullif(sum(oo), 0), 0))`)} AS by_options,
           ${rounded(sql`coalesce(sum(cy - by_year * ac - by_mileage * mc) / nullif(sum(cc), 0), 0)`)} AS by_certificate
    FROM cells JOIN own USING (fold, model_key) GROUP BY fold, cells.is_new
  )
  SELECT own.*, by_options, by_certificate FROM own JOIN shared USING (fold, is_new)`;

/** `rest`: what the slopes leave of a price. */
const rest = sql`
  SELECT fit_counted.* EXCLUDE (body, y, m, certified), y - (by_year * "year" + by_mileage * m + by_options * o + by_certificate * certified) AS rest
  FROM fit_counted JOIN (SELECT * EXCLUDE (is_new, n) FROM fit_slopes) USING (fold, model_key)`;

/** A level, and the listings that it rests on, with their mean price of options. */
const levelOf = sql`count(*) AS listings, median(rest) AS raw, ${rounded(sql`avg(o)`)} AS mean_options`;

/** The ends of what the listings of a model have: no vehicle beyond them has a value. */
const ranges = join(
  (["year", "miles", "price", "msrp"] as const).map(
    (name) => sql`min(${ident(name)}) AS ${ident(`${name}_min`)}, max(${ident(name)}) AS ${ident(`${name}_max`)}`,
  ),
);

const models = sql`SELECT fold, is_new, model_key, raw AS level, * EXCLUDE (fold, is_new, model_key, raw)
  FROM (SELECT fold, is_new, model_key, ${levelOf}, ${ranges} FROM fit_rest GROUP BY ALL)`;

const pulledLevel = (towards: Sql): Sql => pulled(sql`raw`, towards, sql`own.listings`, rules.levelPull);

const trims = sql`
  SELECT own.* EXCLUDE (raw), ${pulledLevel(sql`fit_models.level`)} AS level
  FROM (SELECT fold, model_key, trim_key, ${levelOf} FROM fit_rest WHERE trim_key > 0 GROUP BY ALL) AS own JOIN fit_models USING (fold, model_key)`;

const versions = sql`
  SELECT own.* EXCLUDE (raw), ${pulledLevel(sql`coalesce(fit_trims.level, fit_models.level)`)} AS level
  FROM (SELECT fold, model_key, trim_key, version_key, ${levelOf} FROM fit_rest WHERE version_key > 0 GROUP BY ALL) AS own
  JOIN fit_models USING (fold, model_key) LEFT JOIN fit_trims USING (fold, model_key, trim_key)`;

/** The listings with what their levels leave. */
const leveled = sql`
  SELECT fold, fit_rest.is_new, model_key, "year", state, rest - coalesce(fit_versions.level, fit_trims.level, fit_models.level) AS left_over
  FROM fit_rest JOIN fit_models USING (fold, model_key)
  LEFT JOIN fit_trims USING (fold, model_key, trim_key) LEFT JOIN fit_versions USING (fold, model_key, trim_key, version_key)`;

/**
 * The effects of the model years between the oldest and the newest beyond the slope, so that no car is worth more than a newer one: the isotonic regression
 * of slope and effect. Its value at a year is the largest, over the years up to it, of the smallest mean from there to a year from it on.
 */
const years = sql`
  WITH raw AS (
    SELECT *, listings + ${integerLiteral(rules.yearPull)} AS w, by_year * "year" + ${pulled(sql`usual`, sql`0`, sql`listings`, rules.yearPull)} AS total
    FROM (SELECT fold, model_key, "year", count(*) AS listings, median(left_over) AS usual FROM fit_leveled GROUP BY ALL)
    JOIN (SELECT fold, model_key, by_year FROM fit_slopes) USING (fold, model_key)
  ), summed AS (
    SELECT *, sum(w) OVER older AS ws, sum(w * total) OVER older AS totals FROM raw WINDOW older AS (PARTITION BY fold, model_key ORDER BY "year")
  ), means AS (
    SELECT fold, model_key, newer."year", newer.listings, min((newer.totals - older.totals + older.w * older.total) / (newer.ws - older.ws + older.w))
             OVER (PARTITION BY fold, model_key, older."year" ORDER BY newer."year" DESC) AS mean
    FROM summed AS newer JOIN summed AS older USING (fold, model_key) WHERE older."year" <= newer."year"
  ), isotonic AS (
    SELECT fold, model_key, "year", any_value(listings) AS listings, max(mean) AS total FROM means GROUP BY ALL
  ), filled AS (
    SELECT *, by_year * "year" AS of_slope, last_value(total IGNORE NULLS) OVER older AS lowest, first_value(total IGNORE NULLS) OVER newer AS highest
    FROM (SELECT fold, model_key, unnest(range(year_min, year_max + 1))::INTEGER AS "year" FROM fit_models)
    JOIN (SELECT fold, model_key, by_year FROM fit_slopes) USING (fold, model_key) LEFT JOIN isotonic USING (fold, model_key, "year")
    WINDOW older AS (PARTITION BY fold, model_key ORDER BY "year" ROWS UNBOUNDED PRECEDING),
           newer AS (PARTITION BY fold, model_key ORDER BY "year" ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
  )
  SELECT fold, model_key, "year", coalesce(listings, 0) AS listings,
         ${rounded(sql`greatest(lowest, least(highest, of_slope)) - of_slope`)} AS level
  FROM filled`;

const states = sql`
  SELECT fold, is_new, state, count(*) AS listings, ${rounded(pulled(sql`median(left_over - fit_years.level)`, sql`0`, sql`count(*)`, rules.statePull))} AS level
  FROM fit_leveled JOIN fit_years USING (fold, model_key, "year") WHERE state IS NOT NULL GROUP BY fold, is_new, state`;

/** Without enough listings of the model: prices to MSRP by body type and model year. */
const bodies = sql`
  SELECT 0 AS fold, is_new, body, count(*) AS listings, median(ln(price / msrp)) AS level, ${ranges}, "year",
         quantile_cont(ln(price / msrp), [${join([rules.tail, 1 - rules.tail].map(numberLiteral))}]) AS ends, ends[1] - level AS z_low, ends[2] - level AS z_high
  FROM fit_rows WHERE is_regular AND msrp > 0 AND body <> '' GROUP BY is_new, body, "year"
  HAVING count(*) >= ${integerLiteral(rules.bodySampleMin)}`;

/** What each part of a price is worth in each fit: table `price_effects` without what judges it. */
const effects = sql`
  WITH names AS (SELECT DISTINCT is_new, make, model, model_key FROM fit_keys),
       trim_names AS (SELECT DISTINCT make, model, trim, trim_key, model_key, is_new FROM fit_keys WHERE trim_key > 0)
  SELECT 'model' AS kind, names.* EXCLUDE (model_key), fit_models.* EXCLUDE (is_new, model_key), by_year, by_mileage, by_options, by_certificate,
         NULL::DOUBLE[] AS spreads, NULL::VARCHAR AS step, NULL::BOOLEAN AS is_described, NULL::INTEGER AS band, NULL::INTEGER AS price_band
  FROM names JOIN fit_models USING (model_key) JOIN (SELECT * EXCLUDE (is_new, n) FROM fit_slopes) USING (fold, model_key)
  UNION ALL BY NAME SELECT 'trim' AS kind, trim_names.* EXCLUDE (model_key, trim_key), fit_trims.* EXCLUDE (model_key, trim_key)
  FROM trim_names JOIN fit_trims USING (model_key, trim_key)
  UNION ALL BY NAME SELECT 'version' AS kind, is_new, make, model, trim, version, fit_versions.* EXCLUDE (model_key, trim_key, version_key)
  FROM fit_keys JOIN fit_versions USING (model_key, trim_key, version_key)
  UNION ALL BY NAME SELECT 'year' AS kind, names.* EXCLUDE (model_key), fit_years.* EXCLUDE (model_key) FROM names JOIN fit_years USING (model_key)
  UNION ALL BY NAME SELECT 'state' AS kind, * FROM fit_states
  UNION ALL BY NAME SELECT 'body_and_age' AS kind, * EXCLUDE (ends, year_min, year_max) FROM fit_bodies`;

/** The fit of all listings with its spreads and intervals: what values are read from. */
const judged = sql`
  SELECT fit_effects.* REPLACE (fit_spreads.spreads AS spreads) FROM fit_effects LEFT JOIN fit_spreads ON kind = 'model' AND (fit_spreads.is_new, fit_spreads.make, fit_spreads.model) = (fit_effects.is_new, fit_effects.make, fit_effects.model)
  WHERE fold = 0 UNION ALL BY NAME SELECT 'interval' AS kind, 0 AS fold, * FROM fit_intervals`;

/** Whole dollars, at least one; null for null, which `greatest` leaves out. */
const dollars = (value: Sql): Sql => sql`round(if(${value} < 1, 1, ${value}))::INTEGER`;

/** The weight of a listing in a level that is pulled towards one in which it has another weight. */
const weightIn = (count: Sql, inNext: Sql): Sql =>
  sql`coalesce((1 + ${integerLiteral(rules.levelPull)} * ${inNext}) / (${count} + ${integerLiteral(rules.levelPull)}), ${inNext})`;

/**
 * Table `valuations`. `without` is the logarithm of the price to the fitted price if the listing had been left out of the levels of its version and trim,
 * and of the effect of its model year, in which it has the weights `in_level` and `in_year`. A price beyond the bound on outliers has no rating: it may be a
 * deposit, or misspelled.
 */
const valuations = sql`
  SELECT ${join(Object.keys(tableOf("valuations").columns).map((column) => ident(column)))} FROM (
  WITH subjects AS (SELECT *, 0 AS fold, false AS is_described FROM fit_rows WHERE NOT is_branded),
  valued AS (${predicted(sql`subjects`, sql`fit_judged`)}),
  alone AS (
    SELECT *, y - fit AS log_residual, 1 / greatest(model_n, 2) AS in_model, ${weightIn(sql`trim_n`, sql`in_model`)} AS in_trim,
           ${weightIn(sql`version_n`, sql`in_trim`)} AS in_level, 1 / (coalesce(year_n, 0) + ${integerLiteral(rules.yearPull)}) AS in_year,
           if(step = 'body_and_age' OR NOT is_regular, value, price * exp(-log_residual / ((1 - in_level) * (1 - in_year)))) AS own_value
    FROM valued
  ), estimates AS (
    SELECT *, CASE WHEN step IS NOT NULL AND to_low IS NOT NULL AND out_of_range IS NULL THEN ${dollars(sql`own_value`)} END AS market_value,
           ${dollars(sql`market_value * exp(to_low)`)} AS market_value_low, ${dollars(sql`market_value * exp(to_high)`)} AS market_value_high,
           price BETWEEN market_value / ${integerLiteral(rules.outlierRatio)} AND market_value * ${integerLiteral(rules.outlierRatio)} AS is_rated
    FROM alone
  )
  SELECT *, round(if(is_new, msrp, 1) * exp(fit), 2) AS fitted_price, round(log_residual, 6) AS residual,
         if(market_value IS NULL, NULL, step) AS value_step,
         CASE WHEN is_rated THEN try_cast(round(10000.0 * (price - market_value) / market_value) / 10000 AS DECIMAL(9,4)) END AS price_to_value,
         CASE WHEN is_rated THEN ${ratingOf(sql`price`, { value: sql`market_value`, low: sql`market_value_low`, high: sql`market_value_high` })} END AS value_rating
  FROM estimates)`;

const fitTables: readonly (readonly [table: string, query: Sql])[] = [
  ["fit_keys", keys],
  ["fit_rows", rows],
  ["fit_folds", folds],
  ["fit_counted", counted],
  ["fit_slopes", slopes],
  ["fit_rest", rest],
  ["fit_models", models],
  ["fit_trims", trims],
  ["fit_versions", versions],
  ["fit_leveled", leveled],
  ["fit_years", years],
  ["fit_states", states],
  ["fit_bodies", bodies],
  ["fit_effects", effects],
  ["fit_held", heldOut],
  ["fit_spreads", spreads],
  ["fit_intervals", intervals],
  ["fit_judged", judged],
  ["valuations", valuations],
  ["price_effects", sql`FROM fit_judged UNION ALL BY NAME (${accuracy})`],
];

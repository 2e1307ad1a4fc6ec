/**
 * How far the prices of listings are from what the fit without their fold says: the spreads and intervals of values, and their accuracy.
 */
import { ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { predicted } from "./predict.ts";
import { priceBandOf, rules } from "./rules.ts";

/** Listings with all their attributes, and with those that a request may have: without version and options, and without trim. */
export const asKnown = (listings: Sql): Sql => sql`(
  WITH listed AS (SELECT *, 'listed' AS knowledge, false AS is_described FROM (${listings})),
       described AS (SELECT * REPLACE (NULL AS o, '' AS version, 'described' AS knowledge, true AS is_described) FROM listed)
  FROM listed UNION ALL BY NAME FROM described WHERE trim <> ''
  UNION ALL BY NAME SELECT * REPLACE ('' AS trim, 'described without trim' AS knowledge) FROM described
)`;

/** The listings of the folds that are held out. */
const subjects = asKnown(
  sql`SELECT fit_rows.*, fold FROM fit_rows JOIN fit_folds ON fold = own_fold WHERE NOT is_branded`,
);

/** `miss`: the logarithm of the price to the value. */
export const heldOut = sql`
  SELECT id, is_new, make, model, band, price_band, step, is_described, price, y - fit AS miss, least(miss * miss, 1) AS square
  FROM (${predicted(subjects, sql`fit_effects`)}) WHERE step IN ('trim', 'model') AND out_of_range IS NULL`;

const pull = integerLiteral(rules.spreadPull);
const bandNumbers = [0, ...rules.ageBands].map((_, band) => band);

/** The root mean squares of misses of a model and age, pulled towards those of the age. */
export const spreads = sql`
  WITH listed AS (FROM fit_held WHERE NOT is_described),
  overall AS (SELECT is_new, avg(square) AS overall FROM listed GROUP BY ALL),
  bands AS (SELECT is_new, band, avg(square) AS of_band FROM listed GROUP BY ALL),
  own AS (SELECT is_new, make, model, band, count(*) AS n, sum(square) AS squares FROM listed GROUP BY ALL),
  pulled AS (
    SELECT is_new, make, model, band,
           greatest(0.001, round(sqrt((coalesce(squares, 0) + ${pull} * coalesce(of_band, overall)) / (coalesce(n, 0) + ${pull})), 6)) AS spread
    FROM (SELECT DISTINCT is_new, make, model, unnest([${join(bandNumbers.map(integerLiteral))}]) AS band FROM fit_keys) JOIN overall USING (is_new)
    LEFT JOIN bands USING (is_new, band) LEFT JOIN own USING (is_new, make, model, band)
  )
  SELECT is_new, make, model, array_agg(spread ORDER BY band) AS spreads FROM pulled GROUP BY ALL`;

/** The misses in spreads that leave them out. */
const scaled = sql`
  SELECT held.*, miss / spreads[band + 1] AS z FROM fit_held AS held JOIN fit_spreads USING (is_new, make, model)`;

/** The groups that intervals are calibrated on: the first one with enough listings counts. */
const groups = [
  sql`is_new, step, is_described, band, price_band`,
  sql`is_new, step, is_described, price_band`,
  sql`is_new, is_described, price_band`,
  sql`is_new, step, is_described`,
  sql`is_new, is_described`,
];

/** Split conformal intervals: of n misses in order, the ends are those at (n + 1) times the tails, rounded outwards. */
const quantilesOf = (columns: Sql): Sql => sql`
  SELECT ${columns}, list_sort(list(z)) AS misses, len(misses) AS n,
         [misses[greatest(1, floor(${numberLiteral(rules.tail)} * (n + 1))::INTEGER)], misses[least(n, ceil(${numberLiteral(1 - rules.tail)} * (n + 1))::INTEGER)]] AS quantiles
  FROM scaled GROUP BY ALL HAVING count(*) >= ${integerLiteral(rules.calibrationMin)}`;

/** The ends of intervals in spreads; those of a normal distribution where all groups are too small. */
export const intervals = sql`
  WITH scaled AS (${scaled}),
  cells AS (
    SELECT DISTINCT is_new, step, is_described, bands.band, price_bands.price_band
    FROM fit_held, (SELECT unnest([${join(bandNumbers.map(integerLiteral))}]) AS band) AS bands,
      (SELECT unnest(range(${integerLiteral(rules.priceBands.length + 1)}))::INTEGER AS price_band) AS price_bands
  ), ${join(groups.map((columns, index) => sql`${ident(`of_group_${index}`)} AS (${quantilesOf(columns)})`))},
  chosen AS (
    SELECT cells.*, coalesce(${join(groups.map((_, index) => ident(`of_group_${index}`, "quantiles")))}, [${join([-rules.normalTail, rules.normalTail].map(numberLiteral))}]) AS quantiles
    FROM cells ${join(
      groups.map((columns, index) => sql`LEFT JOIN ${ident(`of_group_${index}`)} USING (${columns})`),
      sql` `,
    )}
  )
  SELECT is_new, step, is_described, band, price_band, round(quantiles[1], 6) AS z_low, round(quantiles[2], 6) AS z_high FROM chosen`;

/** The accuracy of values of listings that the fit has not seen: rows of kind `accuracy`, of all of them, by age, and by price. */
export const accuracy = sql`
  SELECT 'accuracy' AS kind, is_new, step, is_described, band, price_band, count(*) AS listings,
         round(median(abs(exp(-miss) - 1)), 4) AS error, round(avg((z BETWEEN z_low AND z_high)::INTEGER), 4) AS inside
  FROM (
    SELECT scaled.* EXCLUDE (price_band), ${priceBandOf(sql`price`)} AS price_band, z_low, z_high
    FROM (${scaled}) AS scaled JOIN fit_intervals USING (is_new, step, is_described, band, price_band)
  ) GROUP BY GROUPING SETS ((is_new, is_described), (is_new, is_described, step), (is_new, is_described, band), (is_new, is_described, price_band))`;

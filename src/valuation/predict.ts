/**
 * What vehicles are worth by the effects of a fit: one statement for the listings of a market, for those that judge the fit, and for a vehicle that a
 * request describes.
 */
import { ident, integerLiteral, join, literal, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { bandOf, priceBandOf, rules } from "./rules.ts";

/** The attributes whose range of observed values ends what is valued, in the order in which they are named. */
export const rangeNames = ["year", "miles", "msrp", "price"] as const;

const ends = ["min", "max"] as const;

/** An effect: its kind, beside condition and fold what it belongs to, and the columns that are read of it, by the names that they get. */
interface Effect {
  readonly kind: string;
  readonly keys: readonly string[];
  readonly columns: Readonly<Record<string, string>>;
}

const rangesAs = (prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(rangeNames.flatMap((name) => ends.map((end) => [`${prefix}_${name}_${end}`, `${name}_${end}`])));

const slopes = {
  by_year: "by_year",
  by_mileage: "by_mileage",
  by_options: "by_options",
  by_certificate: "by_certificate",
};

const levelAs = (kind: string): Readonly<Record<string, string>> => ({
  [`${kind}_level`]: "level",
  [`${kind}_n`]: "listings",
  [`${kind}_options`]: "mean_options",
});

const kinds: readonly Effect[] = [
  {
    kind: "model",
    keys: ["make", "model"],
    columns: { ...levelAs("model"), ...slopes, ...rangesAs("model"), spreads: "spreads" },
  },
  { kind: "trim", keys: ["make", "model", "trim"], columns: levelAs("trim") },
  { kind: "version", keys: ["make", "model", "trim", "version"], columns: levelAs("version") },
  { kind: "year", keys: ["make", "model", "year"], columns: { year_level: "level", year_n: "listings" } },
  { kind: "state", keys: ["state"], columns: { state_level: "level" } },
  {
    kind: "body_and_age",
    keys: ["body", "year"],
    columns: { body_level: "level", ...rangesAs("body"), body_low: "z_low", body_high: "z_high" },
  },
];

const joined = (effects: Sql): Sql =>
  join(
    kinds.map(({ kind, keys, columns }) => {
      const own = ["fold", "is_new", ...keys].map((name) => ident(name));
      const taken = Object.entries(columns).map(([name, column]) => sql`${ident(column)} AS ${ident(name)}`);
      return sql`LEFT JOIN (SELECT ${join([...own, ...taken])} FROM ${effects} WHERE kind = ${literal(kind)}) AS ${ident(`of_${kind}`)} USING (${join(own)})`;
    }),
    sql` `,
  );

const rangeEnd = (name: string, end: string): Sql =>
  sql`if(step = 'body_and_age', ${ident(`body_${name}_${end}`)}, ${ident(`model_${name}_${end}`)})`;

const outside = (value: Sql, name: string, slack = 1): Sql =>
  sql`${value} NOT BETWEEN ${rangeEnd(name, "min")} / ${numberLiteral(slack)} AND ${rangeEnd(name, "max")} * ${numberLiteral(slack)}`;

const enough = integerLiteral(rules.sampleMin);

/**
 * Returns a query for the values of `subjects` by `effects`, names of relations.
 *
 * Subjects have the columns `fold`, `is_new`, `make`, `model`, `trim`, `version`, `year`, `miles`, `m`, `o`, `certified`, `state`, `body`, `msrp` and
 * `is_described`. An unknown `o` is the mean of the listings that the level rests on. Added are `fit`, the logarithm of the fitted price (of a new car, to
 * MSRP); `step`, null without enough listings; `out_of_range`, the attribute that is beyond the listings of the step, with `range_min` and `range_max`; the
 * `value` in dollars, also where it is out of range; and the distances of the ends of the interval from it, in logarithms.
 */
export const predicted = (subjects: Sql, effects: Sql): Sql => sql`
  WITH known AS (SELECT * FROM ${subjects} ${joined(effects)}),
  fitted AS (
    SELECT *, CASE WHEN trim_n >= ${enough} THEN 'trim' WHEN model_n >= ${enough} THEN 'model' WHEN body_level IS NOT NULL AND msrp > 0 THEN 'body_and_age' END AS step,
           coalesce(o, version_options, trim_options, model_options) AS options_counted,
           coalesce(version_level, trim_level, model_level) + coalesce(year_level, 0) + coalesce(state_level, 0)
             + by_year * "year" + by_mileage * m + by_options * options_counted + by_certificate * certified AS fit,
           CASE WHEN step = 'body_and_age' THEN msrp * exp(body_level) WHEN is_new THEN msrp * exp(fit) ELSE exp(fit) END AS value
    FROM known
  ), placed AS (
    SELECT *, CASE WHEN ${outside(sql`"year"`, "year")} THEN 'year' WHEN ${outside(sql`miles`, "miles")} THEN 'miles'
                   WHEN (is_new OR step = 'body_and_age') AND ${outside(sql`msrp`, "msrp")} THEN 'msrp'
                   WHEN ${outside(sql`value`, "price", rules.priceSlack)} THEN 'price' END AS out_of_range,
           ${join(
             ends.map(
               (end) =>
                 sql`CASE out_of_range ${join(
                   rangeNames.map((name) => sql`WHEN ${literal(name)} THEN ${rangeEnd(name, end)}`),
                   sql` `,
                 )} END AS ${ident(`range_${end}`)}`,
             ),
           )},
           ${bandOf(sql`"year"`, sql`(SELECT max(year_max) FROM ${effects} WHERE kind = 'model')`)} AS band, ${priceBandOf(sql`value`)} AS price_band
    FROM fitted
  )
  SELECT placed.*, if(step = 'body_and_age', body_low, of_interval.z_low * spreads[band + 1]) AS to_low,
         if(step = 'body_and_age', body_high, of_interval.z_high * spreads[band + 1]) AS to_high
  FROM placed LEFT JOIN (SELECT is_new, step, is_described, band, price_band, z_low, z_high FROM ${effects} WHERE kind = 'interval') AS of_interval
  USING (is_new, step, is_described, band, price_band)`;

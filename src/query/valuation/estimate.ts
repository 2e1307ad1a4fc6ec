/** What vehicles are worth by the fit of the published day: the statement of `valuation/predict.ts` over the table `price_effects`. */
import { numberOrNull, type Row } from "../../base/json.ts";
import { ident, integerLiteral, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { predicted, rangeNames } from "../../valuation/predict.ts";
import { rules, steps } from "../../valuation/rules.ts";
import type { Subject } from "./subject.ts";
import { countedOptions, type Valuation, valuationOf, withoutValue } from "./valuation.ts";

/** Returns the valuations of subjects, in their order. */
export async function estimate(subjects: readonly Subject[], version: LakeVersion): Promise<readonly Valuation[]> {
  if (!version.hasFit) return subjects.map(() => withoutValue("no_data"));
  const rows = await version.marketRows(({ catalog }) => {
    const described = sql`(${join(subjects.map(subjectRow), sql` UNION ALL `)})`;
    const effects = sql`(SELECT 0 AS fold, * FROM ${ident(catalog, "price_effects")})`;
    return sql`FROM (${predicted(described, effects)}) ORDER BY position`;
  });
  return subjects.map((subject, position) => valuationIn(rows[position], subject));
}

const known = (value: number | null): Sql => (value === null ? sql`NULL::DOUBLE` : numberLiteral(value));

function subjectRow(subject: Subject, position: number): Sql {
  const { id, make, model, trim, version, year, miles, msrp, state, body, inventoryType, optionValue } = subject;
  const isNew = inventoryType === "new";
  const options = isNew ? 0 : optionValue === null ? null : optionValue / rules.optionUnit;
  // Without its version or its options, less is known than of the listings that intervals of listings are calibrated on.
  const isDescribed = id === null && ((version ?? "") === "" || options === null);
  return sql`
    SELECT ${integerLiteral(position)} AS position, 0 AS fold, ${literal(make)} AS make, ${literal(model)} AS model, ${literal(trim ?? "")} AS trim,
           ${literal(version ?? "")} AS version, ${integerLiteral(year)} AS "year", ${numberLiteral(miles)} AS miles,
           ${numberLiteral(miles / rules.mileageUnit)} AS m, ${known(options)} AS o, ${known(msrp)} AS msrp, ${literal(state ?? "")} AS state,
           ${literal(body)} AS body, ${isNew} AS is_new, ${integerLiteral(inventoryType === "certified" ? 1 : 0)} AS certified,
           ${isDescribed} AS is_described`;
}

function valuationIn(row: Row | undefined, { price, optionValue, inventoryType }: Subject): Valuation {
  const step = steps.find((one) => one === row?.step);
  const [value, low, high] = ["value", "to_low", "to_high"].map((column) => numberOrNull(row?.[column]));
  if (row === undefined || step === undefined || value == null) return withoutValue("insufficient_sample");
  const attribute = rangeNames.find((name) => name === row.out_of_range);
  if (attribute !== undefined) {
    const range = { attribute, min: numberOrNull(row.range_min) ?? 0, max: numberOrNull(row.range_max) ?? 0 };
    return withoutValue("out_of_range", range);
  }
  if (low == null || high == null) return withoutValue("insufficient_sample");
  const rounded = dollars(value);
  const counted = Math.round((numberOrNull(row.options_counted) ?? 0) * rules.optionUnit);
  const of = optionValue === null ? "mean" : "vehicle";
  const options = countedOptions(inventoryType, step, { value: optionValue ?? counted, of });
  const ends = { low: dollars(rounded * Math.exp(low)), high: dollars(rounded * Math.exp(high)) };
  return valuationOf({ value: rounded, ...ends, step, options }, price);
}

/** Whole dollars, at least one, as in table `valuations`. */
const dollars = (value: number): number => Math.max(1, Math.round(value));

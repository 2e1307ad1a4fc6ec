/** What a vehicle is worth by the fit of the published day: the levels, slopes and effects of `price_effects`, as `valuation/fit.ts` has them. */
import type { Row } from "../../base/json.ts";
import { all, any, ident, literal, type Sql, sql } from "../../db/sql.ts";
import { ageBandOf, rules, type Step } from "../../valuation/rules.ts";
import type { Subject } from "./subject.ts";
import type { Estimate } from "./valuation.ts";

/** Returns a query for the effects that the value of a subject depends on. */
export function effectsOf(catalog: string, subject: Subject): Sql {
  const { make, model, trim, version, year, state, body } = subject;
  const ofModel = sql`make = ${make} AND model = ${model}`;
  const kinds: Readonly<Record<string, Sql>> = {
    interval: sql`true`,
    state: sql`state = ${state ?? ""}`,
    model: ofModel,
    year: sql`${ofModel} AND "year" = ${year}`,
    trim: sql`${ofModel} AND "trim" = ${trim ?? ""}`,
    version: sql`${ofModel} AND "trim" = ${trim ?? ""} AND "version" = ${version ?? ""}`,
    body_and_age: sql`body = ${body} AND "year" = ${year}`,
  };
  const conditions = Object.entries(kinds).map(([kind, matches]) => sql`(kind = ${literal(kind)} AND ${matches})`);
  return sql`SELECT * FROM ${ident(catalog, "price_effects")}
    WHERE ${all([sql`is_new = ${subject.inventoryType === "new"}`, any(conditions)])}`;
}

const numberOf = (row: Row | undefined, column: string): number | undefined => {
  const value = row?.[column];
  return typeof value === "number" ? value : undefined;
};

/** Returns the estimate of a subject by the effects that `effectsOf` selects; undefined without enough listings. */
export function estimateOf(subject: Subject, effects: readonly Row[]): Estimate | undefined {
  const of = (kind: string): Row | undefined => effects.find((row) => row.kind === kind);
  const step = stepOf(of("trim"), of("model"));
  return step === undefined ? estimateByBody(subject, of("body_and_age")) : estimateByModel(subject, effects, step);
}

function stepOf(trim: Row | undefined, model: Row | undefined): Step | undefined {
  const isEnough = (row: Row | undefined): boolean => (numberOf(row, "listings") ?? 0) >= rules.sampleMin;
  if (isEnough(trim)) return "trim";
  return isEnough(model) ? "model" : undefined;
}

function estimateByBody({ msrp }: Subject, ofBody: Row | undefined): Estimate | undefined {
  const [level, low, high] = ["level", "z_low", "z_high"].map((column) => numberOf(ofBody, column));
  if (msrp === null || level === undefined || low === undefined || high === undefined) return undefined;
  const value = msrp * Math.exp(level);
  return rounded({ value, low: value * Math.exp(low), high: value * Math.exp(high), step: "body_and_age" });
}

function estimateByModel(subject: Subject, effects: readonly Row[], step: Step): Estimate | undefined {
  const [version, trim, model, year, state] = ["version", "trim", "model", "year", "state"].map((kind) =>
    effects.find((row) => row.kind === kind),
  );
  const band = ageBandOf(
    subject.year,
    numberOf(
      effects.find(({ kind }) => kind === "interval"),
      "year",
    ) ?? 0,
  );
  const interval = effects.find((row) => row.kind === "interval" && row.step === step && row.band === band);
  const spread = Array.isArray(model?.spreads) ? model.spreads[band] : undefined;
  const low = numberOf(interval, "z_low");
  const high = numberOf(interval, "z_high");
  if (typeof spread !== "number" || low === undefined || high === undefined) return undefined;
  const isNew = subject.inventoryType === "new";
  const terms = [
    numberOf(version ?? trim ?? model, "level"),
    numberOf(year, "level"),
    numberOf(state, "level"),
    (numberOf(model, "by_year") ?? 0) * subject.year,
    (numberOf(model, "by_mileage") ?? 0) * (subject.miles / rules.mileageUnit),
    isNew ? 0 : (numberOf(model, "by_options") ?? 0) * (subject.optionValue / rules.optionUnit),
    subject.inventoryType === "certified" ? numberOf(model, "by_certificate") : 0,
  ];
  const value = (isNew ? (subject.msrp ?? 0) : 1) * Math.exp(terms.reduce<number>((sum, term) => sum + (term ?? 0), 0));
  return rounded({ value, low: value * Math.exp(low * spread), high: value * Math.exp(high * spread), step });
}

/** Returns whole dollars, at least one, as the fit does. */
const dollars = (value: number): number => Math.max(1, Math.round(Math.min(value, 2e9)));

const rounded = ({ value, low, high, step }: Estimate): Estimate => ({
  value: dollars(value),
  low: dollars(low),
  high: dollars(high),
  step,
});

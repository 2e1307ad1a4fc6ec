/** Schema `Valuation`: an estimate beside the price of a vehicle. */
import type { AnswerOf } from "../../contract/types.ts";
import { type Rating, rules, type Step, thresholdsOf } from "../../valuation/rules.ts";

export type Valuation = AnswerOf<"findComparables">["data"]["valuation"];

/** A value with the ends of its interval, in whole dollars, and what it rests on. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly step: Step;
  /** The options that it counts: those of the vehicle, or the mean of the listings that it rests on; null where they count for nothing. */
  readonly options: Valuation["options"];
}

const { coverage, outlierRatio } = rules;

/** Returns the options that a value of a step counts; null for new vehicles, whose MSRP has them, and without a fitted level. */
export const countedOptions = (
  inventoryType: unknown,
  step: Step,
  options: NonNullable<Valuation["options"]>,
): Valuation["options"] => (inventoryType === "new" || step === "body_and_age" ? null : options);

/** A vehicle without a value; `range` is what the listings have of the attribute that is out of range. */
export const withoutValue = (
  reason: NonNullable<Valuation["null_reason"]>,
  range: Valuation["range"] = null,
): Valuation => ({
  market_value: null,
  market_value_low: null,
  market_value_high: null,
  coverage,
  price_to_value: null,
  value_rating: null,
  rating_thresholds: null,
  step: null,
  options: null,
  null_reason: reason,
  range,
});

/** Returns what a price is rated by an estimate, as `ratingOf` does in SQL. */
function rate(price: number, { value, ...ends }: Estimate): Rating {
  const { great, good, fair } = thresholdsOf({ value, ...ends });
  if (price < great) return "great";
  if (price < good) return "good";
  return price <= fair ? "fair" : "high";
}

/** Returns the difference relative to the value, rounded as in SQL: half away from zero. */
function ratioOf(price: number, value: number): number {
  const rounded = Math.round(Math.abs(10_000 * (price - value)) / value) / 10_000;
  return price < value ? -rounded : rounded;
}

export function valuationOf(estimate: Estimate, price: number | null): Valuation {
  const { value, low, high, step, options } = estimate;
  const thresholds = thresholdsOf(estimate);
  const rated = price !== null && price >= value / outlierRatio && price <= value * outlierRatio ? price : null;
  return {
    market_value: value,
    market_value_low: low,
    market_value_high: high,
    coverage,
    price_to_value: rated === null ? null : ratioOf(rated, value),
    value_rating: rated === null ? null : rate(rated, estimate),
    rating_thresholds: { ...thresholds, good: Math.round(100 * thresholds.good) / 100 },
    step,
    options,
    null_reason: null,
    range: null,
  };
}

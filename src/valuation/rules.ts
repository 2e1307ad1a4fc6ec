/**
 * The numbers of the valuation: what is fitted, how far a comparable may be from its subject, and where a rating begins. `docs/valuation.md` explains
 * them, and answers repeat those that they rest on.
 */
import { integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import type { ratings } from "../listing/schema.ts";

/** The share of prices below an interval, and above it. */
const tail = 0.1;

export const rules = {
  /** Sales of this many days before the published one are comparables, and are part of the fit. */
  soldDays: 90,
  /** Markets with fewer listings with a price are not valued. */
  marketMin: 200,
  /** A value rests on at least this many listings: of the trim, else of the model, else of the body type and age. */
  sampleMin: 5,
  bodySampleMin: 30,
  /** Prices below 1 / 2 or above 2 times the median of their model and year are left out of slopes and spreads. */
  outlierRatio: 2,
  /** So are odometers above this. */
  milesMax: 400_000,
  /** The slopes of a model are pulled towards those of its body type, and these towards the market's, as if there were this many listings of them. */
  slopePull: 30,
  /** 10,000 miles cost at most this share of a price, unless this number of listings of the model says otherwise. */
  mileageLossMax: 0.08,
  slopeListingsMin: 100,
  /** The same for levels: a version towards its trim, a trim towards its model; and for the effect of a model year, and of a state. */
  levelPull: 1,
  yearPull: 3,
  statePull: 30,
  /** The spread of a model and age is pulled towards that of the age. */
  spreadPull: 10,
  /** Listings are held out by folds, one after the other until this many have been; an interval is calibrated on at least `calibrationMin` of them. */
  folds: 5,
  heldOutMin: 20_000,
  calibrationMin: 50,
  /** The share of asking prices that the interval contains, that below and that above it, and where they end in a normal distribution, in standard deviations. */
  coverage: 1 - 2 * tail,
  tail,
  normalTail: 1.2816,
  /** No value is below the lowest price of its listings divided by this, or above the highest one times this. */
  priceSlack: 1.5,
  /** Option prices are fitted in units of this many dollars, mileage in units of this many miles. */
  optionUnit: 30_000,
  mileageUnit: 10_000,
  /** Ages in model years at which another band of spreads begins. */
  ageBands: [3, 6, 9],
  /** Dollars above which another band of prices begins. */
  priceBands: [5000, 10_000, 20_000, 35_000, 50_000],
} as const;

/** The steps from which a value is taken: the first one with enough listings. */
export const steps = ["trim", "model", "body_and_age"] as const;
export type Step = (typeof steps)[number];

export type Rating = (typeof ratings)[number];

/**
 * Returns the rating of a price: `great` below the interval, `high` above it; `good` where the price is below the value by more than a third of the
 * distance from the value to the lower end of the interval (in logarithms), `fair` otherwise.
 */
export const ratingOf = (price: Sql, { value, low, high }: Readonly<Record<"value" | "low" | "high", Sql>>): Sql => sql`
  CASE WHEN ${price} < ${low} THEN 'great' WHEN ${price} < ${value} * pow(${low} / ${value}, 1.0 / 3) THEN 'good'
       WHEN ${price} <= ${high} THEN 'fair' ELSE 'high' END`;

/** The prices below which a listing is rated `great` and `good`, and up to which it is `fair`, in dollars: `ratingOf` in JavaScript. */
export const thresholdsOf = ({ value, low, high }: Readonly<Record<"value" | "low" | "high", number>>) => ({
  great: low,
  good: value * (low / value) ** (1 / 3),
  fair: high,
});

/** How comparables are weighted; scales are those of the factors' exponents. */
export const nearness = {
  comparablesMax: 60,
  /** Comparables are at most this many model years older or newer. */
  yearsMax: 3,
  /** The factors of another version of the trim, and of another trim. */
  trimWeight: 0.6,
  modelWeight: 0.15,
  yearScale: 1.2,
  /** In miles: a constant and a share of the subject's mileage. */
  mileageScale: 8000,
  mileageShare: 0.25,
  /** Dollars of options. */
  optionScale: 6000,
  /** Days since the sale. */
  soldScale: 45,
  /** Miles between dealers. */
  distanceScale: 1500,
} as const;

/** Returns the age band of a model year: 0 for the newest. */
export const bandOf = (year: Sql, newestYear: Sql): Sql =>
  countOf(rules.ageBands.map((from) => sql`(${newestYear} - ${year}) >= ${integerLiteral(from)}`));

/** Returns the band of a price: 0 up to the first bound. */
export const priceBandOf = (price: Sql): Sql =>
  countOf(rules.priceBands.map((bound) => sql`${price} > ${integerLiteral(bound)}`));

/** Returns how many conditions hold. */
const countOf = (conditions: readonly Sql[]): Sql =>
  join(
    conditions.map((condition) => sql`(${condition})::INTEGER`),
    sql` + `,
  );

/** Returns a sum pulled towards another value as if that had `weight` observations. */
export const pulled = (value: Sql, towards: Sql, count: Sql, weight: number): Sql =>
  sql`(${towards} + ${count} / (${count} + ${numberLiteral(weight)}) * (${value} - ${towards}))`;

/** Mileage and prices of demo cars: asking price from MSRP, discount, age and mileage; price cuts over the days on market. */
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** Shares of new cars sold at list price, and of demonstrators. */
const atListShare = 0.15;
const demonstratorShare = 0.03;
/** Share of the price of options that a used car retains. */
const optionsRetained = 0.5;
/** Factor by which certification raises the price. */
const certifiedFactor = 1.04;
/** Lowest asking price, in dollars. */
const priceMin = 1995;

/** Price cuts can occur every two weeks, starting at least a week after arrival. */
const cutIntervalDays = 14;
const firstCutDaysMin = 7;
const cutsMax = 12;
export const cutProbability = { new: 0.35, used: 0.55 } as const;

/** Returns SQL for a car's mileage at arrival, over a row of `createCars`. */
export const milesOf = (draws: RandomDraws, car: Sql): Sql => sql`CASE
  WHEN kind = 'new' AND ${draws.occurs("demonstrator", car, demonstratorShare)} THEN 400 + ${draws.integerBelow("demonstrator miles", car, 4200)}
  WHEN kind = 'new' THEN 2 + ${draws.integerBelow("new miles", car, 38)}
  WHEN kind = 'certified' THEN least(78000, round(usual_miles * 0.8 * exp(0.3 * ${draws.normal("miles", car)})))::INTEGER
  ELSE least(290000, round(usual_miles * if(value = 'exotic', 0.35, 1) * exp(0.4 * ${draws.normal("miles", car)})))::INTEGER END`;

/** Returns SQL for the first asking price in dollars, over a row of `createCars` with its mileage. */
export const askingPrice = (draws: RandomDraws, car: Sql): Sql => {
  const discount = sql`if(${draws.occurs("at list", car, atListShare)}, 0, discount * (0.3 + 1.4 * ${draws.uniform("discount", car)}))`;
  const retainedValue = sql`CASE value WHEN 'mainstream' THEN mainstream WHEN 'strong' THEN strong WHEN 'luxury' THEN luxury WHEN 'electric' THEN electric ELSE exotic END`;
  const wear = sql`exp(-0.0000045 * (miles - usual_miles) + 0.05 * ${draws.normal("condition", car)})`;
  return sql`round(CASE WHEN kind = 'new' THEN (base_msrp + options_msrp) * (1 - ${discount})
    ELSE greatest(${numberLiteral(priceMin)}, (base_msrp + ${numberLiteral(optionsRetained)} * options_msrp) * ${retainedValue} * ${wear}
      * if(kind = 'certified', ${numberLiteral(certifiedFactor)}, 1) * if(${isBranded(draws, car)}, 0.7, 1)) END)::INTEGER`;
};

/** Returns a condition: whether a used car has a branded title. */
export const isBranded = (draws: RandomDraws, car: Sql): Sql =>
  sql`(kind = 'used' AND ${draws.occurs("branded", car, 0.035)})`;

/** Returns SQL for the price `daysListed` days after arrival, in whole dollars, rounded to the dealer's preferred price ending. */
export function priceOn(draws: RandomDraws, car: Sql, daysListed: Sql): Sql {
  const firstCutDay = sql`${numberLiteral(firstCutDaysMin)} + ${draws.integerBelow("first cut", car, cutIntervalDays)}`;
  const opportunities = sql`greatest(0, least(${numberLiteral(cutsMax)}, (${daysListed} - ${firstCutDay}) // ${numberLiteral(cutIntervalDays)} + 1))`;
  const turn = sql`${car} * 16 + turn`;
  const share = sql`if(kind = 'new', ${numberLiteral(cutProbability.new)}, ${numberLiteral(cutProbability.used)})`;
  const cut = sql`if(${draws.occurs("cut", turn, share)}, 0.008 + 0.02 * ${draws.uniform("depth", turn)}, 0)`;
  const totalCut = sql`coalesce(list_sum(list_transform(range(${opportunities}), lambda turn: ${cut})), 0)`;
  const price = sql`(asking * (1 - least(${totalCut}, if(kind = 'new', 0.08, 0.2))))`;
  return sql`if(price_ending < 0, round(${price}), greatest(floor(${price} / 100) * 100 + price_ending, 995))::INTEGER`;
}

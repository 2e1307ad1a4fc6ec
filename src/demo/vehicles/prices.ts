/** What cars have run and cost: list prices less discounts, what age and miles leave of them, and how prices are cut as days go by. */
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** New cars at list price, and demonstrators among them. */
const atListShare = 0.15;
const demonstratorShare = 0.03;
/** How much of what an option cost is paid for in a used car. */
const optionsKept = 0.5;
const certifiedWorth = 1.04;
const lowestPrice = 1995;

/** Chances of a cut are two weeks apart, the first a week or more after arrival. */
const cutEveryDays = 14;
const firstCutDays = 7;
const cutsMost = 12;
export const cutShare = { new: 0.35, used: 0.55 } as const;

/** Miles on a car, from the columns of `cars` in the making. */
export const milesOf = (draws: RandomDraws, car: Sql): Sql => sql`CASE
  WHEN kind = 'new' AND ${draws.occurs("demonstrator", car, demonstratorShare)} THEN 400 + ${draws.integerBelow("demonstrator miles", car, 4200)}
  WHEN kind = 'new' THEN 2 + ${draws.integerBelow("new miles", car, 38)}
  WHEN kind = 'certified' THEN least(78000, round(usual_miles * 0.8 * exp(0.3 * ${draws.normal("miles", car)})))::INTEGER
  ELSE least(290000, round(usual_miles * if(value = 'exotic', 0.35, 1) * exp(0.4 * ${draws.normal("miles", car)})))::INTEGER END`;

/** The price asked at first, in dollars; reads miles and options of `cars` in the making. */
export const askingPrice = (draws: RandomDraws, car: Sql): Sql => {
  const discount = sql`if(${draws.occurs("at list", car, atListShare)}, 0, discount * (0.3 + 1.4 * ${draws.uniform("discount", car)}))`;
  const kept = sql`CASE value WHEN 'mainstream' THEN mainstream WHEN 'strong' THEN strong WHEN 'luxury' THEN luxury WHEN 'electric' THEN electric ELSE exotic END`;
  const worn = sql`exp(-0.0000045 * (miles - usual_miles) + 0.05 * ${draws.normal("condition", car)})`;
  return sql`round(CASE WHEN kind = 'new' THEN (base_msrp + options_msrp) * (1 - ${discount})
    ELSE greatest(${numberLiteral(lowestPrice)}, (base_msrp + ${numberLiteral(optionsKept)} * options_msrp) * ${kept} * ${worn}
      * if(kind = 'certified', ${numberLiteral(certifiedWorth)}, 1) * if(${isBranded(draws, car)}, 0.7, 1)) END)::INTEGER`;
};

/** Whether a used car has a title that tells of damage. */
export const isBranded = (draws: RandomDraws, car: Sql): Sql =>
  sql`(kind = 'used' AND ${draws.occurs("branded", car, 0.035)})`;

/** The price on a day, `daysThere` after arrival, as the dealer writes its prices. */
export function priceOn(draws: RandomDraws, car: Sql, daysThere: Sql): Sql {
  const first = sql`${numberLiteral(firstCutDays)} + ${draws.integerBelow("first cut", car, cutEveryDays)}`;
  const chances = sql`greatest(0, least(${numberLiteral(cutsMost)}, (${daysThere} - ${first}) // ${numberLiteral(cutEveryDays)} + 1))`;
  const turn = sql`${car} * 16 + turn`;
  const share = sql`if(kind = 'new', ${numberLiteral(cutShare.new)}, ${numberLiteral(cutShare.used)})`;
  const cut = sql`if(${draws.occurs("cut", turn, share)}, 0.008 + 0.02 * ${draws.uniform("depth", turn)}, 0)`;
  const cuts = sql`coalesce(list_sum(list_transform(range(${chances}), lambda turn: ${cut})), 0)`;
  const price = sql`(asking * (1 - least(${cuts}, if(kind = 'new', 0.08, 0.2))))`;
  return sql`if(price_ending < 0, round(${price}), greatest(floor(${price} / 100) * 100 + price_ending, 995))::INTEGER`;
}

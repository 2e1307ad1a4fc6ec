/**
 * Mileage and prices of demo cars: asking price from MSRP, discount, age, mileage, model, dealer, state and color; price cuts over the days on market.
 *
 * What no attribute explains, `excess`, has consequences: a car with a higher price than its like stays longer (see `cars.ts`), and is cut more often.
 */
import { join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import { type RandomDraws, textKey } from "../random.ts";

/** Shares of new cars sold above list price, at it, and of demonstrators. */
const aboveListShare = 0.05;
const atListShare = 0.15;
const demonstratorShare = 0.03;
/** Share of the price of options that a used car retains. */
const optionsRetained = 0.5;
/** Factor by which certification raises the price. */
const certifiedFactor = 1.04;
/** Standard deviations of the logarithm of the price: between dealers, states and base colors, and between models by year of age and by 10,000 miles. */
const deviations = { dealer: 0.03, state: 0.025, color: 0.01, modelYear: 0.012, model10kMiles: 0.012 } as const;
/** The logarithm by which 10,000 miles more than usual lower the price of the average model. */
const wearOf10kMiles = 0.045;
/** Standard deviation of the excess of a used car of age 0, and by year of age. That of some cars is much larger. */
const excessDeviation = 0.016;
const excessDeviationByYear = 0.006;
const oddShare = 0.08;
const oddDeviation = 0.15;
/** The largest effect of an odd price, and of a car's excess, on the logarithm of its price: no dealer asks half of what its car is worth. */
const oddMax = 0.2;
const excessMax = 0.15;
/** Factor of the price of a car with a branded title. */
const brandedFactor = 0.7;
/** By which part of the usual discount of its make a new car's discount is smaller for a price level or an excess of 1. */
const discountOfLevel = 7;
const discountOfExcess = 0.15;
/** By which part of its `season`, the logarithm of its appeal in the month of its arrival, a car's price is higher and its cuts are less probable. */
const priceOfSeason = 0.03;
const cutsOfSeason = 0.1;
/** Lowest asking price, in dollars, and that from which prices are rounded to hundreds. */
const priceMin = 1995;
const roundedMin = 20_000;

/** Price cuts can occur every two weeks, starting at least a week after arrival, and every week once a car is aged. */
const cutIntervalDays = 14;
const agedDays = 8.5 * cutIntervalDays;
const firstCutDaysMin = 7;
const cutProbability = { new: 0.35, used: 0.55 } as const;
/** By how much the probability of a cut rises with each opportunity, and the number of opportunities after which cuts are half as deep. */
const cutUrgency = 0.045;
const halfCuts = 12;
/** By how much the probability of a cut changes with a standard deviation of the excess, and its bounds. */
const cutSlope = 0.15;
const cutBounds = { min: 0.05, max: 0.95 } as const;

/** Returns SQL for the excess of a car's price in standard deviations. */
export const excessOf = (draws: RandomDraws, car: Sql): Sql => draws.normal("excess", car);

/** Returns SQL for the effect of a dealer and its state on the logarithm of prices, over a row with `dealer` and `state`. */
export const priceLevelOf = (draws: RandomDraws, dealer: Sql): Sql =>
  sql`(${numberLiteral(deviations.dealer)} * ${draws.normal("price level", dealer)}
    + ${numberLiteral(deviations.state)} * ${draws.normal("state price level", textKey(sql`state`))})`;

/** Returns SQL for a car's mileage at arrival, over a row of `createCars`. */
export const milesOf = (draws: RandomDraws, car: Sql): Sql => sql`CASE
  WHEN kind = 'new' AND ${draws.occurs("demonstrator", car, demonstratorShare)} THEN 400 + ${draws.integerBelow("demonstrator miles", car, 4200)}
  WHEN kind = 'new' THEN 2 + ${draws.integerBelow("new miles", car, 38)}
  WHEN kind = 'certified' THEN least(78000, round(usual_miles * 0.8 * exp(0.3 * ${draws.normal("miles", car)})))::INTEGER
  ELSE least(290000, round(usual_miles * if(value = 'exotic', 0.35, 1) * exp(0.4 * ${draws.normal("miles", car)})))::INTEGER END`;

/** Returns SQL for the first asking price in dollars, over a row of `createCars` with its mileage and base color. */
export const askingPrice = (draws: RandomDraws, car: Sql): Sql => {
  const level = sql`(price_level + ${numberLiteral(priceOfSeason)} * season + ${numberLiteral(deviations.color)} * ${draws.normal("color price", textKey(sql`paint_base`))})`;
  const discount = sql`CASE WHEN ${draws.occurs("above list", car, aboveListShare)} THEN -0.01 - 0.09 * ${draws.uniform("markup", car)}
    WHEN ${draws.occurs("at list", car, atListShare)} THEN 0
    ELSE discount * (0.3 + 1.4 * ${draws.uniform("discount", car)} - ${numberLiteral(discountOfLevel)} * ${level} - ${numberLiteral(discountOfExcess)} * ${excessOf(draws, car)}) END`;
  const retainedValue = sql`CASE value WHEN 'mainstream' THEN mainstream WHEN 'strong' THEN strong WHEN 'luxury' THEN luxury WHEN 'electric' THEN electric ELSE exotic END`;
  const wear = sql`(${numberLiteral(-wearOf10kMiles)} + ${numberLiteral(deviations.model10kMiles)} * ${draws.normal("wear", sql`model_key`)}) * (miles - usual_miles) / 10000`;
  const depreciation = sql`${numberLiteral(deviations.modelYear)} * ${draws.normal("depreciation", sql`model_key`)} * age`;
  const odd = sql`if(${draws.occurs("odd", car, oddShare)}, ${bounded(sql`${numberLiteral(oddDeviation)} * ${draws.normal("odd price", car)}`, oddMax)}, 0)`;
  const usualExcess = sql`(${numberLiteral(excessDeviation)} + ${numberLiteral(excessDeviationByYear)} * age) * ${excessOf(draws, car)}`;
  const excess = sql`${bounded(usualExcess, excessMax)} + ${odd}`;
  return sql`round(CASE WHEN kind = 'new' THEN (base_msrp + options_msrp) * (1 - ${discount})
    ELSE greatest(${numberLiteral(priceMin)}, (base_msrp + ${numberLiteral(optionsRetained)} * options_msrp) * ${retainedValue}
      * exp(${level} + ${wear} + ${depreciation} + ${excess}) * if(kind = 'certified', ${numberLiteral(certifiedFactor)}, 1) * if(${isBranded(draws, car)}, ${numberLiteral(brandedFactor)}, 1)) END)::INTEGER`;
};

/** Returns SQL for a value that approaches a bound on either side instead of exceeding it. */
const bounded = (value: Sql, bound: number): Sql =>
  sql`${numberLiteral(bound)} * tanh((${value}) / ${numberLiteral(bound)})`;

/** Returns a condition: whether a used car has a branded title. */
export const isBranded = (draws: RandomDraws, car: Sql): Sql =>
  sql`(kind = 'used' AND ${draws.occurs("branded", car, 0.035)})`;

/** Returns SQL for the price `daysListed` days after arrival, in whole dollars, rounded to the dealer's preferred price ending, of cheap cars to its last digit. */
export function priceOn(draws: RandomDraws, car: Sql, daysListed: Sql): Sql {
  const firstCutDay = sql`(${numberLiteral(firstCutDaysMin)} + ${draws.integerBelow("first cut", car, cutIntervalDays)})`;
  const opportunitiesFrom = (day: Sql): Sql =>
    sql`greatest(0, (${daysListed} - ${day} + ${numberLiteral(cutIntervalDays)})::INTEGER // ${numberLiteral(cutIntervalDays)})`;
  const opportunities = sql`${opportunitiesFrom(firstCutDay)} + ${opportunitiesFrom(sql`(${firstCutDay} + ${numberLiteral(agedDays)})`)}`;
  const turn = sql`${car} * 64 + turn`;
  const usual = sql`if(kind = 'new', ${numberLiteral(cutProbability.new)}, ${numberLiteral(cutProbability.used)}) + ${numberLiteral(cutUrgency)} * turn`;
  const share = sql`greatest(${numberLiteral(cutBounds.min)}, least(${numberLiteral(cutBounds.max)}, ${usual} + ${numberLiteral(cutSlope)} * ${excessOf(draws, car)} - ${numberLiteral(cutsOfSeason)} * season))`;
  const depth = sql`(0.006 + 0.016 * ${draws.uniform("depth", turn)}) / (1 + turn / ${numberLiteral(halfCuts)})`;
  const cut = sql`if(${draws.occurs("cut", turn, share)}, ${depth}, 0)`;
  const totalCut = sql`coalesce(list_sum(list_transform(range(${opportunities}), lambda turn: ${cut})), 0)`;
  const price = sql`(asking * (1 - ${totalCut}))`;
  const step = sql`if(${price} < ${numberLiteral(roundedMin)}, 10, 100)`;
  return sql`if(price_ending < 0, round(${price}), greatest(floor(${price} / ${step}) * ${step} + price_ending % ${step}, 995))::INTEGER`;
}

const providerShare = { new: 0.25, other: 0.1 } as const;

/** Returns the pricing fields of an inventory row; all null if the provider shows no breakdown. */
export function pricingOf(draws: RandomDraws, format: MarketShape["format"]): Readonly<Record<string, Sql>> {
  const car = sql`car`;
  const isShown = draws.occurs(
    "provider",
    car,
    sql`if(kind = 'new', ${numberLiteral(providerShare.new)}, ${numberLiteral(providerShare.other)})`,
  );
  const fee = sql`(199 + 50 * ${draws.integerBelow("doc fee", sql`dealer`, 15)})`;
  const rebate = sql`if(kind = 'new' AND ${draws.occurs("rebate", car, 0.4)}, 500 + 250 * ${draws.integerBelow("rebate amount", car, 9)}, 0)`;
  const ifShown = (value: Sql): Sql => sql`CASE WHEN ${isShown} THEN ${value} END`;
  const items = lineItems(fee, rebate);
  return {
    displayed_provider_current_price_usd: ifShown(sql`price`),
    seller_total_before_taxes_and_registration_usd: ifShown(sql`price + ${fee} - ${rebate}`),
    seller_total_before_manufacturer_incentives_usd: ifShown(sql`price + ${fee}`),
    dealer_adjusted_vehicle_price_usd: ifShown(sql`price`),
    line_items: format === "csv" ? sql`CASE WHEN ${isShown} THEN to_json(${items})::VARCHAR END` : ifShown(items),
  };
}

/** The line items of a breakdown, as a list of structs. Items that do not apply to a car are left out. */
function lineItems(fee: Sql, rebate: Sql): Sql {
  const listPrice = sql`(base_msrp + options_msrp)`;
  const isNew = sql`kind = 'new'`;
  // biome-ignore format: a table is read by its columns
  const items: readonly (readonly [condition: Sql, item: LineItem, amount: Sql])[] = [
    [isNew, { key: "msrp", order: 1, label: "MSRP", role: "msrp", direction: "none" }, listPrice],
    [sql`${isNew} AND ${listPrice} > price`,
      { key: "discount", order: 2, label: "Dealer Discount", role: "dealer_discount", direction: "subtract" }, sql`${listPrice} - price`],
    [sql`true`, { key: "doc", order: 3, label: "Documentation Fee", role: "doc_fee", direction: "add" }, fee],
    [sql`${rebate} > 0`, { key: "rebate", order: 4, label: "Manufacturer Customer Cash", role: "manufacturer_incentive", applicability: "conditional",
      direction: "subtract" }, rebate],
  ];
  const listed = items.map(([condition, item, amount]) => sql`if(${condition}, ${lineItem(item, amount)}, NULL)`);
  return sql`list_filter([${join(listed)}], lambda item: item IS NOT NULL)`;
}

interface LineItem {
  readonly key: string;
  readonly order: number;
  readonly label: string;
  readonly role: string;
  /** Default: `all`. */
  readonly applicability?: string;
  readonly direction: "add" | "subtract" | "none";
}

function lineItem({ key, order, label, role, applicability = "all", direction }: LineItem, amount: Sql): Sql {
  return sql`struct_pack(amount_usd := (${amount})::DOUBLE, raw_label := ${literal(label)}, role := ${literal(role)}, applicability := ${literal(applicability)},
      direction := ${literal(direction)}, row_key := ${literal(key)}, row_order := ${numberLiteral(order)}, subtype := NULL::VARCHAR)`;
}

/**
 * Creates the cars of the demo market and their lifetimes. Each place at a dealer holds one car after another, so that dealers keep their
 * size. Days are counted from 0, the first delivery; a car is listed from day `arrives` up to but excluding day `leaves`.
 */
import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { drawDirt } from "../deliveries/dirt.ts";
import { type MarketShape, stayDaysMin, vacancyDaysMax, vacancyShare } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";
import { interiorKey, paintKey, plantOf } from "../vehicles/catalogue.ts";
import { equipmentKey, equipmentOf } from "../vehicles/equipment.ts";
import { askingPrice, excessOf, milesOf } from "../vehicles/prices.ts";
import { cellsOfAny, cellsOfMake } from "../vehicles/variants.ts";
import { uncheckedVin, withCheckDigit } from "../vehicles/vins.ts";

/** Standard deviation of the logarithm of the length of stay, and the part of it that the excess of the price explains. */
const stayDeviation = 0.7;
const stayOfExcess = 0.3;
/** Median days of stay of used and certified cars. That of new cars depends on the make. */
const usedMedianDays = 38;
const certifiedMedianDays = 32;

/** Creates the table `cars`: one row per car listed within the span, with narrow columns that are functions of the car's number. */
export async function createCars(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  await createLifetimes(session, draws, shape);
  await session.createTempTable("cars_with_variant", carsWithVariant(draws));
  await session.drop("lifetimes", "slots");
  await session.createTempTable("cars", carDetails(draws, shape));
  await session.drop("cars_with_variant");
}

/** Creates the tables `slots` (every place of every dealer) and `lifetimes` (the cars of each slot, with arrival and departure). */
async function createLifetimes(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  await session.createTempTable(
    "slots",
    sql`SELECT kind, make, dealer, is_large, price_level, unnest(range(first_slot, first_slot + slots)) AS slot,
               unnest(range(first_place, first_place + slots))::INTEGER AS place, pool_key,
               CASE kind WHEN 'new' THEN days WHEN 'used' THEN ${numberLiteral(usedMedianDays)} ELSE ${numberLiteral(certifiedMedianDays)} END AS median_days
        FROM (SELECT places.*, dealers.is_large, price_level, days, pool_key FROM places JOIN dealers USING (dealer) LEFT JOIN makes_facts USING (make)
              JOIN (SELECT DISTINCT pool, pool_key FROM variant_pools) ON pool = kind || ' ' || make)`,
  );
  const elapsedShare = draws.uniform("age", sql`slot`);
  await session.createTempTable(
    "lifetimes",
    sql`SELECT slot, slot AS car, arrives::INTEGER AS arrives, (arrives + length)::INTEGER AS leaves
        FROM (SELECT slot, length, if(is_large AND ${draws.occurs("empty at first", sql`slot`, vacancyShare)}, 1 + ${draws.integerBelow("first day", sql`slot`, vacancyDaysMax)},
                -floor(${elapsedShare} * length)) AS arrives
              FROM (SELECT slot, is_large, ${lengthOfStay(draws, sql`slot`, true)} AS length FROM slots))
        WHERE arrives < ${numberLiteral(shape.days)}`,
  );
  for (let generation = 1; generation <= shape.days; generation += 1) {
    const car = sql`(slot + ${numberLiteral(generation)} * ${numberLiteral(2 * shape.listings)}::BIGINT)`;
    await session.run(sql`
      INSERT INTO lifetimes
      SELECT slot, ${car}, arrives, arrives + ${lengthOfStay(draws, car, false)}
      FROM (SELECT slots.*, lifetimes.leaves + if(is_large, ${draws.integerBelow("empty", sql`lifetimes.car`, vacancyDaysMax + 1)}, 0) AS arrives
            FROM lifetimes JOIN slots USING (slot)
            WHERE lifetimes.car >= ${numberLiteral((generation - 1) * 2 * shape.listings)}::BIGINT AND lifetimes.leaves < ${numberLiteral(shape.days)})
      WHERE arrives < ${numberLiteral(shape.days)}`);
  }
}

/** Returns a car's days of stay. Stays in progress on a given day are longer than average (length bias), so their median is higher. */
function lengthOfStay(draws: RandomDraws, key: Sql, isInProgress: boolean): Sql {
  const median = isInProgress
    ? sql`median_days * exp(${numberLiteral(stayDeviation)} * ${numberLiteral(stayDeviation)})`
    : sql`median_days`;
  const rest = numberLiteral(Math.sqrt(stayDeviation ** 2 - stayOfExcess ** 2));
  const deviation = sql`${numberLiteral(stayOfExcess)} * ${excessOf(draws, key)} + ${rest} * ${draws.normal("stay", key)}`;
  return sql`greatest(${numberLiteral(stayDaysMin)}, least(400, round(${median} * exp(${deviation}))))::INTEGER`;
}

/** Draws each car's variant. A separate statement: with more joins in one query, the engine chooses a join order that explodes. */
function carsWithVariant(draws: RandomDraws): Sql {
  const car = sql`car`;
  const cell = sql`pool_key::BIGINT * ${numberLiteral(cellsOfAny)} + ${draws.integerBelow("variant", car, sql`if(make = 'any', ${numberLiteral(cellsOfAny)}, ${numberLiteral(cellsOfMake)})`)}`;
  return sql`
    SELECT car, kind, dealer::INTEGER AS dealer, place, is_large, price_level, arrives, leaves, variant
    FROM (SELECT lifetimes.*, kind, dealer, place, is_large, price_level, ${cell} AS cell_key FROM lifetimes JOIN slots USING (slot)) JOIN variant_cells USING (cell_key)`;
}

/** Adds each car's VIN, equipment, colors, dirt, mileage and first asking price. */
function carDetails(draws: RandomDraws, { options, shares }: MarketShape): Sql {
  const car = sql`car`;
  const withBuild = sql`
    SELECT keyed.*, model_key, age, value, discount, base_msrp, ${equipmentOf(draws, options, car).msrp} AS options_msrp, mainstream, strong, luxury, electric, exotic, usual_miles,
           make, model, engine, "year", ${plantOf(draws, car)} AS plant,
           ${drawDirt(draws, car, shares.dirt)} AS dirt, ${paintKey(draws, car)} AS paint_key, ${interiorKey(draws, car)} AS interior_key
    FROM (SELECT *, ${equipmentKey(draws, options, car)} AS equipment_key FROM cars_with_variant) AS keyed
    JOIN (SELECT variant, make_key, model_key, age, value, discount, base_msrp, usual_miles, mainstream, strong, luxury, electric, exotic
          FROM variants JOIN (SELECT * EXCLUDE (line, miles), miles AS usual_miles FROM ages_facts) USING (age)) USING (variant)
    JOIN (SELECT variant, make, model, engine, "year", plants FROM catalogue) AS catalogue USING (variant)
    JOIN configured_equipment AS equipment USING (equipment_key)`;
  return sql`
    SELECT car, kind, dealer, place, is_large, arrives, leaves, variant, equipment_key, paint_key, interior_key, dirt, miles, options_msrp,
           ${askingPrice(draws, car)} AS asking, ${withCheckDigit(sql`unchecked`)} AS vin
    FROM (SELECT *, ${milesOf(draws, car)} AS miles, ${uncheckedVin(car)} AS unchecked FROM (${withBuild}))
    JOIN (SELECT paint_key, paint_base FROM paints) AS paints USING (paint_key)`;
}

/**
 * Which car stands in which place, from which day to which: a place on a lot has one car after the other, so that a dealer's size
 * stays what it is. Days count from 0, the first one delivered; a stay lasts from its first day to the one before its last.
 */

import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { drawDirt } from "../deliveries/dirt.ts";
import { type MarketShape, stayDaysMin, vacancyDaysMax, vacancyShare } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";
import { interiorKey, paintKey, plantOf } from "../vehicles/catalogue.ts";
import { equipmentKey, equipmentOf } from "../vehicles/equipment.ts";
import { askingPrice, milesOf } from "../vehicles/prices.ts";
import { cellsOfAny, cellsOfMake } from "../vehicles/variants.ts";
import { uncheckedVin, withCheckDigit } from "../vehicles/vins.ts";

/** How much stays differ: the deviation of their logarithm. */
const staySpread = 0.7;
/** Median days of used and certified cars; those of new ones are the make's. */
const usedDays = 38;
const certifiedDays = 32;

/** Makes `cars`, one row for each that is there within the span: what follows from its number alone, in narrow columns. */
export async function createCars(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  await session.createTempTable(
    "slots",
    sql`SELECT kind, make, dealer, is_steady, unnest(range(first_slot, first_slot + slots)) AS slot,
               unnest(range(first_place, first_place + slots))::INTEGER AS place, pool_key,
               CASE kind WHEN 'new' THEN days WHEN 'used' THEN ${numberLiteral(usedDays)} ELSE ${numberLiteral(certifiedDays)} END AS median_days
        FROM (SELECT places.*, dealers.is_steady, days, pool_key FROM places JOIN dealers USING (dealer) LEFT JOIN makes_facts USING (make)
              JOIN (SELECT DISTINCT pool, pool_key FROM variant_pools) ON pool = kind || ' ' || make)`,
  );
  const age = draws.uniform("age", sql`slot`);
  await session.createTempTable(
    "spans",
    sql`SELECT slot, slot AS car, arrives::INTEGER AS arrives, (arrives + length)::INTEGER AS leaves
        FROM (SELECT slot, length, if(is_steady AND ${draws.occurs("empty at first", sql`slot`, vacancyShare)}, 1 + ${draws.integerBelow("first day", sql`slot`, vacancyDaysMax)},
                -floor(${age} * length)) AS arrives
              FROM (SELECT slot, is_steady, ${staying(draws, sql`slot`, true)} AS length FROM slots))
        WHERE arrives < ${numberLiteral(shape.days)}`,
  );
  for (let generation = 1; generation <= shape.days; generation += 1) {
    const car = sql`(slot + ${numberLiteral(generation)} * ${numberLiteral(2 * shape.listings)}::BIGINT)`;
    await session.run(sql`
      INSERT INTO spans
      SELECT slot, ${car}, arrives, arrives + ${staying(draws, car, false)}
      FROM (SELECT slots.*, spans.leaves + if(is_steady, ${draws.integerBelow("empty", sql`spans.car`, vacancyDaysMax + 1)}, 0) AS arrives
            FROM spans JOIN slots USING (slot)
            WHERE spans.car >= ${numberLiteral((generation - 1) * 2 * shape.listings)}::BIGINT AND spans.leaves < ${numberLiteral(shape.days)})
      WHERE arrives < ${numberLiteral(shape.days)}`);
  }
  await session.createTempTable("drawn", drawn(draws));
  await session.drop("spans", "slots");
  await session.createTempTable("cars", described(draws, shape));
  await session.drop("drawn");
}

/** How many days a car stays. One that is met on a given day stays longer than most: long stays are met more often. */
function staying(draws: RandomDraws, about: Sql, isMet: boolean): Sql {
  const median = isMet
    ? sql`median_days * exp(${numberLiteral(staySpread)} * ${numberLiteral(staySpread)})`
    : sql`median_days`;
  return sql`greatest(${numberLiteral(stayDaysMin)}, least(400, round(${median} * exp(${numberLiteral(staySpread)} * ${draws.normal("stay", about)}))))::INTEGER`;
}

/** Each car with its variant. In a statement of its own: with more joins in one, the engine takes them in an order that explodes. */
function drawn(draws: RandomDraws): Sql {
  const car = sql`car`;
  const cell = sql`pool_key::BIGINT * ${numberLiteral(cellsOfAny)} + ${draws.integerBelow("variant", car, sql`if(make = 'any', ${numberLiteral(cellsOfAny)}, ${numberLiteral(cellsOfMake)})`)}`;
  return sql`
    SELECT car, kind, dealer::INTEGER AS dealer, place, is_steady, arrives, leaves, variant
    FROM (SELECT spans.*, kind, dealer, place, is_steady, ${cell} AS cell_key FROM spans JOIN slots USING (slot)) JOIN variant_cells USING (cell_key)`;
}

/** Each car's VIN, its equipment, its dirt, its miles and the price first asked. */
function described(draws: RandomDraws, { options, shares }: MarketShape): Sql {
  const car = sql`car`;
  const built = sql`
    SELECT keyed.*, value, discount, base_msrp, ${equipmentOf(draws, options, car).msrp} AS options_msrp, mainstream, strong, luxury, electric, exotic, usual_miles,
           make, model, engine, "year", ${plantOf(draws, car)} AS plant,
           ${drawDirt(draws, car, shares.dirt)} AS dirt, ${paintKey(draws, car)} AS paint_key, ${interiorKey(draws, car)} AS trimming_key
    FROM (SELECT *, ${equipmentKey(draws, options, car)} AS equipment_key FROM drawn) AS keyed
    JOIN (SELECT variant, make_key, value, discount, base_msrp, usual_miles, mainstream, strong, luxury, electric, exotic
          FROM variants JOIN (SELECT * EXCLUDE (line, miles), miles AS usual_miles FROM ages_facts) USING (age)) USING (variant)
    JOIN (SELECT variant, make, model, engine, "year", plants FROM catalogue) AS catalogue USING (variant)
    JOIN recipe_equipment AS equipment USING (equipment_key)`;
  return sql`
    SELECT car, kind, dealer, place, is_steady, arrives, leaves, variant, equipment_key, paint_key, trimming_key, dirt, miles, options_msrp,
           ${askingPrice(draws, car)} AS asking, ${withCheckDigit(sql`unchecked`)} AS vin
    FROM (SELECT *, ${milesOf(draws, car)} AS miles, ${uncheckedVin(car)} AS unchecked FROM (${built}))`;
}

/**
 * Which car stands in which place, from which day to which: a place on a lot has one car after the other, so that a dealer's size
 * stays what it is. Days count from 0, the first one delivered; a stay lasts from its first day to the one before its last.
 */

import type { Session } from "../../db/duckdb.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { dirtOf } from "../deliveries/dirt.ts";
import { emptyDaysMost, emptyShare, type MarketShape, stayDaysMin } from "../market-shape.ts";
import { fixed, type RandomDraws } from "../random.ts";
import { paintKey, plantOf, trimmingKey } from "../vehicles/catalogue.ts";
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
export async function createCars(session: Session, chance: RandomDraws, shape: MarketShape): Promise<void> {
  await session.createTempTable(
    "slots",
    sql`SELECT kind, make, dealer, is_steady, unnest(range(first_slot, first_slot + slots)) AS slot,
               unnest(range(first_place, first_place + slots))::INTEGER AS place, pool_key,
               CASE kind WHEN 'new' THEN days WHEN 'used' THEN ${fixed(usedDays)} ELSE ${fixed(certifiedDays)} END AS median_days
        FROM (SELECT places.*, dealers.is_steady, days, pool_key FROM places JOIN dealers USING (dealer) LEFT JOIN makes_facts USING (make)
              JOIN (SELECT DISTINCT pool, pool_key FROM variant_pools) ON pool = kind || ' ' || make)`,
  );
  const age = chance.even("age", sql`slot`);
  await session.createTempTable(
    "spans",
    sql`SELECT slot, slot AS car, arrives::INTEGER AS arrives, (arrives + length)::INTEGER AS leaves
        FROM (SELECT slot, length, if(is_steady AND ${chance.happens("empty at first", sql`slot`, emptyShare)}, 1 + ${chance.below("first day", sql`slot`, emptyDaysMost)},
                -floor(${age} * length)) AS arrives
              FROM (SELECT slot, is_steady, ${staying(chance, sql`slot`, true)} AS length FROM slots))
        WHERE arrives < ${fixed(shape.days)}`,
  );
  for (let generation = 1; generation <= shape.days; generation += 1) {
    const car = sql`(slot + ${fixed(generation)} * ${fixed(2 * shape.listings)}::BIGINT)`;
    await session.run(sql`
      INSERT INTO spans
      SELECT slot, ${car}, arrives, arrives + ${staying(chance, car, false)}
      FROM (SELECT slots.*, spans.leaves + if(is_steady, ${chance.below("empty", sql`spans.car`, emptyDaysMost + 1)}, 0) AS arrives
            FROM spans JOIN slots USING (slot)
            WHERE spans.car >= ${fixed((generation - 1) * 2 * shape.listings)}::BIGINT AND spans.leaves < ${fixed(shape.days)})
      WHERE arrives < ${fixed(shape.days)}`);
  }
  await session.createTempTable("drawn", drawn(chance));
  await session.drop("spans", "slots");
  await session.createTempTable("cars", described(chance, shape));
  await session.drop("drawn");
}

/** How many days a car stays. One that is met on a given day stays longer than most: long stays are met more often. */
function staying(chance: RandomDraws, about: Sql, isMet: boolean): Sql {
  const median = isMet ? sql`median_days * exp(${fixed(staySpread)} * ${fixed(staySpread)})` : sql`median_days`;
  return sql`greatest(${fixed(stayDaysMin)}, least(400, round(${median} * exp(${fixed(staySpread)} * ${chance.normal("stay", about)}))))::INTEGER`;
}

/** Each car with its variant. In a statement of its own: with more joins in one, the engine takes them in an order that explodes. */
function drawn(chance: RandomDraws): Sql {
  const car = sql`car`;
  const cell = sql`pool_key::BIGINT * ${fixed(cellsOfAny)} + ${chance.below("variant", car, sql`if(make = 'any', ${fixed(cellsOfAny)}, ${fixed(cellsOfMake)})`)}`;
  return sql`
    SELECT car, kind, dealer::INTEGER AS dealer, place, is_steady, arrives, leaves, variant
    FROM (SELECT spans.*, kind, dealer, place, is_steady, ${cell} AS cell_key FROM spans JOIN slots USING (slot)) JOIN variant_cells USING (cell_key)`;
}

/** Each car's VIN, its equipment, its dirt, its miles and the price first asked. */
function described(chance: RandomDraws, { options, shares }: MarketShape): Sql {
  const car = sql`car`;
  const built = sql`
    SELECT keyed.*, value, discount, base_msrp, ${equipmentOf(chance, options, car).msrp} AS options_msrp, mainstream, strong, luxury, electric, exotic, usual_miles,
           make, model, engine, "year", ${plantOf(chance, car)} AS plant,
           ${dirtOf(chance, car, shares.dirt)} AS dirt, ${paintKey(chance, car)} AS paint_key, ${trimmingKey(chance, car)} AS trimming_key
    FROM (SELECT *, ${equipmentKey(chance, options, car)} AS equipment_key FROM drawn) AS keyed
    JOIN (SELECT variant, make_key, value, discount, base_msrp, usual_miles, mainstream, strong, luxury, electric, exotic
          FROM variants JOIN (SELECT * EXCLUDE (line, miles), miles AS usual_miles FROM ages_facts) USING (age)) USING (variant)
    JOIN (SELECT variant, make, model, engine, "year", plants FROM catalogue) AS catalogue USING (variant)
    JOIN recipe_equipment AS equipment USING (equipment_key)`;
  return sql`
    SELECT car, kind, dealer, place, is_steady, arrives, leaves, variant, equipment_key, paint_key, trimming_key, dirt, miles, options_msrp,
           ${askingPrice(chance, car)} AS asking, ${withCheckDigit(sql`unchecked`)} AS vin
    FROM (SELECT *, ${milesOf(chance, car)} AS miles, ${uncheckedVin(car)} AS unchecked FROM (${built}))`;
}

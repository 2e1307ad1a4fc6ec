/**
 * Creates the cars of the demo market and their lifetimes. Each slot of a dealer holds one car after another, so that dealers keep their
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
import { cellsOfAny, cellsOfMake, uncheckedVin, withCheckDigit } from "../vehicles/variants.ts";
import { drawsPerCar, isAccepted } from "./appeal.ts";
import { type Rhythm, rhythmOf } from "./stays.ts";

/** Standard deviation of the logarithm of the length of stay (few new cars stay very long), and the part of it that the excess of the price explains. */
const stayDeviation = { new: 0.5, other: 0.7 } as const;
const stayOfExcess = 0.3;
/** Median days of stay of used and certified cars. That of new cars depends on the make. */
const usedMedianDays = 38;
const certifiedMedianDays = 32;

/** Creates the table `cars`: one row per car listed within the span, with narrow columns that are functions of the car's number. */
export async function createCars(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  const rhythm = rhythmOf(shape);
  await createLifetimes(session, draws, rhythm, shape);
  await createCarsWithVariant(session, draws, rhythm);
  await session.drop("lifetimes", "slots");
  await session.createTempTable("cars", carDetails(draws, shape));
  await session.drop("cars_with_variant");
}

/** Creates the tables `slots` (every slot of every dealer) and `lifetimes` (the cars of each slot, with arrival and departure). */
async function createLifetimes(
  session: Session,
  draws: RandomDraws,
  rhythm: Rhythm,
  shape: MarketShape,
): Promise<void> {
  await session.createTempTable(
    "slots",
    sql`SELECT kind, make, dealer::INTEGER AS dealer, is_large, price_level, region, unnest(range(first_slot, first_slot + slots)) AS slot,
               unnest(range(first_slot_at_dealer, first_slot_at_dealer + slots))::INTEGER AS slot_at_dealer, pool_key,
               CASE kind WHEN 'new' THEN days WHEN 'used' THEN ${numberLiteral(usedMedianDays)} ELSE ${numberLiteral(certifiedMedianDays)} END AS median_days
        FROM (SELECT slot_counts.*, dealers.is_large, price_level, region, days, pool_key FROM slot_counts JOIN dealers USING (dealer) LEFT JOIN makes_facts USING (make)
              JOIN (SELECT DISTINCT pool, pool_key FROM variant_pools) ON pool = kind || ' ' || make)`,
  );
  await session.createTempTable("lifetimes", firstLifetimes(draws, rhythm, shape));
  for (let generation = 1; generation <= shape.days; generation += 1)
    await session.run(sql`INSERT INTO lifetimes ${nextLifetimes(draws, rhythm, shape, generation)}`);
}

/** The cars in the slots on the first day, or soon after. */
function firstLifetimes(draws: RandomDraws, rhythm: Rhythm, { days }: MarketShape): Sql {
  const slot = sql`slot`;
  const isEmpty = sql`is_large AND ${draws.occurs("empty at first", slot, vacancyShare)}`;
  const length = lengthOfStay(draws, slot, { isInProgress: true, pace: rhythm.paceOn(sql`0`) });
  return sql`
    SELECT slot, slot AS car, arrives::INTEGER AS arrives, ${leavesOn(draws, rhythm, slot)} AS leaves
    FROM (SELECT slot, length, if(is_empty, elapsed, least(0, ${rhythm.onBusyDay(draws, "weekday of arrival", slot, sql`elapsed`)})) AS arrives, elapsed + length AS leaving
          FROM (SELECT slot, length, ${isEmpty} AS is_empty, if(${isEmpty}, 1 + ${draws.integerBelow("first day", slot, vacancyDaysMax)}, -floor(${draws.uniform("age", slot)} * length))::INTEGER AS elapsed
                FROM (SELECT slot, is_large, ${length} AS length FROM slots)))
    WHERE arrives < ${numberLiteral(days)}`;
}

/** The cars that follow those of the generation before. A large dealer's slot is vacant for some days between them. */
function nextLifetimes(draws: RandomDraws, rhythm: Rhythm, { listings, days }: MarketShape, generation: number): Sql {
  const numbersOf = (older: number): Sql => sql`${numberLiteral(older * 2 * listings)}::BIGINT`;
  const car = sql`car`;
  const vacancy = sql`if(is_large, ${draws.integerBelow("empty", sql`lifetimes.car`, vacancyDaysMax + 1)}, 0)`;
  const length = lengthOfStay(draws, car, { isInProgress: false, pace: rhythm.paceOn(sql`arrives`) });
  return sql`
    SELECT slot, car, arrives, ${leavesOn(draws, rhythm, car)}
    FROM (SELECT *, arrives + ${length} AS leaving
          FROM (SELECT slot, kind, car, median_days, if(arriving > free, greatest(free, ${rhythm.onBusyDay(draws, "weekday of arrival", car, sql`arriving`)}), free) AS arrives
                FROM (SELECT slot, kind, slot + ${numbersOf(generation)} AS car, median_days, leaves AS free, leaves + ${vacancy} AS arriving
                      FROM lifetimes JOIN slots USING (slot) WHERE lifetimes.car >= ${numbersOf(generation - 1)} AND leaves < ${numberLiteral(days)})))
    WHERE arrives < ${numberLiteral(days)}`;
}

/** The day on which a car leaves that is to leave on day `leaving`. */
const leavesOn = (draws: RandomDraws, rhythm: Rhythm, key: Sql): Sql =>
  sql`greatest(arrives + ${numberLiteral(stayDaysMin)}, ${rhythm.onBusyDay(draws, "weekday of departure", key, sql`leaving`)})::INTEGER`;

interface StayOfCar {
  /** Stays in progress on a given day are longer than average (length bias), so their median is higher. */
  readonly isInProgress: boolean;
  /** The pace of sales: cars stay for a shorter time if it is higher. */
  readonly pace: Sql;
}

/** Returns a car's days of stay. */
function lengthOfStay(draws: RandomDraws, key: Sql, { isInProgress, pace }: StayOfCar): Sql {
  const ofKind = (value: (deviation: number) => number): Sql =>
    sql`if(kind = 'new', ${numberLiteral(value(stayDeviation.new))}, ${numberLiteral(value(stayDeviation.other))})`;
  const bias = isInProgress ? ofKind((deviation) => Math.exp(deviation ** 2)) : sql`1`;
  const rest = ofKind((deviation) => Math.sqrt(deviation ** 2 - stayOfExcess ** 2));
  const deviation = sql`${numberLiteral(stayOfExcess)} * ${excessOf(draws, key)} + ${rest} * ${draws.normal("stay", key)}`;
  return sql`greatest(${numberLiteral(stayDaysMin)}, least(400, round(median_days * ${bias} / ${pace} * exp(${deviation}))))::INTEGER`;
}

/**
 * Creates the table `cars_with_variant`: each car with the first of its drawn variants that the appeal in its dealer's region and in the month of its
 * arrival accepts. Separate statements: with more joins in one query, the engine chooses a join order that explodes.
 */
async function createCarsWithVariant(session: Session, draws: RandomDraws, rhythm: Rhythm): Promise<void> {
  const narrow = sql`car, kind, make, pool_key, dealer, slot_at_dealer, is_large, price_level, arrives, leaves, region, "month"`;
  await session.createTempTable(
    "drawn_variants",
    variantsDrawn(
      draws,
      sql`SELECT lifetimes.* EXCLUDE (slot), slots.* EXCLUDE (slot, median_days), ${rhythm.monthOf(sql`arrives`)}::INTEGER AS "month", 0 AS nth FROM lifetimes JOIN slots USING (slot)`,
    ),
  );
  const drawnAgain = variantsDrawn(
    draws,
    sql`SELECT ${narrow}, unnest(range(1, ${numberLiteral(drawsPerCar)}))::INTEGER AS nth FROM drawn_variants WHERE NOT is_accepted`,
  );
  await session.createTempTable(
    "cars_with_variant",
    sql`SELECT * EXCLUDE (make, pool_key, region, "month", nth, cell_key, is_accepted) FROM (
          FROM drawn_variants WHERE is_accepted
          UNION ALL BY NAME (FROM (${drawnAgain}) QUALIFY row_number() OVER (PARTITION BY car ORDER BY is_accepted DESC, nth) = 1))`,
  );
  await session.drop("drawn_variants");
}

/** Draws a variant for each of some cars with the number `nth` of the draw, and adds its `season`, the logarithm of its appeal in the month. */
function variantsDrawn(draws: RandomDraws, cars: Sql): Sql {
  const key = sql`(car * ${numberLiteral(drawsPerCar)} + nth)`;
  const cell = draws.integerBelow(
    "variant",
    key,
    sql`if(make = 'any', ${numberLiteral(cellsOfAny)}, ${numberLiteral(cellsOfMake)})`,
  );
  const appeal = sql`if(make = 'any', among_all, within_make) * appeal`;
  return sql`
    SELECT drawn.*, variant, ln(appeal) AS season, ${isAccepted(draws, key, appeal)} AS is_accepted
    FROM (SELECT *, pool_key::BIGINT * ${numberLiteral(cellsOfAny)} + ${cell} AS cell_key FROM (${cars})) AS drawn
    JOIN variant_cells USING (cell_key) JOIN (SELECT variant, kind_key FROM variants) AS kinds USING (variant)
    JOIN region_appeal USING (kind_key, region) JOIN season_appeal USING (kind_key, "month")`;
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
    SELECT car, kind, dealer, slot_at_dealer, is_large, arrives, leaves, variant, season, equipment_key, paint_key, interior_key, dirt, miles, options_msrp,
           ${askingPrice(draws, car)} AS asking, ${withCheckDigit(sql`unchecked`)} AS vin
    FROM (SELECT *, ${milesOf(draws, car)} AS miles, ${uncheckedVin(car)} AS unchecked FROM (${withBuild}))
    JOIN (SELECT paint_key, paint_base FROM paints) AS paints USING (paint_key)`;
}

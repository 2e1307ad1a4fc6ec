/**
 * Creates all vehicle variants (line, trim, drivetrain, gearbox, cab, model year) with their frequency in each inventory type, and unique, valid VINs
 * (49 CFR 565).
 */
import type { Session } from "../../db/duckdb.ts";
import { integerLiteral, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { checkDigitOf } from "../../listing/vins.ts";

/** Age of the oldest cars on sale, in model years. */
const ageMax = 15;
const annualIncrease = 0.028;
/** Decay of a trim's popularity with its price, relative to the cheapest trim of the model. */
const priceDecay = 2.2;

/** Share of the newest model year among new cars, by month. The next model year goes on sale in July. */
const newestShareByMonth = [0.72, 0.78, 0.84, 0.88, 0.92, 0.95, 0.12, 0.25, 0.4, 0.52, 0.62, 0.7];

/** Returns the newest model year on sale on a day, and its share among new cars. */
function newestYear(day: string): { readonly year: number; readonly share: number } {
  const [year = 0, month = 1] = day.split("-").map(Number);
  return { year: month >= 7 ? year + 1 : year, share: newestShareByMonth[month - 1] ?? 1 };
}

/**
 * Creates the tables `variants` (numbered, with the weights `as_new`, `as_used` and `as_certified`), `variant_pools` (the variants of each
 * inventory type and make, or `any` make) and `variant_cells` (equiprobable cells of each pool, with the variant of each cell).
 */
export async function createVariants(session: Session, end: string): Promise<void> {
  const newest = newestYear(end);
  await session.createTempTable("variants", variantsUpTo(newest));
  await session.createTempTable("variant_pools", pools);
  await session.createTempTable("variant_cells", cells);
}

/** Cells per pool: enough for the rarest variant of a make, or of all makes, to get one. */
export const cellsOfMake = 4096;
export const cellsOfAny = 65_536;

/** The combinations of line, gearbox, drivetrain, trim, model year and cab, with their popularity within model and year. */
const combinations = (year: number) => sql`
  WITH lines AS (
    SELECT line, make, model, "first", coalesce("last", 9999) AS "last", engine,
           unnest(string_split(transmission, '|')) AS gearbox, generate_subscripts(string_split(transmission, '|'), 1) AS gearbox_rank,
           drivetrains, trims
    FROM lines_facts
  ), with_drivetrain AS (
    SELECT * EXCLUDE (drivetrains), unnest(string_split(drivetrains, '|')) AS drivetrain,
           generate_subscripts(string_split(drivetrains, '|'), 1) AS drive_rank, len(string_split(drivetrains, '|')) AS drives
    FROM lines
  ), with_trim AS (
    SELECT * EXCLUDE (trims), unnest(string_split(trims, '|')) AS entry, generate_subscripts(string_split(trims, '|'), 1) AS trim_rank FROM with_drivetrain
  ), with_year AS (
    SELECT * EXCLUDE (entry), regexp_extract(entry, '^(.*) [0-9.]+$', 1) AS trim, regexp_extract(entry, ' ([0-9.]+)$', 1)::DOUBLE * 1000 AS listed,
           unnest(range(greatest("first", ${numberLiteral(year - ageMax)}), least("last", ${numberLiteral(year)}) + 1))::INTEGER AS "year"
    FROM with_trim
  ), with_cab AS (
    SELECT with_year.*, body_type, value, sales, built, maker, make_key, days, discount, model_code,
           unnest(string_split(coalesce(cabs, '::'), '|')) AS cab_entry, generate_subscripts(string_split(coalesce(cabs, '::'), '|'), 1) AS cab_rank,
           doors AS usual_doors, seats AS usual_seats
    FROM with_year JOIN models_facts USING (make, model) JOIN (SELECT line::INTEGER AS make_key, * EXCLUDE (line) FROM makes_facts) USING (make)
  ), weighted AS (
    SELECT *,
           exp(-${numberLiteral(priceDecay)} * (listed / min(listed) OVER (PARTITION BY make, model, "year") - 1))
             * if(gearbox_rank > 1 AND gearbox NOT LIKE '%M' OR gearbox_rank = 1 AND gearbox LIKE '%M', if(gearbox LIKE '%M', 0.2, 1), if(gearbox LIKE '%M', 0.12, 1))
             * if(body_type = 'Pickup' AND drives > 1, if(drive_rank = 1, 0.3, 0.7), 1.0 / drives)
             * CASE cab_rank WHEN 1 THEN 0.76 WHEN 2 THEN 0.19 ELSE 0.05 END AS popularity
    FROM with_cab
    WHERE NOT (cab_rank = 3 AND listed > 1.35 * (SELECT min(cheapest.listed) FROM with_year AS cheapest WHERE cheapest.make = with_cab.make AND cheapest.model = with_cab.model))
  ), with_share AS (
    SELECT *, popularity / sum(popularity) OVER (PARTITION BY make, model, "year") AS share, ${numberLiteral(year)} - "year" AS age,
           max("year") OVER (PARTITION BY make, model) AS newest FROM weighted
  )`;

/** All variants up to the newest model year, numbered, with their attributes and weights. */
const variantsUpTo = ({ year, share }: { readonly year: number; readonly share: number }) => sql`
  ${combinations(year)}
  SELECT (row_number() OVER (ORDER BY make, model, "year", line, gearbox_rank, drive_rank, trim_rank, cab_rank) - 1)::INTEGER AS variant,
         make, maker, model, "year", body_type, value, built, trim, engine, drivetrain, nullif(split_part(cab_entry, ':', 1), '') AS cab,
         coalesce(nullif(split_part(cab_entry, ':', 2), ''), usual_doors::VARCHAR)::INTEGER AS doors,
         coalesce(nullif(split_part(cab_entry, ':', 3), ''), usual_seats::VARCHAR)::INTEGER AS seats, ${transmission} AS transmission, ${powertrain} AS powertrain_type,
         ${fuel} AS fuel_type, coalesce(nullif(regexp_extract(engine, '[IVHW]([0-9]+)', 1), '')::INTEGER, 0) AS cylinders,
         (round(listed * (1 + 0.045 * (drive_rank - 1)) * (1 - 0.06 * (cab_rank - 1))
           * pow(1 - ${numberLiteral(annualIncrease)}, least("last", ${numberLiteral(year)}) - "year") / 5) * 5)::INTEGER AS base_msrp,
         days, discount, model_code, make_key, (dense_rank() OVER (ORDER BY make, model))::INTEGER AS model_key,
         (dense_rank() OVER (ORDER BY make, model, body_type, drivetrain, ${powertrain}))::INTEGER AS kind_key, line, age,
         if(age <= 1, sales * days * share * if(age = 0, ${numberLiteral(share)}, if(newest < ${numberLiteral(year)}, 1, ${numberLiteral(1 - share)})), 0) AS as_new,
         sales * share * used AS as_used, sales * share * certified AS as_certified
  FROM with_share JOIN (SELECT age, used, certified FROM ages_facts) USING (age)`;

const transmission = sql`CASE
  WHEN gearbox = 'CVT' THEN 'CVT' WHEN gearbox = 'eCVT' THEN 'eCVT' WHEN gearbox LIKE '%DCT' THEN replace(gearbox, 'DCT', '') || '-Speed Dual-Clutch'
  WHEN gearbox LIKE '%M' THEN replace(gearbox, 'M', '') || '-Speed Manual' ELSE replace(gearbox, 'A', '') || '-Speed Automatic' END`;

const powertrain = sql`CASE WHEN engine LIKE 'Electric%' THEN 'BEV' WHEN engine LIKE '%Plug-In Hybrid' THEN 'PHEV'
  WHEN engine LIKE '%Hybrid' THEN 'HEV' ELSE 'ICE' END`;

const fuel = sql`CASE WHEN engine LIKE 'Electric%' THEN 'Electric' WHEN engine LIKE '%Plug-In Hybrid' THEN 'Plug-In Hybrid'
  WHEN engine LIKE '%Hybrid' THEN 'Hybrid' WHEN engine LIKE '%Diesel' THEN 'Diesel' WHEN engine LIKE '%Flex Fuel' THEN 'Flex Fuel' ELSE 'Gasoline' END`;

const pools = sql`
  SELECT pool, (dense_rank() OVER (ORDER BY pool) - 1)::INTEGER AS pool_key, if(pool LIKE '% any', ${numberLiteral(cellsOfAny)}, ${numberLiteral(cellsOfMake)}) AS cells,
         variant, weight
  FROM (SELECT 'new ' || make AS pool, variant, as_new AS weight FROM variants
        UNION ALL SELECT 'certified ' || make, variant, as_certified FROM variants
        UNION ALL SELECT 'used ' || make, variant, as_used FROM variants
        UNION ALL SELECT 'used any', variant, as_used FROM variants)
  WHERE weight > 0`;

const cells = sql`
  WITH cumulated AS (
    SELECT pool_key, cells, variant, sum(weight) OVER by_variant / sum(weight) OVER (PARTITION BY pool_key) AS cumulated_share
    FROM variant_pools WINDOW by_variant AS (PARTITION BY pool_key ORDER BY variant ROWS UNBOUNDED PRECEDING)
  ), edges AS (
    SELECT pool_key, variant, lag(end_cell, 1, 0) OVER (PARTITION BY pool_key ORDER BY variant) AS first_cell, end_cell
    FROM (SELECT *, if(variant = max(variant) OVER (PARTITION BY pool_key), cells, floor(cumulated_share * cells))::INTEGER AS end_cell FROM cumulated)
  )
  SELECT pool_key::BIGINT * ${numberLiteral(cellsOfAny)} + unnest(range(first_cell, end_cell)) AS cell_key, variant FROM edges WHERE end_cell > first_cell`;

const letters = "ABCDEFGHJKLMNPRSTUVWXYZ";
const characters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
/** Model year codes, from 2010 on. They repeat every 30 years. */
const yearCodes = "ABCDEFGHJKLMNPRSTVWXY123456789";
/** Spreads serial numbers over the range. Coprime to one million. */
const serialStride = 617_293;

const characterAt = (text: string, index: Sql): Sql => sql`substr(${text}, 1 + (${index})::INTEGER, 1)`;
const number = (value: number): Sql => integerLiteral(value);

/** Inserts the check digit at position 9. */
export const withCheckDigit = (unchecked: Sql): Sql =>
  sql`(left(${unchecked}, 8) || ${checkDigitOf(unchecked)} || right(${unchecked}, 8))`;

/**
 * Returns a car's VIN with 0 as check digit, from its model, engine and year and its `plant`. Position 7 is a letter, as for all cars since
 * 2010. Positions 6 and 7 also encode the millions of the car's number, which the six-digit serial number cannot hold, so that no two cars
 * share a VIN.
 */
export function uncheckedVin(car: Sql): Sql {
  const head = sql`hash(make, model, engine)`;
  const millions = sql`(${car} // 1000000)`;
  const serial = sql`lpad(((${car} * ${number(serialStride)} + 271828) % 1000000)::VARCHAR, 6, '0')`;
  return sql`concat(left(plant.head, 3), ${characterAt(characters, sql`hash(make, model) % 33`)}, ${characterAt(characters, sql`hash(model, make) % 33`)},
    ${characterAt(characters, sql`(${head} + ${millions} // 23) % 33`)}, ${characterAt(letters, sql`(${head} + ${millions}) % 23`)}, ${characterAt(characters, sql`hash(engine) % 33`)},
    '0', ${characterAt(yearCodes, sql`("year" - 2010) % 30`)}, substr(plant.head, 4, 1), ${serial})`;
}

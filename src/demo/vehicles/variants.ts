/** Every kind of car that there is: a line of a model in a trim, a drivetrain, a cab and a model year, with how often it is met. */

import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, sql } from "../../db/sql.ts";

/** The oldest cars on sale, in model years. */
const oldestYears = 15;
/** How much a list price rises from one model year to the next. */
const yearlyRise = 0.028;
/** How much rarer a trim is that costs twice as much as the plainest of its model. */
const dearness = 2.2;

/** How many of the new cars are of the newest model year, by month: the next year's come from July on. */
const newestByMonth = [0.72, 0.78, 0.84, 0.88, 0.92, 0.95, 0.12, 0.25, 0.4, 0.52, 0.62, 0.7];

/** The newest model year that is on sale on a day, and its share among the new cars. */
export function newestYear(day: string): { readonly year: number; readonly share: number } {
  const [year = 0, month = 1] = day.split("-").map(Number);
  return { year: month >= 7 ? year + 1 : year, share: newestByMonth[month - 1] ?? 1 };
}

/**
 * Makes `variants` (one row each, numbered, with `as_new`, `as_used` and `as_certified`: how often it is met so) and
 * `variant_cells`: for each pool (a way of being met, and a make or `any`) cells of equal draws and the variant in each.
 */
export async function createVariants(session: Session, end: string): Promise<void> {
  const newest = newestYear(end);
  await session.createTempTable("variants", variantsUpTo(newest));
  await session.createTempTable("variant_pools", pools);
  await session.createTempTable("variant_cells", cells);
}

/** Cells of a pool: enough that the rarest car of one make, or of all makes, has one. */
export const cellsOfMake = 4096;
export const cellsOfAny = 65_536;

const variantsUpTo = ({ year, share }: { readonly year: number; readonly share: number }) => sql`
  WITH lines AS (
    SELECT line, make, model, "first", coalesce("last", 9999) AS "last", engine,
           unnest(string_split(transmission, '|')) AS gearbox, generate_subscripts(string_split(transmission, '|'), 1) AS gearbox_rank,
           drivetrains, trims
    FROM lines_facts
  ), driven AS (
    SELECT * EXCLUDE (drivetrains), unnest(string_split(drivetrains, '|')) AS drivetrain,
           generate_subscripts(string_split(drivetrains, '|'), 1) AS drive_rank, len(string_split(drivetrains, '|')) AS drives
    FROM lines
  ), trimmed AS (
    SELECT * EXCLUDE (trims), unnest(string_split(trims, '|')) AS entry, generate_subscripts(string_split(trims, '|'), 1) AS trim_rank FROM driven
  ), dated AS (
    SELECT * EXCLUDE (entry), regexp_extract(entry, '^(.*) [0-9.]+$', 1) AS trim, regexp_extract(entry, ' ([0-9.]+)$', 1)::DOUBLE * 1000 AS listed,
           unnest(range(greatest("first", ${numberLiteral(year - oldestYears)}), least("last", ${numberLiteral(year)}) + 1))::INTEGER AS "year"
    FROM trimmed
  ), cabbed AS (
    SELECT dated.*, body_type, value, sales, built, maker, make_key, days, discount, model_code,
           unnest(string_split(coalesce(cabs, '::'), '|')) AS cab_entry, generate_subscripts(string_split(coalesce(cabs, '::'), '|'), 1) AS cab_rank,
           doors AS usual_doors, seats AS usual_seats
    FROM dated JOIN models_facts USING (make, model) JOIN (SELECT line::INTEGER AS make_key, * EXCLUDE (line) FROM makes_facts) USING (make)
  ), weighed AS (
    SELECT *, min(listed) OVER (PARTITION BY make, model, "year") AS plainest,
           exp(-${numberLiteral(dearness)} * (listed / min(listed) OVER (PARTITION BY make, model, "year") - 1))
             * if(gearbox_rank > 1 AND gearbox NOT LIKE '%M' OR gearbox_rank = 1 AND gearbox LIKE '%M', if(gearbox LIKE '%M', 0.2, 1), if(gearbox LIKE '%M', 0.12, 1))
             * if(body_type = 'Pickup' AND drives > 1, if(drive_rank = 1, 0.3, 0.7), 1.0 / drives)
             * CASE cab_rank WHEN 1 THEN 0.76 WHEN 2 THEN 0.19 ELSE 0.05 END AS popularity
    FROM cabbed
    WHERE NOT (cab_rank = 3 AND listed > 1.35 * (SELECT min(plain.listed) FROM dated AS plain WHERE plain.make = cabbed.make AND plain.model = cabbed.model))
  ), shared AS (
    SELECT *, popularity / sum(popularity) OVER (PARTITION BY make, model, "year") AS share, ${numberLiteral(year)} - "year" AS age,
           max("year") OVER (PARTITION BY make, model) AS newest FROM weighed
  )
  SELECT (row_number() OVER (ORDER BY make, model, "year", line, gearbox_rank, drive_rank, trim_rank, cab_rank) - 1)::INTEGER AS variant,
         make, maker, model, "year", body_type, value, built, trim, engine, drivetrain, nullif(split_part(cab_entry, ':', 1), '') AS cab,
         coalesce(nullif(split_part(cab_entry, ':', 2), ''), usual_doors::VARCHAR)::INTEGER AS doors,
         coalesce(nullif(split_part(cab_entry, ':', 3), ''), usual_seats::VARCHAR)::INTEGER AS seats, ${transmission} AS transmission, ${powertrain} AS powertrain_type,
         ${fuel} AS fuel_type, coalesce(nullif(regexp_extract(engine, '[IVHW]([0-9]+)', 1), '')::INTEGER, 0) AS cylinders,
         (round(listed * (1 + 0.045 * (drive_rank - 1)) * (1 - 0.06 * (cab_rank - 1))
           * pow(1 - ${numberLiteral(yearlyRise)}, least("last", ${numberLiteral(year)}) - "year") / 5) * 5)::INTEGER AS base_msrp,
         days, discount, model_code, make_key, line, age,
         if(age <= 1, sales * days * share * if(age = 0, ${numberLiteral(share)}, if(newest < ${numberLiteral(year)}, 1, ${numberLiteral(1 - share)})), 0) AS as_new,
         sales * share * used AS as_used, sales * share * certified AS as_certified
  FROM shared JOIN (SELECT age, used, certified FROM ages_facts) USING (age)`;

const transmission = sql`CASE
  WHEN gearbox = 'CVT' THEN 'CVT' WHEN gearbox = 'eCVT' THEN 'eCVT' WHEN gearbox LIKE '%DCT' THEN replace(gearbox, 'DCT', '') || '-Speed Dual-Clutch'
  WHEN gearbox LIKE '%M' THEN replace(gearbox, 'M', '') || '-Speed Manual' ELSE replace(gearbox, 'A', '') || '-Speed Automatic' END`;

const powertrain = sql`CASE WHEN engine LIKE 'Electric%' THEN 'BEV' WHEN engine LIKE '%Plug-In Hybrid' THEN 'PHEV'
  WHEN engine LIKE '%Hybrid' THEN 'HEV' ELSE 'ICE' END`;

const fuel = sql`CASE WHEN engine LIKE 'Electric%' THEN 'Electric' WHEN engine LIKE '%Plug-In Hybrid' THEN 'Plug-In Hybrid'
  WHEN engine LIKE '%Hybrid' THEN 'Hybrid' WHEN engine LIKE '%Diesel' THEN 'Diesel' WHEN engine LIKE '%Flex Fuel' THEN 'Flex Fuel' ELSE 'Gasoline' END`;

/** Each variant in the pools that it is met in, with its weight there. */
const pools = sql`
  SELECT pool, (dense_rank() OVER (ORDER BY pool) - 1)::INTEGER AS pool_key, if(pool LIKE '% any', ${numberLiteral(cellsOfAny)}, ${numberLiteral(cellsOfMake)}) AS cells,
         variant, weight
  FROM (SELECT 'new ' || make AS pool, variant, as_new AS weight FROM variants
        UNION ALL SELECT 'certified ' || make, variant, as_certified FROM variants
        UNION ALL SELECT 'used ' || make, variant, as_used FROM variants
        UNION ALL SELECT 'used any', variant, as_used FROM variants)
  WHERE weight > 0`;

const cells = sql`
  WITH placed AS (
    SELECT pool_key, cells, variant, sum(weight) OVER so_far / sum(weight) OVER (PARTITION BY pool_key) AS until, weight / sum(weight) OVER (PARTITION BY pool_key) AS part
    FROM variant_pools WINDOW so_far AS (PARTITION BY pool_key ORDER BY variant ROWS UNBOUNDED PRECEDING)
  ), edges AS (
    SELECT pool_key, variant, lag(edge, 1, 0) OVER (PARTITION BY pool_key ORDER BY variant) AS lower, edge
    FROM (SELECT *, if(variant = max(variant) OVER (PARTITION BY pool_key), cells, floor(until * cells))::INTEGER AS edge FROM placed)
  )
  SELECT pool_key::BIGINT * ${numberLiteral(cellsOfAny)} + unnest(range(lower, edge)) AS cell_key, variant FROM edges WHERE edge > lower`;

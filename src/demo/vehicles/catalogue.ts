/** How a variant is written in a feed: its version, its maker's code, the paints that it comes in, and what some dealers call it. */

import type { Session } from "../../db/duckdb.ts";
import { ident, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** Paints are drawn from so many cells, as common as their base colors are, and what the inside is trimmed with; half of it is the first. */
const paintCells = 400;
const trimmingCells = 24;

/** The paint and the trimming of a car, as keys; `make_key` is its make's. */
export const paintKey = (draws: RandomDraws, car: Sql): Sql =>
  sql`(make_key * ${numberLiteral(paintCells)} + ${draws.integerBelow("paint", car, paintCells)})`;
export const interiorKey = (draws: RandomDraws, car: Sql): Sql =>
  sql`(make_key * ${numberLiteral(trimmingCells)} + ${draws.integerBelow("trimming", car, trimmingCells)})`;

/** The plant that a car was built in: one of its variant's `plants`, with `head` (the first places of a VIN), `location` and `country`. */
export const plantOf = (draws: RandomDraws, car: Sql): Sql => draws.pick("plant", car, sql`plants`);

/** What some dealers call a variant's make, body, drivetrain or fuel. */
const called = (attribute: string): Sql => sql`coalesce((SELECT upper(left(alias, 1)) || substr(alias, 2) FROM aliases
  WHERE attribute = ${attribute} AND canonical = ${ident("variants", attribute)}), ${ident(attribute)})`;

/** Makes `catalogue` (a row for each variant, all its texts) `paints` and `trimmings` (what a car is painted and trimmed with, by key). */
export async function createCatalogue(session: Session): Promise<void> {
  await session.createTempTable(
    "catalogue",
    sql`
    SELECT variant, make, model, "year", trim, body_type, drivetrain, fuel_type, powertrain_type, transmission, engine, cylinders, doors, seats, base_msrp, plants,
           concat_ws(' ', trim, CASE WHEN drivetrain IN ('AWD', '4WD') AND NOT contains(trim, drivetrain) THEN drivetrain END, coalesce(cab, doors || 'dr ' || body_type))
             || ' (' || engine || ' ' || ${shortGearbox} || ')' AS version,
           ${modelCode} AS model_code, ${slug} AS slug,
           ${called("make")} AS make_called, ${called("body_type")} AS body_called, ${called("drivetrain")} AS drivetrain_called,
           ${called("fuel_type")} AS fuel_called
    FROM variants JOIN (
      SELECT built, list(struct_pack(head := left(entry, 4), location := location, country := country) ORDER BY place) AS plants
      FROM (SELECT built, unnest(string_split(built, '|')) AS entry, generate_subscripts(string_split(built, '|'), 1) AS place FROM (SELECT DISTINCT built FROM variants))
      JOIN plants_facts ON plant = substr(entry, 6) GROUP BY built) USING (built)
    ORDER BY variant`,
  );
  await session.createTempTable(
    "paints",
    sql`
    WITH paints AS (
      SELECT make, split_part(entry, ':', 1) AS paint, split_part(entry, ':', 2) AS base_color, place
      FROM (SELECT make, unnest(string_split(exteriors, '|')) AS entry, generate_subscripts(string_split(exteriors, '|'), 1) AS place FROM paints_facts)
    ), weighed AS (
      SELECT *, share / count(*) OVER (PARTITION BY make, base_color) AS weight FROM paints JOIN (SELECT base_color, share FROM base_colors_facts) USING (base_color)
    ), placed AS (
      SELECT make, paint, base_color, place, floor(${numberLiteral(paintCells)} * sum(weight) OVER (PARTITION BY make ORDER BY place ROWS UNBOUNDED PRECEDING)
        / sum(weight) OVER (PARTITION BY make) + 0.0001)::INTEGER AS edge
      FROM weighed
    )
    SELECT line::INTEGER * ${numberLiteral(paintCells)} + unnest(range(lag(edge, 1, 0) OVER (PARTITION BY make ORDER BY place), edge))::INTEGER AS paint_key, paint, base_color AS paint_base
    FROM placed JOIN (SELECT make, line FROM makes_facts) USING (make)`,
  );
  await session.createTempTable(
    "trimmings",
    sql`
    SELECT line::INTEGER * ${numberLiteral(trimmingCells)} + cell::INTEGER AS trimming_key, split_part(entry, ':', 1) AS trimming, split_part(entry, ':', 2) AS trimming_base
    FROM (SELECT make, cell, interiors[if(cell < ${numberLiteral(trimmingCells / 2)}, 1, 1 + cell % len(interiors))] AS entry
          FROM (SELECT make, string_split(interiors, '|') AS interiors FROM paints_facts), range(${numberLiteral(trimmingCells)}) AS cells(cell))
    JOIN (SELECT make, line FROM makes_facts) USING (make)`,
  );
}

const shortGearbox = sql`CASE WHEN transmission LIKE '%Automatic' THEN split_part(transmission, '-', 1) || 'A' WHEN transmission LIKE '%Manual' THEN split_part(transmission, '-', 1) || 'M'
  WHEN transmission LIKE '%Dual-Clutch' THEN split_part(transmission, '-', 1) || 'DCT' ELSE transmission END`;

/** Letters and digits in the maker's way: in a pattern, `@` is a letter and `#` a digit. */
const modelCode = sql`array_to_string(list_transform(string_split(model_code, ''), lambda sign, place: CASE sign
  WHEN '@' THEN substr('ABCDEFGHJKLMNPRSTUVWXYZ', 1 + (hash(model, line, trim, place) % 23)::INTEGER, 1)
  WHEN '#' THEN (hash(model, line, trim, place) % 10)::VARCHAR ELSE sign END), '')`;

const slug = sql`regexp_replace(lower("year" || '-' || make || '-' || model), '[^a-z0-9]+', '-', 'g')`;

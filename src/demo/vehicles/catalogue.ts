/** The catalogue of the demo market: texts of each variant (version, model code, aliases) and the colors of each make. */
import type { Session } from "../../db/duckdb.ts";
import { ident, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** Colors are drawn from equiprobable cells: a paint has cells in proportion to its base color, and half the interiors are the first color. */
const paintCells = 400;
const interiorCells = 24;

/** Returns the keys of a car's paint and interior color. Reads `make_key`. */
export const paintKey = (draws: RandomDraws, car: Sql): Sql =>
  sql`(make_key * ${numberLiteral(paintCells)} + ${draws.integerBelow("paint", car, paintCells)})`;
export const interiorKey = (draws: RandomDraws, car: Sql): Sql =>
  sql`(make_key * ${numberLiteral(interiorCells)} + ${draws.integerBelow("trimming", car, interiorCells)})`;

/** Returns the plant that built a car: a struct of `head` (first characters of the VIN), `location` and `country`. */
export const plantOf = (draws: RandomDraws, car: Sql): Sql => draws.pick("plant", car, sql`plants`);

/** Returns an alias of a variant's make, body, drivetrain or fuel; its canonical name if it has no alias. */
const aliasOf = (attribute: string): Sql => sql`coalesce((SELECT upper(left(alias, 1)) || substr(alias, 2) FROM aliases
  WHERE attribute = ${attribute} AND canonical = ${ident("variants", attribute)}), ${ident(attribute)})`;

/** Creates the tables `catalogue` (one row per variant), `paints` and `interior_colors` (by key). */
export async function createCatalogue(session: Session): Promise<void> {
  await createVariantTexts(session);
  await createColors(session);
}

async function createVariantTexts(session: Session): Promise<void> {
  await session.createTempTable(
    "catalogue",
    sql`
    SELECT variant, make, model, "year", trim, body_type, drivetrain, fuel_type, powertrain_type, transmission, engine, cylinders, doors, seats, base_msrp, plants,
           concat_ws(' ', trim, CASE WHEN drivetrain IN ('AWD', '4WD') AND NOT contains(trim, drivetrain) THEN drivetrain END, coalesce(cab, doors || 'dr ' || body_type))
             || ' (' || engine || ' ' || ${shortGearbox} || ')' AS version,
           ${modelCode} AS model_code, ${slug} AS slug,
           ${aliasOf("make")} AS make_alias, ${aliasOf("body_type")} AS body_alias, ${aliasOf("drivetrain")} AS drivetrain_alias,
           ${aliasOf("fuel_type")} AS fuel_alias
    FROM variants JOIN (
      SELECT built, list(struct_pack(head := left(entry, 4), location := location, country := country) ORDER BY position) AS plants
      FROM (SELECT built, unnest(string_split(built, '|')) AS entry, generate_subscripts(string_split(built, '|'), 1) AS position FROM (SELECT DISTINCT built FROM variants))
      JOIN plants_facts ON plant = substr(entry, 6) GROUP BY built) USING (built)
    ORDER BY variant`,
  );
}

async function createColors(session: Session): Promise<void> {
  await session.createTempTable(
    "paints",
    sql`
    WITH make_paints AS (
      SELECT make, split_part(entry, ':', 1) AS paint, split_part(entry, ':', 2) AS base_color, position
      FROM (SELECT make, unnest(string_split(exteriors, '|')) AS entry, generate_subscripts(string_split(exteriors, '|'), 1) AS position FROM paints_facts)
    ), weighted AS (
      SELECT *, share / count(*) OVER (PARTITION BY make, base_color) AS weight FROM make_paints JOIN (SELECT base_color, share FROM base_colors_facts) USING (base_color)
    ), bounded AS (
      SELECT make, paint, base_color, position, floor(${numberLiteral(paintCells)} * sum(weight) OVER (PARTITION BY make ORDER BY position ROWS UNBOUNDED PRECEDING)
        / sum(weight) OVER (PARTITION BY make) + 0.0001)::INTEGER AS upper_cell
      FROM weighted
    )
    SELECT line::INTEGER * ${numberLiteral(paintCells)} + unnest(range(lag(upper_cell, 1, 0) OVER (PARTITION BY make ORDER BY position), upper_cell))::INTEGER AS paint_key, paint, base_color AS paint_base
    FROM bounded JOIN (SELECT make, line FROM makes_facts) USING (make)`,
  );
  await session.createTempTable(
    "interior_colors",
    sql`
    SELECT line::INTEGER * ${numberLiteral(interiorCells)} + cell::INTEGER AS interior_key, split_part(entry, ':', 1) AS interior, split_part(entry, ':', 2) AS interior_base
    FROM (SELECT make, cell, interiors[if(cell < ${numberLiteral(interiorCells / 2)}, 1, 1 + cell % len(interiors))] AS entry
          FROM (SELECT make, string_split(interiors, '|') AS interiors FROM paints_facts), range(${numberLiteral(interiorCells)}) AS cells(cell))
    JOIN (SELECT make, line FROM makes_facts) USING (make)`,
  );
}

const shortGearbox = sql`CASE WHEN transmission LIKE '%Automatic' THEN split_part(transmission, '-', 1) || 'A' WHEN transmission LIKE '%Manual' THEN split_part(transmission, '-', 1) || 'M'
  WHEN transmission LIKE '%Dual-Clutch' THEN split_part(transmission, '-', 1) || 'DCT' ELSE transmission END`;

/** A model code in the maker's pattern, where `@` stands for a letter and `#` for a digit. */
const modelCode = sql`array_to_string(list_transform(string_split(model_code, ''), lambda symbol, position: CASE symbol
  WHEN '@' THEN substr('ABCDEFGHJKLMNPRSTUVWXYZ', 1 + (hash(model, line, trim, position) % 23)::INTEGER, 1)
  WHEN '#' THEN (hash(model, line, trim, position) % 10)::VARCHAR ELSE symbol END), '')`;

const slug = sql`regexp_replace(lower("year" || '-' || make || '-' || model), '[^a-z0-9]+', '-', 'g')`;

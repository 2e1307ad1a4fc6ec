/**
 * Vehicle identification numbers (ISO 3779; check digit and model year as in 49 CFR 565.15), and the builds that they stand for by
 * `data/reference/vins.parquet`: facts of NHTSA's vPIC.
 */
import { projectPath } from "../base/project-files.ts";
import { ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import type { AttributeName } from "./schema.ts";

/** The form of a VIN in upper case, as a regular expression. */
export const vinForm = "[A-HJ-NPR-Z0-9]{17}";

/** The letters of a VIN and the digits that they count as. */
const letters = "ABCDEFGHJKLMNPRSTUVWXYZ";
const digits = "12345678123457923456789";
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** Returns the check digit of a well-formed VIN, computed from the other 16 characters. It belongs at position 9. */
export function checkDigitOf(vin: Sql): Sql {
  const products = weights.map(
    (weight, index) => sql`(ascii(substr(digits, ${integerLiteral(index + 1)}, 1)) - 48) * ${integerLiteral(weight)}`,
  );
  return sql`list_transform([translate(${vin}, ${literal(letters)}, ${literal(digits)})],
    lambda digits: substr('0123456789X', ((${join(products, sql` + `)}) % 11 + 1)::INTEGER, 1))[1]`;
}

/**
 * A condition: a well-formed VIN has another check digit than the rule of North America and China demands. VINs of other regions may have any character
 * there.
 */
export function hasWrongCheckDigit(vin: Sql): Sql {
  return sql`(left(${vin}, 1) IN ('1', '2', '3', '4', '5', 'L') AND ${checkDigitOf(vin)} <> substr(${vin}, 9, 1))`;
}

/** A condition: a well-formed VIN is one character throughout, or but for one, as those that stand for no VIN. */
export const isFiller = (vin: Sql): Sql =>
  sql`(length(replace(${vin}, left(${vin}, 1), '')) <= 1 OR length(replace(${vin}, right(${vin}, 1), '')) <= 1)`;

/** The file of patterns that VINs match. Of those of an attribute that match a VIN, the first applies. */
export const vinPatternsPath = projectPath("data/reference/vins.parquet");
const patterns = sql`read_parquet(${pathLiteral(vinPatternsPath)}, file_row_number = true)`;

/** Returns the characters of a VIN that its build follows from: all but check digit and serial number. */
export const descriptorOf = (vin: Sql): Sql => sql`(left(${vin}, 8) || substr(${vin}, 10, 2))`;

/** The codes of 30 model years, from 2010 and from 1980 on. */
const yearCodes = "ABCDEFGHJKLMNPRSTVWXY123456789";

const powertrain = sql`coalesce(electrification, CASE 'Electric' WHEN fuel THEN 'BEV' WHEN second_fuel THEN 'HEV' END)`;

/** The attributes of a build that a VIN can determine, each as SQL over parts of a build as the file names them, and those parts. */
const decodedAttributes = {
  year: [sql`"year"::SMALLINT`],
  make: [sql`split_part(model, '|', 1)`, "model"],
  model: [sql`split_part(model, '|', 2)`, "model"],
  trim: [sql`"trim"`, "trim"],
  body_type: [sql`body_type`, "body_type"],
  // `2WD` is either FWD or RWD.
  drivetrain: [sql`nullif(drivetrain, '2WD')`, "drivetrain"],
  fuel_type: [
    sql`CASE ${powertrain} WHEN 'HEV' THEN 'Hybrid' WHEN 'PHEV' THEN 'Plug-In Hybrid' ELSE if(second_fuel = 'Flex Fuel', second_fuel, fuel) END`,
    ...(["electrification", "fuel", "second_fuel"] as const),
  ],
  powertrain_type: [powertrain, "electrification", "fuel", "second_fuel"],
  engine: [sql`displacement || 'L ' || "configuration" || cylinders`, "displacement", "configuration", "cylinders"],
  cylinders: [sql`cylinders::SMALLINT`, "cylinders"],
  doors: [sql`doors::SMALLINT`, "doors"],
  assembly_location: [sql`city || coalesce(', ' || "state", '')`, "city", "state"],
  assembly_country: [sql`country`, "country"],
} as const satisfies Readonly<Partial<Record<AttributeName, readonly [Sql, ...(readonly string[])]>>>;

export type DecodedName = keyof typeof decodedAttributes;

export const decodedNames = Object.keys(decodedAttributes) as readonly DecodedName[];

/** Returns the last model year that can be on sale on a day. */
export const newestYearOn = (day: string): number => Number(day.slice(0, "YYYY".length)) + 2;

/**
 * Selects the model years that descriptors can stand for: `descriptor`, `wmi`, `year` and the `key` that patterns match, for those whose manufacturer
 * uses each of its characters in that year. Requires a relation with a column `descriptor`. `newestYear` is the last model year on sale.
 */
export const candidatesOf = (descriptors: Sql, newestYear: number): Sql => sql`
  SELECT descriptor, codes.wmi, "year", codes."key"
  FROM (SELECT *, unnest([2009, 1979]) + code AS "year"
        FROM (SELECT descriptor, left(descriptor, 3) AS wmi, substr(descriptor, 4, 5) || right(descriptor, 1) AS "key",
                     strpos(${literal(yearCodes)}, substr(descriptor, 9, 1)) AS code, substr(descriptor, 7, 1) BETWEEN '0' AND '9' AS is_early
              FROM (${descriptors})) WHERE code > 0) AS codes
  JOIN ${patterns} AS patterns
    ON attribute = 'valid' AND patterns.wmi = codes.wmi AND "year" BETWEEN year_from AND year_to AND codes."key" GLOB pattern
  WHERE "year" <= ${newestYear} AND ("value" = 'two' OR ("year" < 2010) = (is_early OR 2009 + code > ${newestYear}))`;

/**
 * Selects the builds of candidates: `descriptor`, the given attributes, and `makes`, all makes of the manufacturer separated by `|`. A descriptor
 * without a model, or with that of two years, has no row.
 */
export function buildsOf(candidates: Sql, names: readonly DecodedName[] = decodedNames): Sql {
  const parts = [
    ...new Set(["model", "makes", ...names.flatMap((name) => decodedAttributes[name].slice(1).map(String))]),
  ];
  const partOf = (part: string): Sql =>
    sql`nullif(max("value") FILTER (attribute = ${literal(part)}), '') AS ${ident(part)}`;
  const columns = names.map((name) => sql`${decodedAttributes[name][0]} AS ${ident(name)}`);
  return sql`
    SELECT descriptor, makes, ${join(columns)}
    FROM (SELECT descriptor, "year", ${join(parts.map(partOf))}
          FROM (SELECT descriptor, "year", attribute, arg_min("value", file_row_number) AS "value"
                FROM ${candidates} AS candidates JOIN ${patterns} AS patterns
                  ON attribute IN (${join(parts.map((part) => literal(part)))}) AND patterns.wmi = candidates.wmi
                    AND "year" BETWEEN year_from AND year_to AND "key" GLOB pattern GROUP BY ALL)
          GROUP BY descriptor, "year" HAVING model IS NOT NULL QUALIFY count(*) OVER (PARTITION BY descriptor) = 1)`;
}

/** Selects the attributes that follow from a VIN; no row if none do, or if its check digit is wrong. */
export function decodedVin(vin: string, newestYear: number): Sql {
  const descriptor = sql`SELECT ${descriptorOf(sql`${vin}`)} AS descriptor
    WHERE length(${vin}) = 17 AND NOT ${hasWrongCheckDigit(sql`${vin}`)}`;
  return sql`SELECT ${join(decodedNames.map((name) => ident(name)))} FROM (${buildsOf(sql`(${candidatesOf(descriptor, newestYear)})`)})`;
}

/**
 * Fills what a delivery leaves unknown of a build from its VINs, and notes VINs that contradict it.
 *
 * A reported value is never replaced. A VIN with a wrong check digit, or of another model year or make than its row, fills nothing: one of the
 * two is wrong.
 */
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { any, ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { matchKey } from "../../db/text-matching.ts";
import {
  buildsOf,
  candidatesOf,
  type DecodedName,
  decodedNames,
  descriptorOf,
  newestYearOn,
} from "../../listing/vins.ts";
import { withCentury } from "./field-readers.ts";

/** Adds the column `filled_from_vin` to `parsed_inventory`: the attributes that were filled, or null. Returns the number of values that were. */
export async function fillFromVins(session: Session, day: string): Promise<number> {
  await session.run(sql`ALTER TABLE parsed_inventory ADD COLUMN filled_from_vin VARCHAR[]`);
  const descriptors = sql`SELECT DISTINCT ${descriptorOf(sql`vin`)} AS descriptor FROM ${withRightCheckDigit}`;
  await session.createTempTable("vin_candidates", candidatesOf(descriptors, newestYearOn(day)));
  if (!(await session.hasRows(sql`FROM vin_candidates`))) return 0;
  const incomplete = await incompleteAttributes(session);
  const names = [...new Set<DecodedName>(["year", "make", ...incomplete])];
  await session.createTempTable(
    "vin_builds",
    sql`SELECT *, list_transform(string_split(makes, '|'), lambda make: ${matchKey(sql`make`)}) AS make_keys
        FROM (${buildsOf(sql`vin_candidates`, names)})`,
  );
  if (!(await session.hasRows(sql`FROM vin_builds`))) return 0;
  await session.run(conflictIssues);
  if (incomplete.length > 0) await session.run(fillRows(incomplete));
  const counted = await session.row(
    sql`SELECT coalesce(sum(len(filled_from_vin)), 0)::INTEGER AS filled FROM parsed_inventory`,
  );
  await session.drop("vin_candidates", "vin_builds");
  return integerIn(counted, "filled");
}

/** A condition: the VIN of a row has a wrong check digit, or contradicts the row. A year of two digits does not. */
const isNoted = sql`feed = 'inventory' AND outcome = 'noted' AND field IN ('vin', 'year', 'make') AND reason <> ${literal(withCentury)}`;
const withRightCheckDigit = sql`(FROM parsed_inventory ANTI JOIN (SELECT vin FROM issues WHERE ${isNoted}) AS noted USING (vin))`;

/** Returns the attributes that some row leaves unknown. */
async function incompleteAttributes(session: Session): Promise<readonly DecodedName[]> {
  const unknown = decodedNames.map((name) => sql`bool_or(${ident(name)} IS NULL) AS ${ident(name)}`);
  const row = await session.row(sql`SELECT ${join(unknown)} FROM parsed_inventory`);
  return decodedNames.filter((name) => row?.[name] === true);
}

/** A condition: the delivery leaves an attribute unknown that the VIN determines. */
const isFillable = (name: DecodedName): Sql =>
  sql`(${ident("inventory", name)} IS NULL AND ${ident("builds", name)} IS NOT NULL)`;

/** Notes the rows whose VIN is of another year, or whose make the manufacturer does not build. */
const conflictIssues = sql`
  INSERT INTO issues BY NAME
  SELECT 'noted' AS outcome, 'inventory' AS feed, file, "row", vin, dealer_id, unnest(fields) AS field, unnest("values") AS "value",
         'differs from the VIN' AS reason
  FROM (SELECT inventory.*, list_concat(if(differs_in_year, ['year'], []), if(differs_in_make, ['make'], [])) AS fields,
               list_concat(if(differs_in_year, ["year"::VARCHAR], []), if(differs_in_make, [make], [])) AS "values"
        FROM (SELECT file, "row", vin, dealer_id, inventory."year", inventory.make,
                     coalesce(inventory."year" <> builds."year", false) AS differs_in_year,
                     coalesce(NOT list_contains(builds.make_keys, reported.make_key), false) AS differs_in_make
              FROM ${withRightCheckDigit} AS inventory
              JOIN vin_builds AS builds ON builds.descriptor = ${descriptorOf(sql`inventory.vin`)}
              LEFT JOIN (SELECT make, ${matchKey(sql`coalesce(canonical, make)`)} AS make_key FROM (SELECT DISTINCT make FROM parsed_inventory)
                         LEFT JOIN canonical_of ON attribute = 'make' AND "key" = ${matchKey(sql`make`)}) AS reported
                ON reported.make = inventory.make) AS inventory
        WHERE differs_in_year OR differs_in_make)`;

/** Fills the given attributes, and names those that a row had not stated. */
function fillRows(incomplete: readonly DecodedName[]): Sql {
  const names = incomplete.map((name) => sql`if(${isFillable(name)}, ${literal(name)}, NULL)`);
  const values = incomplete.map(
    (name) => sql`${ident(name)} = coalesce(${ident("inventory", name)}, ${ident("builds", name)})`,
  );
  return sql`
    UPDATE parsed_inventory AS inventory SET filled_from_vin = string_split(concat_ws('|', ${join(names)}), '|'), ${join(values)}
    FROM vin_builds AS builds
    WHERE builds.descriptor = ${descriptorOf(sql`inventory.vin`)} AND ${any(incomplete.map(isFillable))}
      AND NOT EXISTS (FROM issues WHERE ${isNoted} AND issues.file = inventory.file AND issues."row" = inventory."row")`;
}

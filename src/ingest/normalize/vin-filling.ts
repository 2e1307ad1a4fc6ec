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
  await session.createTempTable("vin_rows", rowsToChange(incomplete));
  await session.run(conflictIssues);
  const counted = await session.row(sql`SELECT coalesce(sum(len(filled)), 0)::INTEGER AS filled FROM vin_rows`);
  const filled = integerIn(counted, "filled");
  if (filled > 0) await session.run(fillRows(incomplete));
  await session.drop("vin_candidates", "vin_builds", "vin_rows");
  return filled;
}

const withRightCheckDigit = sql`(SELECT rowid AS id, * FROM parsed_inventory
  ANTI JOIN (SELECT vin FROM issues WHERE field = 'vin' AND outcome = 'noted') AS noted USING (vin))`;

/** Returns the attributes that some row leaves unknown. */
async function incompleteAttributes(session: Session): Promise<readonly DecodedName[]> {
  const unknown = decodedNames.map((name) => sql`bool_or(${ident(name)} IS NULL) AS ${ident(name)}`);
  const row = await session.row(sql`SELECT ${join(unknown)} FROM parsed_inventory`);
  return decodedNames.filter((name) => row?.[name] === true);
}

/** A condition: the delivery leaves an attribute unknown that the VIN determines. */
const isFillable = (name: DecodedName): Sql =>
  sql`(${ident("inventory", name)} IS NULL AND ${ident("builds", name)} IS NOT NULL)`;

const differsInYear = sql`coalesce(inventory."year" <> builds."year", false)`;
const differsInMake = sql`coalesce(NOT list_contains(builds.make_keys, reported.make_key), false)`;

/** Selects the rows that their VIN contradicts or fills, each with its build and the names of the attributes to fill. */
const rowsToChange = (incomplete: readonly DecodedName[]): Sql => sql`
  SELECT inventory.id, inventory.file, inventory."row", inventory.vin, inventory.dealer_id, inventory."year"::VARCHAR AS reported_year,
         inventory.make AS reported_make, builds.*, ${differsInYear} AS differs_in_year, ${differsInMake} AS differs_in_make,
         CASE WHEN NOT differs_in_year AND NOT differs_in_make THEN list_filter([${join([
           sql`NULL`,
           ...incomplete.map((name) => sql`if(${isFillable(name)}, ${literal(name)}, NULL)`),
         ])}], lambda name: name IS NOT NULL) END AS filled
  FROM ${withRightCheckDigit} AS inventory
  JOIN vin_builds AS builds ON builds.descriptor = ${descriptorOf(sql`inventory.vin`)}
  LEFT JOIN (SELECT make, ${matchKey(sql`coalesce(canonical, make)`)} AS make_key FROM (SELECT DISTINCT make FROM parsed_inventory)
             LEFT JOIN canonical_of ON attribute = 'make' AND "key" = ${matchKey(sql`make`)}) AS reported ON reported.make = inventory.make
  WHERE ${any([differsInYear, differsInMake, ...incomplete.map(isFillable)])}`;

const conflictIssues = sql`
  INSERT INTO issues BY NAME
  SELECT 'noted' AS outcome, 'inventory' AS feed, file, "row", vin, dealer_id, field, "value", 'differs from the VIN' AS reason
  FROM (SELECT *, 'year' AS field, reported_year AS "value" FROM vin_rows WHERE differs_in_year
        UNION ALL SELECT *, 'make', reported_make FROM vin_rows WHERE differs_in_make)`;

const fillRows = (incomplete: readonly DecodedName[]): Sql => sql`
  UPDATE parsed_inventory SET filled_from_vin = filled, ${join(
    incomplete.map(
      (name) => sql`${ident(name)} = coalesce(${ident("parsed_inventory", name)}, ${ident("vin_rows", name)})`,
    ),
  )}
  FROM vin_rows WHERE parsed_inventory.rowid = vin_rows.id AND len(filled) > 0`;

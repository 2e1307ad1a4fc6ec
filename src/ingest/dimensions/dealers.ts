/** The dealers of a delivery: normalised, one row each, keyed anew where anything about them changed. */

import type { Session } from "../../db/duckdb.ts";
import { all, ident, join, type Sql, sql } from "../../db/sql.ts";
import { dealerColumns } from "../../lake/tables.ts";
import { type AttributeName, attributeOf, type NameOf, namesIn } from "../../listing/schema.ts";
import type { Spellings } from "../normalize/vocabularies.ts";

/**
 * Settles who is a dealer: of two descriptions of one in a day the later counts, and rows of dealers that nobody described are
 * rejected. Vocabularies are spelled by what is left.
 */
export async function normalizeDealers(session: Session): Promise<void> {
  await mergeTwice(session);
  for (const table of ["inventory", "deliveries"] as const) await rejectStrangers(session, table);
}

/**
 * Makes `new_dealers` (rows to append) and `dealer_keys` (dealer_id, dealer_key, makes: every dealer ever known, by its newest
 * row).
 */
export async function assignDealerKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const isPlaced = sql`latitude IS NOT NULL AND longitude IS NOT NULL`;
  const makes = sql`(SELECT coalesce(list(DISTINCT spelling ORDER BY spelling) FILTER (spelling IS NOT NULL), [])
    FROM unnest(makes) AS own(as_written) JOIN ${spellings.table("make")} USING (as_written))`;
  // All others are as they were delivered.
  const given: Readonly<Record<NameOf<{ readonly home: "dealers"; readonly feed: "rule" | "spelled" }>, Sql>> = {
    state: spellings.lookUp("state", sql`state`),
    dealer_type: sql`coalesce("type", if(len(makes) > 0, 'franchise', 'independent'))`,
    postal_code: sql`left(postal_code, 5)`,
    country: sql`coalesce(${spellings.lookUp("country", sql`country`)}, 'US')`,
    latitude: sql`CASE WHEN ${isPlaced} THEN latitude END`,
    longitude: sql`CASE WHEN ${isPlaced} THEN longitude END`,
    website: sql`regexp_replace(regexp_extract(lower(trim(website)), '^(?:https?://)?([^/?#:]+)', 1), '^www\\.', '')`,
    makes: sql`coalesce(${makes}, [])`,
  };
  const values = namesIn("dealers").map((attribute) => {
    const column = ident(attributeOf(attribute).column);
    const some: Readonly<Partial<Record<AttributeName, Sql>>> = given;
    return sql`${some[attribute] ?? column} AS ${column}`;
  });
  await session.createTempTable("dealers_today", sql`SELECT ${join(values)} FROM parsed_dealers`);
  const columns = Object.keys(dealerColumns).map((column) => ident(column));
  const isSame = all(columns.map((column) => sql`known.${column} IS NOT DISTINCT FROM today.${column}`));
  await session.createTempTable(
    "newest_dealers",
    sql`SELECT DISTINCT ON (dealer_id) * FROM lake_dealers ORDER BY dealer_id, dealer_key DESC`,
  );
  await session.createTempTable(
    "new_dealers",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY dealer_id) AS dealer_key, ${join(columns)} FROM dealers_today AS today
        WHERE NOT EXISTS (FROM newest_dealers AS known WHERE ${isSame})`,
  );
  await session.createTempTable(
    "dealer_keys",
    sql`SELECT DISTINCT ON (dealer_id) dealer_id, dealer_key, makes
        FROM (FROM newest_dealers UNION ALL BY NAME FROM new_dealers) ORDER BY dealer_id, dealer_key DESC`,
  );
}

/** A dealer that is described twice in a day: the later row counts. */
async function mergeTwice(session: Session): Promise<void> {
  const earlier = sql`SELECT file, "row", dealer_id FROM parsed_dealers
    QUALIFY row_number() OVER (PARTITION BY dealer_id ORDER BY file DESC, "row" DESC) > 1`;
  await session.run(sql`
    INSERT INTO issues SELECT 'merged', 'dealers', file, "row", NULL, dealer_id, 'dealer_id', dealer_id, 'a later row of this dealer counts'
    FROM (${earlier})`);
  await session.run(sql`DELETE FROM parsed_dealers WHERE (file, "row") IN (SELECT (file, "row") FROM (${earlier}))`);
}

async function rejectStrangers(session: Session, table: "inventory" | "deliveries"): Promise<void> {
  const rows = ident(`parsed_${table}`);
  const isStranger = sql`dealer_id NOT IN (SELECT dealer_id FROM lake_dealers UNION SELECT dealer_id FROM parsed_dealers)`;
  const vin = table === "inventory" ? sql`vin` : sql`NULL`;
  await session.run(sql`
    INSERT INTO issues SELECT 'rejected', ${table}, file, "row", ${vin}, dealer_id, 'dealer_id', dealer_id, 'no such dealer'
    FROM ${rows} WHERE ${isStranger}`);
  await session.run(sql`DELETE FROM ${rows} WHERE ${isStranger}`);
}

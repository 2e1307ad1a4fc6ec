/** The dealers of a delivery: normalised, one row each, keyed anew where anything about them changed. */
import { all, join, name, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import { dealerColumns } from "../lake/layout.ts";
import type { Spellings } from "./vocabularies.ts";

/**
 * Settles who is a dealer: of two descriptions of one in a day the later counts, and rows of dealers that nobody described are
 * rejected. Vocabularies are spelled by what is left.
 */
export async function settleDealers(session: Session): Promise<void> {
  await mergeTwice(session);
  for (const table of ["inventory", "deliveries"] as const) await rejectStrangers(session, table);
}

/**
 * Makes `new_dealers` (rows to append) and `dealer_keys` (dealer_id, dealer_key, makes: every dealer ever known, by its newest
 * row).
 */
export async function keyDealers(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const isPlaced = sql`latitude IS NOT NULL AND longitude IS NOT NULL`;
  const makes = sql`(SELECT coalesce(list(DISTINCT spelling ORDER BY spelling) FILTER (spelling IS NOT NULL), [])
    FROM unnest(makes) AS own(as_written) JOIN ${spellings.table("make")} USING (as_written))`;
  await session.keep(
    "dealers_today",
    sql`
    SELECT dealer_id, trim(name) AS name, coalesce("type", if(len(makes) > 0, 'franchise', 'independent')) AS "type",
           line1, city, ${spellings.of("state", sql`state`)} AS state, left(postal_code, 5) AS postal_code,
           coalesce(${spellings.of("country", sql`country`)}, 'US') AS country,
           CASE WHEN ${isPlaced} THEN latitude END AS latitude, CASE WHEN ${isPlaced} THEN longitude END AS longitude,
           phone, regexp_replace(regexp_extract(lower(trim(website)), '^(?:https?://)?([^/?#:]+)', 1), '^www\\.', '') AS website,
           coalesce(${makes}, []) AS makes
    FROM parsed_dealers`,
  );
  const columns = Object.keys(dealerColumns).map((column) => name(column));
  const isSame = all(columns.map((column) => sql`known.${column} IS NOT DISTINCT FROM today.${column}`));
  await session.keep(
    "newest_dealers",
    sql`SELECT DISTINCT ON (dealer_id) * FROM lake_dealers ORDER BY dealer_id, dealer_key DESC`,
  );
  await session.keep(
    "new_dealers",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY dealer_id) AS dealer_key, ${join(columns)} FROM dealers_today AS today
        WHERE NOT EXISTS (FROM newest_dealers AS known WHERE ${isSame})`,
  );
  await session.keep(
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
  const rows = name(`parsed_${table}`);
  const isStranger = sql`dealer_id NOT IN (SELECT dealer_id FROM lake_dealers UNION SELECT dealer_id FROM parsed_dealers)`;
  const vin = table === "inventory" ? sql`vin` : sql`NULL`;
  await session.run(sql`
    INSERT INTO issues SELECT 'rejected', ${table}, file, "row", ${vin}, dealer_id, 'dealer_id', dealer_id, 'no such dealer'
    FROM ${rows} WHERE ${isStranger}`);
  await session.run(sql`DELETE FROM ${rows} WHERE ${isStranger}`);
}

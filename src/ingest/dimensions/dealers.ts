/**
 * Normalizes the dealers of a delivery and assigns their keys. A dealer whose row changed gets a new key; earlier keys keep their
 * earlier row.
 */
import type { Session } from "../../db/duckdb.ts";
import { all, ident, join, type Sql, sql } from "../../db/sql.ts";
import { dealerColumns } from "../../lake/tables.ts";
import { type AttributeName, attributeOf, type NameOf, namesIn } from "../../listing/schema.ts";
import type { Spellings } from "../normalize/vocabularies.ts";
import { appendRows } from "./dimension-keys.ts";

/**
 * Deduplicates `parsed_dealers` by dealer id and rejects inventory and delivery rows of unknown dealers. Must run before vocabularies
 * are normalized, which count the remaining rows.
 */
export async function normalizeDealers(session: Session): Promise<void> {
  if (await session.hasRows(sql`FROM parsed_dealers GROUP BY dealer_id HAVING count(*) > 1`))
    await mergeDuplicateDealers(session);
  const rows = sql`(SELECT dealer_id FROM parsed_inventory UNION ALL SELECT dealer_id FROM parsed_deliveries)`;
  if (!(await session.hasRows(sql`FROM ${rows} WHERE ${isUnknownDealer}`))) return;
  for (const table of ["inventory", "deliveries"] as const) await rejectUnknownDealers(session, table);
}

const isUnknownDealer = sql`dealer_id NOT IN (SELECT dealer_id FROM lake_dealers UNION SELECT dealer_id FROM parsed_dealers)`;

/** Appends new and changed dealers and creates the table `dealer_keys` (dealer_id, dealer_key, makes: the newest row of every dealer). */
export async function assignDealerKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const hasCoordinates = sql`latitude IS NOT NULL AND longitude IS NOT NULL`;
  const makes = sql`(SELECT coalesce(list(DISTINCT spelling ORDER BY spelling) FILTER (spelling IS NOT NULL), [])
    FROM unnest(makes) AS dealer_makes(raw_value) JOIN ${spellings.table("make")} USING (raw_value))`;
  // All other attributes keep their delivered value.
  const derived: Readonly<Record<NameOf<{ readonly home: "dealers"; readonly feed: "rule" | "spelled" }>, Sql>> = {
    state: spellings.lookUp("state", sql`state`),
    postal_code: sql`left(postal_code, 5)`,
    country: sql`coalesce(${spellings.lookUp("country", sql`country`)}, 'US')`,
    latitude: sql`CASE WHEN ${hasCoordinates} THEN latitude END`,
    longitude: sql`CASE WHEN ${hasCoordinates} THEN longitude END`,
    website: sql`regexp_replace(regexp_extract(lower(trim(website)), '^(?:https?://)?([^/?#:]+)', 1), '^www\\.', '')`,
    makes: sql`coalesce(${makes}, [])`,
  };
  const values = namesIn("dealers").map((attribute) => {
    const column = ident(attributeOf(attribute).column);
    const derivedValues: Readonly<Partial<Record<AttributeName, Sql>>> = derived;
    return sql`${derivedValues[attribute] ?? column} AS ${column}`;
  });
  await session.createTempTable("dealers_today", sql`SELECT ${join(values)} FROM parsed_dealers`);
  const columns = Object.keys(dealerColumns).map((column) => ident(column));
  const isUnchanged = all(columns.map((column) => sql`existing.${column} IS NOT DISTINCT FROM today.${column}`));
  const newest = sql`SELECT DISTINCT ON (dealer_id) * FROM lake_dealers ORDER BY dealer_id, dealer_key DESC`;
  await appendRows(
    session,
    "dealers",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY dealer_id) AS dealer_key, ${join(columns)} FROM dealers_today AS today
        WHERE NOT EXISTS (FROM (${newest}) AS existing WHERE ${isUnchanged})`,
  );
  await session.createTempTable("dealer_keys", sql`SELECT dealer_id, dealer_key, makes FROM (${newest})`);
}

/** Keeps the last row of each dealer and records the others as merged. */
async function mergeDuplicateDealers(session: Session): Promise<void> {
  const replaced = sql`SELECT file, "row", dealer_id FROM parsed_dealers
    QUALIFY row_number() OVER (PARTITION BY dealer_id ORDER BY file DESC, "row" DESC) > 1`;
  await session.run(sql`
    INSERT INTO issues SELECT 'merged', 'dealers', file, "row", NULL, dealer_id, 'dealer_id', dealer_id, 'replaced by a later row of this dealer'
    FROM (${replaced})`);
  await session.run(sql`DELETE FROM parsed_dealers WHERE (file, "row") IN (SELECT (file, "row") FROM (${replaced}))`);
}

/** Rejects rows whose dealer is neither in the lake nor in the delivery. */
async function rejectUnknownDealers(session: Session, table: "inventory" | "deliveries"): Promise<void> {
  const rows = ident(`parsed_${table}`);
  const vin = table === "inventory" ? sql`vin` : sql`NULL`;
  await session.run(sql`
    INSERT INTO issues SELECT 'rejected', ${table}, file, "row", ${vin}, dealer_id, 'dealer_id', dealer_id, 'unknown dealer'
    FROM ${rows} WHERE ${isUnknownDealer}`);
  await session.run(sql`DELETE FROM ${rows} WHERE ${isUnknownDealer}`);
}

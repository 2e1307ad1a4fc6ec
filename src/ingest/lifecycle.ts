/**
 * What becomes of every listing on a day (section 3 of the specification).
 *
 * A listing is one spell of a VIN at one owner. The owner's delivery with the VIN keeps it active; a delivery without it makes
 * it missing; a delivery that did not come changes nothing; another owner ends it.
 */
import { all, join, name, type Sql, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import { tables } from "../lake/layout.ts";

/** The columns of a listing, in the order of the layout. */
const columns = Object.keys(tables.snapshots.columns);

/** What a listing's history decides; the rest is as the delivery says. */
const decided: Readonly<Record<string, Sql>> = {
  id: sql`coalesce(was.id, md5(concat_ws('|', now.vin, now.dealer_id, strftime(now.observed_at, '%Y-%m-%dT%H:%M:%SZ')))::UUID)`,
  listed_at: sql`coalesce(was.listed_at, now.observed_at)`,
  days_seen: sql`coalesce(was.days_seen, 0) + 1`,
  missing_since: sql`NULL`,
  sold_date: sql`NULL`,
  price_history: sql`CASE WHEN was.price <> now.price THEN list_append(was.price_history, struct_pack(
      changed_at := now.observed_at, miles := now.miles, price_before := was.price, price_after := now.price))
    ELSE coalesce(was.price_history, []) END`,
  discount_from_msrp: sql`round(10000.0 * (now.price - now.msrp) / now.msrp) / 10000`,
};

/** Makes `next_active`, `next_missing` and `newly_ended`, rows of listings with their trim, from yesterday's and today's. */
export async function liveAndDie(session: Session, day: string): Promise<void> {
  const daysOnMarket = (listedAt: Sql): Sql => sql`greatest(0, ${day}::DATE - (${listedAt})::DATE)`;
  await session.keep(
    "yesterday",
    sql`SELECT listings.*, dealers.dealer_id
        FROM (SELECT *, false AS was_missing FROM lake_active UNION ALL BY NAME SELECT *, true AS was_missing FROM lake_missing) AS listings
        JOIN lake_dealers AS dealers USING (dealer_key)`,
  );
  const today = columns.map((column) => {
    const value = column === "days_on_market" ? daysOnMarket(decided.listed_at ?? sql``) : decided[column];
    return sql`${value ?? name("now", column)} AS ${name(column)}`;
  });
  const carried = columns.map((column) => {
    if (column === "dealer_key") return sql`dealer_keys.dealer_key`;
    return column === "days_on_market" ? sql`${daysOnMarket(sql`listed_at`)} AS days_on_market` : name("was", column);
  });
  await session.keep(
    "next_active",
    sql`
    SELECT ${join(today)} FROM vehicles AS now LEFT JOIN yesterday AS was ON was.vin = now.vin AND was.dealer_id = now.dealer_id
    UNION ALL
    SELECT ${join(carried)} FROM yesterday AS was JOIN dealer_keys USING (dealer_id)
    WHERE NOT was_missing AND ${all([sql`was.vin NOT IN (SELECT vin FROM vehicles)`, notDelivered])}`,
  );
  await session.keep(
    "next_missing",
    sql`
    SELECT ${join(columns.map((column) => (column === "missing_since" ? sql`coalesce(missing_since, ${day}::DATE) AS missing_since` : name(column))))}
    FROM yesterday AS was
    WHERE vin NOT IN (SELECT vin FROM next_active) AND (was_missing OR NOT ${notDelivered})`,
  );
  await session.keep(
    "newly_ended",
    sql`SELECT ${join(columns.map((column) => name("was", column)))} FROM yesterday AS was
        JOIN next_active ON next_active.vin = was.vin AND next_active.id <> was.id`,
  );
}

const notDelivered = sql`was.dealer_id NOT IN (SELECT dealer_id FROM delivered)`;

/** The rows of such a table with the trim that the layout sorts them by. */
export function withTrim(table: string): Sql {
  return sql`SELECT listings.*, all_builds.trim FROM ${name(table)} AS listings JOIN all_builds USING (build_key)`;
}

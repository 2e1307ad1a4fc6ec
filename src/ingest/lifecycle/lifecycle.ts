/**
 * What becomes of every listing on a day (section 3 of the specification).
 *
 * A listing is one spell of a VIN at one owner. Its owner's claim keeps it active; without a claim it is missing, then sold or
 * ended, as the rules say; another owner's claim ends it. Rows stream from the day before and from today's delivery into the
 * files: nothing as wide as a listing is kept in between, but what is absent.
 */

import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { tables } from "../../lake/tables.ts";
import type { NameOf } from "../../listing/schema.ts";
import { stateOfAbsent } from "./rules.ts";

/** The columns of a listing, in the order of the layout. */
const columns = Object.keys(tables.snapshots.columns);

/** What is decided of a listing here: what its delivery alone does not fill. */
type History = Readonly<Record<NameOf<{ readonly feed: "history" }>, Sql>>;

/** The columns of a listing as it was delivered, and its history. */
const delivered = (from: string, history: History): Sql => listing(from, history);

/** A listing's columns, those that are named as given, all others from a relation. */
function listing(from: string, given: Partial<History>): Sql {
  const values: Readonly<Record<string, Sql>> = given;
  return join(columns.map((column) => sql`${values[column] ?? ident(from, column)} AS ${ident(column)}`));
}

/** Makes `yesterday` (listings that were active or missing) and `yesterday_claimed` (those that some dealer claims), views. */
export async function createYesterdayViews(session: Session): Promise<void> {
  const withDealer = (rows: Sql): Sql => sql`SELECT listings.*, dealers.dealer_id FROM (${rows}) AS listings
    JOIN lake_dealers AS dealers USING (dealer_key)`;
  await session.createTempView(
    "yesterday",
    withDealer(
      sql`SELECT *, false AS was_missing FROM lake_active UNION ALL BY NAME SELECT *, true AS was_missing FROM lake_missing`,
    ),
  );
  await session.createTempView(
    "yesterday_claimed",
    withDealer(sql`FROM lake_active UNION ALL BY NAME FROM lake_contenders`),
  );
  await session.createTempView("yesterday_contending", withDealer(sql`FROM lake_contenders`));
}

/** Makes `next_active` and `next_contenders`, views of a day's listings and of the claims that are not the owner's. */
export async function createNextListingViews(session: Session, day: string): Promise<void> {
  const today = sql`${literal(day)}::DATE`;
  const sighted = (isOwner: boolean): Sql => sql`SELECT * FROM vehicles WHERE is_owner = ${literal(String(isOwner))}`;
  const standing = (rows: string, isOwner: boolean): Sql => sql`
    SELECT known.* EXCLUDE (dealer_key), dealer_keys.dealer_key FROM ${ident(rows)} AS known JOIN dealer_keys USING (dealer_id)
    SEMI JOIN (SELECT vin, dealer_id FROM claims_today WHERE sighted_on < ${today} AND is_owner = ${literal(String(isOwner))}) USING (vin, dealer_id)`;
  const daysSince = (listedAt: Sql): Sql => sql`greatest(0, ${today} - (${listedAt})::DATE)`;
  const listedAt = sql`coalesce(was.listed_at, now.observed_at)`;
  const priceBefore = sql`coalesce(was.price, was.last_known_price)`;
  const common = {
    discount_from_msrp: sql`round(10000.0 * (now.price - now.msrp) / now.msrp) / 10000`,
    days_seen: sql`coalesce(was.days_seen, 0) + 1`,
    last_seen: today,
    missing_since: sql`NULL`,
    feeds_without: sql`0`,
    sold_date: sql`NULL`,
  };
  const active = {
    ...common,
    id: sql`coalesce(was.id, ${newId(sql`now`, sql`now.observed_at`, day)})`,
    listed_at: listedAt,
    days_on_market: daysSince(listedAt),
    last_known_price: sql`CASE WHEN now.price IS NULL THEN ${priceBefore} END`,
    price_history: sql`CASE WHEN ${priceBefore} <> now.price THEN list_append(was.price_history, struct_pack(
        changed_at := now.observed_at, price := now.price, price_before := ${priceBefore}, miles := now.miles))
      ELSE coalesce(was.price_history, []) END`,
  };
  const midnight = sql`${literal(`${day} 00:00:00`)}::TIMESTAMP`;
  const takenOver = {
    id: newId(sql`known`, midnight, day),
    listed_at: midnight,
    days_on_market: sql`0`,
    last_known_price: sql`NULL`,
    price_history: sql`[]`,
  };
  await session.createTempView(
    "next_active",
    sql`
    SELECT ${delivered("now", active)} FROM (${sighted(true)}) AS now
    LEFT JOIN (SELECT vin, dealer_id, id, listed_at, price, last_known_price, price_history, days_seen FROM yesterday
               UNION ALL SELECT vin, dealer_id, NULL, NULL, NULL, NULL, NULL, days_seen FROM yesterday_contending) AS was USING (vin, dealer_id)
    UNION ALL
    SELECT ${listing("known", { days_on_market: daysSince(sql`listed_at`) })} FROM (${standing("yesterday", true)}) AS known WHERE NOT was_missing
    UNION ALL
    SELECT ${listing("known", takenOver)} FROM (${standing("yesterday_contending", true)}) AS known`,
  );
  const unlisted = {
    id: sql`NULL`,
    listed_at: sql`NULL`,
    days_on_market: sql`NULL`,
    last_known_price: sql`NULL`,
    price_history: sql`NULL`,
  };
  await session.createTempView(
    "next_contenders",
    sql`
    SELECT ${delivered("now", { ...common, ...unlisted })} FROM (${sighted(false)}) AS now
    LEFT JOIN (SELECT vin, dealer_id, days_seen FROM yesterday_contending) AS was USING (vin, dealer_id)
    UNION ALL
    SELECT ${listing("known", {})} FROM (${standing("yesterday_contending", false)}) AS known`,
  );
}

/** A listing's id: it follows from the VIN, the dealer, and the day and time of the spell's first observation. */
function newId(of: Sql, firstObserved: Sql, day: string): Sql {
  return sql`md5(concat_ws('|', ${of}.vin, ${of}.dealer_id, ${literal(day)}, strftime(${firstObserved}, '%Y-%m-%dT%H:%M:%SZ')))`;
}

/**
 * Makes `absent`: listings that were active or missing and are not their dealer's any more, with the `state` that they are in now:
 * `missing`, `sold`, `ended`, or `superseded` by another owner's listing.
 */
export async function createAbsentTable(session: Session, day: string): Promise<void> {
  const today = sql`${day}::DATE`;
  const absent = sql`
    SELECT was.*, was.feeds_without + if(is_accepted, 1, 0) AS feeds_without_now, coalesce(was.missing_since, ${today}) AS missing_from,
           owners.dealer_id AS owner
    FROM yesterday AS was
    JOIN deliveries_today AS deliveries USING (dealer_id)
    LEFT JOIN (SELECT vin, dealer_id FROM claims_today WHERE is_owner) AS owners USING (vin)
    WHERE owners.dealer_id IS DISTINCT FROM was.dealer_id`;
  const state = stateOfAbsent({
    daysAbsent: sql`${today} - last_seen`,
    feedsWithout: sql`feeds_without_now`,
    daysSeen: sql`days_seen`,
    daysMissing: sql`${today} - missing_from`,
  });
  await session.createTempTable(
    "absent_judged",
    sql`SELECT *, if(owner IS NOT NULL, 'superseded', ${state}) AS state FROM (${absent})`,
  );
  const isSold = sql`state = 'sold'`;
  const given = {
    missing_since: sql`missing_from`,
    feeds_without: sql`feeds_without_now`,
    sold_date: sql`CASE WHEN ${isSold} THEN last_seen + 1 END`,
    days_on_market: sql`CASE WHEN ${isSold} THEN greatest(0, last_seen + 1 - listed_at::DATE) ELSE days_on_market END`,
  };
  await session.createTempTable("absent", sql`SELECT ${listing("was", given)}, state FROM absent_judged AS was`);
  await session.drop("absent_judged");
}

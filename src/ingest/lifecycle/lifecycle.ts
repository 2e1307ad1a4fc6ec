/**
 * Listing lifecycle: derives the listings of a day from those of the day before and today's claims, and their intervals of equal rows.
 *
 * A listing is one period of a VIN at one owner. The owner's claim keeps it active. Without a claim it becomes missing, then sold or ended
 * (see `listing/lifecycle-rules.ts`). A claim of another owner ends it. Active listings and contenders are streamed straight into Parquet files; only
 * absent listings are materialized. Columns that count days do not end an interval.
 */
import type { Session } from "../../db/duckdb.ts";
import { columnType, ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { keptColumns, tableOf } from "../../lake/tables.ts";
import { stateOfAbsent } from "../../listing/lifecycle-rules.ts";
import type { NameOf } from "../../listing/schema.ts";

const columns = Object.keys(keptColumns);

/** The columns that depend on earlier days: a delivered listing lacks all of them. */
type HistoryColumns = Readonly<Record<NameOf<{ readonly feed: "history" }>, Sql>>;

const deliveredListing = (relation: string, history: HistoryColumns): Sql => listing(relation, history);

/** Selects the columns of a listing from a relation, some of them replaced. */
function listing(relation: string, replacements: Partial<HistoryColumns>): Sql {
  const values: Readonly<Record<string, Sql>> = replacements;
  return join(columns.map((column) => sql`${values[column] ?? ident(relation, column)} AS ${ident(column)}`));
}

/**
 * Creates three views over the day before, each with `dealer_id`: `yesterday` (active and missing listings, with `was_missing`),
 * `yesterday_contenders`, and `yesterday_claimed` (active listings and contenders).
 */
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
  await session.createTempView("yesterday_contenders", withDealer(sql`FROM lake_contenders`));
}

/** Whether a day has rows besides those delivered by their owner. Planning branches without rows takes half of a query's time. */
export interface ActiveBranches {
  /** Whether there were contenders on the day before. */
  readonly hadContenders: boolean;
  /** Whether claims that won were not delivered today. */
  readonly areStanding: boolean;
}

/** Returns the day's active listings: the owner delivered the VIN, its earlier claim stands, or a contender whose claim stands takes the VIN over. */
export function nextActive(day: string, { hadContenders, areStanding }: ActiveBranches): Sql {
  const carriedOver = { days_on_market: daysOnMarket(sql`listed_at`, day) };
  const contenders = sql`UNION ALL SELECT vin, dealer_id, NULL, NULL, NULL, NULL, NULL, days_seen FROM yesterday_contenders`;
  const standing = sql`UNION ALL
    SELECT ${listing("standing", carriedOver)} FROM (${standingRows("yesterday", true, day)}) AS standing WHERE NOT was_missing`;
  const takeovers = sql`UNION ALL
    SELECT ${listing("standing", takeoverHistory(day))} FROM (${standingRows("yesterday_contenders", true, day)}) AS standing`;
  return sql`
    SELECT ${deliveredListing("now", activeHistory(day))} FROM (${deliveredRows(true)}) AS now
    LEFT JOIN (SELECT vin, dealer_id, id, listed_at, price, last_known_price, price_history, days_seen FROM yesterday
               ${hadContenders ? contenders : sql``}) AS was USING (vin, dealer_id)
    ${areStanding ? standing : sql``} ${areStanding && hadContenders ? takeovers : sql``}`;
}

/** Returns the day's contenders: delivered today, or carried over while the claim stands. */
export function nextContenders(day: string): Sql {
  const unlisted = {
    id: sql`NULL`,
    listed_at: sql`NULL`,
    days_on_market: sql`NULL`,
    last_known_price: sql`NULL`,
    price_history: sql`NULL`,
  };
  return sql`
    SELECT ${deliveredListing("now", { ...deliveredHistory(day), ...unlisted })} FROM (${deliveredRows(false)}) AS now
    LEFT JOIN (SELECT vin, dealer_id, days_seen FROM yesterday_contenders) AS was USING (vin, dealer_id)
    UNION ALL
    SELECT ${listing("standing", {})} FROM (${standingRows("yesterday_contenders", false, day)}) AS standing`;
}

const deliveredRows = (isOwner: boolean): Sql =>
  sql`SELECT * FROM delivered_listings WHERE is_owner = ${literal(String(isOwner))}`;

/** Rows of the day before whose claim stands although the dealer did not deliver them today, with the dealer's current key. */
function standingRows(view: string, isOwner: boolean, day: string): Sql {
  return sql`
    SELECT listings.* EXCLUDE (dealer_key), dealer_keys.dealer_key FROM ${ident(view)} AS listings JOIN dealer_keys USING (dealer_id)
    SEMI JOIN (SELECT vin, dealer_id FROM claims_today WHERE sighted_on < ${dateLiteral(day)} AND is_owner = ${literal(String(isOwner))})
      USING (vin, dealer_id)`;
}

const dateLiteral = (day: string): Sql => sql`${literal(day)}::DATE`;

const daysOnMarket = (listedAt: Sql, day: string): Sql => sql`greatest(0, ${dateLiteral(day)} - (${listedAt})::DATE)`;

/** History columns of every row delivered today: `now` is the delivered row, `was` the row of the day before. */
function deliveredHistory(day: string) {
  return {
    discount_from_msrp: sql`round(10000.0 * (now.price - now.msrp) / now.msrp) / 10000`,
    // Only on the first day of a lake can an observation be older than the delivery: it is one more day.
    days_seen: sql`coalesce(was.days_seen, if(now.observed_at < ${dateLiteral(day)}, 1, 0)) + 1`,
    last_seen: dateLiteral(day),
    missing_since: sql`NULL`,
    feeds_without: sql`0`,
    sold_date: sql`NULL`,
    sold_on_record: sql`NULL`,
  };
}

/** History columns of an active listing delivered today. A price change is relative to the last known price. */
function activeHistory(day: string): HistoryColumns {
  const listedAt = sql`coalesce(was.listed_at, now.observed_at)`;
  const priceBefore = sql`coalesce(was.price, was.last_known_price)`;
  return {
    ...deliveredHistory(day),
    id: sql`coalesce(was.id, ${newId(sql`now`, sql`now.observed_at`, day)})`,
    listed_at: listedAt,
    days_on_market: daysOnMarket(listedAt, day),
    last_known_price: sql`CASE WHEN now.price IS NULL THEN ${priceBefore} END`,
    price_history: sql`CASE WHEN ${priceBefore} <> now.price THEN list_append(was.price_history, struct_pack(
        changed_at := now.observed_at, price := now.price, price_before := ${priceBefore}, miles := now.miles))
      ELSE coalesce(was.price_history, []) END`,
  };
}

/** History columns of a contender that becomes the owner without delivering today. */
function takeoverHistory(day: string): Partial<HistoryColumns> {
  const midnight = sql`${literal(`${day} 00:00:00`)}::TIMESTAMP`;
  return {
    id: newId(sql`standing`, midnight, day),
    listed_at: midnight,
    days_on_market: sql`0`,
    last_known_price: sql`NULL`,
    price_history: sql`[]`,
  };
}

/** Returns a new listing id: a hash of the VIN, the dealer, and the day and time of the listing's first observation. */
function newId(relation: Sql, firstObserved: Sql, day: string): Sql {
  return sql`md5(concat_ws('|', ${relation}.vin, ${relation}.dealer_id, ${literal(day)}, strftime(${firstObserved}, '%Y-%m-%dT%H:%M:%SZ')))`;
}

/**
 * Creates the table `absent_listings`: listings that were active or missing and are no longer active at their dealer, with their new
 * `state`: `missing`, `sold`, `ended`, or `superseded` (another dealer now owns the VIN).
 */
export async function createAbsentTable(session: Session, day: string): Promise<void> {
  const today = sql`${day}::DATE`;
  const absent = sql`
    SELECT was.*, coalesce(was.feeds_without, 0) + if(is_accepted, 1, 0) AS feeds_without_now, coalesce(was.missing_since, ${today}) AS missing_from,
           owners.dealer_id AS owner
    FROM yesterday AS was
    JOIN feeds_today AS feeds USING (dealer_id)
    LEFT JOIN (SELECT vin, dealer_id FROM claims_today WHERE is_owner) AS owners USING (vin)
    WHERE owners.dealer_id IS DISTINCT FROM was.dealer_id`;
  const state = stateOfAbsent({
    daysAbsent: sql`${today} - last_seen`,
    feedsWithout: sql`feeds_without_now`,
    daysSeen: sql`days_seen`,
    daysMissing: sql`${today} - missing_from`,
  });
  const withState = sql`SELECT *, if(owner IS NOT NULL, 'superseded', ${state}) AS state FROM (${absent})`;
  const isSold = sql`state = 'sold'`;
  const history = {
    missing_since: sql`missing_from`,
    feeds_without: sql`feeds_without_now`,
    sold_date: sql`CASE WHEN ${isSold} THEN last_seen + 1 END`,
    sold_on_record: sql`CASE WHEN ${isSold} THEN ${today} END`,
    days_on_market: sql`CASE WHEN ${isSold} THEN greatest(0, last_seen + 1 - listed_at::DATE) ELSE days_on_market END`,
  };
  await session.createTempTable(
    "absent_listings",
    sql`SELECT ${listing("was", history)}, state FROM (${withState}) AS was`,
  );
}

/** Columns that are not compared with yesterday's row: where it was delivered last, and the interval itself. */
const unlikeColumns = ["file", "row", "valid_from", "valid_to"];

const comparedColumns = Object.keys(tableOf("listings").columns).filter((column) => !unlikeColumns.includes(column));

const state = sql`hash(${join(comparedColumns.map((column) => ident(column)))})`;

/**
 * Returns listings of the day as the rows that hold on it, valid from the first day since which they equal a row of `held`. Requires `claims_today`
 * and `feeds_today`.
 */
export const holdingRows = (rows: Sql, held: Sql, day: string): Sql => sql`
  SELECT next.* EXCLUDE (state, valid_from), coalesce(was.valid_from, DATE ${literal(day)}) AS valid_from
  FROM (SELECT *, ${state} AS state FROM (${storedRows(rows)})) AS next
  LEFT JOIN (SELECT vin, ${state} AS state, valid_from FROM ${held}) AS was USING (vin, state)`;

/** Returns listings as the files hold them. What follows from the dealer's feeds becomes null. */
function storedRows(rows: Sql): Sql {
  const derived: Readonly<Record<string, Sql>> = {
    unseen_feeds: sql`feeds.feeds - listings.days_seen`,
    last_seen: sql`nullif(listings.last_seen, feeds.last_delivered_on)`,
    last_checked_at: sql`nullif(listings.last_checked_at, feeds.last_delivered_at)`,
    claimed_since: sql`claims.claimed_since`,
    decided_by: sql`claims.decided_by`,
    file: sql`claims.file`,
    row: sql`claims."row"`,
    valid_from: sql`NULL`,
    valid_to: sql`NULL`,
  };
  const columns = Object.entries(tableOf("listings").columns).map(
    ([column, type]) => sql`(${derived[column] ?? ident("listings", column)})::${columnType(type)} AS ${ident(column)}`,
  );
  return sql`
    SELECT ${join(columns)} FROM (${rows}) AS listings
    JOIN feeds_today AS feeds ON feeds.dealer_key = listings.dealer_key
    JOIN claims_today AS claims ON claims.vin = listings.vin AND claims.dealer_id = feeds.dealer_id`;
}

/** Returns the rows of a relation that held until the day before and are not among those that hold on a day. */
export const endedRows = (held: Sql, holding: Sql, day: string): Sql => sql`
  SELECT * REPLACE (DATE ${literal(day)} AS valid_to) FROM ${held}
  ANTI JOIN (SELECT vin, dealer_key, valid_from FROM (${holding})) USING (vin, dealer_key, valid_from)`;

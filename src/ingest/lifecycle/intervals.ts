/**
 * Intervals: the stored form of the day's active listings and contenders. A row that equals yesterday's keeps its `valid_from`; columns that count
 * days are not compared.
 */
import { columnType, ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { tableOf } from "../../lake/tables.ts";

/** Columns that are not compared with yesterday's row: where it was delivered last, and the interval itself. */
const unlikeColumns = ["file", "row", "valid_from", "valid_to"];

const comparedColumns = Object.keys(tableOf("listings").columns).filter((column) => !unlikeColumns.includes(column));

const state = sql`hash(${join(comparedColumns.map((column) => ident(column)))})`;

/**
 * Returns listings of the day as the rows that hold on it, valid from the first day since which they equal a row of `held`. Requires `claims_today`
 * and `deliveries_today`.
 */
export const holdingRows = (rows: Sql, held: Sql, day: string): Sql => sql`
  SELECT next.* EXCLUDE (state, valid_from), coalesce(was.valid_from, DATE ${literal(day)}) AS valid_from
  FROM (SELECT *, ${state} AS state FROM (${storedRows(rows)})) AS next
  LEFT JOIN (SELECT vin, ${state} AS state, valid_from FROM ${held}) AS was USING (vin, state)`;

/** Returns listings as the files hold them. What follows from the dealer's deliveries becomes null. */
function storedRows(rows: Sql): Sql {
  const derived: Readonly<Record<string, Sql>> = {
    unseen_deliveries: sql`deliveries.deliveries - listings.days_seen`,
    last_seen: sql`nullif(listings.last_seen, deliveries.last_delivered_on)`,
    last_checked_at: sql`nullif(listings.last_checked_at, deliveries.last_delivered_at)`,
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
    JOIN deliveries_today AS deliveries ON deliveries.dealer_key = listings.dealer_key
    JOIN claims_today AS claims ON claims.vin = listings.vin AND claims.dealer_id = deliveries.dealer_id`;
}

/** Returns the rows of a relation that held until the day before and are not among those that hold on a day. */
export const endedRows = (held: Sql, holding: Sql, day: string): Sql => sql`
  SELECT * REPLACE (DATE ${literal(day)} AS valid_to) FROM ${held}
  ANTI JOIN (SELECT vin, dealer_key, valid_from FROM (${holding})) USING (vin, dealer_key, valid_from)`;

/**
 * Rules of the listing lifecycle, as pure functions that return SQL expressions. One expression evaluates a rule for all rows; tests
 * evaluate it for single rows. The thresholds are in `listing/life.ts`.
 */
import { type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";

/** The absence of a listing whose VIN is unclaimed on a day. */
export interface Absence {
  /** Whole days since the owner's feed last contained it. */
  readonly daysAbsent: Sql;
  /** Accepted feeds of the owner without it since then. */
  readonly feedsWithout: Sql;
  /** Number of days on which the owner's feed contained it. */
  readonly daysSeen: Sql;
  /** Whole days since it became missing; 0 on that day. */
  readonly daysMissing: Sql;
}

/** Returns the state of an unclaimed listing: `missing`, `sold` or `ended`. */
export function stateOfAbsent({ daysAbsent, feedsWithout, daysSeen, daysMissing }: Absence): Sql {
  return sql`CASE
    WHEN ${daysAbsent} >= ${life.soldAfterDays} AND ${feedsWithout} >= ${life.soldAfterFeeds} AND ${daysSeen} >= ${life.soldSeenDays} THEN 'sold'
    WHEN ${daysMissing} >= ${life.endedAfterDays} THEN 'ended'
    ELSE 'missing' END`;
}

/** The size of a feed, compared with the dealer's earlier feeds. */
export interface FeedSize {
  readonly vins: Sql;
  /** Number of VINs in each of the dealer's last accepted feeds, as a list. */
  readonly acceptedVins: Sql;
  /** Number of consecutive collapsed feeds before it. */
  readonly collapsedInARow: Sql;
}

/**
 * Returns the verdict on a feed: `accepted`; `collapsed` (its rows are used, but VINs without a row do not count as absent); or `resized`
 * (the last of several consecutive collapsed feeds: accepted, and the dealer's usual size restarts from it).
 */
export function feedVerdict({ vins, acceptedVins, collapsedInARow }: FeedSize): Sql {
  return sql`CASE
    WHEN coalesce(${vins} >= ${life.collapsedShare} * list_median(${acceptedVins}), true) THEN 'accepted'
    WHEN ${collapsedInARow} + 1 >= ${life.collapsedFeeds} THEN 'resized'
    ELSE 'collapsed' END`;
}

/** Returns whether a dealer is silent: its claims lapse after `silentDays` without a delivery. */
export function isSilent(daysSinceDelivery: Sql): Sql {
  return sql`(${daysSinceDelivery} >= ${life.silentDays})`;
}

/**
 * The rules of a listing's life, as pure functions of what is known on a day (section 3 of the specification). Each is an SQL
 * expression over columns, so that one rule judges millions of rows; the tests ask them row by row.
 */
import { type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";

/** What becomes of a listing that nobody claims on a day. */
export interface Absence {
  /** Whole days since it was last in its owner's feed. */
  readonly daysAbsent: Sql;
  /** Accepted feeds of its owner without it since then. */
  readonly feedsWithout: Sql;
  /** Days on which it was in its owner's feed. */
  readonly daysSeen: Sql;
  /** Whole days since it became missing; 0 on the day itself. */
  readonly daysMissing: Sql;
}

/** The state of an unclaimed listing: `missing`, `sold` or `ended`. */
export function stateOfAbsent({ daysAbsent, feedsWithout, daysSeen, daysMissing }: Absence): Sql {
  return sql`CASE
    WHEN ${daysAbsent} >= ${life.soldAfterDays} AND ${feedsWithout} >= ${life.soldAfterFeeds} AND ${daysSeen} >= ${life.soldSeenDays} THEN 'sold'
    WHEN ${daysMissing} >= ${life.endedAfterDays} THEN 'ended'
    ELSE 'missing' END`;
}

/** What a delivery is judged by. */
export interface FeedSize {
  /** VINs in it. */
  readonly vins: Sql;
  /** VINs in each of the dealer's last accepted feeds, as a list. */
  readonly acceptedVins: Sql;
  /** Collapsed feeds in a row before it. */
  readonly collapsedInARow: Sql;
}

/**
 * The verdict on a delivery: `accepted`, `collapsed` (it updates what it has and counts as no absence), or `resized` (the last
 * of so many collapsed ones in a row: accepted, and the dealer's usual size is counted anew from it).
 */
export function feedVerdict({ vins, acceptedVins, collapsedInARow }: FeedSize): Sql {
  return sql`CASE
    WHEN coalesce(${vins} >= ${life.collapsedShare} * list_median(${acceptedVins}), true) THEN 'accepted'
    WHEN ${collapsedInARow} + 1 >= ${life.collapsedFeeds} THEN 'resized'
    ELSE 'collapsed' END`;
}

/** Whether a dealer has been silent for so long that it has lost its claims. */
export function isSilent(daysSinceDelivery: Sql): Sql {
  return sql`(${daysSinceDelivery} >= ${life.silentDays})`;
}

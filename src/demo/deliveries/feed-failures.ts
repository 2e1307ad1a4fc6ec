/** Feed failures of the demo market: feeds that are late (a day old), partial (truncated), empty, or absent. */
import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { failureFreeDays, type MarketShape, partialTenths } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** A dealer's feed can fail only every third day, so that no dealer is silent for a week by accident. */
const failureIntervalDays = 3;

/** Creates the table `feed_failures` (dealer, day, failure). A small dealer's feed is never partial: it could not be recognized as such. */
export async function createFeedFailures(
  session: Session,
  draws: RandomDraws,
  { days, shares }: MarketShape,
): Promise<void> {
  const { late, partial, empty, absent } = shares;
  const [lateLimit, partialLimit, emptyLimit, absentLimit] = [
    late,
    late + partial,
    late + partial + empty,
    late + partial + empty + absent,
  ].map((share) => numberLiteral(share * failureIntervalDays));
  const drawn = draws.uniform("trouble", sql`dealer::BIGINT * 100000 + day`);
  await session.createTempTable(
    "feed_failures",
    sql`
    SELECT dealer, day, failure FROM (
      SELECT dealer, day, is_large, CASE WHEN drawn < ${lateLimit ?? sql`0`} THEN 'late' WHEN drawn < ${partialLimit ?? sql`0`} THEN 'partial'
        WHEN drawn < ${emptyLimit ?? sql`0`} THEN 'empty' WHEN drawn < ${absentLimit ?? sql`0`} THEN 'absent' END AS failure
      FROM (SELECT dealer, is_large, day::INTEGER AS day, ${drawn} AS drawn FROM dealers, range(${numberLiteral(failureFreeDays)}, ${numberLiteral(days)}) AS span_days(day)
            WHERE closes_on IS NULL AND (day + dealer) % ${numberLiteral(failureIntervalDays)} = 0)
    ) WHERE failure IS NOT NULL AND (failure <> 'partial' OR is_large)`,
  );
}

/** A condition: a dealer is open on a day. Reads the dealer's `closes_on`. */
export const isOpen = (day: Sql): Sql => sql`${day} < coalesce(closes_on, 100000)`;

/** A condition: the dealer's feed of a day contains a stay. Reads a row of `stays` with the dealer's `closes_on` and `slots` and the day's `failure`. */
export const isInFeed = (day: Sql): Sql => sql`(${isOpen(day)} AND CASE coalesce(failure, 'none')
  WHEN 'none' THEN begins <= ${day} AND ends > ${day}
  WHEN 'late' THEN begins <= ${day} - 1 AND ends > ${day} - 1
  WHEN 'partial' THEN begins <= ${day} AND ends > ${day} AND ${isInPartialFeed}
  ELSE false END)`;

/** A condition: a place is in the part of a truncated feed that arrives. */
const isInPartialFeed = sql`place * 10 < slots * ${numberLiteral(partialTenths)}`;

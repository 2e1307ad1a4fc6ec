/** Which feeds do not come as they should: too late, cut short, empty, or not at all. */

import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { failureFreeDays, type MarketShape, partialTenths } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** A feed may fail on every third day only, so that two good ones follow a bad one, and nobody is silent for a week by draws. */
const everyDays = 3;

/** Makes `troubles` (dealer, day, trouble): the feeds that are not whole and of the day. */
export async function createFeedFailures(
  session: Session,
  draws: RandomDraws,
  { days, shares }: MarketShape,
): Promise<void> {
  const { late, partial, empty, absent } = shares;
  const limits = [late, late + partial, late + partial + empty, late + partial + empty + absent].map((share) =>
    numberLiteral(share * everyDays),
  );
  const drawn = draws.uniform("trouble", sql`dealer::BIGINT * 100000 + day`);
  await session.createTempTable(
    "troubles",
    sql`
    SELECT dealer, day, trouble FROM (
      SELECT dealer, day, is_steady, CASE WHEN drawn < ${limits[0] ?? numberLiteral(0)} THEN 'late' WHEN drawn < ${limits[1] ?? numberLiteral(0)} THEN 'partial'
        WHEN drawn < ${limits[2] ?? numberLiteral(0)} THEN 'empty' WHEN drawn < ${limits[3] ?? numberLiteral(0)} THEN 'absent' END AS trouble
      FROM (SELECT dealer, is_steady, day::INTEGER AS day, ${drawn} AS drawn FROM dealers, range(${numberLiteral(failureFreeDays)}, ${numberLiteral(days)}) AS span(day)
            WHERE closes_on IS NULL AND (day + dealer) % ${numberLiteral(everyDays)} = 0)
    ) WHERE trouble IS NOT NULL AND (trouble <> 'partial' OR is_steady)`,
  );
}

/** Whether a dealer is in business on a day; reads a row with its `closes_on`. */
export const isOpen = (day: Sql): Sql => sql`${day} < coalesce(closes_on, 100000)`;

/** Whether a feed of a day shows a stay; reads a row of `stays`, with the dealer's `closes_on` and the day's `trouble`. */
export const isInFeed = (day: Sql): Sql => sql`(${isOpen(day)} AND CASE coalesce(trouble, 'none')
  WHEN 'none' THEN begins <= ${day} AND ends > ${day}
  WHEN 'late' THEN begins <= ${day} - 1 AND ends > ${day} - 1
  WHEN 'partial' THEN begins <= ${day} AND ends > ${day} AND ${isInPart}
  ELSE false END)`;

/** Whether a place is in the part of a feed that was cut short. */
const isInPart = sql`place * 10 < slots * ${numberLiteral(partialTenths)}`;

/** The inventory rows of a day before they are formatted: which stays the day's feeds contain, in file order. */
import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, sql } from "../../db/sql.ts";
import { rowCopies } from "./dirt.ts";
import { isInFeed } from "./feed-failures.ts";

/**
 * Creates the table `day_rows`: one row per inventory row of the day, numbered by `line` from 0. `as_of` is the day that the row describes
 * (the day before, in a late feed); `is_away` marks cars listed by a dealer other than their own.
 */
export async function createDayRows(session: Session, day: number): Promise<void> {
  await session.createTempTable(
    "day_rows",
    sql`
    SELECT row_number() OVER (ORDER BY dealer, car, nth, copy) - 1 AS line, * FROM (
      SELECT cars.* EXCLUDE (dealer, place, is_large), listed.* EXCLUDE (car), cars.dealer <> listed.dealer AS is_away, unnest(range(${rowCopies})) AS copy
      FROM (SELECT car, nth, dealer, begins, if(failure = 'late', ${numberLiteral(day - 1)}, ${numberLiteral(day)}) AS as_of
            FROM stays JOIN (SELECT dealer, slots, closes_on FROM dealers) USING (dealer)
            LEFT JOIN (SELECT dealer, failure FROM feed_failures WHERE day = ${numberLiteral(day)}) USING (dealer)
            WHERE ${isInFeed(numberLiteral(day))}) AS listed
      JOIN cars USING (car)
    ) ORDER BY line`,
  );
}

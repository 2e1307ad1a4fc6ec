/** The rows of a day's feeds before they are written out: which stays are shown, in the order of the files. */

import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, sql } from "../../db/sql.ts";
import { rowCopies } from "./dirt.ts";
import { isInFeed } from "./feed-failures.ts";

/** Makes `today`: a row for each row of the day's inventory, numbered by `line` from 0. `as_of` is the day that it tells of. */
export async function createTodayTable(session: Session, day: number): Promise<void> {
  await session.createTempTable(
    "today",
    sql`
    SELECT row_number() OVER (ORDER BY dealer, car, nth, copy) - 1 AS line, * FROM (
      SELECT cars.* EXCLUDE (dealer, place, is_steady), shown.* EXCLUDE (car), cars.dealer <> shown.dealer AS is_away, unnest(range(${rowCopies})) AS copy
      FROM (SELECT car, nth, dealer, begins, if(trouble = 'late', ${numberLiteral(day - 1)}, ${numberLiteral(day)}) AS as_of
            FROM stays JOIN (SELECT dealer, slots, closes_on FROM dealers) USING (dealer)
            LEFT JOIN (SELECT dealer, trouble FROM troubles WHERE day = ${numberLiteral(day)}) USING (dealer) WHERE ${isInFeed(numberLiteral(day))}) AS shown
      JOIN cars USING (car)
    ) ORDER BY line`,
  );
}

/** Where cars are listed, and from when to when: at home, at a sister store as well or after, or away and home again. */

import type { Session } from "../../db/duckdb.ts";
import { ident, join, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** How much earlier or later than home a sister store takes a car up and drops it. */
const laterUpDays = 6;
const laterDownDays = 4;

/**
 * Makes `stays` (car, nth, dealer, place, begins, ends): one row for a car at a dealer without a break, those that fall into the
 * span. A car that is listed at two dealers, or twice at one, is clean and at a lot large enough not to notice.
 */
export async function createStays(session: Session, draws: RandomDraws, { days, shares }: MarketShape): Promise<void> {
  const car = sql`car`;
  const fate = draws.uniform("fate", car);
  const moves = sql`is_steady AND dirt IS NULL`;
  await session.createTempTable(
    "eventful",
    sql`
    SELECT * FROM (
      SELECT car, cars.dealer, cars.place, arrives, leaves, sister, sisters.slots AS sister_slots, CASE
          WHEN sister IS NOT NULL AND fate < ${numberLiteral(shares.shared)} THEN 'shared'
          WHEN sister IS NOT NULL AND fate < ${numberLiteral(shares.shared + shares.transferred)} THEN 'transferred'
          WHEN fate >= ${numberLiteral(shares.shared + shares.transferred)} AND fate < ${numberLiteral(shares.shared + shares.transferred + shares.relisted)} THEN 'relisted' END AS event
      FROM (SELECT *, ${fate} AS fate FROM cars WHERE ${moves}) AS cars JOIN dealers USING (dealer)
      LEFT JOIN (SELECT dealer AS sister, slots FROM dealers) AS sisters USING (sister)
    ) WHERE event IS NOT NULL`,
  );
  const parting = (of: string): Sql => {
    const [arrives, leaves] = [ident(of, "arrives"), ident(of, "leaves")];
    return sql`${arrives} + 1 + ${draws.integerBelow("parting", car, sql`(${leaves} - ${arrives} - 2)`)}`;
  };
  const gap = sql`if(event = 'relisted', ${oneOf(draws, "absence", [1, 1, 2, 2, 3, 5, 6, 8, 10])}, ${oneOf(draws, "way", [0, 0, 0, 1, 2, 6])})`;
  const seconds = sql`
    SELECT car, 1 AS nth, sister AS dealer, sister_slots AS place, arrives + ${draws.integerBelow("up", car, sql`least(${numberLiteral(laterUpDays)}, leaves - arrives - 2)`)} AS begins,
           leaves - 1 + ${draws.integerBelow("down", car, laterDownDays)} AS ends FROM eventful WHERE event = 'shared'
    UNION ALL
    SELECT car, 1, if(event = 'relisted', dealer, sister), if(event = 'relisted', place, sister_slots), ${parting("eventful")} + ${gap}, leaves + ${gap} FROM eventful WHERE event <> 'shared'`;
  const firsts = sql`
    SELECT car, 0 AS nth, cars.dealer, cars.place, cars.arrives AS begins,
           if(event IS NULL OR event = 'shared', cars.leaves, ${parting("cars")}) AS ends
    FROM cars LEFT JOIN (SELECT car, event FROM eventful) AS eventful USING (car)`;
  await session.createTempTable(
    "stays",
    sql`SELECT car, nth::INTEGER AS nth, dealer::INTEGER AS dealer, place::INTEGER AS place, begins::INTEGER AS begins,
               least(ends, coalesce(closes_on, 100000))::INTEGER AS ends
        FROM (${firsts} UNION ALL ${seconds}) JOIN (SELECT dealer, closes_on FROM dealers) USING (dealer)
        WHERE ends > 0 AND begins < ${numberLiteral(days)} AND begins < least(ends, coalesce(closes_on, 100000))`,
  );
  await session.drop("eventful");
}

const oneOf = (draws: RandomDraws, purpose: string, days: readonly number[]): Sql =>
  draws.pick(purpose, sql`car`, fixedList(days));

const fixedList = (numbers: readonly number[]): Sql => sql`[${join(numbers.map(numberLiteral))}]`;

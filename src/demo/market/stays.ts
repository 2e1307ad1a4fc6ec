/** Where cars are listed, and from when to when: at home, at a sister store as well or after, or away and home again. */

import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import { fixed, type RandomDraws } from "../random.ts";

/** How much earlier or later than home a sister store takes a car up and drops it. */
const laterUpDays = 6;
const laterDownDays = 4;

/**
 * Makes `stays` (car, nth, dealer, place, begins, ends): one row for a car at a dealer without a break, those that fall into the
 * span. A car that is listed at two dealers, or twice at one, is clean and at a lot large enough not to notice.
 */
export async function createStays(session: Session, chance: RandomDraws, { days, shares }: MarketShape): Promise<void> {
  const car = sql`car`;
  const fate = chance.even("fate", car);
  const moves = sql`is_steady AND dirt IS NULL`;
  await session.createTempTable(
    "eventful",
    sql`
    SELECT * FROM (
      SELECT car, cars.dealer, cars.place, arrives, leaves, sister, sisters.slots AS sister_slots, CASE
          WHEN sister IS NOT NULL AND fate < ${fixed(shares.shared)} THEN 'shared'
          WHEN sister IS NOT NULL AND fate < ${fixed(shares.shared + shares.transferred)} THEN 'transferred'
          WHEN fate >= ${fixed(shares.shared + shares.transferred)} AND fate < ${fixed(shares.shared + shares.transferred + shares.relisted)} THEN 'relisted' END AS event
      FROM (SELECT *, ${fate} AS fate FROM cars WHERE ${moves}) AS cars JOIN dealers USING (dealer)
      LEFT JOIN (SELECT dealer AS sister, slots FROM dealers) AS sisters USING (sister)
    ) WHERE event IS NOT NULL`,
  );
  const parting = (of: string): Sql => {
    const [arrives, leaves] = [ident(of, "arrives"), ident(of, "leaves")];
    return sql`${arrives} + 1 + ${chance.below("parting", car, sql`(${leaves} - ${arrives} - 2)`)}`;
  };
  const gap = sql`if(event = 'relisted', ${oneOf(chance, "absence", [1, 1, 2, 2, 3, 5, 6, 8, 10])}, ${oneOf(chance, "way", [0, 0, 0, 1, 2, 6])})`;
  const seconds = sql`
    SELECT car, 1 AS nth, sister AS dealer, sister_slots AS place, arrives + ${chance.below("up", car, sql`least(${fixed(laterUpDays)}, leaves - arrives - 2)`)} AS begins,
           leaves - 1 + ${chance.below("down", car, laterDownDays)} AS ends FROM eventful WHERE event = 'shared'
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
        WHERE ends > 0 AND begins < ${fixed(days)} AND begins < least(ends, coalesce(closes_on, 100000))`,
  );
  await session.drop("eventful");
}

const oneOf = (chance: RandomDraws, purpose: string, days: readonly number[]): Sql =>
  chance.oneOf(purpose, sql`car`, fixedList(days));

const fixedList = (numbers: readonly number[]): Sql => sql`[${join(numbers.map(fixed))}]`;

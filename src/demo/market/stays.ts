/** Stays: the spans in which a dealer lists a car. Most cars have one; shared, transferred and relisted cars have two. */
import { plusDays } from "../../base/day.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** Greatest delay with which a sister store lists and removes a shared car. */
const listingDelayDays = 6;
const removalDelayDays = 4;

/**
 * Creates the table `stays` (car, nth, dealer, slot_at_dealer, begins, ends): one row per uninterrupted stay of a car at a dealer within the span.
 * Only cars without dirt at large dealers have two stays.
 */
export async function createStays(session: Session, draws: RandomDraws, { days, shares }: MarketShape): Promise<void> {
  const car = sql`car`;
  const eventDraw = draws.uniform("fate", car);
  const isEligible = sql`is_large AND dirt IS NULL`;
  await session.createTempTable(
    "car_events",
    sql`
    SELECT * FROM (
      SELECT car, cars.dealer, cars.slot_at_dealer, arrives, leaves, sister, sisters.slots AS sister_slots, CASE
          WHEN sister IS NOT NULL AND event_draw < ${numberLiteral(shares.shared)} THEN 'shared'
          WHEN sister IS NOT NULL AND event_draw < ${numberLiteral(shares.shared + shares.transferred)} THEN 'transferred'
          WHEN event_draw >= ${numberLiteral(shares.shared + shares.transferred)} AND event_draw < ${numberLiteral(shares.shared + shares.transferred + shares.relisted)} THEN 'relisted' END AS event
      FROM (SELECT *, ${eventDraw} AS event_draw FROM cars WHERE ${isEligible}) AS cars JOIN dealers USING (dealer)
      LEFT JOIN (SELECT dealer AS sister, slots FROM dealers) AS sisters USING (sister)
    ) WHERE event IS NOT NULL`,
  );
  const firstEnd = (relation: string): Sql => {
    const arrives = ident(relation, "arrives");
    const leaves = ident(relation, "leaves");
    return sql`${arrives} + 1 + ${draws.integerBelow("parting", car, sql`(${leaves} - ${arrives} - 2)`)}`;
  };
  const gapDays = sql`if(event = 'relisted', ${pickDays(draws, "absence", [1, 1, 2, 2, 3, 5, 6, 8, 10])}, ${pickDays(draws, "way", [0, 0, 0, 1, 2, 6])})`;
  const secondStays = sql`
    SELECT car, 1 AS nth, sister AS dealer, sister_slots AS slot_at_dealer, arrives + ${draws.integerBelow("up", car, sql`least(${numberLiteral(listingDelayDays)}, leaves - arrives - 2)`)} AS begins,
           leaves - 1 + ${draws.integerBelow("down", car, removalDelayDays)} AS ends FROM car_events WHERE event = 'shared'
    UNION ALL
    SELECT car, 1, if(event = 'relisted', dealer, sister), if(event = 'relisted', slot_at_dealer, sister_slots), ${firstEnd("car_events")} + ${gapDays}, leaves + ${gapDays} FROM car_events WHERE event <> 'shared'`;
  const firstStays = sql`
    SELECT car, 0 AS nth, cars.dealer, cars.slot_at_dealer, cars.arrives AS begins,
           if(event IS NULL OR event = 'shared', cars.leaves, ${firstEnd("cars")}) AS ends
    FROM cars LEFT JOIN (SELECT car, event FROM car_events) AS car_events USING (car)`;
  await session.createTempTable(
    "stays",
    sql`SELECT car, nth::INTEGER AS nth, dealer::INTEGER AS dealer, slot_at_dealer::INTEGER AS slot_at_dealer, begins::INTEGER AS begins,
               least(ends, coalesce(closes_on, 100000))::INTEGER AS ends
        FROM (${firstStays} UNION ALL ${secondStays}) JOIN (SELECT dealer, closes_on FROM dealers) USING (dealer)
        WHERE ends > 0 AND begins < ${numberLiteral(days)} AND begins < least(ends, coalesce(closes_on, 100000))`,
  );
  await session.drop("car_events");
}

const pickDays = (draws: RandomDraws, purpose: string, days: readonly number[]): Sql =>
  draws.pick(purpose, sql`car`, listLiteral(days));

const listLiteral = (numbers: readonly number[]): Sql => sql`[${join(numbers.map(numberLiteral))}]`;

/** Relative numbers of cars that arrive and leave on the days of a week, Monday first. */
const byWeekday = [0.95, 0.9, 0.95, 1.05, 1.3, 1.45, 0.4];
/** Relative pace of sales by month: the peak is in early summer. */
const byMonth = [0.88, 0.92, 1.04, 1.05, 1.09, 1.12, 1.07, 1.05, 0.97, 0.95, 0.92, 0.94];

export interface Rhythm {
  /** Moves a day, counted from the first delivery, within its week, so that evenly distributed days follow the rhythm of the week. Keeps their order. */
  onBusyDay(draws: RandomDraws, purpose: string, key: Sql, day: Sql): Sql;
  monthOf(day: Sql): Sql;
  /** The pace of sales in the month of a day; 1 on average. */
  paceOn(day: Sql): Sql;
}

/** Returns the rhythm of a market by its days. */
export function rhythmOf({ days, end }: MarketShape): Rhythm {
  const dateOf = (day: Sql): Sql => sql`(DATE ${literal(plusDays(end, 1 - days))} + (${day})::INTEGER)`;
  const monthOf = (day: Sql): Sql => sql`"month"(${dateOf(day)})`;
  const total = byWeekday.reduce((sum, share) => sum + share, 0);
  const bounds = byWeekday.slice(0, -1).map((_, last) => {
    const before = byWeekday.slice(0, last + 1).reduce((sum, share) => sum + share, 0);
    return (7 * before) / total;
  });
  return {
    onBusyDay: (draws, purpose, key, day) => {
      const weekday = sql`(isodow(${dateOf(day)}) - 1)`;
      const moment = sql`(${weekday} + ${draws.uniform(purpose, key)})`;
      const busy = join(
        bounds.map((bound) => sql`(${moment} >= ${numberLiteral(bound)})::INTEGER`),
        sql` + `,
      );
      return sql`(${day} - ${weekday} + ${busy})`;
    },
    monthOf,
    paceOn: (day) => sql`[${join(byMonth.map(numberLiteral))}][${monthOf(day)}]`,
  };
}

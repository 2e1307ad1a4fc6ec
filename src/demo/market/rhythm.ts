/** Rhythm of the demo market: how many cars arrive and leave by day of the week and by month. */
import { plusDays } from "../../base/day.ts";
import { join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

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

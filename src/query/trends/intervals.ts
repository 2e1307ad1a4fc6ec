/** Intervals of a period: days, weeks that start on Monday, months, and quarters of the calendar year. */
import { calendarMonth, plusDays } from "../../base/day.ts";
import type { QueryOf } from "../../contract/types.ts";

/** Days from `start` to `end`, both inclusive. */
export interface DayRange {
  readonly start: string;
  readonly end: string;
}

export type IntervalLength = QueryOf<"getTrends">["interval"];

/** The last day of the interval that contains a day. */
const lastDays: Readonly<Record<IntervalLength, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => plusDays(day, (7 - new Date(`${day}T00:00:00Z`).getUTCDay()) % 7),
  month: (day) => lastOfMonths(day, 1),
  quarter: (day) => lastOfMonths(day, 3),
};

/** Returns the last day of the interval of `count` months, counted from January, that contains a day. */
function lastOfMonths(day: string, count: number): string {
  const [year, month] = calendarMonth(day).split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, Math.ceil(month / count) * count, 0)).toISOString().slice(0, day.length);
}

/** Yields the intervals of a period in the order of time. The first and the last one are cut at the ends of the period. */
export function* intervalsOf({ start, end }: DayRange, length: IntervalLength): Generator<DayRange> {
  let day = start;
  while (day <= end) {
    const last = lastDays[length](day);
    yield { start: day, end: last < end ? last : end };
    day = plusDays(last, 1);
  }
}

/** Returns the days of a period that are not among the given days, as ranges. `days` is ascending. */
export function missingRanges({ start, end }: DayRange, days: readonly string[]): readonly DayRange[] {
  const ranges: DayRange[] = [];
  let next = start;
  for (const day of [...days.filter((one) => one >= start && one <= end), plusDays(end, 1)]) {
    if (day > next) ranges.push({ start: next, end: plusDays(day, -1) });
    next = plusDays(day, 1);
  }
  return ranges;
}

/** Intervals of a period: days, weeks that start on Monday, and months. */
import { plusDays } from "../base/day.ts";
import type { QueryOf } from "../contract/types.ts";

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
  month: (day) => plusDays(`${plusDays(`${day.slice(0, 7)}-01`, 31).slice(0, 7)}-01`, -1),
};

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

/** Which days are expected, after those published so far; and which dealers deliver on the published one. */
import { plusDays } from "../base/day.ts";
import { integerIn } from "../base/json.ts";
import { literal, sql } from "../db/sql.ts";
import { filesOfDay, rowsOfDay } from "../lake/market.ts";
import { life } from "../listing/lifecycle-rules.ts";
import type { ParquetVersion } from "./feed-records.ts";

/** How many published days show how far apart days usually are. */
const recentDays = 14;

/** Returns the last days up to one, in order. */
export const lastDays = (day: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => plusDays(day, index + 1 - count));

/** Returns whether a day was expected and not published. `published` is in order; days before the first one were not expected. */
export const hasFailed = (published: readonly string[], day: string): boolean =>
  day > (published[0] ?? day) && !published.includes(day) && isExpected(published, day);

/** Returns whether a delivery of a day is expected: one of its weekday was published in the two weeks before or after, or the lake has no such days. */
function isExpected(published: readonly string[], day: string): boolean {
  const first = published[0] ?? day;
  const last = published.at(-1) ?? day;
  const alike = [-14, -7, 7, 14].map((days) => plusDays(day, days)).filter((one) => one >= first && one <= last);
  return alike.length === 0 || alike.some((one) => published.includes(one));
}

/**
 * Returns the day of the next delivery: as far from the published one as published days usually are, and on a weekday that has deliveries. Undefined
 * if fewer than three days have been published.
 */
export function nextDayOf(published: readonly string[]): string | undefined {
  const recent = published.slice(-recentDays);
  const last = recent.at(-1);
  if (recent.length < 3 || last === undefined) return undefined;
  const gaps = recent.slice(1).map((day, index) => (Date.parse(day) - Date.parse(recent[index] ?? day)) / 86_400_000);
  const usual = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 1;
  const next = plusDays(last, usual);
  const week = Array.from({ length: 7 }, (_, days) => plusDays(next, days));
  return week.find((day) => isExpected(published, day)) ?? next;
}

/** Dealers with a feed on the published day or on one of the 7 days before, and those among them without one on the day. */
export interface DealerCounts {
  readonly expected: number;
  readonly silent: number;
}

export async function countDealers(version: ParquetVersion): Promise<DealerCounts> {
  const { as_of: day, tables } = version.manifest;
  const files = filesOfDay(tables.feeds, day);
  const [row] = await version.rowsFrom(
    files,
    sql`
    SELECT count(*)::INTEGER AS expected, (count(*) FILTER (verdict = 'none'))::INTEGER AS silent
    FROM (${rowsOfDay("feeds", files, version.folder, day)})
    WHERE last_delivered_on >= DATE ${literal(plusDays(day, -life.silentDays))}`,
  );
  return { expected: integerIn(row, "expected"), silent: integerIn(row, "silent") };
}

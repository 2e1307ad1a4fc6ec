/**
 * Calendar days in UTC as `YYYY-MM-DD`, which compare and sort as text: validates and adds them. Times in any form of ISO 8601, and as clients
 * write them in a query string.
 */
import { DateTime } from "luxon";

const dayMs = 86_400_000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true for a valid calendar day; false for `2026-02-30`. */
export function isDay(text: string): boolean {
  if (!dayPattern.test(text)) return false;
  const time = dayStartMs(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Returns the day `days` later, or earlier if negative. */
export const plusDays = (day: string, days: number): string =>
  new Date(dayStartMs(day) + days * dayMs).toISOString().slice(0, 10);

export const dayStartMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);

export const epochDay = (day: string): number => dayStartMs(day) / dayMs;

export const calendarMonth = (day: string): string => day.slice(0, "YYYY-MM".length);

/** Returns the last day of a month, which is `YYYY-MM`. */
export const lastDayIn = (month: string): string => plusDays(`${calendarMonth(plusDays(`${month}-01`, 31))}-01`, -1);

/** Luxon also reads a time without a date, as one of today, and a zone by its name. */
const startsWithYear = /^\d{4}(?!:)[-\d:.,TWZ +]*$/i;

/** An offset of a day or more, or with more than 59 minutes. */
const invalidOffset = /T.*[+-](?!([01]\d|2[0-3])(:?[0-5]\d)?$)/i;

/** The second 60 of a time, and its fraction. */
const leapSecond = /(?<=T\d\d:?\d\d:?)60([.,]\d+)?(?!\d)/i;

/**
 * Returns the Unix milliseconds of an ISO 8601 date or time; a time without a zone is in UTC, a date is its midnight. Accepts a space for
 * the `T`, and for the `+` of an offset, which it replaces in a query string. Rounds fractions of a millisecond up, so that no earlier
 * millisecond compares as equal or later. A leap second, 23:59:60 UTC, counts as the beginning of the next one, as in Unix time. Returns NaN for other texts, and for dates and times that do not exist.
 */
export function epochMs(text: string): number {
  if (!startsWithYear.test(text)) return Number.NaN;
  const time = text.replace(/^([\d-]+) (?=\d\d:)/, "$1T").replace(/(T.*) (?=\d\d(:?\d\d)?$)/i, "$1+");
  if (invalidOffset.test(time)) return Number.NaN;
  if (leapSecond.test(time)) {
    const nextMs = epochMs(time.replace(leapSecond, "59")) + 1000;
    return nextMs % dayMs === 0 ? nextMs : Number.NaN;
  }
  const [, beyondMs = ""] = /[.,]\d{3}(\d+)/.exec(time) ?? [];
  return DateTime.fromISO(time, { zone: "utc" }).toMillis() + (/[1-9]/.test(beyondMs) ? 1 : 0);
}

/** Calendar days in UTC as `YYYY-MM-DD`, which compare and sort as text: validates and adds them. */

const dayMs = 86_400_000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true for a valid calendar day; false for `2026-02-30`. */
export function isDay(text: string): boolean {
  if (!dayPattern.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Returns the day `days` later, or earlier if negative. */
export function plusDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

export const epochDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) / dayMs;

export const calendarMonth = (day: string): string => day.slice(0, "YYYY-MM".length);

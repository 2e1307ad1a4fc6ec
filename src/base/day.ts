/** Calendar days in UTC as `YYYY-MM-DD`, which compare and sort as text: validates, adds and parses them. */

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

/**
 * Returns the Unix milliseconds of an ISO 8601 time with a zone, or of a day at midnight UTC. Rounds fractions of a millisecond up, so
 * that no earlier millisecond compares as equal or later.
 */
export function epochMs(time: string): number {
  const [, fraction = ""] = /\.\d{3}(\d+)/.exec(time) ?? [];
  const readable = time.replace(/(\.\d{3})\d+/, "$1").replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
  return Date.parse(readable) + (/[1-9]/.test(fraction) ? 1 : 0);
}

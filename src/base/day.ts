/** Calendar days in UTC, as `YYYY-MM-DD`: they compare and sort as text. */

const dayMs = 86_400_000;
const form = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a real day: `2026-02-30` is not. */
export function isDay(text: string): boolean {
  if (!form.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The day that lies `days` after another (before it, when negative). */
export function plusDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

/**
 * Milliseconds since 1970 of an ISO 8601 time with a zone, or of a day at midnight UTC; a part of a millisecond counts as a whole
 * one, so that nothing before the time is at or after it.
 */
export function epochMs(time: string): number {
  const [, fraction = ""] = /\.\d{3}(\d+)/.exec(time) ?? [];
  const readable = time.replace(/(\.\d{3})\d+/, "$1").replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
  return Date.parse(readable) + (/[1-9]/.test(fraction) ? 1 : 0);
}

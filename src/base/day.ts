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

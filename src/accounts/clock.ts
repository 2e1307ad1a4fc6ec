/** The clock that accounts depend on, and its UTC days and months. Entry points inject the clock; nothing in this folder reads one. */

export interface Clock {
  /** Unix time in milliseconds, for the ledger and its UTC days. It may jump. */
  wallMs(): number;
  /** Milliseconds since an arbitrary origin, for rate limits and cache ages. It never goes back. */
  monotonicMs(): number;
}

/** Returns the UTC day of a Unix time, as `YYYY-MM-DD`. */
export function dayOf(atMs: number): string {
  const dayNumber = Math.floor(atMs / dayMs);
  if (dayNumber !== lastDay.number) lastDay = { number: dayNumber, text: new Date(atMs).toISOString().slice(0, 10) };
  return lastDay.text;
}

const dayMs = 86_400_000;
/** Cache of one day: nearly every request asks for the same one. */
let lastDay = { number: 0, text: "1970-01-01" };

/** Returns the UTC calendar month of a Unix time, as `YYYY-MM`. */
export const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 7);

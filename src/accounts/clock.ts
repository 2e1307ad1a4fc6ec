/** The clock that accounts depend on, and its UTC days and months. Entry points inject the clock; nothing in this folder reads one. */

export interface Clock {
  /** Unix time in milliseconds, for the ledger and its UTC days. It may jump. */
  wallMs(): number;
  /** Milliseconds since an arbitrary origin, for rate limits and cache ages. It never goes back. */
  monotonicMs(): number;
}

/** The last result of `dayOf`: each charge asks, and formatting takes longer than the rest of its hold. */
let last = { day: Number.NaN, text: "" };

/** Returns the UTC day of a Unix time, as `YYYY-MM-DD`. */
export function dayOf(atMs: number): string {
  const day = Math.floor(atMs / 86_400_000);
  if (day !== last.day) last = { day, text: new Date(atMs).toISOString().slice(0, 10) };
  return last.text;
}

/** Returns the UTC calendar month of a Unix time, as `YYYY-MM`. */
export const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 7);

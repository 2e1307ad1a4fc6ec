/** The clock that accounts depend on, and its UTC days and months. Entry points inject the clock; nothing in this folder reads one. */

export interface Clock {
  /** Unix time in milliseconds, for the ledger and its UTC days. It may jump. */
  wallMs(): number;
  /** Milliseconds since an arbitrary origin, for rate limits and cache ages. It never goes back. */
  monotonicMs(): number;
}

/** Returns the UTC day of a Unix time, as `YYYY-MM-DD`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** Returns the UTC calendar month of a Unix time, as `YYYY-MM`. */
export const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 7);

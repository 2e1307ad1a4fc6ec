/** Time as the accounts need it. The entry points hand a clock down; nothing on this floor reads one itself. */

export interface Clock {
  /** Unix time in milliseconds, for the ledger and its UTC days. It may jump. */
  wallMs(): number;
  /** Milliseconds since whenever, for rate limits. It never goes back. */
  monotonicMs(): number;
}

/** The UTC day of a time, `YYYY-MM-DD`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** The UTC calendar month of a time, `YYYY-MM`. */
export const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 7);

/** Time as the accounts need it. The entry points hand a clock down; nothing on this floor reads one itself. */

export interface Clock {
  /** Unix time in milliseconds, for the ledger and its UTC days. It may jump. */
  wallMs(): number;
  /** Milliseconds since whenever, for rate limits. It never goes back. */
  monotonicMs(): number;
}

/** The UTC day of a time, `YYYY-MM-DD`. */
export function dayOf(atMs: number): string {
  const number = Math.floor(atMs / dayMs);
  if (number !== last.number) last = { number, day: new Date(atMs).toISOString().slice(0, 10) };
  return last.day;
}

const dayMs = 86_400_000;
/** The day that was asked for last: each request asks for the same one. */
let last = { number: 0, day: "1970-01-01" };

/** The UTC calendar month of a time, `YYYY-MM`. */
export const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 7);

/** Which deliveries are believed: a feed that is far smaller than the dealer's usual ones is collapsed. */

export type Verdict = "accepted" | "collapsed";

/** What is remembered of a dealer's deliveries. */
export interface Remembered {
  readonly lastDelivery: string;
  /** Sizes of the last accepted feeds, the oldest first; at most seven. */
  readonly sizes: readonly number[];
  readonly collapsedInARow: number;
}

export interface Judged {
  readonly verdict: Verdict;
  readonly remembered: Remembered;
}

const sizesMost = 7;
const collapsedMost = 7;

/** What to make of a delivery of a size, from what is remembered of its dealer. */
export function judge(day: string, size: number, before: Remembered | undefined): Judged {
  const sizes = before?.sizes ?? [];
  if (sizes.length === 0 || size >= 0.5 * medianOf(sizes)) {
    const newest = [...sizes, size].slice(-sizesMost);
    return { verdict: "accepted", remembered: { lastDelivery: day, sizes: newest, collapsedInARow: 0 } };
  }
  const collapsedInARow = (before?.collapsedInARow ?? 0) + 1;
  return collapsedInARow < collapsedMost
    ? { verdict: "collapsed", remembered: { lastDelivery: day, sizes, collapsedInARow } }
    : { verdict: "accepted", remembered: { lastDelivery: day, sizes: [size], collapsedInARow: 0 } };
}

function medianOf(sizes: readonly number[]): number {
  const sorted = [...sizes].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

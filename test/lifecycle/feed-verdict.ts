/** Decides which feeds are accepted: a feed far smaller than the dealer's usual ones is collapsed. */

export type FeedVerdict = "accepted" | "collapsed";

/** The oracle's record of a dealer's feeds. */
export interface DealerHistory {
  readonly lastDelivery: string;
  /** Sizes of the last accepted feeds, oldest first; at most seven. */
  readonly sizes: readonly number[];
  readonly collapsedInARow: number;
}

export interface DayVerdict {
  readonly verdict: FeedVerdict;
  readonly history: DealerHistory;
}

const sizesMax = 7;
const collapsedMax = 7;

/** Returns the verdict on a delivery of this size, and the updated history. */
export function judgeFeed(day: string, size: number, before: DealerHistory | undefined): DayVerdict {
  const sizes = before?.sizes ?? [];
  if (sizes.length === 0 || size >= 0.5 * medianOf(sizes)) {
    const recentSizes = [...sizes, size].slice(-sizesMax);
    return { verdict: "accepted", history: { lastDelivery: day, sizes: recentSizes, collapsedInARow: 0 } };
  }
  const collapsedInARow = (before?.collapsedInARow ?? 0) + 1;
  return collapsedInARow < collapsedMax
    ? { verdict: "collapsed", history: { lastDelivery: day, sizes, collapsedInARow } }
    : { verdict: "accepted", history: { lastDelivery: day, sizes: [size], collapsedInARow: 0 } };
}

function medianOf(sizes: readonly number[]): number {
  const sorted = [...sizes].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** Ranges of a number: half-open buckets of equal width from the 1st to the 99th percentile of its values. */
import type { NumberName } from "./schema.ts";

/** How the ranges of a number follow from its statistics. */
export interface RangeChoice {
  readonly attribute: NumberName;
  /** The width of a bucket; undefined for the smallest round one that needs at most `bucketsMax` buckets. */
  readonly width: number | undefined;
  readonly bucketsMax: number;
}

/** Ranges of equal width: bucket `n` holds the values from `n * width` (inclusive) to `(n + 1) * width` (exclusive). */
export interface Ranges {
  readonly attribute: NumberName;
  readonly width: number;
  /** Number of the first and of the last regular bucket. */
  readonly first: number;
  readonly last: number;
}

/** Round widths: 1, 2 or 5 times a power of ten. */
const roundWidths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The percentiles between which the buckets lie. */
interface Percentiles {
  readonly p1: number;
  readonly p99: number;
}

/** Returns the ranges; undefined if a given width needs more than `bucketsMax` buckets. */
export function rangesFor({ attribute, width, bucketsMax }: RangeChoice, summary: Percentiles): Ranges | undefined {
  const fits = (candidate: number): boolean => bucketsOf(candidate, summary).count <= bucketsMax;
  const chosen = width ?? roundWidths.find(fits) ?? 1;
  if (width !== undefined && !fits(width)) return undefined;
  const { first, last } = bucketsOf(chosen, summary);
  return { attribute, width: chosen, first, last };
}

/** Returns the smallest whole width that needs at most some number of buckets. */
export function smallestWidth(summary: Percentiles, bucketsMax: number): number {
  const { first, last } = bucketsOf(1, summary);
  let width = Math.floor((last - first) / bucketsMax) + 1;
  while (bucketsOf(width, summary).count > bucketsMax) width += 1;
  return width;
}

function bucketsOf(width: number, { p1, p99 }: Percentiles) {
  const [first, last] = [Math.floor(wholeUnits(p1) / width), Math.floor(wholeUnits(p99) / width)];
  return { first, last, count: last - first + 1 };
}

/** Rounds a percentile down to an integer, after removing floating-point noise beyond two decimals. */
const wholeUnits = (percentile: number): number => Math.floor(Math.round(100 * percentile) / 100);

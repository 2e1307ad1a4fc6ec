/** Ranges of a number: half-open buckets of equal width from the 1st to the 99th percentile of its values. */
import type { NumberName } from "./schema.ts";
import { fromUnits, toUnits } from "./values.ts";

/** How the ranges of a number follow from its statistics. */
export interface RangeChoice {
  readonly attribute: NumberName;
  /** The width of a bucket; undefined for the smallest round one that needs at most `bucketsMax` buckets. */
  readonly width: number | undefined;
  readonly bucketsMax: number;
}

/** Ranges of equal width: bucket `n` holds the values from `edgeOf(n)` (inclusive) to `edgeOf(n + 1)` (exclusive). */
export interface Ranges {
  readonly attribute: NumberName;
  /** In units of the last decimal, as all numbers that the source counts. */
  readonly width: number;
  /** Number of the first and of the last regular bucket. */
  readonly first: number;
  readonly last: number;
}

/** Returns the value at which a bucket begins. */
export const edgeOf = ({ attribute, width }: Ranges, bucket: number): number => fromUnits(attribute, bucket * width);

/** Round widths in units: 1, 2 or 5 times a power of ten. */
const roundWidths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The percentiles between which the buckets lie. */
interface Percentiles {
  readonly p1: number;
  readonly p99: number;
}

/** Returns the ranges; undefined if a given width is no whole number of units, or needs more than `bucketsMax` buckets. */
export function rangesFor({ attribute, width, bucketsMax }: RangeChoice, summary: Percentiles): Ranges | undefined {
  const span = spanOf(attribute, summary);
  const fits = (candidate: number): boolean => bucketsOf(candidate, span).count <= bucketsMax;
  const given = width === undefined ? undefined : toUnits(attribute, width);
  if (given !== undefined && !(Number.isInteger(given) && fits(given))) return undefined;
  const chosen = given ?? roundWidths.find(fits) ?? 1;
  const { first, last } = bucketsOf(chosen, span);
  return { attribute, width: chosen, first, last };
}

/** Returns the smallest width of whole units that needs at most some number of buckets. */
export function smallestWidth(attribute: NumberName, summary: Percentiles, bucketsMax: number): number {
  const span = spanOf(attribute, summary);
  const { first, last } = bucketsOf(1, span);
  let width = Math.floor((last - first) / bucketsMax) + 1;
  while (bucketsOf(width, span).count > bucketsMax) width += 1;
  return fromUnits(attribute, width);
}

function bucketsOf(width: number, [least, greatest]: readonly [number, number]) {
  const first = Math.floor(least / width);
  const last = Math.floor(greatest / width);
  return { first, last, count: last - first + 1 };
}

/** Returns the percentiles in whole units, rounded down after removing floating-point noise beyond two decimals. */
const spanOf = (attribute: NumberName, { p1, p99 }: Percentiles): readonly [number, number] => {
  const wholeUnits = (percentile: number): number => Math.floor(Math.round(100 * toUnits(attribute, percentile)) / 100);
  return [wholeUnits(p1), wholeUnits(p99)];
};

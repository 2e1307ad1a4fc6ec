/** Exact statistics of non-negative integers in typed arrays: sums do not overflow, percentiles interpolate linearly. */
import type { NumberSummary } from "../../listing/source.ts";

/** The sum of this many squares of numbers below 10^7 is less than 2^53. */
const squaresAtOnce = 64;

/** The percentiles of a summary. */
const shares = [0.01, 0.5, 0.99] as const;

/** Returns the statistics of all numbers in some vectors, without the negative ones, which stand for unknown; undefined if none remain. */
export function summarizeNumbers(vectors: readonly Int32Array[]): NumberSummary | undefined {
  const numbers = knownIn(vectors);
  const known = numbers.length;
  if (known === 0) return undefined;
  const { min, max, total, squares } = sumsOf(numbers);
  const spread = Number(BigInt(known) * squares - BigInt(total) * BigInt(total));
  const [p1, median, p99] = percentilesOf(numbers, min, max);
  return {
    ...{ known, min, max, mean: total / known, p1, median, p99 },
    stddev: known > 1 ? Math.sqrt(spread / known / (known - 1)) : null,
  };
}

function knownIn(vectors: readonly Int32Array[]): Int32Array {
  const numbers = new Int32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let known = 0;
  for (const vector of vectors) {
    for (let at = 0; at < vector.length; at += 1) {
      if ((vector[at] as number) < 0) continue;
      numbers[known] = vector[at] as number;
      known += 1;
    }
  }
  return numbers.subarray(0, known);
}

function sumsOf(numbers: Int32Array) {
  let [min, max, total, squares] = [2 ** 31, -1, 0, 0n];
  for (let from = 0; from < numbers.length; from += squaresAtOnce) {
    let some = 0;
    const end = Math.min(numbers.length, from + squaresAtOnce);
    for (let at = from; at < end; at += 1) {
      const number = numbers[at] as number;
      if (number < min) min = number;
      if (number > max) max = number;
      total += number;
      some += number * number;
    }
    squares += BigInt(some);
  }
  return { min, max, total, squares };
}

/** Percentiles distribute numbers over this many buckets and sort only the buckets that contain one. */
const buckets = 4096;

function percentilesOf(numbers: Int32Array, min: number, max: number): readonly [number, number, number] {
  const width = Math.floor((max - min) / buckets) + 1;
  const counts = new Int32Array(buckets);
  for (let at = 0; at < numbers.length; at += 1) {
    const bucket = Math.floor(((numbers[at] as number) - min) / width);
    counts[bucket] = (counts[bucket] as number) + 1;
  }
  const sorted = new Map<number, Int32Array>();
  /** Returns the number at an index of the sorted numbers. */
  const numberAt = (place: number): number => {
    let [bucket, before] = [0, 0];
    for (; before + (counts[bucket] as number) <= place; bucket += 1) before += counts[bucket] as number;
    const known = sorted.get(bucket);
    const own = known ?? bucketOf(numbers, min + bucket * width, width, counts[bucket] as number);
    sorted.set(bucket, own);
    return own[place - before] as number;
  };
  const [p1, median, p99] = shares.map((share) => {
    const place = (numbers.length - 1) * share;
    const [below, above] = [numberAt(Math.floor(place)), numberAt(Math.ceil(place))];
    return below + (above - below) * (place - Math.floor(place));
  }) as [number, number, number];
  return [p1, median, p99];
}

/** Returns the sorted numbers of a bucket. */
function bucketOf(numbers: Int32Array, from: number, width: number, count: number): Int32Array {
  const own = new Int32Array(count);
  let next = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at] as number;
    if (number < from || number >= from + width) continue;
    own[next] = number;
    next += 1;
  }
  return own.sort();
}

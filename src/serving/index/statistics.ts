/** Exact statistics of fetched numbers: sums are whole numbers of any size, percentiles interpolate linearly. */
import type { NumberSummary } from "../../listing/source.ts";

/** So many squares of numbers below 10^7 add up to less than 2^53. */
const squaresAtOnce = 64;

/** The statistics of the numbers in some vectors, those below zero left out; undefined if there are none. */
export function summaryOf(vectors: readonly Int32Array[]): NumberSummary | undefined {
  const sorted = sortedNumbers(vectors);
  const known = sorted.length;
  if (known === 0) return undefined;
  let [total, squares] = [0, 0n];
  for (let from = 0; from < known; from += squaresAtOnce) {
    let some = 0;
    const end = Math.min(known, from + squaresAtOnce);
    for (let at = from; at < end; at += 1) {
      const number = sorted[at] as number;
      total += number;
      some += number * number;
    }
    squares += BigInt(some);
  }
  const spread = Number(BigInt(known) * squares - BigInt(total) * BigInt(total));
  return {
    ...{ known, min: sorted[0] as number, max: sorted[known - 1] as number, mean: total / known },
    ...{ p1: percentile(sorted, 0.01), median: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) },
    stddev: known > 1 ? Math.sqrt(spread / known / (known - 1)) : null,
  };
}

function sortedNumbers(vectors: readonly Int32Array[]): Int32Array {
  const numbers = new Int32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let known = 0;
  for (const vector of vectors) {
    for (let at = 0; at < vector.length; at += 1) {
      const number = vector[at] as number;
      if (number < 0) continue;
      numbers[known] = number;
      known += 1;
    }
  }
  return numbers.subarray(0, known).sort();
}

function percentile(sorted: Int32Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number];
  return below + (above - below) * (place - Math.floor(place));
}

/** Page selection in typed arrays: the matches from `offset` to `offset + limit` in the order of their sort keys, ties by position. */
import { forEachInTurns } from "../../base/concurrency.ts";
import { blockRows, blocksOf } from "./columns.ts";

/** Fills `keys` with the sort keys of positions: numbers in ascending order, infinite where they are unknown. */
export type FillKeys = (keys: Float64Array, positions: Int32Array) => void;

/** Keys in the sample that estimates between which keys the page lies. */
const sampleSize = 1024;

/** Exceeds every position: a double holds a rank of 26 bits and a position of 27. */
const positionsMax = 2 ** 27;

/** The keys of a block, between two turns of the event loop. */
const scratch = new Float64Array(blockRows);

/**
 * Returns some of the given positions, below 2^27, in page order. Scans the keys once in almost every case, and sorts only those between two keys of a
 * sample: half the time of finding these bounds in a first scan.
 */
export async function choosePage(
  positions: Int32Array,
  fill: FillKeys,
  offset: number,
  limit: number,
): Promise<readonly number[]> {
  const total = positions.length;
  if (offset >= total) return [];
  const end = Math.min(total, offset + limit);
  const sample = sampleOf(positions, fill);
  const indexOf = (count: number): number => (count / total) * sample.length;
  // Three standard deviations of an index in the sample, at first.
  for (let deviations = 3; ; deviations *= 4) {
    const marginAt = (index: number): number => Math.ceil(deviations * (1 + Math.sqrt(index)));
    const first = indexOf(offset);
    const last = indexOf(end);
    const low = sample[Math.floor(first) - marginAt(first)] ?? Number.NEGATIVE_INFINITY;
    const high = sample[Math.ceil(last) + marginAt(last)] ?? Number.POSITIVE_INFINITY;
    const { before, found } = await collect(positions, fill, low, high);
    if (before <= offset && before + found.length >= end) return cut(found, offset - before, end - before);
  }
}

/** Returns the keys of positions at equal distances, sorted. */
function sampleOf(positions: Int32Array, fill: FillKeys): Float64Array {
  const step = Math.ceil(positions.length / sampleSize);
  const length = Math.ceil(positions.length / step);
  const sample = new Float64Array(length);
  fill(
    sample,
    Int32Array.from(sample, (_, n) => positions[n * step] as number),
  );
  return sample.sort();
}

type Keyed = readonly [key: number, position: number];

/** Returns the number of keys below `low`, and those from `low` to `high` with their positions. */
async function collect(positions: Int32Array, fill: FillKeys, low: number, high: number) {
  let before = 0;
  const found: Keyed[] = [];
  await forEachInTurns(blocksOf(positions.length), (from) => {
    const block = positions.subarray(from, from + blockRows);
    fill(scratch, block);
    for (let at = 0; at < block.length; at += 1) {
      const key = scratch[at] as number;
      if (key < low) before += 1;
      else if (key <= high) found.push([key, block[at] as number]);
    }
  });
  return { before, found };
}

/** Returns the positions from `from` to `until` of some matches in order. Many matches can have the keys at both ends: integers are sorted, no pairs. */
function cut(found: readonly Keyed[], from: number, until: number): readonly number[] {
  const sorted = Float64Array.from(found, ([key]) => key).sort();
  const first = sorted[from] as number;
  const last = sorted[until - 1] as number;
  const ranks = new Map([...new Set(sorted.subarray(from, until))].map((key, rank) => [key, rank]));
  const within: number[] = [];
  let before = 0;
  for (const [key, position] of found) {
    if (key < first) before += 1;
    else if (key <= last) within.push((ranks.get(key) ?? 0) * positionsMax + position);
  }
  const page = Float64Array.from(within)
    .sort()
    .subarray(from - before, until - before);
  return Array.from(page, (one) => one % positionsMax);
}

/** Page selection in typed arrays: the matches from `offset` to `offset + limit` in the order of their sort keys, then of their ranks. */
import { forEachInTurns } from "../../base/turns.ts";
import { blockRows, blocksOf } from "./columns.ts";

/** Fills `keys` with the sort keys of positions: numbers in ascending order, infinite where they are unknown. */
export type FillKeys = (keys: Float64Array, positions: Int32Array) => void;

/** The matches in a segment. */
export interface Candidates {
  readonly positions: Int32Array;
  readonly fill: FillKeys;
  /** Returns the rank of a row among those with the same key: an integer below 2^27. */
  readonly rankOf: (position: number) => number;
}

/** A match among the candidates of several segments. */
export interface Chosen<T> {
  readonly of: T;
  readonly position: number;
}

interface Keyed<T> extends Chosen<T> {
  readonly key: number;
}

/** Compares matches with the same key and rank. */
export type CompareTies<T> = (one: Chosen<T>, other: Chosen<T>) => number;

/** Keys in the sample that estimates between which keys the page lies. */
const sampleSize = 1024;

/** Exceeds every rank: a double holds the number of a key, of 26 bits, and a rank of 27. */
const ranksMax = 2 ** 27;

/** The keys of a block, between two turns of the event loop. */
const scratch = new Float64Array(blockRows);

/**
 * Returns some of the matches in page order. Scans the keys once in almost every case, and sorts only those between two keys of a sample: half the
 * time of finding these bounds in a first scan.
 */
export async function choosePage<T extends Candidates>(
  parts: readonly T[],
  offset: number,
  limit: number,
  compareTies: CompareTies<T>,
): Promise<readonly Chosen<T>[]> {
  const total = parts.reduce((sum, { positions }) => sum + positions.length, 0);
  if (offset >= total) return [];
  const end = Math.min(total, offset + limit);
  const sample = sampleOf(parts, Math.ceil(total / sampleSize));
  const indexOf = (count: number): number => (count / total) * sample.length;
  // Three standard deviations of an index in the sample, at first.
  for (let deviations = 3; ; deviations *= 4) {
    const marginAt = (index: number): number => Math.ceil(deviations * (1 + Math.sqrt(index)));
    const first = indexOf(offset);
    const last = indexOf(end);
    const low = sample[Math.floor(first) - marginAt(first)] ?? Number.NEGATIVE_INFINITY;
    const high = sample[Math.ceil(last) + marginAt(last)] ?? Number.POSITIVE_INFINITY;
    const { before, found } = await collect(parts, low, high);
    if (before <= offset && before + found.length >= end) return cut(found, offset - before, end - before, compareTies);
  }
}

/** Returns the keys of matches at equal distances, sorted. */
function sampleOf(parts: readonly Candidates[], step: number): Float64Array {
  const samples = parts.map(({ positions, fill }) => {
    const sampled = Int32Array.from({ length: Math.ceil(positions.length / step) }, (_, n) => positions[n * step] ?? 0);
    const keys = new Float64Array(sampled.length);
    fill(keys, sampled);
    return [...keys];
  });
  return Float64Array.from(samples.flat()).sort();
}

/** Returns the number of keys below `low`, and the matches with keys from `low` to `high`. */
async function collect<T extends Candidates>(parts: readonly T[], low: number, high: number) {
  let before = 0;
  const found: Keyed<T>[] = [];
  for (const of of parts)
    await forEachInTurns(blocksOf(of.positions.length), (from) => {
      const block = of.positions.subarray(from, from + blockRows);
      of.fill(scratch, block);
      for (let at = 0; at < block.length; at += 1) {
        const key = scratch[at] as number;
        if (key < low) before += 1;
        else if (key <= high) found.push({ key, position: block[at] as number, of });
      }
    });
  return { before, found };
}

/** Returns the matches from `from` to `until` in order. Many can have the keys at both ends: integers are sorted, no objects, but for those of the page. */
function cut<T extends Candidates>(
  found: readonly Keyed<T>[],
  from: number,
  until: number,
  compareTies: CompareTies<T>,
): readonly Chosen<T>[] {
  const keys = Float64Array.from(found, ({ key }) => key).sort();
  const first = keys[from] as number;
  const last = keys[until - 1] as number;
  const numbers = new Map([...new Set(keys.subarray(from, until))].map((key, number) => [key, number]));
  const within = found.filter(({ key }) => key >= first && key <= last);
  const ranks = Float64Array.from(
    within,
    ({ key, of, position }) => (numbers.get(key) ?? 0) * ranksMax + of.rankOf(position),
  );
  const sorted = ranks.slice().sort();
  const start = from - keys.indexOf(first);
  const lowest = sorted[start] as number;
  const highest = sorted[start + until - from - 1] as number;
  const page = within
    .map((one, n) => ({ of: one.of, position: one.position, rank: ranks[n] as number }))
    .filter(({ rank }) => rank >= lowest && rank <= highest)
    .sort((one, other) => one.rank - other.rank || compareTies(one, other));
  const skipped = start - sorted.indexOf(lowest);
  return page.slice(skipped, skipped + until - from);
}

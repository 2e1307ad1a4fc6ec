/** Page selection in typed arrays: the matches from `offset` to `offset + limit` in the order of their sort keys, ties by position. */

/** Sort keys of matches, integers below 2^26, and their positions. */
export type KeyedChunk = readonly [keys: Int32Array, positions: Int32Array];

/** Converts the chunks of a result with two columns. */
export const keyedChunksOf = (parts: readonly (readonly Int32Array[])[]): readonly KeyedChunk[] =>
  parts.map(([keys = new Int32Array(), positions = new Int32Array()]) => [keys, positions]);

export const countOf = (parts: readonly KeyedChunk[]): number => parts.reduce((sum, [keys]) => sum + keys.length, 0);

/** Keys in the sample that estimates between which keys the page lies. */
const sampleSize = 1024;

/** Exceeds every position: a double holds a key of 26 bits and a position of 27. */
const positionsMax = 2 ** 27;

/**
 * Returns the positions of a page. Scans the keys once in almost every case, and sorts only those between two keys of a sample: half the time
 * of finding these bounds in a first scan.
 */
export function choosePage(parts: readonly KeyedChunk[], offset: number, limit: number): readonly number[] {
  const total = countOf(parts);
  if (offset >= total) return [];
  const end = Math.min(total, offset + limit);
  const sample = sampleOf(parts, total);
  const indexOf = (count: number): number => (count / total) * sample.length;
  // Three standard deviations of an index in the sample, at first.
  for (let deviations = 3; ; deviations *= 4) {
    const marginAt = (index: number): number => Math.ceil(deviations * (1 + Math.sqrt(index)));
    const first = indexOf(offset);
    const last = indexOf(end);
    const low = sample[Math.floor(first) - marginAt(first)] ?? 0;
    const high = sample[Math.ceil(last) + marginAt(last)] ?? Number.POSITIVE_INFINITY;
    const { before, both } = collect(parts, low, high);
    if (before <= offset && before + both.length >= end)
      return Array.from(both.sort().subarray(offset - before, end - before), (one) => one % positionsMax);
  }
}

/** Returns keys at equal distances, sorted. */
function sampleOf(parts: readonly KeyedChunk[], total: number): Int32Array {
  const step = Math.ceil(total / sampleSize);
  const sample: number[] = [];
  let next = 0;
  for (const [keys] of parts) {
    for (; next < keys.length; next += step) sample.push(keys[next] as number);
    next -= keys.length;
  }
  return Int32Array.from(sample).sort();
}

/** Returns the number of keys below `low`, and the matches from `low` to `high`, each with its position in one number. */
function collect(parts: readonly KeyedChunk[], low: number, high: number): { before: number; both: Float64Array } {
  let before = 0;
  const both: number[] = [];
  for (const [keys, positions] of parts) {
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as number;
      if (key < low) before += 1;
      else if (key <= high) both.push(key * positionsMax + (positions[at] as number));
    }
  }
  return { before, both: Float64Array.from(both) };
}

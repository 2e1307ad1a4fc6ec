/** Page selection in typed arrays: the matches from `offset` to `offset + limit` in the order of their sort keys, ties by position. */

/** Sort keys of matches, integers below 2^26, and their positions. */
export type KeyedChunk = readonly [keys: Int32Array, positions: Int32Array];

/** Converts the chunks of a result with two columns. */
export const keyedChunksOf = (parts: readonly (readonly Int32Array[])[]): readonly KeyedChunk[] =>
  parts.map(([keys = new Int32Array(), positions = new Int32Array()]) => [keys, positions]);

/** Keys are distributed over 2^12 buckets; only buckets that overlap the page are sorted. */
const bucketBits = 12;

/** Exceeds every position: a double holds a key of 26 bits and a position of 27. */
const positionsMax = 2 ** 27;

/** Returns the positions of a page. Scans the keys twice: to find the buckets that overlap the page, and to collect their matches. */
export function choosePage(parts: readonly KeyedChunk[], offset: number, limit: number): readonly number[] {
  const shift = Math.max(0, 32 - Math.clz32(greatestIn(parts)) - bucketBits);
  const counts = new Int32Array(2 ** bucketBits);
  for (const [keys] of parts) {
    for (let at = 0; at < keys.length; at += 1) {
      const bucket = (keys[at] as number) >>> shift;
      counts[bucket] = (counts[bucket] as number) + 1;
    }
  }
  let [first, before] = [0, 0];
  for (; first < counts.length && before + (counts[first] ?? 0) <= offset; first += 1) before += counts[first] ?? 0;
  let [last, kept] = [first, counts[first] ?? 0];
  for (; last + 1 < counts.length && before + kept < offset + limit; last += 1) kept += counts[last + 1] ?? 0;
  const both = new Float64Array(kept);
  let next = 0;
  for (const [keys, positions] of parts) {
    for (let at = 0; at < keys.length; at += 1) {
      const bucket = (keys[at] as number) >>> shift;
      if (bucket < first || bucket > last) continue;
      both[next] = (keys[at] as number) * positionsMax + (positions[at] as number);
      next += 1;
    }
  }
  return Array.from(both.sort().slice(offset - before, offset - before + limit), (one) => one % positionsMax);
}

function greatestIn(parts: readonly KeyedChunk[]): number {
  let greatest = 0;
  for (const [keys] of parts) {
    for (let at = 0; at < keys.length; at += 1) if ((keys[at] as number) > greatest) greatest = keys[at] as number;
  }
  return greatest;
}

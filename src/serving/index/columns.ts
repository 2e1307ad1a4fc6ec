/** Arrays of integers: what is computed over all elements, in turns of the event loop. */
import { forEachInTurns } from "../../base/turns.ts";
import { unknownId } from "./build.ts";

export type Arrays = readonly Int32Array[];

export const none = new Int32Array();

/** Elements that are processed at a time: a block adds less than a millisecond to a turn, even if each element misses the processor's caches. */
export const blockRows = 8192;

function* blocksOf(count: number): Generator<number> {
  for (let from = 0; from < count; from += blockRows) yield from;
}

/** Passes ranges of indexes below `count` to `work`, in turns of the event loop. */
export const inBlocks = (count: number, work: (from: number, until: number) => void): Promise<void> =>
  forEachInTurns(blocksOf(count), (from) => work(from, Math.min(count, from + blockRows)));

/** Joins arrays, in turns of the event loop. */
export async function concatenated(parts: Arrays): Promise<Int32Array> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const joined = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  await forEachInTurns(parts, (part) => {
    joined.set(part, at);
    at += part.length;
  });
  return joined;
}

/** Joins the chunks of each column of an answer: see `Session.vectors`. */
export const joinedColumns = (chunks: readonly Arrays[]): Promise<Arrays> =>
  Promise.all((chunks[0] ?? []).map((_, column) => concatenated(chunks.map((chunk) => chunk[column] ?? none))));

/** Consecutive ids. */
export interface IdRange {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Groups values by their ids, by default the positions of the ids: the values of id `first + n` begin at `starts[n]`. Unknown ids have none. */
export async function groupById(ids: Int32Array, { first, end }: IdRange, values?: Int32Array): Promise<Arrays> {
  const starts = new Int32Array(end - first + 1);
  await inBlocks(ids.length, (from, until) => {
    for (const id of ids.subarray(from, until))
      if (id !== unknownId) starts[id - first + 1] = (starts[id - first + 1] as number) + 1;
  });
  await inBlocks(starts.length, (from, until) => {
    for (let n = Math.max(1, from); n < until; n += 1) starts[n] = (starts[n] as number) + (starts[n - 1] as number);
  });
  const next = starts.slice();
  const grouped = new Int32Array(starts.at(-1) ?? 0);
  await inBlocks(ids.length, (from, until) => {
    for (let position = from; position < until; position += 1) {
      const id = ids[position] as number;
      if (id === unknownId) continue;
      const at = next[id - first] as number;
      next[id - first] = at + 1;
      grouped[at] = values === undefined ? position : (values[position] as number);
    }
  });
  return [starts, grouped];
}

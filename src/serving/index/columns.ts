/**
 * Arrays of integers: a cache of the columns of segments within a budget of memory, and what is computed over all elements, in turns of the event loop.
 */
import { LRUCache } from "lru-cache";
import { forEachInTurns, inShareOfLeast, presentAccount } from "../../base/turns.ts";
import { unknownId } from "./build.ts";
import type { Segment } from "./segment.ts";

export type Arrays = readonly Int32Array[];

export const none = new Int32Array();

/** Arrays of a segment that are kept once they are loaded. */
export interface KeptArrays {
  readonly name: string;
  /** Their size, or more. */
  readonly bytes: number;
  readonly load: () => Promise<Arrays>;
  /** Returns the same of another segment. */
  readonly of: (segment: Segment) => KeptArrays;
}

interface Entry {
  readonly kept: KeptArrays;
  readonly loading: Promise<Arrays>;
  /** The accounts that have waited for it. */
  readonly accounts: Set<string>;
  loaded?: Arrays;
}

/** The columns of all open segments of a process. */
export class ColumnCache {
  private readonly entries: LRUCache<string, Entry>;
  /** How many open versions use each segment. */
  private readonly users = new Map<string, number>();

  constructor(bytesMax = 2 ** 29) {
    this.entries = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ kept: { bytes } }) => Math.max(1, bytes) });
  }

  /** The bytes of the arrays that are kept, or being read. */
  get bytes(): number {
    return this.entries.calculatedSize;
  }

  /** Returns arrays of a segment, at once if they have been loaded. */
  get(segment: string, kept: KeptArrays): Arrays | Promise<Arrays> {
    const key = `${segment} ${kept.name}`;
    const known = this.entries.get(key);
    if (known?.loaded !== undefined) return known.loaded;
    if (known !== undefined) {
      known.accounts.add(presentAccount());
      return known.loading;
    }
    const accounts = new Set([presentAccount()]);
    const entry: Entry = { kept, loading: inShareOfLeast(accounts, kept.load), accounts };
    this.entries.set(key, entry);
    entry.loading.then(
      (arrays) => {
        entry.loaded = arrays;
      },
      () => this.entries.peek(key) === entry && this.entries.delete(key),
    );
    return entry.loading;
  }

  /** Returns what is kept of a segment. */
  keptOf(segment: string): readonly KeptArrays[] {
    return this.keysOf(segment).flatMap((key) => this.entries.peek(key)?.kept ?? []);
  }

  /** Counts a version that uses a segment; with -1, one that does no more. What is kept of a segment is removed when none does. */
  countUser(segment: string, change: 1 | -1): void {
    const users = (this.users.get(segment) ?? 0) + change;
    this.users.set(segment, users);
    if (users > 0) return;
    this.users.delete(segment);
    for (const key of this.keysOf(segment)) this.entries.delete(key);
  }

  private keysOf(segment: string): readonly string[] {
    return [...this.entries.keys()].filter((key) => key.startsWith(`${segment} `));
  }
}

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

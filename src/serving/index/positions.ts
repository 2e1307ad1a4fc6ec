/**
 * Evaluates filters over the typed arrays of a segment: the positions of the rows that pass.
 *
 * Candidates are the rows with the ids of the filter that accepts the fewest rows, or else all rows of the inventory; the other tests leave fewer and
 * fewer of them. Work is divided into turns of the event loop.
 */
import { forEachInTurns } from "../../base/turns.ts";
import type { Filter } from "../../listing/filter.ts";
import { BorrowedArrays } from "./borrowed-arrays.ts";
import { unknownId } from "./build.ts";
import { blockRows, inBlocks, none } from "./columns.ts";
import type { KeptArrays, Segment, SegmentRows } from "./segment.ts";
import { type Test, testOf, vinPrefixTest } from "./tests.ts";

type IdsTest = Extract<Test, { kind: "in" }>;
type TokensTest = Extract<Test, { kind: "hasTokens" }>;

/** The positions of the matches in a segment, in no particular order. */
export interface Matched {
  readonly rows: SegmentRows;
  readonly positions: Int32Array;
}

/** Returns the matches in each segment that has some; their positions perhaps in borrowed arrays. */
export async function matchesIn(
  parts: readonly SegmentRows[],
  filters: readonly Filter[],
  arrays?: BorrowedArrays,
): Promise<readonly Matched[]> {
  const matches = await Promise.all(parts.map((rows) => Matches.of(rows, filters, arrays)));
  const found = await Promise.all(matches.map(async (one) => ({ rows: one.rows, positions: await one.positions() })));
  return found.filter(({ positions }) => positions.length > 0);
}

/** The rows of an inventory in a segment that pass some tests, besides its own. */
export class Matches {
  private found: Promise<Int32Array> | undefined;

  /** Positions are in borrowed arrays if there are some. */
  constructor(
    readonly rows: SegmentRows,
    private readonly tests: readonly Test[],
    private readonly arrays?: BorrowedArrays,
  ) {}

  /** Returns those that pass all filters. */
  static async of(rows: SegmentRows, filters: readonly Filter[], arrays?: BorrowedArrays): Promise<Matches> {
    const tests: Test[] = [];
    for (const test of flattened(filters.map((filter) => testOf(filter, rows.segment))))
      tests.push(test.kind === "hasTokens" ? await setsWith(rows.segment, test) : test);
    return new Matches(rows, tests, arrays);
  }

  /** Returns their number. That of rows with some ids follows from how many rows of the inventory have each. */
  async count(): Promise<number> {
    const { rows, tests } = this;
    const [test, ...others] = tests;
    if (test?.kind !== "in" || others.length > 0 || !isHot(rows)) return (await this.positions()).length;
    const { column, ids } = test;
    const { first } = rows.segment.dictionary.columnRange(column);
    const counts = await keptOf(rows, `counts ${column}`, async (whole) =>
      countIds({ rows: whole, positions: await inventoryOf(whole) }, column),
    );
    let sum = 0;
    await inBlocks(ids.length, (from, until) => {
      for (let n = from; n < until; n += 1) sum += counts[(ids[n] as number) - first] as number;
    });
    return sum;
  }

  /** Returns their positions, in no particular order. The caller must not change them. */
  positions(): Promise<Int32Array> {
    this.found ??= this.find();
    return this.found;
  }

  /** Returns those among some rows of the inventory, in the order of these. */
  among(positions: Int32Array): Promise<Int32Array> {
    return this.narrow(positions, this.tests);
  }

  private async find(): Promise<Int32Array> {
    const seed = await this.fewest();
    if (seed === undefined) return this.among(await inventoryOf(this.rows));
    const others = [...this.tests.filter((test) => test !== seed), ...this.rows.tests];
    return this.narrow(await this.positionsWith(seed), others);
  }

  /** Returns the test of ids whose rows take the least time to collect; undefined if it is less to look at all rows. */
  private async fewest(): Promise<IdsTest | undefined> {
    let best: IdsTest | undefined;
    let least = this.rows.segment.counts.all;
    for (const test of this.tests.flatMap((one) => idsOfTest(one) ?? [])) {
      // Each id takes as long as a few rows.
      const ofIds = 4 * test.ids.length;
      const count = ofIds < least ? ofIds + (await this.countOf(test)) : least;
      if (count >= least) continue;
      least = count;
      best = test;
    }
    return best;
  }

  private async countOf({ column, ids }: IdsTest): Promise<number> {
    const { first, starts } = await this.postingsOf(column);
    let count = 0;
    await inBlocks(ids.length, (from, until) => {
      for (let n = from; n < until; n += 1) {
        const at = (ids[n] as number) - first;
        count += (starts[at + 1] as number) - (starts[at] as number);
      }
    });
    return count;
  }

  /** Returns the positions of the rows that pass a test of ids. */
  private async positionsWith(test: IdsTest): Promise<Int32Array> {
    const count = await this.countOf(test);
    const found = this.arrays?.take(count) ?? new Int32Array(count);
    await forEachInTurns(copyPositions(await this.postingsOf(test.column), test.ids, found), () => undefined);
    return found;
  }

  private async postingsOf(column: string): Promise<Postings> {
    const { segment } = this.rows;
    const [starts = none, positions = none] = await segment.arrays(`postings ${column}`);
    return { first: segment.idRange(column).first, starts, positions };
  }

  /** Returns the positions that pass all tests, in turns of the event loop. */
  private async narrow(positions: Int32Array, tests: readonly Test[]): Promise<Int32Array> {
    if (tests.length === 0) return positions;
    const step = await this.inTurn(tests);
    const arrays = this.arrays ?? new BorrowedArrays();
    const found = arrays.take(positions.length);
    let count = 0;
    // Blocks keep turns short, and their positions in the processor's cache.
    await inBlocks(positions.length, (from, until) => {
      const block = found.subarray(count, count + until - from);
      block.set(positions.subarray(from, until));
      count += step(block, until - from);
    });
    if (this.arrays !== undefined) return found.subarray(0, count);
    const kept = found.slice(0, count);
    arrays.release();
    return kept;
  }

  /** Returns the step that leaves those of some positions that pass all tests. */
  private async inTurn(tests: readonly Test[]): Promise<Step> {
    const steps = await Promise.all(tests.map((test) => this.stepOf(test)));
    return (positions, count) => steps.reduce((left, step) => step(positions, left), count);
  }

  /** Returns the step that leaves those of some positions that pass a test. */
  private async stepOf(test: Test): Promise<Step> {
    switch (test.kind) {
      case "between":
        return betweenStep(await this.column(test.column), test.min, test.max);
      case "in":
        return this.idsStep(test);
      case "hasTokens":
        return this.idsStep(await setsWith(this.rows.segment, test));
      case "hasBits":
        return bitsStep(await this.column(test.column), test.bits, test.value);
      case "all":
        return this.inTurn(test.tests);
      case "any":
        return without(await this.inTurn(test.tests.map((one) => ({ kind: "not", test: one }))));
      case "not":
        return without(await this.stepOf(test.test));
    }
  }

  private async idsStep({ column, ids }: IdsTest): Promise<Step> {
    const values = await this.column(column);
    const id = ids[0] ?? unknownId;
    if (ids.length === 1) return betweenStep(values, id, id);
    const { first, end } = this.rows.segment.dictionary.columnRange(column);
    /** A byte for each id of the range. */
    const bits = new Uint8Array(end - first);
    await inBlocks(ids.length, (from, until) => {
      for (let n = from; n < until; n += 1) bits[(ids[n] as number) - first] = 1;
    });
    return (positions, count) => {
      let left = 0;
      for (let at = 0; at < count; at += 1) {
        const position = positions[at] as number;
        const value = values[position] as number;
        if (value >= first && bits[value - first] === 1) positions[left++] = position;
      }
      return left;
    };
  }

  private column(name: string): Promise<Int32Array> {
    return this.rows.segment.array(columnName(name, this.rows));
  }
}

/** Returns a test of ids that all rows pass which pass a test; undefined if there is none. A mask of VINs has the ids of their first characters. */
function idsOfTest(test: Test): IdsTest | undefined {
  if (test.kind === "in") return test;
  if (test.kind === "hasBits") return vinPrefixTest(test);
  if (test.kind === "all") return test.tests.map(idsOfTest).find((found) => found !== undefined);
  if (test.kind !== "any") return undefined;
  const alternatives = test.tests.flatMap((one) => idsOfTest(one) ?? []);
  const [first, ...others] = alternatives;
  if (first === undefined || alternatives.length < test.tests.length) return undefined;
  if (others.some(({ column }) => column !== first.column)) return undefined;
  return { ...first, ids: [...new Set(alternatives.flatMap(({ ids }) => Array.from(ids)))] };
}

/** Whether requests often ask for an inventory, so that it pays to keep what is known of all its rows. */
export const isHot = ({ date }: SegmentRows): boolean => date === undefined;

/**
 * Returns an array that follows from a whole inventory, derived on first use, and for the same inventory of the segment that is opened in place of this
 * one. `lengthIn` returns its length, or more.
 */
export const keptOf = (
  rows: SegmentRows,
  what: string,
  derive: (rows: SegmentRows) => Promise<Int32Array>,
  lengthIn = (segment: Segment): number => segment.counts.all,
): Promise<Int32Array> => {
  const of = ({ segment, ...inventory }: SegmentRows): KeptArrays => ({
    name: `${what} ${JSON.stringify(inventory.tests)}`,
    bytes: lengthIn(segment) * Int32Array.BYTES_PER_ELEMENT,
    load: async () => [await derive({ segment, ...inventory })],
    of: (other) => of({ segment: other, ...inventory }),
  });
  return rows.segment.array(of(rows));
};

/** Counts the ids of a column at some positions, from the first id on. */
export async function countIds(
  { rows, positions }: Matched,
  column: string,
  arrays?: BorrowedArrays,
): Promise<Int32Array> {
  const { first, end } = rows.segment.dictionary.columnRange(column);
  const ids = await rows.segment.array(columnName(column, rows));
  const counts = arrays?.zeros(end - first) ?? new Int32Array(end - first);
  await inBlocks(positions.length, (from, until) => {
    for (let at = from; at < until; at += 1) {
      const id = ids[positions[at] as number] as number;
      if (id !== unknownId) counts[id - first] = (counts[id - first] as number) + 1;
    }
  });
  return counts;
}

/** Returns the positions of all rows of the inventory, in order. They are kept. */
export const inventoryOf = (rows: SegmentRows): Promise<Int32Array> =>
  keptOf(rows, "rows", async (whole) => {
    const all = new Int32Array(whole.segment.counts.all);
    await inBlocks(all.length, (from, until) => {
      for (let position = from; position < until; position += 1) all[position] = position;
    });
    return new Matches(whole, whole.tests).among(all);
  });

/** Replaces tests that are a conjunction by its parts, and an alternative that is the only one. */
const flattened = (tests: readonly Test[]): readonly Test[] =>
  tests.flatMap((test) =>
    test.kind === "all" || (test.kind === "any" && test.tests.length === 1) ? flattened(test.tests) : test,
  );

/** Returns the name of a column: see `Segment.arrays`. Days on market of a past day follow from it. */
export const columnName = (column: string, { date }: Pick<SegmentRows, "date">): string =>
  column === "days_on_market" && date !== undefined ? `days ${date}` : `column ${column}`;

/** Moves those of the first positions that pass to the front, and returns their number. */
type Step = (positions: Int32Array, count: number) => number;

/** The positions of the rows with each id of a column: those of id `first + n` begin at `starts[n]`. */
interface Postings {
  readonly first: number;
  readonly starts: Int32Array;
  readonly positions: Int32Array;
}

/** Returns the test of the sets that have all of some tokens, or any of them. */
async function setsWith(segment: Segment, { column, tokens, how }: TokensTest): Promise<IdsTest> {
  const { dictionary } = segment;
  const [starts = none, sets = none] = await segment.arrays(`sets ${column}`);
  const firstToken = dictionary.rangeOf(column).first;
  const { first, end } = dictionary.columnRange(column);
  const groups = (how === "any" ? [tokens.flat()] : tokens).map((ids) =>
    ids.map((id) => sets.subarray(starts[id - firstToken], starts[id - firstToken + 1])),
  );
  let [[ids = none] = []] = groups;
  if (groups.length === 1 && groups.flat().length < 2) return { kind: "in", column, ids };
  /** Of how many groups, in their order, each set has a token. */
  const had = new Uint8Array(end - first);
  for (const [group, lists] of groups.entries()) {
    const found = new Int32Array(lists.reduce((sum, { length }) => sum + length, 0));
    let count = 0;
    for (const list of lists)
      await inBlocks(list.length, (from, until) => {
        for (const set of list.subarray(from, until)) {
          if (had[set - first] !== group) continue;
          had[set - first] = group + 1;
          found[count++] = set;
        }
      });
    ids = found.subarray(0, count);
  }
  return { kind: "in", column, ids };
}

function betweenStep(values: Int32Array, min: number, max: number): Step {
  return (positions, count) => {
    let left = 0;
    for (let at = 0; at < count; at += 1) {
      const position = positions[at] as number;
      const value = values[position] as number;
      if (value >= min && value <= max) positions[left++] = position;
    }
    return left;
  };
}

function bitsStep(values: Int32Array, bits: number, expected: number): Step {
  return (positions, count) => {
    let left = 0;
    for (let at = 0; at < count; at += 1) {
      const position = positions[at] as number;
      if (((values[position] as number) & bits) === expected) positions[left++] = position;
    }
    return left;
  };
}

/** Returns the step that leaves those that another one does not. */
function without(step: Step): Step {
  const removed = new Int32Array(blockRows);
  return (positions, count) => {
    removed.set(positions.subarray(0, count));
    const end = step(removed, count);
    let left = 0;
    let next = 0;
    for (let at = 0; at < count; at += 1) {
      const position = positions[at] as number;
      if (next < end && removed[next] === position) next += 1;
      else positions[left++] = position;
    }
    return left;
  };
}

/** Copies the positions of the rows with some ids. Yields after each block. */
function* copyPositions(
  { first, starts, positions }: Postings,
  ids: ArrayLike<number>,
  found: Int32Array,
): Generator<void> {
  let count = 0;
  for (let n = 0; n < ids.length; n += 1) {
    const at = (ids[n] as number) - first;
    const end = starts[at + 1] as number;
    for (let from = starts[at] as number; from < end; ) {
      const until = Math.min(end, from + blockRows - (count % blockRows));
      while (from < until) found[count++] = positions[from++] as number;
      if (count % blockRows === 0) yield;
    }
  }
}

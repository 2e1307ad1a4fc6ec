/**
 * Evaluates filters over the typed arrays of a segment: the positions of the rows that pass.
 *
 * Candidates are the rows with the ids of the filter that accepts the fewest rows, or else all rows of the inventory; the other tests leave fewer and
 * fewer of them. Work is divided into turns of the event loop.
 */
import { forEachInTurns } from "../../base/turns.ts";
import type { Filter } from "../../listing/filter.ts";
import { unknownId } from "./build.ts";
import { type Arrays, blockRows, concatenated, inBlocks, none } from "./columns.ts";
import type { SegmentRows } from "./segment.ts";
import { type Test, testOf } from "./tests.ts";

type IdsTest = Extract<Test, { kind: "in" }>;
type TokensTest = Extract<Test, { kind: "hasTokens" }>;

/** The positions of the matches in a segment, in no particular order. */
export interface Matched {
  readonly rows: SegmentRows;
  readonly positions: Int32Array;
}

/** Returns the matches in each segment that has some. */
export async function matchesIn(
  parts: readonly SegmentRows[],
  filters: readonly Filter[],
): Promise<readonly Matched[]> {
  const found = await Promise.all(parts.map(async (rows) => ({ rows, positions: await positionsOf(rows, filters) })));
  return found.filter(({ positions }) => positions.length > 0);
}

export const totalOf = (matched: readonly Matched[]): number =>
  matched.reduce((sum, { positions }) => sum + positions.length, 0);

/** Returns the positions of the rows that pass all filters, in no particular order. The caller must not change them. */
async function positionsOf(rows: SegmentRows, filters: readonly Filter[]): Promise<Int32Array> {
  const tests = flattened(filters.map((filter) => testOf(filter, rows.segment)));
  if (tests.length === 0) return inventoryOf(rows);
  const evaluation = new Evaluation(rows, await rows.segment.load(namesIn([...tests, ...rows.tests], rows)));
  const resolved: Test[] = [];
  for (const test of tests) resolved.push(test.kind === "hasTokens" ? await evaluation.setsWith(test) : test);
  const seed = await evaluation.fewest(resolved);
  if (seed === undefined) return evaluation.narrow(await inventoryOf(rows), resolved);
  const others = resolved.filter((test) => test !== seed);
  return evaluation.narrow(await evaluation.positionsWith(seed), [...others, ...rows.tests]);
}

/** Returns the positions of all rows of the inventory, in order. They are kept. */
async function inventoryOf(rows: SegmentRows): Promise<Int32Array> {
  const { segment, tests } = rows;
  const count = segment.counts.all;
  return segment.keep(`rows ${JSON.stringify(tests)}`, count, async () => {
    const all = new Int32Array(count);
    await inBlocks(count, (from, until) => {
      for (let position = from; position < until; position += 1) all[position] = position;
    });
    return new Evaluation(rows, await segment.load(namesIn(tests, rows))).narrow(all, tests);
  });
}

/** Replaces tests that are a conjunction by its parts, and an alternative that is the only one. */
const flattened = (tests: readonly Test[]): readonly Test[] =>
  tests.flatMap((test) =>
    test.kind === "all" || (test.kind === "any" && test.tests.length === 1) ? flattened(test.tests) : test,
  );

/** Returns the names of the arrays that tests need: see `Segment.load`. Those of ids that all rows must pass have postings. */
function namesIn(tests: readonly Test[], rows: SegmentRows): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (test: Test, isPart: boolean): void => {
    if ("tests" in test) for (const one of test.tests) add(one, true);
    else if ("test" in test) add(test.test, true);
    else {
      const isOfIds = test.kind === "in" || test.kind === "hasTokens";
      names.add(columnName(test.column, rows));
      if (test.kind === "hasTokens") names.add(`sets ${test.column}`);
      if (isOfIds && !isPart) names.add(`postings ${test.column}`);
    }
  };
  for (const test of tests) add(test, false);
  return names;
}

/** Returns the name of a column: see `Segment.load`. Days on market of a past day follow from it. */
export const columnName = (column: string, { date }: Pick<SegmentRows, "date">): string =>
  column === "days_on_market" && date !== undefined ? `days ${date}` : `column ${column}`;

/** The positions of a block, between two turns of the event loop. */
const scratch = new Int32Array(blockRows);

/** Moves those of the first positions that pass to the front, and returns their number. */
type Step = (positions: Int32Array, count: number) => number;

class Evaluation {
  constructor(
    private readonly rows: SegmentRows,
    private readonly loaded: ReadonlyMap<string, Arrays>,
  ) {}

  /** Returns the test of the sets that have all of some tokens, or any of them. */
  async setsWith({ column, tokens, how }: TokensTest): Promise<IdsTest> {
    const { dictionary } = this.rows.segment;
    const [starts = none, sets = none] = this.loaded.get(`sets ${column}`) ?? [];
    const firstToken = dictionary.rangeOf(column).first;
    const { first, end } = dictionary.columnRange(column);
    const groups = (how === "any" ? [tokens.flat()] : tokens).map((ids) =>
      ids.map((id) => sets.subarray(starts[id - firstToken], starts[id - firstToken + 1])),
    );
    let [[ids = none] = []] = groups;
    if (groups.flat().length < 2) return { kind: "in", column, ids };
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

  /** Returns the test of ids whose rows take the least time to collect; undefined if it is less to look at all rows. */
  async fewest(tests: readonly Test[]): Promise<IdsTest | undefined> {
    let best: IdsTest | undefined;
    let least = this.rows.segment.counts.all;
    for (const test of tests) {
      if (test.kind !== "in") continue;
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
    const { first, starts } = this.postingsOf(column);
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
  async positionsWith(test: IdsTest): Promise<Int32Array> {
    const found = new Int32Array(await this.countOf(test));
    await forEachInTurns(this.copyPositions(test, found), () => undefined);
    return found;
  }

  /** Copies the positions of the rows that pass a test of ids. Yields after each block. */
  private *copyPositions({ column, ids }: IdsTest, found: Int32Array): Generator<void> {
    const { first, starts, positions } = this.postingsOf(column);
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

  private postingsOf(column: string) {
    const [starts = none, positions = none] = this.loaded.get(`postings ${column}`) ?? [];
    return { first: this.rows.segment.dictionary.columnRange(column).first, starts, positions };
  }

  /** Returns the positions that pass all tests, in turns of the event loop. */
  async narrow(positions: Int32Array, tests: readonly Test[]): Promise<Int32Array> {
    if (tests.length === 0) return positions;
    const step = await this.inTurn(tests);
    const found: Int32Array[] = [];
    // Blocks keep turns short, and their positions in the processor's cache.
    await inBlocks(positions.length, (from, until) => {
      scratch.set(positions.subarray(from, until));
      const count = step(scratch, until - from);
      if (count > 0) found.push(scratch.slice(0, count));
    });
    return concatenated(found);
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
        return betweenStep(this.column(test.column), test.min, test.max);
      case "in":
        return this.idsStep(test);
      case "hasTokens":
        return this.idsStep(await this.setsWith(test));
      case "hasBits":
        return bitsStep(this.column(test.column), test.bits, test.value);
      case "all":
        return this.inTurn(test.tests);
      case "any":
        return without(await this.inTurn(test.tests.map((one) => ({ kind: "not", test: one }))));
      case "not":
        return without(await this.stepOf(test.test));
    }
  }

  private async idsStep({ column, ids }: IdsTest): Promise<Step> {
    const values = this.column(column);
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

  private column(name: string): Int32Array {
    return this.loaded.get(columnName(name, this.rows))?.[0] ?? none;
  }
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
  return (positions, count) => {
    const removed = positions.slice(0, count);
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

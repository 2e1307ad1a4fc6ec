/**
 * Evaluates filters over the typed arrays of a segment: the positions of the rows that pass.
 *
 * Candidates are the rows with the ids of the filter that accepts the fewest rows, or else all rows of the inventory; the other tests leave fewer and
 * fewer of them. Work is divided into turns of the event loop.
 */
import { forEachInTurns } from "../../base/turns.ts";
import type { Filter } from "../../listing/filter.ts";
import { unknownId } from "./build.ts";
import { type Arrays, blockRows, blocksOf, concatenated } from "./columns.ts";
import type { SegmentRows } from "./segment.ts";
import { type Test, testOf } from "./tests.ts";

type Loaded = ReadonlyMap<string, Arrays>;

/** A test of ids in a column. */
interface IdsTest {
  readonly kind: "in";
  readonly column: string;
  /** Distinct. */
  readonly ids: ArrayLike<number>;
}
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
  const { columns } = rows.segment;
  const tests = flattened(filters.map((filter) => testOf(filter, rows.segment)));
  if (tests.length === 0) return inventoryOf(rows);
  const evaluation = new Evaluation(rows, await columns.load(namesIn([...tests, ...rows.tests], rows)));
  const resolved = tests.map((test) => (test.kind === "hasTokens" ? evaluation.setsWith(test) : test));
  const seed = evaluation.fewest(resolved);
  if (seed === undefined) return evaluation.narrow(await inventoryOf(rows), resolved);
  const others = resolved.filter((test) => test !== seed);
  return evaluation.narrow(await evaluation.positionsWith(seed), [...others, ...rows.tests]);
}

/** Returns the positions of all rows of the inventory, in order. They are kept. */
async function inventoryOf(rows: SegmentRows): Promise<Int32Array> {
  const { segment, tests } = rows;
  const name = `rows ${JSON.stringify(tests)}`;
  return segment.columns.keep(name, segment.rows * Int32Array.BYTES_PER_ELEMENT, async () => {
    const all = new Int32Array(segment.rows);
    await forEachInTurns(blocksOf(all.length), (from) => {
      const until = Math.min(all.length, from + blockRows);
      for (let position = from; position < until; position += 1) all[position] = position;
    });
    return new Evaluation(rows, await segment.columns.load(namesIn(tests, rows))).narrow(all, tests);
  });
}

/** Replaces tests that are a conjunction by its parts, and an alternative that is the only one. */
const flattened = (tests: readonly Test[]): readonly Test[] =>
  tests.flatMap((test) =>
    test.kind === "all" || (test.kind === "any" && test.tests.length === 1) ? flattened(test.tests) : test,
  );

/** Returns the names of the arrays that tests need: see `SegmentColumns`. Those of ids that all rows must pass have postings. */
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

/** Returns the name of a column in `SegmentColumns`. Days on market of a past day follow from it. */
export const columnName = (column: string, { date }: Pick<SegmentRows, "date">): string =>
  column === "days_on_market" && date !== undefined ? `days ${date}` : `column ${column}`;

const none = new Int32Array();

/** The positions of a block, between two turns of the event loop. */
const scratch = new Int32Array(blockRows);

/** Moves those of the first positions that pass to the front, and returns their number. */
type Step = (positions: Int32Array, count: number) => number;

class Evaluation {
  constructor(
    private readonly rows: SegmentRows,
    private readonly loaded: Loaded,
  ) {}

  /** Returns the test of the sets that have all of some tokens, or any of them. */
  setsWith({ column, tokens, how }: TokensTest): IdsTest {
    const { first, end } = this.rows.segment.rangeOf(column);
    const lists = (how === "any" ? [tokens.flat()] : tokens).map((ids) => this.setsWithAny(column, ids));
    const [fewest = none, ...others] = lists.sort((one, other) => one.length - other.length);
    if (others.length === 0) return { kind: "in", column, ids: fewest };
    const found = fewest.slice();
    let count = found.length;
    for (const sets of others) {
      const bits = bitsOf(sets, first, end);
      const before = count;
      count = 0;
      for (let at = 0; at < before; at += 1) {
        const set = found[at] as number;
        if (bits[set - first] === 1) found[count++] = set;
      }
    }
    return { kind: "in", column, ids: found.subarray(0, count) };
  }

  /** Returns the sets that have one of some tokens. */
  private setsWithAny(column: string, ids: readonly number[]): Int32Array {
    const { first } = this.rows.segment.rangeOf(`tokens of ${column}`);
    const [starts = none, sets = none] = this.loaded.get(`sets ${column}`) ?? [];
    const lists = ids.map((id) => sets.subarray(starts[id - first], starts[id - first + 1]));
    const [only = none, ...others] = lists;
    return others.length === 0 ? only : Int32Array.from(new Set(lists.flatMap((list) => [...list])));
  }

  /** Returns the test of ids whose rows take the least time to collect; undefined if it is less to look at all rows. */
  fewest(tests: readonly (Test | IdsTest)[]): IdsTest | undefined {
    let best: IdsTest | undefined;
    let least = this.rows.segment.rows;
    for (const test of tests) {
      // Each id takes as long as a few rows.
      const count = test.kind === "in" ? this.countOf(test) + 4 * test.ids.length : Number.POSITIVE_INFINITY;
      if (test.kind !== "in" || count >= least) continue;
      least = count;
      best = test;
    }
    return best;
  }

  private countOf({ column, ids }: IdsTest): number {
    const { first, starts } = this.postingsOf(column);
    let count = 0;
    for (let n = 0; n < ids.length; n += 1) {
      const at = (ids[n] as number) - first;
      count += (starts[at + 1] as number) - (starts[at] as number);
    }
    return count;
  }

  /** Returns the positions of the rows that pass a test of ids. */
  async positionsWith(test: IdsTest): Promise<Int32Array> {
    const { column, ids } = test;
    const { first, starts, positions } = this.postingsOf(column);
    const found = new Int32Array(this.countOf(test));
    let count = 0;
    await forEachInTurns(blocksOf(ids.length), (from) => {
      for (let n = from; n < Math.min(ids.length, from + blockRows); n += 1) {
        const id = ids[n] as number;
        const until = starts[id - first + 1] as number;
        for (let at = starts[id - first] as number; at < until; at += 1) found[count++] = positions[at] as number;
      }
    });
    return found;
  }

  private postingsOf(column: string) {
    const [starts = none, positions = none] = this.loaded.get(`postings ${column}`) ?? [];
    return { first: this.rows.segment.rangeOf(column).first, starts, positions };
  }

  /** Returns the positions that pass all tests, in turns of the event loop. */
  async narrow(positions: Int32Array, tests: readonly (Test | IdsTest)[]): Promise<Int32Array> {
    if (tests.length === 0) return positions;
    const step = inTurn(tests.map((test) => this.stepOf(test)));
    const found: Int32Array[] = [];
    // Blocks keep turns short, and their positions in the processor's cache.
    await forEachInTurns(blocksOf(positions.length), (from) => {
      const block = positions.subarray(from, from + blockRows);
      scratch.set(block);
      const count = step(scratch, block.length);
      if (count > 0) found.push(scratch.slice(0, count));
    });
    return concatenated(found);
  }

  /** Returns the step that leaves those of some positions that pass a test. */
  private stepOf(test: Test | IdsTest): Step {
    switch (test.kind) {
      case "between":
        return betweenStep(this.column(test.column), test.min, test.max);
      case "in":
        return this.idsStep(test);
      case "hasTokens":
        return this.idsStep(this.setsWith(test));
      case "hasBits":
        return bitsStep(this.column(test.column), test.bits, test.value);
      case "all":
        return inTurn(test.tests.map((one) => this.stepOf(one)));
      case "any":
        return without(inTurn(test.tests.map((one) => without(this.stepOf(one)))));
      case "not":
        return without(this.stepOf(test.test));
    }
  }

  private idsStep({ column, ids }: IdsTest): Step {
    const values = this.column(column);
    const id = ids[0] ?? unknownId;
    if (ids.length === 1) return betweenStep(values, id, id);
    const { first, end } = this.rows.segment.rangeOf(column);
    const bits = bitsOf(ids, first, end);
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

const inTurn =
  (steps: readonly Step[]): Step =>
  (positions, count) =>
    steps.reduce((left, step) => step(positions, left), count);

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

/** Returns a byte for each id of a range: 1 for some of them. */
function bitsOf(ids: ArrayLike<number>, first: number, end: number): Uint8Array {
  const bits = new Uint8Array(end - first);
  for (let n = 0; n < ids.length; n += 1) bits[(ids[n] as number) - first] = 1;
  return bits;
}

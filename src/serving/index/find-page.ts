/**
 * Finds a page of an inventory: collects the matches of each segment, and chooses among them by their sort keys.
 *
 * Ties go by the sort order of listings, which is that of positions in a segment; among segments by the ranks of builds, then by id.
 */
import type { Point } from "../../listing/geography.ts";
import { shareUnit, sortRuleOf } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest, PageResult, RowKey } from "../../listing/source.ts";
import { blockRows, concatenated, inBlocks, none } from "./columns.ts";
import { columnName, inventoryOf, isHot, keptOf, type Matched, Matches } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";

/** How many of the first rows of a whole inventory are kept in each order. */
const keptRows = 2500;

/** Returns `Listings.findPage`. */
export async function findPageIn(
  parts: readonly SegmentRows[],
  { filters, order, limit, offset }: PageRequest,
): Promise<PageResult> {
  const counted = await Promise.all(
    parts.map(async (rows) => {
      const matches = await Matches.of(rows, filters);
      return { matches, count: await matches.count() };
    }),
  );
  const matched = counted.filter(({ count }) => count > 0);
  const total = matched.reduce((sum, { count }) => sum + count, 0);
  const until = Math.min(total, offset + limit);
  if (offset >= until) return { total, keys: [] };
  const isKept = filters.length === 0 || parts.every(isHot);
  const candidates = await Promise.all(
    matched.map(async ({ matches, count }) => {
      const first = isKept ? await firstOf(matches, count, order, until) : undefined;
      return { rows: matches.rows, positions: first ?? (await matches.positions()), isInOrder: first !== undefined };
    }),
  );
  const isOnly = candidates.length === 1;
  const [only] = candidates;
  if (isOnly && only?.isInOrder === true) {
    const nameOf = await namesOf(only.rows, isOnly);
    return { total, keys: Array.from(only.positions.subarray(offset, until), nameOf) };
  }
  const ordered = await Promise.all(candidates.map((one) => inOrder(one, order, isOnly)));
  const page = await choosePage(ordered, offset, until, byName);
  return { total, keys: page.map(({ of, position }) => of.nameOf(position)) };
}

/** Returns the first matches of an order, if they are among the first rows of the inventory. */
async function firstOf(
  matches: Matches,
  count: number,
  order: PageOrder,
  until: number,
): Promise<Int32Array | undefined> {
  const { rows } = matches;
  const all = await inventoryOf(rows);
  if (order.by === "distance" || count * keptRows < Math.min(count, until) * all.length) return undefined;
  const firstRows = async (whole: SegmentRows): Promise<Int32Array> => {
    const fill = await keysOf(whole, order);
    const inventory = { positions: await inventoryOf(whole), fill, rankOf: rankInSegment };
    return Int32Array.from(await choosePage([inventory], 0, keptRows), ({ position }) => position);
  };
  const kept = await keptOf(rows, `first ${order.sort}`, firstRows, () => keptRows);
  const first = await matches.among(kept);
  return first.length < Math.min(count, until) ? undefined : first.subarray(0, until);
}

const rankInSegment = (position: number): number => position;

/** Returns the function that names rows of a segment: by their positions in files, or by their ids if there are others. */
async function namesOf({ segment, isPositioned }: SegmentRows, isOnly: boolean): Promise<(position: number) => RowKey> {
  const isNumbered = isOnly && isPositioned === true;
  const names = await segment.array(isNumbered ? "column row" : "column listing_id");
  return isNumbered ? (position) => names[position] as number : (position) => idAt(names, position);
}

/** The matches in a segment, and what names their rows. */
interface NamedMatches extends OrderedMatches {
  readonly nameOf: (position: number) => RowKey;
}

/** Rows of one segment are ranked by their positions, and rows of several by their builds, then by the first bits of their ids. */
async function inOrder({ rows, positions }: Matched, order: PageOrder, isOnly: boolean): Promise<NamedMatches> {
  const { segment } = rows;
  const fill = await keysOf(rows, order);
  const nameOf = await namesOf(rows, isOnly);
  if (isOnly) return { positions, fill, rankOf: rankInSegment, nameOf };
  const builds = await segment.array("column build");
  const { first } = segment.dictionary.columnRange("build");
  const ids = await segment.array("column listing_id");
  const rankOf = (position: number): number => {
    const rank = segment.buildRanks[(builds[position] as number) - first] as number;
    return rank * 2 ** rankedIdBits + (firstBitsAt(ids, position) >>> (32 - rankedIdBits));
  };
  return { positions, fill, rankOf, nameOf };
}

/** In a segment, rows with equal ranks are in the order of their ids. */
function byName(one: Chosen<NamedMatches>, other: Chosen<NamedMatches>): number {
  if (one.of === other.of) return one.position - other.position;
  return one.of.nameOf(one.position) < other.of.nameOf(other.position) ? -1 : 1;
}

/** With the rank of a build, these are exact in a double. */
const rankedIdBits = 26;

/** Returns the first 32 bits of the id of a row: see `idAt`. */
const firstBitsAt = (ids: Int32Array, position: number): number => (ids[4 * position + 3] as number) ^ (1 << 31);

const idBytes = Buffer.alloc(16);

/** Returns the id of a row, 32 hexadecimal digits: see `Session.vectors`. */
function idAt(ids: Int32Array, position: number): string {
  idBytes.writeInt32BE(firstBitsAt(ids, position));
  for (let part = 0; part < 3; part += 1) idBytes.writeInt32BE(ids[4 * position + part] as number, 12 - 4 * part);
  return idBytes.toString("hex");
}

/** Returns the function that fills the sort keys of positions. */
const keysOf = (rows: SegmentRows, order: PageOrder): Promise<FillKeys> =>
  order.by === "distance" ? distanceKeys(rows, order.origin) : valueKeys(rows, order.sort);

async function distanceKeys({ segment }: SegmentRows, origin: Point): Promise<FillKeys> {
  const dealers = await segment.array("column dealer");
  const distanceOf = segment.dealers.distancesFrom(origin);
  return (keys, positions) => {
    for (let at = 0; at < positions.length; at += 1) keys[at] = distanceOf(dealers[positions[at] as number] as number);
  };
}

/** `sortValueOf` in JavaScript. */
async function valueKeys(rows: SegmentRows, sort: Extract<PageOrder, { by: "sort" }>["sort"]): Promise<FillKeys> {
  const { attribute, isDescending, ratio, within } = sortRuleOf(sort);
  const columns = [attribute, ...(ratio ?? []), ...(within === undefined ? [] : [within.column])];
  const arrays = columns.map((column) => rows.segment.array(columnName(column, rows)));
  const [values = none, p = none, q = none, ratings = none] = await Promise.all(arrays);
  const sign = isDescending ? -1 : 1;
  const unit = shareUnit(within);
  const indexes = new Map(
    within?.values.flatMap((value, index) =>
      rows.segment.dictionary.idsOf(within.column, value).map((id) => [id, index] as const),
    ),
  );
  return (keys, positions) => {
    for (let at = 0; at < positions.length; at += 1) {
      const position = positions[at] as number;
      const value = values[position] as number;
      if (value === unknownNumber) keys[at] = Number.POSITIVE_INFINITY;
      else if (ratio === undefined) keys[at] = sign * value;
      else {
        const share = (p[position] as number) / ((p[position] as number) + (q[position] as number));
        const index = within === undefined ? 0 : (indexes.get(ratings[position] as number) ?? 0);
        keys[at] = sign * Math.floor((index + share) * unit);
      }
    }
  };
}

/** Fills `keys` with the sort keys of positions: numbers in ascending order, infinite where they are unknown. */
export type FillKeys = (keys: Float64Array, positions: Int32Array) => void;

/** The matches in a segment, and what orders them. */
export interface OrderedMatches {
  readonly positions: Int32Array;
  readonly fill: FillKeys;
  /** Returns the rank of a row among those with the same sort key. */
  readonly rankOf: (position: number) => number;
}

interface Rank {
  readonly sortKey: number;
  readonly rank: number;
}

interface Chosen<T> extends Rank {
  readonly of: T;
  readonly position: number;
}

/** The difference of two infinite keys is no number. */
const compareRanks = (one: Rank, other: Rank): number =>
  (one.sortKey === other.sortKey ? 0 : one.sortKey - other.sortKey) || one.rank - other.rank;

const start: Rank = { sortKey: Number.NEGATIVE_INFINITY, rank: Number.NEGATIVE_INFINITY };
const end: Rank = { sortKey: Number.POSITIVE_INFINITY, rank: Number.POSITIVE_INFINITY };

/** The fewest and the most matches in the sample that estimates between which ones a page lies; of matches in between, it has one in `sampledRows`. */
const sampleMin = 1024;
const sampleMax = 16_384;
const sampledRows = 256;

/** Up to this many matches are sorted in a turn of the event loop. */
const sortedMax = 1024;

/** The keys of a block, between two turns of the event loop, and those of its positions that may be of a page. */
const scratch = new Float64Array(blockRows);
const scratchPositions = new Int32Array(blockRows);

/**
 * Returns the matches from one index until another in the order of their sort keys, then of their ranks. Scans the keys once in almost every case, and
 * sorts only those between two of a sample: half the time of finding these bounds in a first scan.
 */
export async function choosePage<T extends OrderedMatches>(
  parts: readonly T[],
  from: number,
  until: number,
  compareTies: (one: Chosen<T>, other: Chosen<T>) => number = () => 0,
): Promise<readonly Chosen<T>[]> {
  const total = parts.reduce((sum, { positions }) => sum + positions.length, 0);
  if (from >= total) return [];
  const [size, rankAt] = sampleOf(parts, total);
  const indexOf = (count: number): number => (Math.min(total, count) / total) * size;
  // Three standard deviations of an index in the sample, at first.
  for (let deviations = 3; ; deviations *= 4) {
    const marginAt = (index: number): number => Math.ceil(deviations * (1 + Math.sqrt(index)));
    const first = indexOf(from);
    const last = indexOf(until);
    const low = rankAt(Math.floor(first) - marginAt(first)) ?? start;
    const high = rankAt(Math.ceil(last) + marginAt(last)) ?? end;
    const { before, found, count } = await collect(parts, low, high);
    if (before > from || before + count < Math.min(total, until)) continue;
    if (count > sortedMax && count <= total / 2) return choosePage(found, from - before, until - before, compareTies);
    return found
      .flatMap(ranked)
      .sort((one, other) => compareRanks(one, other) || compareTies(one, other))
      .slice(from - before, until - before);
  }
}

/** Returns matches with what they are sorted by. */
function ranked<T extends OrderedMatches>(of: T): readonly Chosen<T>[] {
  const keys = new Float64Array(of.positions.length);
  of.fill(keys, of.positions);
  return Array.from(of.positions, (position, n) => ({
    sortKey: keys[n] as number,
    rank: of.rankOf(position),
    of,
    position,
  }));
}

/** Samples matches at equal distances. Returns their number, and a function that returns one of them by its index in their order. */
function sampleOf(
  parts: readonly OrderedMatches[],
  total: number,
): readonly [size: number, at: (index: number) => Rank | undefined] {
  const step = Math.ceil(total / Math.min(sampleMax, Math.max(sampleMin, total / sampledRows)));
  const samples = parts.map(({ positions, fill, rankOf }) => {
    const size = Math.ceil(positions.length / step);
    const chosen = new Int32Array(size);
    for (let n = 0; n < size; n += 1) chosen[n] = positions[n * step] as number;
    const keys = new Float64Array(size);
    fill(keys, chosen);
    return {
      keys,
      ranksOf: (key: number) => {
        const ranks: number[] = [];
        for (let n = 0; n < size; n += 1) if (keys[n] === key) ranks.push(rankOf(chosen[n] as number));
        return ranks;
      },
    };
  });
  const sorted = new Float64Array(samples.reduce((sum, { keys }) => sum + keys.length, 0));
  let filled = 0;
  for (const { keys } of samples) {
    sorted.set(keys, filled);
    filled += keys.length;
  }
  sorted.sort();
  const at = (index: number): Rank | undefined => {
    const sortKey = sorted[index];
    if (sortKey === undefined) return undefined;
    const ranks = Float64Array.from(samples.flatMap(({ ranksOf }) => ranksOf(sortKey))).sort();
    return { sortKey, rank: ranks[index - sorted.indexOf(sortKey)] as number };
  };
  return [sorted.length, at];
}

/** Returns the number of matches before one, and those from there to another, with their number. */
async function collect<T extends OrderedMatches>(parts: readonly T[], low: Rank, high: Rank) {
  let before = 0;
  const found: T[] = [];
  for (const of of parts) {
    const blocks: Int32Array[] = [];
    await inBlocks(of.positions.length, (from, until) => {
      const block = of.positions.subarray(from, until);
      let count = 0;
      of.fill(scratch, block);
      for (let at = 0; at < block.length; at += 1) {
        const sortKey = scratch[at] as number;
        if (sortKey < low.sortKey) before += 1;
        if (sortKey < low.sortKey || sortKey > high.sortKey) continue;
        const position = block[at] as number;
        const rank = of.rankOf(position);
        if (sortKey === low.sortKey && rank < low.rank) before += 1;
        else if (sortKey < high.sortKey || rank <= high.rank) scratchPositions[count++] = position;
      }
      if (count > 0) blocks.push(scratchPositions.slice(0, count));
    });
    found.push({ ...of, positions: await concatenated(blocks) });
  }
  return { before, found, count: found.reduce((sum, { positions }) => sum + positions.length, 0) };
}

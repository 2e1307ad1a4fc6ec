/**
 * Finds a page of an inventory: collects the matches of each segment, chooses the first ones of each by their sort keys, and merges them.
 *
 * Ties go by the sort order of listings, which is that of positions in a segment; among segments by the ranks of builds, then by id.
 */
import { shareUnit, sortRuleOf } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest, PageResult, RowKey } from "../../listing/source.ts";
import { blockRows, inBlocks, none } from "./columns.ts";
import { columnName, type Matched, matchesIn, totalOf } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";

/** Returns `Listings.findPage`. */
export async function findPageIn(
  parts: readonly SegmentRows[],
  { filters, order, limit, offset }: PageRequest,
): Promise<PageResult> {
  const matched = await matchesIn(parts, filters);
  const total = totalOf(matched);
  const [only] = matched;
  if (offset >= total || only === undefined) return { total, keys: [] };
  if (matched.length === 1) {
    const page = await pageOf(only, order, filters.length === 0, [offset, offset + limit]);
    return { total, keys: await rowKeys(only.rows, page) };
  }
  const first = await Promise.all(matched.map((part) => firstOf(part, order, offset + limit)));
  const merged = first
    .flat()
    .sort(compare)
    .slice(offset, offset + limit);
  return { total, keys: merged.map(({ key }) => key) };
}

/** How many of the first rows of a whole inventory are kept in each order. */
const keptRows = 2500;

/** Returns the positions of a page. */
async function pageOf(
  { rows, positions }: Matched,
  order: PageOrder,
  isWhole: boolean,
  [from, until]: readonly [from: number, until: number],
): Promise<readonly number[]> {
  const fill = await keysOf(rows, order);
  const choose = async (first: number, end: number): Promise<readonly number[]> =>
    (await choosePage(positions, fill, first, end)).map(({ position }) => position);
  if (!isWhole || order.by === "distance" || until > keptRows) return choose(from, until);
  const name = `first ${order.sort} ${JSON.stringify(rows.tests)}`;
  const first = await rows.segment.keep(name, keptRows, async () => Int32Array.from(await choose(0, keptRows)));
  return [...first.subarray(from, until)];
}

/** A match of several segments: its sort key, what breaks ties, and what names its row. */
interface Candidate {
  readonly sortKey: number;
  readonly buildRank: number;
  readonly key: string;
}

const compare = (one: Candidate, other: Candidate): number =>
  compareKeys(one.sortKey, other.sortKey) || one.buildRank - other.buildRank || (one.key < other.key ? -1 : 1);

/** Returns the first matches in a segment. */
async function firstOf({ rows, positions }: Matched, order: PageOrder, count: number): Promise<readonly Candidate[]> {
  const { segment } = rows;
  const chosen = await choosePage(positions, await keysOf(rows, order), 0, count);
  const builds = await segment.array("column build");
  const ids = await segment.array("column listing_id");
  const { first } = segment.dictionary.columnRange("build");
  return chosen.map(({ sortKey, position }) => ({
    sortKey,
    buildRank: segment.buildRanks[(builds[position] as number) - first] as number,
    key: idAt(ids, position),
  }));
}

/** Returns what names rows: their positions in the files of the published day, or their ids. */
async function rowKeys(
  { segment, isPositioned }: SegmentRows,
  positions: readonly number[],
): Promise<readonly RowKey[]> {
  const values = await segment.array(isPositioned === true ? "column row" : "column listing_id");
  return positions.map((position) => (isPositioned === true ? (values[position] as number) : idAt(values, position)));
}

/** Returns the id of a row, 32 hexadecimal digits: see `Session.vectors`. */
function idAt(ids: Int32Array, position: number): string {
  const word = (part: number): string =>
    (((ids[4 * position + part] as number) ^ (part === 3 ? 1 << 31 : 0)) >>> 0).toString(16).padStart(8, "0");
  return word(3) + word(2) + word(1) + word(0);
}

/** Returns the function that fills the sort keys of positions. */
const keysOf = (rows: SegmentRows, order: PageOrder): Promise<FillKeys> =>
  order.by === "distance" ? distanceKeys(rows, order.origin) : valueKeys(rows, order.sort);

type ByDistance = Extract<PageOrder, { by: "distance" }>;
type BySort = Extract<PageOrder, { by: "sort" }>;

async function distanceKeys({ segment }: SegmentRows, origin: ByDistance["origin"]): Promise<FillKeys> {
  const dealers = await segment.array("column dealer");
  const distanceOf = segment.dealers.distancesFrom(origin);
  return (keys, positions) => {
    for (let at = 0; at < positions.length; at += 1) keys[at] = distanceOf(dealers[positions[at] as number] as number);
  };
}

/** `sortValueOf` in JavaScript. */
async function valueKeys(rows: SegmentRows, sort: BySort["sort"]): Promise<FillKeys> {
  const { attribute, isDescending, ratio, within } = sortRuleOf(sort);
  const names = [attribute, ...(ratio ?? []), ...(within === undefined ? [] : [within.column])].map((column) =>
    columnName(column, rows),
  );
  const loaded = await rows.segment.load(names);
  const [values = none, p = none, q = none, ratings = none] = names.map((name) => loaded.get(name)?.[0] ?? none);
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

interface Keyed {
  readonly sortKey: number;
  readonly position: number;
}

/** Compares sort keys. The difference of two infinite ones is no number. */
const compareKeys = (one: number, other: number): number => (one === other ? 0 : one - other);

/** The order of a page. */
const byKey = (one: Keyed, other: Keyed): number =>
  compareKeys(one.sortKey, other.sortKey) || one.position - other.position;

const start: Keyed = { sortKey: Number.NEGATIVE_INFINITY, position: -1 };
const end: Keyed = { sortKey: Number.POSITIVE_INFINITY, position: Number.POSITIVE_INFINITY };

/** The fewest matches in the sample that estimates between which ones a page lies; of many matches, it has one in `sampledRows`. */
const sampleSize = 1024;
const sampledRows = 256;

/** The keys of a block, between two turns of the event loop. */
const scratch = new Float64Array(blockRows);

/**
 * Returns the matches from one index until another in the order of their sort keys, ties by position. Scans the keys once in almost every case, and sorts
 * only those between two of a sample: half the time of finding these bounds in a first scan.
 */
export async function choosePage(
  positions: Int32Array,
  fill: FillKeys,
  from: number,
  until: number,
): Promise<readonly Keyed[]> {
  const total = positions.length;
  if (from >= total) return [];
  const [size, matchAt] = sampleOf(positions, fill);
  const indexOf = (count: number): number => (Math.min(total, count) / total) * size;
  // Three standard deviations of an index in the sample, at first.
  for (let deviations = 3; ; deviations *= 4) {
    const marginAt = (index: number): number => Math.ceil(deviations * (1 + Math.sqrt(index)));
    const first = indexOf(from);
    const last = indexOf(until);
    const low = matchAt(Math.floor(first) - marginAt(first)) ?? start;
    const high = matchAt(Math.ceil(last) + marginAt(last)) ?? end;
    const { before, found } = await collect(positions, fill, low, high);
    if (before <= from && before + found.length >= Math.min(total, until))
      return found.sort(byKey).slice(from - before, until - before);
  }
}

/** Samples matches at equal distances. Returns their number, and a function that returns one of them by its index in their order. */
function sampleOf(
  positions: Int32Array,
  fill: FillKeys,
): readonly [size: number, at: (index: number) => Keyed | undefined] {
  const { length } = positions;
  const step = Math.ceil(length / Math.max(sampleSize, length / sampledRows));
  const chosen = Int32Array.from({ length: Math.ceil(length / step) }, (_, n) => positions[n * step] as number);
  const keys = new Float64Array(chosen.length);
  fill(keys, chosen);
  const sorted = keys.slice().sort();
  const at = (index: number): Keyed | undefined => {
    const sortKey = sorted[index];
    if (sortKey === undefined) return undefined;
    const ties = chosen.filter((_, n) => keys[n] === sortKey).sort();
    return { sortKey, position: ties[index - sorted.indexOf(sortKey)] as number };
  };
  return [chosen.length, at];
}

/** Returns the number of matches before one, and those from there to another. */
async function collect(positions: Int32Array, fill: FillKeys, low: Keyed, high: Keyed) {
  let before = 0;
  const found: Keyed[] = [];
  await inBlocks(positions.length, (from, until) => {
    const block = positions.subarray(from, until);
    fill(scratch, block);
    for (let at = 0; at < block.length; at += 1) {
      const sortKey = scratch[at] as number;
      const position = block[at] as number;
      if (sortKey < low.sortKey || (sortKey === low.sortKey && position < low.position)) before += 1;
      else if (sortKey < high.sortKey || (sortKey === high.sortKey && position <= high.position))
        found.push({ sortKey, position });
    }
  });
  return { before, found };
}

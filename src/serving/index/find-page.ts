/**
 * Finds a page of an inventory: collects the matches of each segment, chooses the first ones of each by their sort keys, and merges them.
 *
 * Ties go by the sort order of listings, which is that of positions in a segment; among segments by the ranks of builds, then by id.
 */
import { shareUnit, sortRuleOf } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest, PageResult, RowKey } from "../../listing/source.ts";
import { choosePage, type FillKeys } from "./page.ts";
import { columnName, type Matched, matchesIn, totalOf } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";

/** Returns `ListingSource.findPage`. */
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
  if (!isWhole || order.by === "distance" || until > keptRows) return choosePage(positions, fill, from, until - from);
  const name = `first ${order.sort} ${JSON.stringify(rows.tests)}`;
  const first = await rows.segment.columns.keep(name, keptRows * Int32Array.BYTES_PER_ELEMENT, async () =>
    Int32Array.from(await choosePage(positions, fill, 0, keptRows)),
  );
  return [...first.subarray(from, until)];
}

/** A match of several segments: what it is sorted by, and its key. */
interface Candidate {
  readonly sortKey: number;
  readonly buildRank: number;
  readonly id: string;
  readonly key: RowKey;
}

const compare = (one: Candidate, other: Candidate): number =>
  // The difference of two infinite keys is no number.
  (one.sortKey === other.sortKey ? 0 : one.sortKey - other.sortKey) ||
  one.buildRank - other.buildRank ||
  (one.id < other.id ? -1 : 1);

/** Returns the first matches in a segment. */
async function firstOf({ rows, positions }: Matched, order: PageOrder, count: number): Promise<readonly Candidate[]> {
  const { segment } = rows;
  const fill = await keysOf(rows, order);
  const chosen = await choosePage(positions, fill, 0, count);
  const loaded = await segment.columns.load(["column build", "column listing_id"]);
  const [builds = none] = loaded.get("column build") ?? [];
  const [ids = none] = loaded.get("column listing_id") ?? [];
  const { first } = segment.rangeOf("build");
  const keys = new Float64Array(chosen.length);
  fill(keys, Int32Array.from(chosen));
  return chosen.map((position, n) => {
    const id = idAt(ids, position);
    const buildRank = segment.buildRanks[(builds[position] as number) - first] as number;
    return { sortKey: keys[n] as number, buildRank, id, key: id };
  });
}

/** Returns what names rows: their positions in the files of the published day, or their ids. */
async function rowKeys(
  { segment, isPositioned }: SegmentRows,
  positions: readonly number[],
): Promise<readonly RowKey[]> {
  const name = isPositioned === true ? "column row" : "column listing_id";
  const [values = none] = (await segment.columns.load([name])).get(name) ?? [];
  return positions.map((position) => (isPositioned === true ? (values[position] as number) : idAt(values, position)));
}

/** Returns the id of a row, 32 hexadecimal digits: see `Session.vectors`. */
function idAt(ids: Int32Array, position: number): string {
  const word = (part: number): string =>
    (((ids[4 * position + part] as number) ^ (part === 3 ? 1 << 31 : 0)) >>> 0).toString(16).padStart(8, "0");
  return word(3) + word(2) + word(1) + word(0);
}

const none = new Int32Array();

/** Returns the function that fills the sort keys of positions. */
const keysOf = (rows: SegmentRows, order: PageOrder): Promise<FillKeys> =>
  order.by === "distance" ? distanceKeys(rows, order.origin) : valueKeys(rows, order.sort);

type ByDistance = Extract<PageOrder, { by: "distance" }>;
type BySort = Extract<PageOrder, { by: "sort" }>;

async function distanceKeys({ segment }: SegmentRows, origin: ByDistance["origin"]): Promise<FillKeys> {
  const [dealers = none] = (await segment.columns.load(["column dealer"])).get("column dealer") ?? [];
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
  const loaded = await rows.segment.columns.load(names);
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

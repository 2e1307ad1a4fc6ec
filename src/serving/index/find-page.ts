/**
 * Finds a page of an inventory: collects the matches of each segment, and chooses among them by their sort keys.
 *
 * Ties go by the sort order of listings, which is that of positions in a segment; among segments by the ranks of builds, then by id.
 */
import { shareUnit, sortRuleOf } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest, PageResult, RowKey } from "../../listing/source.ts";
import { type Candidates, type Chosen, type CompareTies, choosePage, type FillKeys } from "./page.ts";
import { columnName, type Matched, matchesIn, totalOf } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";

/** How many of the first rows of a whole inventory are kept in each order. */
const keptRows = 2500;

/** The matches in a segment, and what names their rows. */
interface PageCandidates extends Candidates {
  readonly keyOf: (position: number) => RowKey;
}

/** Returns `ListingSource.findPage`. */
export async function findPageIn(
  parts: readonly SegmentRows[],
  { filters, order, limit, offset }: PageRequest,
): Promise<PageResult> {
  const matched = await matchesIn(parts, filters);
  const total = totalOf(matched);
  const [only, ...others] = matched;
  if (offset >= total || only === undefined) return { total, keys: [] };
  const candidates = await Promise.all(matched.map((part) => candidatesOf(part, order, others.length === 0)));
  const isKept = filters.length === 0 && order.by === "sort" && offset + limit <= keptRows;
  const page =
    isKept && others.length === 0
      ? (await firstOf(candidates, only.rows, order.sort)).slice(offset, offset + limit)
      : await choosePage(candidates, offset, limit, compareIds);
  return { total, keys: page.map(({ of, position }) => of.keyOf(position)) };
}

/** Returns the first rows of a whole inventory, whose positions are kept. */
async function firstOf(
  candidates: readonly PageCandidates[],
  { segment, tests }: SegmentRows,
  sort: BySort["sort"],
): Promise<readonly Chosen<PageCandidates>[]> {
  const name = `first ${sort} ${JSON.stringify(tests)}`;
  const first = await segment.columns.keep(name, keptRows * Int32Array.BYTES_PER_ELEMENT, async () =>
    Int32Array.from(await choosePage(candidates, 0, keptRows, compareIds), ({ position }) => position),
  );
  return candidates.flatMap((of) => Array.from(first, (position) => ({ of, position })));
}
/** Returns the candidates for a page. Rows of several segments are named by their ids, and ranked by those of their builds. */
async function candidatesOf({ rows, positions }: Matched, order: PageOrder, isOnly: boolean): Promise<PageCandidates> {
  const { segment, isPositioned } = rows;
  const isNumbered = isOnly && isPositioned === true;
  const names = [isNumbered ? "column row" : "column listing_id", ...(isOnly ? [] : ["column build"])];
  const fill = await keysOf(rows, order);
  const loaded = await segment.columns.load(names);
  const [keys = none, builds = none] = names.map((name) => loaded.get(name)?.[0] ?? none);
  const { first } = segment.rangeOf("build");
  const buildRankOf = (position: number): number => segment.buildRanks[(builds[position] as number) - first] as number;
  return {
    positions,
    fill,
    rankOf: isOnly ? (position) => position : buildRankOf,
    keyOf: (position) => (isNumbered ? (keys[position] as number) : idAt(keys, position)),
  };
}

const compareIds: CompareTies<PageCandidates> = (one, other) =>
  one.of.keyOf(one.position) < other.of.keyOf(other.position) ? -1 : 1;

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

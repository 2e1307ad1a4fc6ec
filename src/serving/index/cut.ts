/**
 * Cuts: additional filters that keep only the first listings of an order. A page needs the first few of many matches; a statement that
 * returns only these takes about a third of the time of one that returns all (bench/search-index).
 */
import type { PageOrder } from "../../listing/source.ts";
import { amongIds, type IndexContext, type ResolvedFilter } from "./where.ts";

/** A cut contains this many times the matches that the page needs, if matches are evenly distributed. */
const margin = 3;

/** A cut with more than this share of all listings saves nothing. */
const cutShareMax = 0.25;

/**
 * Returns the filters with a cut that is expected to hold the first `needed` of their matches; undefined where a cut would keep a large share.
 * The cut holds whole ranks or dealers from the first on, so that a page found in it is the page.
 */
export function cutFilters(
  filters: readonly ResolvedFilter[],
  order: PageOrder,
  needed: number,
  { context, count, expected }: { readonly context: IndexContext; readonly count: number; readonly expected: number },
): readonly ResolvedFilter[] | undefined {
  if (order.by === "sort") {
    const bound = Math.ceil((margin * needed * count) / expected);
    return bound > count * cutShareMax ? undefined : [{ kind: "rankBelow", sort: order.sort, bound }, ...filters];
  }
  const { dealers, dictionary } = context;
  const [first] = filters.filter((filter) => filter.kind === "amongIds" && filter.column === "dealer");
  const candidates = first?.kind === "amongIds" ? first.among : dealers.ids;
  const listingsOf = (dealer: number): number => dictionary.totalOf(dealer);
  const listings = candidates.reduce((sum, dealer) => sum + listingsOf(dealer), 0);
  const bound = Math.ceil((margin * needed * listings) / expected);
  if (bound > listings * cutShareMax) return undefined;
  const nearest = dealers.nearest(order.origin, candidates, listingsOf, bound);
  return [amongIds("dealer", nearest), ...filters.filter((filter) => filter !== first)];
}

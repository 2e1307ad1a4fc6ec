/** How many listings some filters match at most, as far as the known counts of single values tell: without a statement. */
import type { Filter } from "../../listing/filter.ts";
import type { IndexContext } from "./where.ts";

/** A number that no more of `count` listings match than. */
export function mostMatches(filters: readonly Filter[], vocabulary: IndexContext, count: number): number {
  return Math.min(count, ...filters.map((filter) => mostOf(filter, vocabulary) ?? count));
}

/** The most matches of one filter; undefined where the counts do not tell. */
function mostOf(filter: Filter, { dictionary, dealers }: IndexContext): number | undefined {
  const sum = (ids: readonly number[]): number => ids.reduce((all, id) => all + dictionary.totalOf(id), 0);
  switch (filter.kind) {
    case "anyOf":
      return filter.attribute === "dealer_id"
        ? sum(filter.values.flatMap((id) => dealers.idsOf(String(id))))
        : sum(filter.values.flatMap((value) => dictionary.idsOf(filter.attribute, value)));
    case "hasTokens": {
      const each = filter.values.map((value) => sum(dictionary.idsOf(filter.attribute, value)));
      return filter.how === "all"
        ? Math.min(...each)
        : sum(filter.values.flatMap((value) => dictionary.idsOf(filter.attribute, value)));
    }
    case "withinRadius":
      return sum(dealers.within(filter.origin, filter.radiusMiles));
    case "insideBox":
      return sum(dealers.inside(filter.box));
    default:
      return undefined;
  }
}

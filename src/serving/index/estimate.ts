/** Bounds how many listings match some filters, from the known counts of values, without a statement. */
import type { IndexContext, ResolvedFilter } from "./where.ts";

/** Returns an upper bound of the matches of all filters. Counts of values are known of the published day alone. */
export function mostMatches(filters: readonly ResolvedFilter[], context: IndexContext): number {
  const { rows, isToday } = context;
  return isToday ? Math.min(rows, ...filters.map((filter) => mostOfOne(filter, context))) : rows;
}

function mostOfOne(filter: ResolvedFilter, { rows, dictionary }: IndexContext): number {
  const sum = (ids: readonly number[]): number => ids.reduce((all, id) => all + dictionary.totalOf(id), 0);
  if (filter.kind === "amongIds") return sum(filter.among);
  if (filter.kind !== "hasTokens") return rows;
  const totals = filter.values.map((value) => sum(dictionary.idsOf(filter.attribute, value)));
  return filter.how === "any" ? totals.reduce((all, one) => all + one, 0) : Math.min(...totals);
}

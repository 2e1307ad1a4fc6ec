/** How many listings some filters match, estimated without a statement from the known counts of single values. */
import type { IndexContext, ResolvedFilter } from "./where.ts";

export interface Estimate {
  /** No more listings match. */
  readonly most: number;
  /** So many match if the filters are independent of each other. */
  readonly expected: number;
  /** So many match exactly; undefined where the known counts do not say. */
  readonly exact: number | undefined;
}

/** The share of listings that pass a filter whose count is unknown, by rule of thumb. */
const usualShares: Readonly<Record<Exclude<ResolvedFilter["kind"], "amongIds" | "hasTokens">, number>> = {
  rankBelow: 1,
  atLeast: 0.5,
  atMost: 0.5,
  listedSince: 0.2,
  soldAfter: 0,
  matchesMask: 0.005,
  isUnknownValue: 1,
  all: 0.5,
  any: 0.2,
  not: 0.9,
};

/** Estimates the matches of all filters among `count` listings. */
export function estimateMatches(filters: readonly ResolvedFilter[], context: IndexContext, count: number): Estimate {
  const estimates = filters.map((filter) => estimateOne(filter, context, count));
  const most = Math.min(count, ...estimates.map((one) => one.most));
  const expected = estimates.reduce((product, one) => product * Math.min(1, one.expected / Math.max(1, count)), count);
  const [first] = estimates;
  return { most, expected: Math.min(most, expected), exact: estimates.length === 1 ? first?.exact : undefined };
}

function estimateOne(filter: ResolvedFilter, { dictionary }: IndexContext, count: number): Estimate {
  const sum = (ids: readonly number[]): number => ids.reduce((all, id) => all + dictionary.totalOf(id), 0);
  if (filter.kind === "amongIds") {
    const total = sum(filter.among);
    return { most: total, expected: total, exact: total };
  }
  if (filter.kind !== "hasTokens") return { most: count, expected: count * usualShares[filter.kind], exact: undefined };
  const totals = filter.values.map((value) => sum(dictionary.idsOf(filter.attribute, value)));
  if (filter.how === "any") {
    const total = totals.reduce((all, one) => all + one, 0);
    return { most: total, expected: total, exact: undefined };
  }
  const expected = totals.reduce((product, one) => product * Math.min(1, one / Math.max(1, count)), count);
  return { most: Math.min(...totals), expected, exact: undefined };
}

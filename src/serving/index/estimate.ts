/** Estimates how many listings match some filters, from the known counts of values, without a statement. */
import type { IndexContext, ResolvedFilter } from "./where.ts";

export interface Estimate {
  /** Upper bound. */
  readonly most: number;
  /** Expected number, if the filters are independent of each other. */
  readonly expected: number;
  /** Exact number; undefined if it does not follow from known counts. */
  readonly exact: number | undefined;
}

/** Rule-of-thumb share of listings that pass a filter whose count is unknown. */
const usualShares: Readonly<Record<Exclude<ResolvedFilter["kind"], "amongIds" | "hasTokens">, number>> = {
  rankBelow: 1,
  atLeast: 0.5,
  atMost: 0.5,
  listedSince: 0.2,
  soldAfter: 0.5,
  matchesMask: 0.005,
  all: 0.5,
  any: 0.2,
  not: 0.9,
};

/** Estimates the matches of all filters among `count` listings. Of a past day no counts are known. */
export function estimateMatches(filters: readonly ResolvedFilter[], context: IndexContext, count: number): Estimate {
  if (context.day !== undefined) return { most: count, expected: count, exact: undefined };
  const estimates = filters.map((filter) => estimateOne(filter, context, count));
  const most = Math.min(count, ...estimates.map((one) => one.most));
  const expected = expectedOfAll(
    estimates.map((one) => one.expected),
    count,
  );
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
  return { most: Math.min(...totals), expected: expectedOfAll(totals, count), exact: undefined };
}

/** Returns how many of `count` listings pass several independent tests, of which each alone passes so many. */
const expectedOfAll = (passing: readonly number[], count: number): number =>
  passing.reduce((product, one) => product * Math.min(1, one / Math.max(1, count)), count);

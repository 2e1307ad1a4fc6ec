/** Queries of a case: one for each of some sample values. */
import type { BenchQuery } from "./query.ts";

export type QueriesByCase = Readonly<Record<string, readonly BenchQuery[]>>;

/** The most queries of a case, other than a look-up or a past day. */
export const queriesPerCaseMax = 24;

/** Creates a query for each of the first values, which are the most common ones. */
export function queryEach<T>(values: readonly T[], query: (value: T) => BenchQuery): readonly BenchQuery[] {
  if (values.length === 0) throw new Error("The dataset has no sample values for a case.");
  return values.slice(0, queriesPerCaseMax).map((value) => query(value));
}

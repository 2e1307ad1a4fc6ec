/** Ranges of an export: adjacent parts of its order with about equally many matches, each small enough to be sorted in memory. */
import { integerIn } from "../base/json.ts";
import { all, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import type { SearchPlan } from "../query/search.ts";

/** Returns the number of matches, and ranges of about `rangeRows` of them at most, in order, each as a predicate on `sort_key`. */
export async function sortRangesOf(
  plan: SearchPlan,
  rangeRows: number,
): Promise<{ readonly total: number; readonly ranges: readonly Sql[] }> {
  const { listings } = plan.mode;
  const [counted] = await listings.runOverMatches(
    plan,
    (matches) => sql`SELECT count(*)::INTEGER AS total FROM (${matches})`,
  );
  const total = integerIn(counted, "total");
  const count = Math.max(1, Math.ceil(total / rangeRows));
  const shares = Array.from({ length: count - 1 }, (_, index) => numberLiteral((index + 1) / count));
  if (shares.length === 0) return { total, ranges: [sql`true`] };
  const [row] = await listings.runOverMatches(
    plan,
    (matches) => sql`SELECT quantile_disc(sort_key, [${join(shares)}]) AS bounds FROM (${matches})`,
  );
  const bounds = (Array.isArray(row?.bounds) ? row.bounds : []).map((bound) => BigInt(String(bound)));
  const ranges = Array.from({ length: count }, (_, index) => {
    const [from, to] = [bounds[index - 1], bounds[index]];
    return all([
      ...(from === undefined ? [] : [sql`sort_key >= ${integerLiteral(from)}`]),
      ...(to === undefined ? [] : [sql`sort_key < ${integerLiteral(to)}`]),
    ]);
  });
  return { total, ranges };
}

/** Filters as SQL: one switch over their kinds, without a default, so that a new kind does not compile until it is here. */
import { all, join, type Sql, sql } from "../base/sql.ts";
import { asCompared, passes } from "./attributes.ts";
import type { Filter } from "./filters.ts";

/** The condition on a listing that all filters hold. Unknown values pass an exclusion and fail everything else. */
export function where(filters: readonly Filter[]): Sql {
  return all(filters.map(condition));
}

function condition(filter: Filter): Sql {
  switch (filter.kind) {
    case "anyOf": {
      const values = filter.values.map((value) => asCompared(filter.attribute, value));
      return passes(filter.attribute, (column) => sql`${column} IN (${join(values)})`);
    }
    case "atLeast":
      return passes(filter.attribute, (column) => sql`${column} >= ${filter.bound}`);
    case "atMost":
      return passes(filter.attribute, (column) => sql`${column} <= ${filter.bound}`);
    case "not":
      return sql`(${condition(filter.filter)}) IS NOT TRUE`;
    case "everything":
      return sql`true`;
  }
}

/** Filters as SQL: one switch over their kinds, without a default, so that a new kind does not compile until it is here. */
import { all, any, join, type Sql, sql } from "../base/sql.ts";
import { asCompared, isUnheardOf, ofDealers, passes } from "./attributes.ts";
import type { Filter } from "./filters.ts";
import { isInside, milesFrom } from "./geography.ts";

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
    case "looksLike":
      return passes(filter.attribute, (column) => any(filter.masks.map((mask) => sql`${column} LIKE ${likeOf(mask)}`)));
    case "unheardOf":
      return isUnheardOf(filter.attribute, asCompared(filter.attribute, filter.value));
    case "within":
      return ofDealers(sql`${milesFrom(filter.origin)} <= ${filter.radiusMiles}`);
    case "inside":
      return ofDealers(isInside(filter.box));
    case "all":
      return all(filter.filters.map(condition));
    case "any":
      return any(filter.filters.map(condition));
    case "not":
      return sql`(${condition(filter.filter)}) IS NOT TRUE`;
    case "everything":
      return sql`true`;
  }
}

/** A VIN mask as a pattern: `?` is any character, and a mask is always the beginning. */
const likeOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;

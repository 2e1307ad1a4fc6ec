/** Filters as SQL: one switch over their kinds, without a default, so that a new kind does not compile until it is here. */
import { all, any, join, type Sql, sql } from "../base/sql.ts";
import type { TokenColumn } from "../lake/layout.ts";
import { asCompared, isUnheardOf, ofDealers, passes } from "./attributes.ts";
import type { Filter } from "./filters.ts";
import { isInside, milesFrom } from "./geography.ts";

/**
 * What each filter requires of listings; nothing where a filter lets everything pass. Unknown values pass an exclusion and fail
 * everything else. `sets` are the columns of which the listings carry the key of a set.
 */
export function conditions(filters: readonly Filter[], sets: readonly TokenColumn[]): readonly Sql[] {
  return filters.filter(({ kind }) => kind !== "everything").map((filter) => condition(filter, sets));
}

function condition(filter: Filter, sets: readonly TokenColumn[]): Sql {
  switch (filter.kind) {
    case "anyOf": {
      const values = filter.values.map((value) => asCompared(filter.attribute, value));
      return passes(filter.attribute, sets, (column) => sql`${column} IN (${join(values)})`);
    }
    case "atLeast":
      return passes(filter.attribute, sets, (column) => sql`${column} >= ${filter.bound}`);
    case "atMost":
      return passes(filter.attribute, sets, (column) => sql`${column} <= ${filter.bound}`);
    case "looksLike": {
      const patterns = filter.masks.map(likeOf);
      return passes(filter.attribute, sets, (column) => any(patterns.map((pattern) => sql`${column} LIKE ${pattern}`)));
    }
    case "unheardOf":
      return isUnheardOf(filter.attribute, asCompared(filter.attribute, filter.value));
    case "within":
      return ofDealers(sql`${milesFrom(filter.origin)} <= ${filter.radiusMiles}`);
    case "inside":
      return ofDealers(isInside(filter.box));
    case "all":
      return all(filter.filters.map((one) => condition(one, sets)));
    case "any":
      return any(filter.filters.map((one) => condition(one, sets)));
    case "not":
      return sql`(${condition(filter.filter, sets)}) IS NOT TRUE`;
    case "everything":
      return sql`true`;
  }
}

/** A VIN mask as a pattern: `?` is any character, and a mask is always the beginning. */
const likeOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;

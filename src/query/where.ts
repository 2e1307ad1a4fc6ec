/** Filters as SQL: one switch over their kinds, without a default, so that a new kind does not compile until it is here. */
import { all, any, join, type Sql, sql } from "../base/sql.ts";
import type { Dimensions } from "../lake/dimensions.ts";
import type { TokenColumn } from "../lake/layout.ts";
import { asCompared, carrying, isUnheardOf, ofDealers, passes } from "./attributes.ts";
import type { Filter } from "./filters.ts";
import { isInside, milesFrom } from "./geography.ts";

/** What conditions are told of the listings that they are about. */
export interface About {
  /** The columns of which the listings carry the key of a set. */
  readonly sets: readonly TokenColumn[];
  readonly dimensions: Dimensions;
}

/**
 * What each filter requires of listings; nothing where a filter lets everything pass. Unknown values pass an exclusion and fail
 * everything else.
 */
export function conditions(filters: readonly Filter[], about: About): readonly Sql[] {
  return filters.filter(({ kind }) => kind !== "everything").map((filter) => condition(filter, about));
}

function condition(filter: Filter, about: About): Sql {
  switch (filter.kind) {
    case "anyOf": {
      const values = filter.values.map((value) => asCompared(filter.attribute, value));
      return passes(filter.attribute, (column) => sql`${column} IN (${join(values)})`);
    }
    case "atLeast":
      return passes(filter.attribute, (column) => sql`${column} >= ${filter.bound}`);
    case "atMost":
      return passes(filter.attribute, (column) => sql`${column} <= ${filter.bound}`);
    case "carries":
      return carrying(filter, about.sets, about.dimensions);
    case "looksLike":
      return passes(filter.attribute, (column) => any(filter.masks.map((mask) => sql`${column} LIKE ${likeOf(mask)}`)));
    case "unheardOf":
      return isUnheardOf(filter.attribute, asCompared(filter.attribute, filter.value));
    case "within":
      return ofDealers(sql`${milesFrom(filter.origin)} <= ${filter.radiusMiles}`);
    case "inside":
      return ofDealers(isInside(filter.box));
    case "all":
      return all(filter.filters.map((one) => condition(one, about)));
    case "any":
      return any(filter.filters.map((one) => condition(one, about)));
    case "not":
      return sql`(${condition(filter.filter, about)}) IS NOT TRUE`;
    case "everything":
      return sql`true`;
  }
}

/** A VIN mask as a pattern: `?` is any character, and a mask is always the beginning. */
const likeOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;

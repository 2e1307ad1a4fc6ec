/**
 * Filters: conditions on listings as plain data.
 *
 * `serving/index/` looks up their values in a search index, `query/changes/matching.ts` over changed rows. Nothing in this module knows SQL.
 */
import type { Box, Point } from "./geography.ts";
import type { CategoryName, ListName, NumberName, TextName, TimeName } from "./schema.ts";

export type Filter =
  | { readonly kind: "anyOf"; readonly attribute: CategoryName; readonly values: readonly (string | number)[] }
  /** The text is one of the values, in any case. */
  | { readonly kind: "equalsText"; readonly attribute: TextName; readonly values: readonly string[] }
  /** The list contains all of the values, or any of them. */
  | {
      readonly kind: "hasTokens";
      readonly attribute: ListName;
      readonly values: readonly string[];
      readonly how: "all" | "any";
    }
  /** The number lies within an inclusive bound. An unknown number never matches. */
  | { readonly kind: "atLeast" | "atMost"; readonly attribute: NumberName; readonly bound: number }
  /** At or after a time, in milliseconds since 1970. */
  | { readonly kind: "since"; readonly attribute: TimeName; readonly timeMs: number }
  /** The sale became known after a day (exclusive). */
  | { readonly kind: "soldAfter"; readonly day: string }
  | { readonly kind: "matchesMask"; readonly masks: readonly string[] }
  | { readonly kind: "withinRadius"; readonly origin: Point; readonly radiusMiles: number }
  | { readonly kind: "insideBox"; readonly box: Box }
  | { readonly kind: "all"; readonly filters: readonly Filter[] }
  | { readonly kind: "any"; readonly filters: readonly Filter[] }
  /** The filter does not match. Listings whose attribute is unknown are included. */
  | { readonly kind: "not"; readonly filter: Filter };

/** Returns whether a filter depends on the days on market, which follow from the day. */
export function dependsOnDay(filter: Filter): boolean {
  if (filter.kind === "all" || filter.kind === "any") return filter.filters.some(dependsOnDay);
  if (filter.kind === "not") return dependsOnDay(filter.filter);
  return (filter.kind === "atLeast" || filter.kind === "atMost") && filter.attribute === "days_on_market";
}

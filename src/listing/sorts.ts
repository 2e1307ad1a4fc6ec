/**
 * What listings are sorted by: an integer for each, equal where the served values are equal. Unknown values come last in both directions;
 * ties go by the partition's own order.
 */
import type { QueryOf } from "../contract/types.ts";

/** Parameter `sort` of listing search. */
export type Sort = QueryOf<"searchListings">["sort"];

/** A sort that is the same for every request: `distance` depends on the origin. */
export type FixedSort = Exclude<Sort, "distance">;

export interface SortKey {
  readonly attribute: "days_on_market" | "listed_at" | "price" | "miles" | "msrp" | "discount_from_msrp";
  readonly isDescending: boolean;
}

const by = (attribute: SortKey["attribute"], isDescending = false): SortKey => ({ attribute, isDescending });

export const sortKeys: Readonly<Record<FixedSort, SortKey>> = {
  days_on_market: by("days_on_market"),
  "-days_on_market": by("days_on_market", true),
  listed_at: by("listed_at"),
  "-listed_at": by("listed_at", true),
  price: by("price"),
  "-price": by("price", true),
  miles: by("miles"),
  "-miles": by("miles", true),
  msrp: by("msrp"),
  "-msrp": by("msrp", true),
  discount: by("discount_from_msrp"),
  "-discount": by("discount_from_msrp", true),
};

export const fixedSorts = Object.keys(sortKeys) as readonly FixedSort[];

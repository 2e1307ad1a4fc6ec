/** A condition on listings, as plain data. Each implementation of `ListingSource` compiles it to SQL of its own. */
import type { Box, Point } from "./geography.ts";
import type { CategoryName, ListName, NumberName } from "./schema.ts";

export type Filter =
  /** The attribute has one of some values. */
  | { readonly kind: "anyOf"; readonly attribute: CategoryName; readonly values: readonly (string | number)[] }
  /** The list has all, or any, of some values. */
  | {
      readonly kind: "hasTokens";
      readonly attribute: ListName;
      readonly values: readonly string[];
      readonly how: "all" | "any";
    }
  /** A number is at least, or at most, a bound; an unknown one is neither. */
  | { readonly kind: "atLeast" | "atMost"; readonly attribute: NumberName; readonly bound: number }
  /** First observed at a time or later, in milliseconds since 1970. */
  | { readonly kind: "listedSince"; readonly timeMs: number }
  /** Sold after a day. */
  | { readonly kind: "soldAfter"; readonly day: string }
  /** The VIN matches one of some masks. */
  | { readonly kind: "matchesMask"; readonly masks: readonly string[] }
  | { readonly kind: "withinRadius"; readonly origin: Point; readonly radiusMiles: number }
  | { readonly kind: "insideBox"; readonly box: Box }
  /** No listing's attribute has the value: a fact about the vocabulary, the same for every listing. */
  | { readonly kind: "isUnknownValue"; readonly attribute: CategoryName; readonly value: string }
  | { readonly kind: "all"; readonly filters: readonly Filter[] }
  | { readonly kind: "any"; readonly filters: readonly Filter[] }
  /** Listings that do not pass the filter, those whose attribute is unknown among them. */
  | { readonly kind: "not"; readonly filter: Filter };

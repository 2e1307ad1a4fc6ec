/**
 * Sort orders of listing search, derived from the `sort` property of each attribute.
 *
 * A sort compares integers that are equal exactly when the values are equal; a ratio is compared before it is rounded. Unknown values come last in both
 * directions; ties are broken by the listing's position in its partition.
 */
import type { QueryOf } from "../contract/types.ts";
import { attributes, type SortedName, sortedNames } from "./schema.ts";

/** Values of parameter `sort` of operation `searchListings`. */
export type Sort = QueryOf<"searchListings">["sort"];

/** A sort that does not depend on the request; `distance` depends on the origin. */
export type FixedSort = Exclude<Sort, "distance">;

export interface SortKey {
  readonly attribute: SortedName;
  readonly isDescending: boolean;
}

/** The API name of an attribute's ascending sort. */
type SortOf<Name extends SortedName> = (typeof attributes)[Name]["sort"] & FixedSort;

const sortOf = <Name extends SortedName>(attribute: Name): SortOf<Name> => attributes[attribute].sort;

type Sorts = Readonly<Record<SortOf<SortedName> | `-${SortOf<SortedName>}`, SortKey>>;

export const sortKeys: Readonly<Record<FixedSort, SortKey>> = Object.fromEntries(
  sortedNames.flatMap((attribute) => [
    [sortOf(attribute), { attribute, isDescending: false }] as const,
    [`-${sortOf(attribute)}`, { attribute, isDescending: true }] as const,
  ]),
) as Sorts;

export const fixedSorts = Object.keys(sortKeys) as readonly FixedSort[];

/** The default of parameter `sort`. A test compares it with the document. */
export const defaultSort: FixedSort = "days_on_market";

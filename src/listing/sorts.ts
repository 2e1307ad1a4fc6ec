/**
 * What listings are sorted by: an integer for each, equal where the served values are equal. Unknown values come last in both directions;
 * ties go by the partition's own order.
 */
import type { QueryOf } from "../contract/types.ts";
import { attributes, type SortedName, sortedNames } from "./schema.ts";

/** Parameter `sort` of listing search. */
export type Sort = QueryOf<"searchListings">["sort"];

/** A sort that is the same for every request: `distance` depends on the origin. */
export type FixedSort = Exclude<Sort, "distance">;

export interface SortKey {
  readonly attribute: SortedName;
  readonly isDescending: boolean;
}

/** What the document calls the sorts of the attributes that have one. */
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

/**
 * Sort orders of listing search, derived from the `sort` property of each attribute.
 *
 * A sort compares integers that are equal exactly when the values are equal; a ratio is compared before it is rounded. Unknown values come last in both
 * directions; ties are broken by the listing's position in its partition.
 */
import type { QueryOf } from "../contract/types.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import type { Attribute } from "./attribute.ts";
import { attributeOf, attributes, type SortedName, sortedNames } from "./schema.ts";

/** Values of parameter `sort` of operation `searchListings`. */
type Sort = QueryOf<"searchListings">["sort"];

/** A sort that does not depend on the request; `distance` depends on the origin. */
export type FixedSort = Exclude<Sort, "distance">;

interface SortKey {
  readonly attribute: SortedName;
  readonly isDescending: boolean;
}

/** The API name of an attribute's ascending sort. */
type SortOf<Name extends SortedName> = (typeof attributes)[Name]["sort"] & FixedSort;

const sortOf = <Name extends SortedName>(attribute: Name): SortOf<Name> => attributes[attribute].sort;

type Sorts = Readonly<Record<SortOf<SortedName> | `-${SortOf<SortedName>}`, SortKey>>;

const sortKeys: Readonly<Record<FixedSort, SortKey>> = Object.fromEntries(
  sortedNames.flatMap((attribute) => [
    [sortOf(attribute), { attribute, isDescending: false }] as const,
    [`-${sortOf(attribute)}`, { attribute, isDescending: true }] as const,
  ]),
) as Sorts;

export const fixedSorts = Object.keys(sortKeys) as readonly FixedSort[];

/** Exceeds every sort value, an integer of at most 43 bits with its sign: that of unknown ones, which come last. */
export const unknownSortValue = 2 ** 42 - 1;

/** Returns the sort value of a listing, in ascending order; null if it is unknown. `columnOf` returns the column of a sorted attribute. */
export function sortValueOf(sort: FixedSort, columnOf: (attribute: SortedName) => Sql = (name) => ident(name)): Sql {
  const { attribute, isDescending } = sortKeys[sort];
  const { ratio, within } = attributeOf(attribute);
  const value = ratio === undefined ? columnOf(attribute) : ratioValue(columnOf(attribute), ratio, within);
  return isDescending ? sql`-${value}` : value;
}

/**
 * Returns p / (p + q), which has the order of p / q and is below 1, in units of 2^-42: exact for sums up to 2^21. Within the values of a column, up to
 * four, whose indexes come first: in units of 2^-40, exact for sums up to 2^20.
 */
function ratioValue(rounded: Sql, [p, q]: readonly [string, string], within: Attribute["within"]): Sql {
  const share = sql`${ident(p)}::DOUBLE / (${ident(p)}::BIGINT + ${ident(q)})`;
  const value =
    within === undefined
      ? sql`${share} * ${integerLiteral(2 ** 42)}`
      : sql`(list_position([${join(within.values.map(literal))}], ${ident(within.column)}) - 1 + ${share}) * ${integerLiteral(2 ** 40)}`;
  return sql`CASE WHEN ${rounded} IS NOT NULL THEN floor(${value})::BIGINT END`;
}

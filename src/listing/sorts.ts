/**
 * Sort orders of listing search, derived from the `sort` property of each attribute.
 *
 * A sort compares integers that are equal exactly when the values are equal; a ratio is compared before it is rounded. Unknown values come last in both
 * directions; ties are broken by the listing's position in its partition.
 */
import type { QueryOf } from "../contract/types.ts";
import { ident, integerLiteral, type Sql, sql } from "../db/sql.ts";
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

/** Returns how listings are sorted: by an attribute, or by the ratio that it rounds. */
export function sortRuleOf(sort: FixedSort): SortKey & Pick<Attribute, "ratio" | "within"> {
  return { ...attributeOf(sortKeys[sort].attribute), ...sortKeys[sort] };
}

/** Exceeds every sort value, an integer of at most 43 bits with its sign: that of unknown ones, which come last. */
export const unknownSortValue = 2 ** 42 - 1;

/**
 * The unit of p / (p + q), which has the order of p / q and is below 1: exact for sums up to 2^21. Within the values of a column, up to four, whose
 * indexes are added: exact for sums up to 2^20.
 */
export const shareUnit = (within: Attribute["within"] | undefined): number => 2 ** (within === undefined ? 42 : 40);

/**
 * Returns the sort value of a listing in SQL, in ascending order; null if it is unknown. `columnOf` returns the column of an attribute, `indexOf` the
 * index of a listing's value among those of `within`.
 */
export function sortValueOf(
  sort: FixedSort,
  columnOf: (attribute: SortedName) => Sql,
  indexOf: (within: NonNullable<Attribute["within"]>) => Sql,
): Sql {
  const { attribute, isDescending, ratio, within } = sortRuleOf(sort);
  const column = columnOf(attribute);
  if (ratio === undefined) return isDescending ? sql`-${column}` : column;
  const [p, q] = ratio.map((name) => ident(name));
  const share = sql`${p ?? column}::DOUBLE / (${p ?? column}::BIGINT + ${q ?? column})`;
  const index = within === undefined ? sql`` : sql`${indexOf(within)} + `;
  const value = sql`CASE WHEN ${column} IS NOT NULL THEN floor((${index}${share}) * ${integerLiteral(shareUnit(within))})::BIGINT END`;
  return isDescending ? sql`-${value}` : value;
}

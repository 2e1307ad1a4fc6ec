/** The values by which an index sorts listings: integers of at most 43 bits, with the sign. */
import { ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { attributeOf, type SortedName } from "../../listing/schema.ts";
import { type FixedSort, sortKeys } from "../../listing/sorts.ts";

/** Exceeds every sort value: that of unknown ones, which come last. */
export const unknownSortValue = 2 ** 42 - 1;

/** Returns the sort value of a listing, in ascending order; null if it is unknown. `columnOf` returns the column of a sorted attribute. */
export function sortValueOf(sort: FixedSort, columnOf: (attribute: SortedName) => Sql = (name) => ident(name)): Sql {
  const { attribute, isDescending } = sortKeys[sort];
  const { ratio } = attributeOf(attribute);
  const value = ratio === undefined ? columnOf(attribute) : ratioValue(columnOf(attribute), ...ratio);
  return isDescending ? sql`-${value}` : value;
}

/** Returns p / (p + q), which has the order of p / q and is below 1, in units of 2^-42: exact for sums up to 2^21. */
const ratioValue = (rounded: Sql, p: string, q: string): Sql =>
  sql`CASE WHEN ${rounded} IS NOT NULL THEN floor(${ident(p)}::DOUBLE / (${ident(p)}::BIGINT + ${ident(q)}) * ${integerLiteral(2 ** 42)})::BIGINT END`;

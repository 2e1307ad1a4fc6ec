/**
 * Compiles filters to SQL over Parquet files of listings and the in-memory tables `builds` and `dealers`.
 *
 * A filter on a build or dealer attribute becomes a semi-join by key, which takes half the time of a condition on every row: DuckDB looks
 * up joined integer keys in arrays.
 */

import { all, any, ident, integerLiteral, join, literal, Sql, sql } from "../../db/sql.ts";
import { caseFold } from "../../db/text-matching.ts";
import { keywordBits } from "../../lake/tables.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Box, Point } from "../../listing/geography.ts";
import { degreesOf, earthRadiusMiles } from "../../listing/geography.ts";
import { attributeOf, type CategoryName, type ListName } from "../../listing/schema.ts";
import type { Dimensions } from "../dimensions.ts";

/** A compiled filter: a predicate on columns of listings, or a semi-join. */
type CompiledFilter = Sql | SemiJoin;

interface SemiJoin {
  readonly key: "build_key" | "dealer_key";
  /** A query for the distinct matching keys. */
  readonly keys: Sql;
  /** An equivalent predicate on columns of listings, if they repeat the attribute. It is preferred to the join. */
  readonly predicate?: Sql;
}

/** Returns the FROM and WHERE clauses that select the listings matching all filters. `joins` is added after the listings. */
export function fromMatches(
  listings: Sql,
  filters: readonly Filter[],
  dimensions: Dimensions,
  joins: Sql = sql``,
): Sql {
  const compiled = filters.map((filter) => compile(filter, dimensions));
  const semiJoins = compiled.filter(isJoin).map(({ key, keys }) => sql`JOIN (${keys}) USING (${ident(key)})`);
  const predicates = compiled.filter((one) => !isJoin(one)).map(predicateOf);
  return sql`FROM (${listings}) ${joins} ${join(semiJoins, sql` `)} WHERE ${all(predicates)}`;
}

const isJoin = (compiled: CompiledFilter): compiled is SemiJoin =>
  !(compiled instanceof Sql) && compiled.predicate === undefined;

/** Returns a compiled filter as a predicate, for use inside another predicate. */
function predicateOf(compiled: CompiledFilter): Sql {
  if (compiled instanceof Sql) return compiled;
  return compiled.predicate ?? sql`${ident(compiled.key)} IN (${compiled.keys})`;
}

function compile(filter: Filter, dimensions: Dimensions): CompiledFilter {
  const predicate = (nested: Filter): Sql => predicateOf(compile(nested, dimensions));
  switch (filter.kind) {
    case "anyOf":
      return hasValue(filter.attribute, filter.values, dimensions);
    case "hasTokens":
      return hasTokens(filter, dimensions);
    case "atLeast":
      return sql`${ident(filter.attribute)} >= ${filter.bound}`;
    case "atMost":
      return sql`${ident(filter.attribute)} <= ${filter.bound}`;
    case "listedSince":
      return sql`epoch_ms(listed_at) >= ${filter.timeMs}`;
    case "soldAfter":
      return sql`sold_on_record > ${filter.day}::DATE`;
    case "matchesMask":
      return any(filter.masks.map((mask) => sql`vin LIKE ${likePatternOf(mask)}`));
    case "withinRadius":
      return dealersWhere(isWithinRadius(filter.origin, filter.radiusMiles));
    case "insideBox":
      return dealersWhere(isInsideBox(filter.box));
    case "all":
      return all(filter.filters.map(predicate));
    case "any":
      return any(filter.filters.map(predicate));
    case "not":
      return sql`(${predicate(filter.filter)}) IS NOT TRUE`;
  }
}

function hasValue(
  attribute: CategoryName,
  values: readonly (string | number)[],
  dimensions: Dimensions,
): CompiledFilter {
  const { home, column, isSortKey } = attributeOf(attribute);
  const predicate = equalsAnyOf(attribute, ident(column), values, dimensions);
  if (home === "listings") return predicate;
  if (home === "dealers") return dealersWhere(predicate);
  const semiJoin: SemiJoin = { key: "build_key", keys: sql`SELECT build_key FROM builds WHERE ${predicate}` };
  return isSortKey === true ? { ...semiJoin, predicate } : semiJoin;
}

/** Returns the semi-join with the dealers that satisfy a predicate on their columns. */
const dealersWhere = (predicate: Sql): SemiJoin => ({
  key: "dealer_key",
  keys: sql`SELECT dealer_key FROM dealers WHERE ${predicate}`,
});

function equalsAnyOf(
  attribute: CategoryName,
  column: Sql,
  values: readonly (string | number)[],
  dimensions: Dimensions,
): Sql {
  const { search, type: columnType } = attributeOf(attribute);
  if (columnType !== "VARCHAR") return sql`${column} IN (${join(values.map((value) => sql`${value}`))})`;
  if (search !== "name")
    return sql`${caseFold(column)} IN (${join(values.map((value) => caseFold(sql`${String(value)}`)))})`;
  const spellings = values.flatMap((value) => dimensions.spellingsOf(attribute, String(value)));
  return spellings.length === 0
    ? sql`false`
    : sql`${column} IN (${join(spellings.map((spelling) => sql`${spelling}`))})`;
}

function hasTokens({ attribute, values, how }: Extract<Filter, { kind: "hasTokens" }>, dimensions: Dimensions): Sql {
  const predicates = values.map((value) => hasToken(attribute, value, dimensions));
  return (how === "any" ? any : all)(predicates);
}

function hasToken(list: ListName, value: string, dimensions: Dimensions): Sql {
  if (list === "keywords") return sql`(keywords & ${integerLiteral(bitOf(value))}) <> 0`;
  const key = dimensions.tokenKeyOf(list, value);
  return key === undefined ? sql`false` : sql`list_contains(${ident(list)}, ${key}::INTEGER)`;
}

const bitOf = (value: string): number => Object.entries(keywordBits).find(([keyword]) => keyword === value)?.[1] ?? 0;

/** Returns a VIN mask as a LIKE pattern: `?` matches any character, and every mask is a prefix. */
const likePatternOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;

/** Returns the great-circle distance in miles from a point to a row with `latitude` and `longitude`; null if either is null. */
export const milesFrom = ({ latitude, longitude }: Point): Sql => sql`
  CASE WHEN latitude IS NOT NULL AND longitude IS NOT NULL THEN 2 * ${earthRadiusMiles} * asin(least(1, sqrt(
    pow(sin(radians(latitude - ${latitude}) / 2), 2)
    + cos(radians(${latitude})) * cos(radians(latitude)) * pow(sin(radians(longitude - ${longitude}) / 2), 2)))) END`;

/** The latitude range is a cheap prefilter for the exact distance. */
function isWithinRadius(origin: Point, radiusMiles: number): Sql {
  const degrees = degreesOf(radiusMiles);
  return sql`latitude BETWEEN ${origin.latitude - degrees} AND ${origin.latitude + degrees} AND ${milesFrom(origin)} <= ${radiusMiles}`;
}

/** Returns the predicate that `latitude` and `longitude` lie in a box, edges included. */
function isInsideBox({ west, south, east, north }: Box): Sql {
  const isInLatitude = sql`latitude BETWEEN ${south} AND ${north}`;
  return west > east
    ? sql`${isInLatitude} AND (longitude >= ${west} OR longitude <= ${east})`
    : sql`${isInLatitude} AND longitude BETWEEN ${west} AND ${east}`;
}

/** The keywords as a SQL table `keyword_bits` with columns `keyword` and `bit`. */
export const keywordTable = sql`(VALUES ${join(
  Object.entries(keywordBits).map(([keyword, bit]) => sql`(${literal(keyword)}, ${integerLiteral(bit)})`),
)}) AS keyword_bits(keyword, bit)`;

/**
 * Filters as SQL over Parquet files of listings, beside the tables `builds` and `dealers` in memory.
 *
 * A filter on builds or dealers becomes a semi-join by key: the engine looks integer keys up in plain arrays when they are joined, in half
 * the time that a condition on each row takes.
 */

import { all, any, ident, integerLiteral, join, literal, Sql, sql } from "../../db/sql.ts";
import { caseFold } from "../../db/text-matching.ts";
import { keywordBits } from "../../lake/tables.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Box, Point } from "../../listing/geography.ts";
import { degreesOf, earthRadiusMiles } from "../../listing/geography.ts";
import { attributeOf, type CategoryName, type ListName } from "../../listing/schema.ts";
import type { Dimensions } from "../dimensions.ts";

/** What is required of listings: a condition, or that their key is among some. */
type Requirement = Sql | SemiJoin;

/** A key of listings, and the rows that have it as their only column, each key once. */
interface SemiJoin {
  readonly key: "build_key" | "dealer_key";
  readonly keys: Sql;
  /** The same as a condition on columns of listings, where they tell it. */
  readonly predicate?: Sql;
}

/** The listings that pass all filters, from FROM on; `beside` is joined to them. */
export function matchingCondition(
  listings: Sql,
  filters: readonly Filter[],
  dimensions: Dimensions,
  beside: Sql = sql``,
): Sql {
  const requirements = filters.map((filter) => compile(filter, dimensions));
  const joined = requirements.filter(
    (one) => !(one instanceof Sql) && one.predicate === undefined,
  ) as readonly SemiJoin[];
  const conditions = requirements.filter((one) => one instanceof Sql || one.predicate !== undefined).map(asCondition);
  const joins = joined.map(({ key, keys }) => sql`JOIN (${keys}) USING (${ident(key)})`);
  return sql`FROM (${listings}) ${beside} ${join(joins, sql` `)} WHERE ${all(conditions)}`;
}

/** A requirement as a condition, where it is a part of another one. */
function asCondition(required: Requirement): Sql {
  if (required instanceof Sql) return required;
  return required.predicate ?? sql`${ident(required.key)} IN (${required.keys})`;
}

function compile(filter: Filter, dimensions: Dimensions): Requirement {
  const condition = (one: Filter): Sql => asCondition(compile(one, dimensions));
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
      return sql`sold_date > ${filter.day}::DATE`;
    case "matchesMask":
      return any(filter.masks.map((mask) => sql`vin LIKE ${likeOf(mask)}`));
    case "withinRadius":
      return ofDealers(isWithin(filter.origin, filter.radiusMiles));
    case "insideBox":
      return ofDealers(isInside(filter.box));
    case "isUnknownValue":
      return dimensions.isKnown(filter.attribute, filter.value) ? sql`false` : sql`true`;
    case "all":
      return all(filter.filters.map(condition));
    case "any":
      return any(filter.filters.map(condition));
    case "not":
      return sql`(${condition(filter.filter)}) IS NOT TRUE`;
  }
}

function hasValue(attribute: CategoryName, values: readonly (string | number)[], dimensions: Dimensions): Requirement {
  const { home, column, isSortKey } = attributeOf(attribute);
  const predicate = isAmong(attribute, ident(column), values, dimensions);
  if (home === "listings") return predicate;
  if (home === "dealers") return ofDealers(predicate);
  const ofBuilds: SemiJoin = { key: "build_key", keys: sql`SELECT build_key FROM builds WHERE ${predicate}` };
  return isSortKey === true ? { ...ofBuilds, predicate } : ofBuilds;
}

/** The requirement that a listing's dealer fulfils a condition on the dealer's columns. */
const ofDealers = (condition: Sql): SemiJoin => ({
  key: "dealer_key",
  keys: sql`SELECT dealer_key FROM dealers WHERE ${condition}`,
});

function isAmong(
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
  const tests = values.map((value) => hasToken(attribute, value, dimensions));
  return (how === "any" ? any : all)(tests);
}

function hasToken(list: ListName, value: string, dimensions: Dimensions): Sql {
  if (list === "keywords") return sql`(keywords & ${integerLiteral(bitOf(value))}) <> 0`;
  const key = dimensions.tokenKeyOf(list, value);
  return key === undefined ? sql`false` : sql`list_contains(${ident(list)}, ${key}::INTEGER)`;
}

const bitOf = (keyword: string): number => Object.entries(keywordBits).find(([word]) => word === keyword)?.[1] ?? 0;

/** A VIN mask as a pattern: `?` is any character, and a mask is always the beginning. */
const likeOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;

/** Great-circle miles from a point to what has `latitude` and `longitude` in degrees; null where either is unknown. */
export const milesFrom = ({ latitude, longitude }: Point): Sql => sql`
  CASE WHEN latitude IS NOT NULL AND longitude IS NOT NULL THEN 2 * ${earthRadiusMiles} * asin(least(1, sqrt(
    pow(sin(radians(latitude - ${latitude}) / 2), 2)
    + cos(radians(${latitude})) * cos(radians(latitude)) * pow(sin(radians(longitude - ${longitude}) / 2), 2)))) END`;

function isWithin(origin: Point, radiusMiles: number): Sql {
  const degrees = degreesOf(radiusMiles);
  return sql`latitude BETWEEN ${origin.latitude - degrees} AND ${origin.latitude + degrees} AND ${milesFrom(origin)} <= ${radiusMiles}`;
}

/** Whether what has `latitude` and `longitude` lies in a box, edges included. */
function isInside({ west, south, east, north }: Box): Sql {
  const between = sql`latitude BETWEEN ${south} AND ${north}`;
  return west > east
    ? sql`${between} AND (longitude >= ${west} OR longitude <= ${east})`
    : sql`${between} AND longitude BETWEEN ${west} AND ${east}`;
}

/** The keywords as a table of their words and bits. */
export const keywordTable = sql`(VALUES ${join(
  Object.entries(keywordBits).map(([word, bit]) => sql`(${literal(word)}, ${integerLiteral(bit)})`),
)}) AS known(word, bit)`;

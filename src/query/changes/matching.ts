/**
 * Compiles filters to SQL over listings as Parquet files have them, `facts`, beside relations `builds`, `dealers` and `tokens`. The search index has the
 * same conditions over its integers; a test compares the two. An unknown value is null, which no condition passes, and every exclusion does.
 */
import { ownValue } from "../../base/json.ts";
import {
  all as allOf,
  any as anyOf,
  ident,
  integerLiteral,
  join,
  literal,
  numberLiteral,
  type Sql,
  sql,
} from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";
import { keywordBits } from "../../lake/tables.ts";
import type { Filter } from "../../listing/filter.ts";
import { type Box, milesFrom, type Point } from "../../listing/geography.ts";
import { attributeOf, attributes, type CategoryName } from "../../listing/schema.ts";
import { firstSecondAt, secondsOf, toUnits, unitsOf } from "../../listing/values.ts";

type TokensFilter = Extract<Filter, { kind: "hasTokens" }>;

/** Returns the condition that listings match all filters. */
export const matchesAll = (filters: readonly Filter[]): Sql => sql`(${allOf(filters.map(conditionOf))}) IS TRUE`;

function conditionOf(filter: Filter): Sql {
  switch (filter.kind) {
    case "anyOf":
      return hasValue(filter.attribute, filter.values);
    case "equalsText":
      return sql`${caseFold(ident(filter.attribute))} IN (${join(filter.values.map((value) => caseFold(sql`${value}`)))})`;
    case "hasTokens":
      return (filter.how === "all" ? allOf : anyOf)(filter.values.map((value) => hasToken(filter, value)));
    case "atLeast":
      return sql`${unitsOf(filter.attribute)} >= ${integerLiteral(Math.ceil(toUnits(filter.attribute, filter.bound)))}`;
    case "atMost":
      return sql`${unitsOf(filter.attribute)} <= ${integerLiteral(Math.floor(toUnits(filter.attribute, filter.bound)))}`;
    case "since":
      return sql`${secondsOf(ident(filter.attribute))} >= ${integerLiteral(firstSecondAt(filter.timeMs))}`;
    case "soldAfter":
      return sql`sold_on_record > DATE ${literal(filter.day)}`;
    case "matchesMask":
      return anyOf(filter.masks.map((mask) => sql`vin LIKE ${`${mask.replace(/\*$/, "").replaceAll("?", "_")}%`}`));
    case "withinRadius":
      return dealerWhere(isWithin(filter.origin, filter.radiusMiles));
    case "insideBox":
      return dealerWhere(isInBox(filter.box));
    case "all":
      return allOf(filter.filters.map(conditionOf));
    case "any":
      return anyOf(filter.filters.map(conditionOf));
    case "not":
      return sql`(${conditionOf(filter.filter)}) IS NOT TRUE`;
  }
}

function hasValue(name: CategoryName, values: readonly (string | number)[]): Sql {
  const { home, column, search } = attributeOf(name);
  const keyOf = (text: Sql): Sql =>
    search === "name" ? sql`coalesce(nullif(${oneSigma(matchKey(text))}, ''), ${foldedText(text)})` : foldedText(text);
  const keys = values.map((value) => keyOf(sql`${String(value)}`));
  const isValue = sql`${keyOf(sql`${ident(column)}::VARCHAR`)} IN (${join(keys)})`;
  if (home === "listings") return isValue;
  return home === "dealers" ? dealerWhere(isValue) : sql`build_key IN (SELECT build_key FROM builds WHERE ${isValue})`;
}

function hasToken({ attribute }: TokensFilter, value: string): Sql {
  if (attribute === "keywords") {
    return sql`keywords & ${integerLiteral(ownValue(keywordBits, value.toLowerCase()) ?? 0)} <> 0`;
  }
  const isToken = sql`kind = ${literal(attributes[attribute].kind)} AND ${foldedText(sql`token`)} = ${foldedText(sql`${value}`)}`;
  return sql`list_has_any(${ident(attribute)}, (SELECT list(token_key) FROM tokens WHERE ${isToken}))`;
}

/** Replaces one small form of the Greek sigma with the other: search, which folds case in JavaScript, takes either for a capital one. */
const oneSigma = (text: Sql): Sql => sql`replace(${text}, 'ς', 'σ')`;

const foldedText = (text: Sql): Sql => oneSigma(caseFold(text));

const dealerWhere = (condition: Sql): Sql => sql`dealer_key IN (SELECT dealer_key FROM dealers WHERE ${condition})`;

const isWithin = (origin: Point, miles: number): Sql =>
  sql`latitude IS NOT NULL AND longitude IS NOT NULL AND ${milesFrom(origin)} <= ${numberLiteral(miles)}`;

function isInBox({ west, south, east, north }: Box): Sql {
  const isBetween = (degrees: Sql): Sql =>
    (west > east ? anyOf : allOf)([
      sql`${degrees} >= ${numberLiteral(west)}`,
      sql`${degrees} <= ${numberLiteral(east)}`,
    ]);
  return allOf([
    sql`latitude BETWEEN ${numberLiteral(south)} AND ${numberLiteral(north)}`,
    anyOf([isBetween(sql`longitude`), allOf([sql`abs(longitude) = 180`, isBetween(sql`-longitude`)])]),
  ]);
}

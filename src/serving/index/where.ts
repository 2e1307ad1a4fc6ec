/**
 * Filters as SQL over the table of a search index. Requested values become ids before the statement is written, so that it compares
 * integers of one table; a filter that every listing passes, or none, is known without a statement.
 */

import { integerLiteral, join, name, type Sql, sql } from "../../base/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CategoryName } from "../../listing/schema.ts";
import { epochSeconds, maskOf, unitsPerOne, vinParts } from "../../listing/values.ts";
import { setsOf } from "./build.ts";
import type { Dealers } from "./dealers.ts";
import type { Dictionary } from "./dictionary.ts";
import { unknownId } from "./ids.ts";

/** What a filter comes to: nothing passes, everything passes, or a condition decides. */
export type Condition = "never" | "always" | Sql;

/** What filters are compiled against. */
export interface Vocabulary {
  readonly catalog: string;
  readonly dictionary: Dictionary;
  readonly dealers: Dealers;
  /** Whether a value is one of the lake's, of this index or not. */
  readonly isKnownValue: (attribute: CategoryName, value: string) => boolean;
}

/** The condition that all filters hold. */
export function conditionOf(filters: readonly Filter[], vocabulary: Vocabulary): Condition {
  return allOf(filters.map((filter) => compile(filter, vocabulary)));
}

function compile(filter: Filter, vocabulary: Vocabulary): Condition {
  switch (filter.kind) {
    case "anyOf":
      return hasValue(filter.attribute, filter.values, vocabulary);
    case "hasTokens":
      return hasTokens(filter, vocabulary);
    case "atLeast":
      return sql`${name(filter.attribute)} >= ${integer(Math.ceil(filter.bound * unitsPerOne(filter.attribute)))}`;
    case "atMost":
      return sql`${name(filter.attribute)} <= ${integer(Math.floor(filter.bound * unitsPerOne(filter.attribute)))}`;
    case "listedSince":
      return sql`listed_at >= ${integer(Math.ceil(filter.timeMs / 1000) - epochSeconds)}`;
    case "soldAfter":
      return "never";
    case "matchesMask":
      return anyOf(filter.masks.map(matchesMask));
    case "withinRadius":
      return isAmong("dealer", vocabulary.dealers.within(filter.origin, filter.radiusMiles));
    case "insideBox":
      return isAmong("dealer", vocabulary.dealers.inside(filter.box));
    case "isUnknownValue":
      return vocabulary.isKnownValue(filter.attribute, filter.value) ? "never" : "always";
    case "all":
      return allOf(filter.filters.map((one) => compile(one, vocabulary)));
    case "any":
      return anyOf(filter.filters.map((one) => compile(one, vocabulary)));
    case "not":
      return negated(compile(filter.filter, vocabulary));
  }
}

/** A whole number in a statement. The columns hold integers, so bounds beyond them compare as the nearest that they hold. */
const integer = (value: number): Sql => integerLiteral(Math.max(-2147483648, Math.min(2147483647, value)));

function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes("never")) return "never";
  const left = conditions.filter((one) => typeof one !== "string");
  return left.length === 0 ? "always" : join(left, sql` AND `);
}

function anyOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes("always")) return "always";
  const left = conditions.filter((one) => typeof one !== "string");
  return left.length === 0 ? "never" : sql`(${join(left, sql` OR `)})`;
}

/** No column that an exclusion compares is null: an unknown value has an id of its own. */
function negated(condition: Condition): Condition {
  if (typeof condition !== "string") return sql`NOT (${condition})`;
  return condition === "never" ? "always" : "never";
}

function hasValue(
  attribute: CategoryName,
  values: readonly (string | number)[],
  { dictionary, dealers }: Vocabulary,
): Condition {
  if (attribute === "dealer_id")
    return isAmong(
      "dealer",
      values.flatMap((id) => dealers.idsOf(String(id))),
    );
  return isAmong(
    attribute,
    values.flatMap((value) => dictionary.idsOf(attribute, value)),
  );
}

function isAmong(column: string, ids: readonly number[]): Condition {
  if (ids.length === 0) return "never";
  if (ids.length === 1) return sql`${name(column)} = ${integer(ids[0] ?? unknownId)}`;
  return sql`${name(column)} IN (${join([...new Set(ids)].map(integer))})`;
}

/** Sets that have all, or any, of some tokens. */
function hasTokens(
  { attribute, values, how }: Extract<Filter, { kind: "hasTokens" }>,
  { catalog, dictionary }: Vocabulary,
): Condition {
  const ids = values.map((value) => dictionary.idsOf(attribute, value));
  if (ids.some((of) => of.length === 0) && how === "all") return "never";
  const wanted = [...new Set(ids.flat())];
  if (wanted.length === 0) return "never";
  const setsWith = (tokens: readonly number[], having = sql``): Sql =>
    sql`${name(attribute)} IN (SELECT "set" FROM ${setsOf(catalog, attribute)} WHERE token IN (${join(tokens.map(integer))}) ${having})`;
  if (how === "any") return setsWith(wanted);
  // A set that has a token in two spellings has two rows for it, and cannot be counted.
  if (ids.some((of) => of.length > 1)) return allOf(ids.map((of) => setsWith(of)));
  return setsWith(
    wanted,
    wanted.length === 1 ? sql`` : sql`GROUP BY "set" HAVING count(*) = ${integer(wanted.length)}`,
  );
}

function matchesMask(mask: string): Condition {
  const pattern = mask.replace(/\*$/, "");
  const parts = vinParts.flatMap((part) => {
    const { bits, value } = maskOf(pattern, part);
    return bits === 0n ? [] : [sql`(${name(part.column)} & ${integerLiteral(bits)}) = ${integerLiteral(value)}`];
  });
  return parts.length === 0 ? "always" : sql`(${join(parts, sql` AND `)})`;
}

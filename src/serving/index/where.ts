/**
 * Filters as SQL over the table of a search index. Requested values become ids before the statement is written, so that it compares
 * integers of one table; a filter that every listing passes, or none, is known without a statement.
 */

import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CategoryName } from "../../listing/schema.ts";
import { epochSeconds, maskOf, unitsPerOne, vinParts } from "../../listing/values.ts";
import { setsOf } from "./build.ts";
import type { Dealers } from "./dealers.ts";
import type { Dictionary } from "./dictionary.ts";
import { unknownId } from "./ids.ts";

/** What a filter comes to: nothing passes, everything passes, or SQL decides. */
export type Condition = "never" | "always" | Sql;

/** What filters are compiled against. */
export interface IndexContext {
  readonly catalog: string;
  readonly dictionary: Dictionary;
  readonly dealers: Dealers;
  /** Whether a value is one of the lake's, of this index or not. */
  readonly isKnownValue: (attribute: CategoryName, value: string) => boolean;
}

/** The listings that pass all filters: none, all, or those of a statement from FROM on. */
export function matchesOf(filters: readonly Filter[], vocabulary: IndexContext): Condition {
  const condition = allOf(filters.filter((one) => !isJoined(one)).map((one) => compile(one, vocabulary)));
  const joins = filters.filter(isJoined).map((one) => joinOf(one, vocabulary));
  if (condition === "never" || joins.includes("never")) return "never";
  const joined = joins.filter((one) => typeof one !== "string");
  if (condition === "always" && joined.length === 0) return "always";
  const where = condition === "always" ? sql`` : sql`WHERE ${condition}`;
  return sql`FROM ${listingsOf(vocabulary.catalog)} ${join(joined, sql` `)} ${where}`;
}

/** The table of a search index. */
export const listingsOf = (catalog: string): Sql => ident(catalog, "listings");

type Joined = Extract<Filter, { kind: "hasTokens" }>;

/** Lists that must have some tokens are joined with their sets: a third of the time of a condition on each listing. */
const isJoined = (filter: Filter): filter is Joined => filter.kind === "hasTokens" && filter.how === "all";

/** Up to so many tokens are joined one by one. */
const joinsMost = 3;

/** Joins with the sets that have all of some tokens. */
function joinOf({ attribute, values }: Joined, { catalog, dictionary }: IndexContext): Condition {
  const ids = values.map((value) => dictionary.idsOf(attribute, value));
  if (ids.some((of) => of.length === 0)) return "never";
  const joinWith = (tokens: readonly number[], rest: Sql): Sql => sql`
    JOIN (SELECT "set" AS ${ident(attribute)} FROM ${setsOf(catalog, attribute)} WHERE token IN (${join(tokens.map(integer))}) ${rest})
    USING (${ident(attribute)})`;
  const grouped = sql`GROUP BY "set"`;
  // A set that has a token in two spellings has two rows for it: it must be joined once, and cannot be counted.
  const isSpelledOnce = ids.every((of) => of.length === 1);
  if (ids.length <= joinsMost || !isSpelledOnce)
    return join(
      ids.map((of) => joinWith(of, of.length === 1 ? sql`` : grouped)),
      sql` `,
    );
  const wanted = [...new Set(ids.flat())];
  return joinWith(wanted, sql`${grouped} HAVING count(*) = ${integer(wanted.length)}`);
}

function compile(filter: Filter, vocabulary: IndexContext): Condition {
  switch (filter.kind) {
    case "anyOf":
      return hasValue(filter.attribute, filter.values, vocabulary);
    case "hasTokens":
      return hasTokens(filter, vocabulary);
    case "atLeast":
      return sql`${ident(filter.attribute)} >= ${integer(Math.ceil(filter.bound * unitsPerOne(filter.attribute)))}`;
    case "atMost":
      return sql`${ident(filter.attribute)} <= ${integer(Math.floor(filter.bound * unitsPerOne(filter.attribute)))}`;
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
  { dictionary, dealers }: IndexContext,
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
  if (ids.length === 1) return sql`${ident(column)} = ${integer(ids[0] ?? unknownId)}`;
  return sql`${ident(column)} IN (${join([...new Set(ids)].map(integer))})`;
}

/** Sets that have all, or any, of some tokens. */
/** Sets that have all, or any, of some tokens, as a condition: for exclusions and alternatives. */
function hasTokens({ attribute, values, how }: Joined, { catalog, dictionary }: IndexContext): Condition {
  const conditions = values.map((value): Condition => {
    const ids = dictionary.idsOf(attribute, value);
    return ids.length === 0 ? "never" : sql`token IN (${join(ids.map(integer))})`;
  });
  const setsWhere = (condition: Condition): Condition =>
    typeof condition === "string"
      ? condition
      : sql`${ident(attribute)} IN (SELECT "set" FROM ${setsOf(catalog, attribute)} WHERE ${condition})`;
  return how === "any" ? setsWhere(anyOf(conditions)) : allOf(conditions.map(setsWhere));
}

function matchesMask(mask: string): Condition {
  const pattern = mask.replace(/\*$/, "");
  const parts = vinParts.flatMap((part) => {
    const { bits, value } = maskOf(pattern, part);
    return bits === 0n ? [] : [sql`(${ident(part.column)} & ${integerLiteral(bits)}) = ${integerLiteral(value)}`];
  });
  return parts.length === 0 ? "always" : sql`(${join(parts, sql` AND `)})`;
}

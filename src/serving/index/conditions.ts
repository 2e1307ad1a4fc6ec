/**
 * Conditions of filters on the rows of a search index. Requested values become ids first, so that statements compare integers only. That all listings
 * pass, or none, is recognized without a statement.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import type { NumberName } from "../../listing/schema.ts";
import { daysOf, firstSecondAt, maskOf, textHashOf, toUnits, vinParts } from "../../listing/values.ts";
import { gone, setsOf } from "./build.ts";
import type { Dealers } from "./dealers.ts";
import type { Dictionary } from "./dictionary.ts";

/** A compiled filter: no listing passes, every listing passes, or a condition. */
export type Condition = "never" | "always" | Sql;

/** The listings of an inventory in one index: what filters are compiled against. */
export interface IndexContext {
  readonly catalog: string;
  readonly dictionary: Dictionary;
  readonly dealers: Dealers;
  /** The number of its listings, or more. */
  readonly rows: number;
  /** The condition on a row of the index; absent if every row counts. */
  readonly condition?: Sql;
  /** Whether these are all listings of the published day, whose number per value the dictionary holds. */
  readonly isToday: boolean;
  /** The day in the past whose listings are meant, as days since 1970; null if they are those of several days. */
  readonly day?: Sql;
}

/** The condition on rows of listings that were sold. */
export const isSold = sql`valid_to = ${integerLiteral(gone.sold)}`;

/** The condition on rows that hold on a day from `first` to `last`, as days since 1970. */
export const holdsBetween = (first: Sql, last: Sql): Sql => sql`valid_from <= ${last} AND valid_to > ${first}`;

/** Returns a number attribute in units. Days on market follow from the day. */
export const numberOn = (attribute: NumberName, { day }: Pick<IndexContext, "day">): Sql =>
  attribute === "days_on_market" && day !== undefined ? sql`greatest(0, ${day} - listed_on)` : ident(attribute);

export type TokensFilter = Extract<Filter, { kind: "hasTokens" }>;

/** Accepts listings whose id in a column is one of `ids`. */
export interface InFilter {
  readonly kind: "in";
  readonly column: string;
  /** Distinct ids. */
  readonly ids: readonly number[];
}

type IdsFilter = Extract<Filter, { kind: "anyOf" | "withinRadius" | "insideBox" }>;

const isIdsFilter = (filter: Filter): filter is IdsFilter =>
  filter.kind === "anyOf" || filter.kind === "withinRadius" || filter.kind === "insideBox";

/** A filter as the index applies it: filters on one column of ids hold these ids. */
export type ResolvedFilter = InFilter | Exclude<Filter, IdsFilter>;

/** Looks up the ids that a filter on one column accepts. */
export const resolveFilter = (filter: Filter, context: IndexContext): ResolvedFilter =>
  isIdsFilter(filter) ? resolveIds(filter, context) : filter;

function resolveIds(filter: IdsFilter, { dictionary, dealers }: IndexContext): InFilter {
  switch (filter.kind) {
    case "anyOf": {
      const { attribute, values } = filter;
      const ids = values.flatMap((value) => dictionary.idsOf(attribute, value));
      return attribute === "dealer_id" ? inFilter("dealer", dealers.withIds(ids)) : inFilter(attribute, ids);
    }
    case "withinRadius":
      return inFilter("dealer", dealers.within(filter.origin, filter.radiusMiles));
    case "insideBox":
      return inFilter("dealer", dealers.inside(filter.box));
  }
}

const inFilter = (column: string, ids: readonly number[]): InFilter => ({
  kind: "in",
  column,
  ids: [...new Set(ids)],
});

/** Compiles a filter to a condition on each row. */
export function conditionOf(filter: Filter, context: IndexContext): Condition {
  switch (filter.kind) {
    case "anyOf":
    case "withinRadius":
    case "insideBox":
      return inCondition(resolveIds(filter, context));
    case "equalsText":
      return sql`${ident(filter.attribute)} IN (${join(filter.values.map((value) => textHashOf(sql`${value}`)))})`;
    case "hasTokens":
      return hasTokens(filter, context);
    case "atLeast":
      return sql`${numberOn(filter.attribute, context)} >= ${integer(Math.ceil(toUnits(filter.attribute, filter.bound)))}`;
    case "atMost":
      return sql`${numberOn(filter.attribute, context)} <= ${integer(Math.floor(toUnits(filter.attribute, filter.bound)))}`;
    case "since":
      return sql`${ident(filter.attribute)} >= ${integer(firstSecondAt(filter.timeMs))}`;
    case "soldAfter":
      return sql`sold_on_record > ${daysOf(sql`${literal(filter.day)}::DATE`)}`;
    case "matchesMask":
      return anyOf(filter.masks.map(matchesMask));
    case "all":
      return allOf(filter.filters.map((one) => conditionOf(one, context)));
    case "any":
      return anyOf(filter.filters.map((one) => conditionOf(one, context)));
    case "not":
      return negated(conditionOf(filter.filter, context));
  }
}

/** An integer literal. Bounds outside the range of INTEGER compare like its limits. */
export const integer = (value: number): Sql => integerLiteral(Math.max(-2147483648, Math.min(2147483647, value)));

export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes("never")) return "never";
  const left = conditions.filter((one) => typeof one !== "string");
  return left.length === 0 ? "always" : join(left, sql` AND `);
}

function anyOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes("always")) return "always";
  const left = conditions.filter((one) => typeof one !== "string");
  return left.length === 0 ? "never" : sql`(${join(left, sql` OR `)})`;
}

/** Plain NOT is correct for unknown values too: an unknown value has the id 0. Bounds of numbers, which may be null, are never negated. */
function negated(condition: Condition): Condition {
  if (typeof condition !== "string") return sql`NOT (${condition})`;
  return condition === "never" ? "always" : "never";
}

const bitSet = "1".charCodeAt(0);

/**
 * Tests a column for one of some ids: several have a bit for each id from the first to the last. Row groups without any of these are skipped; the
 * others take half the time of `IN`.
 */
export function inCondition({ column, ids }: InFilter): Condition {
  const sorted = Int32Array.from(ids).sort();
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return "never";
  if (first === last) return sql`${ident(column)} = ${integer(first)}`;
  const bits = Buffer.alloc(last - first + 1, "0");
  for (const id of sorted) bits[id - first] = bitSet;
  // The engine may look up the bit of an id before it compares the id, so that others need a bit too.
  const offset = sql`greatest(0, least(${integer(last - first)}, ${ident(column)} - ${integer(first)}))`;
  return sql`(${ident(column)} BETWEEN ${integer(first)} AND ${integer(last)} AND get_bit(${literal(bits.toString("latin1"))}::BIT, ${offset}) = 1)`;
}

/** Tests a list for all, or any, of some tokens, as a condition, for exclusions and alternatives. */
function hasTokens({ attribute, values, how }: TokensFilter, { catalog, dictionary }: IndexContext): Condition {
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

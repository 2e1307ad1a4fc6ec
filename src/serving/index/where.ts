/**
 * Compiles filters to SQL over the table of a search index. Requested values become ids first, so that statements compare integers only.
 * A filter that all listings pass, or none, is recognized without a statement.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import { type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import { daysOf, firstSecondAt, maskOf, textHashOf, toUnits, vinParts } from "../../listing/values.ts";
import { gone, setsOf, unknownId } from "./build.ts";
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
  /** The day in the past whose listings are meant, as days since 1970. */
  readonly day?: Sql;
}

/** The condition on rows of listings that were sold. */
export const isSold = sql`valid_to = ${integerLiteral(gone.sold)}`;

/** The condition on rows that hold on a day from `first` to `last`, as days since 1970. */
export const holdsBetween = (first: Sql, last: Sql): Sql => sql`valid_from <= ${last} AND valid_to > ${first}`;

/** A filter as the index applies it: filters on one column of ids hold these ids. */
export type ResolvedFilter = InFilter | Exclude<Filter, IdsFilter>;

/** Looks up the ids that filters on one column accept. */
export const resolveFilters = (filters: readonly Filter[], context: IndexContext): readonly ResolvedFilter[] =>
  filters.map((filter) => (isIdsFilter(filter) ? resolveIds(filter, context) : filter));

/** Compiles all filters: to none, to all, or to the rest of a statement from FROM on. */
export function matchesOf(filters: readonly ResolvedFilter[], context: IndexContext): Condition {
  const joins: Condition[] = [];
  const conditions: Condition[] = [];
  for (const filter of filters) {
    if (filter.kind === "in" && filter.ids.length > joinedIdsMin) joins.push(joinWithIds(filter));
    else if (filter.kind === "in") conditions.push(inCondition(filter));
    else if (filter.kind === "hasTokens" && filter.how === "all") joins.push(joinWithSets(filter, context));
    else conditions.push(conditionOf(filter, context));
  }
  const condition = allOf(conditions);
  if (condition === "never" || joins.includes("never")) return "never";
  const joined = joins.filter((one) => typeof one !== "string");
  if (condition === "always" && joined.length === 0) return "always";
  const table = tableFor(filters, context);
  return fromListings({ ...context, table }, joined, condition === "always" ? [] : [condition]);
}

/** The tables of the listings of the published day, each with the filtered columns by which its listings lie together. */
const orders = { listings: ["make", "model"], listings_by_dealer: ["state", "dealer", "dealer_id"] } as const;
type Order = keyof typeof orders;

/** Chooses the table whose order leaves fewer listings to scan: a page of a state takes a third of the time. */
function tableFor(filters: readonly ResolvedFilter[], context: IndexContext): Order {
  if (!context.isToday) return "listings";
  const scanned = (order: Order): number => {
    const inOrder = filters.filter((one) => one.kind === "in" && orders[order].some((column) => column === one.column));
    return Math.min(context.rows, ...inOrder.map((filter) => mostOfOne(filter, context)));
  };
  return scanned("listings_by_dealer") < scanned("listings") ? "listings_by_dealer" : "listings";
}

/** Returns the rest of a statement over the matches, from FROM on. */
export const overMatches = (matches: Exclude<Condition, "never">, context: IndexContext): Sql =>
  matches === "always" ? fromListings(context) : matches;

function fromListings(
  { catalog, condition, table = "listings" }: IndexContext & { readonly table?: Order },
  joins: readonly Sql[] = [],
  conditions: readonly Sql[] = [],
): Sql {
  const all = [...(condition === undefined || table === "listings_by_dealer" ? [] : [condition]), ...conditions];
  const where = all.length === 0 ? sql`` : sql`WHERE ${join(all, sql` AND `)}`;
  return sql`FROM ${ident(catalog, table)} ${join(joins, sql` `)} ${where}`;
}

/** Returns a number attribute in units. Days on market follow from the day. */
export const numberOn = (attribute: NumberName, { day }: Pick<IndexContext, "day">): Sql =>
  attribute === "days_on_market" && day !== undefined ? sql`greatest(0, ${day} - listed_on)` : ident(attribute);

type TokensFilter = Extract<Filter, { kind: "hasTokens" }>;

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

function resolveIds(filter: IdsFilter, { dictionary, dealers }: IndexContext): InFilter {
  switch (filter.kind) {
    case "anyOf": {
      const { attribute, values } = filter;
      return inFilter(
        attribute,
        values.flatMap((value) => dictionary.idsOf(attribute, value)),
      );
    }
    case "withinRadius":
      return inFilter("dealer", dealers.within(filter.origin, filter.radiusMiles));
    case "insideBox":
      return inFilter("dealer", dealers.inside(filter.box));
  }
}

export const inFilter = (column: string, ids: readonly number[]): InFilter => ({
  kind: "in",
  column,
  ids: [...new Set(ids)],
});

/** More ids than this are joined: a hash join takes two thirds of the time of `IN`. */
const joinedIdsMin = 8;

const joinWithIds = ({ column, ids }: InFilter): Sql =>
  sql`JOIN (SELECT unnest([${join(ids.map(integer))}]) AS ${ident(column)}) USING (${ident(column)})`;

/** Up to this many tokens are joined one by one. */
const joinsMax = 3;

/**
 * Joins with the sets that contain all of some tokens: a third of the time of a condition on each listing.
 */
function joinWithSets({ attribute, values }: TokensFilter, { catalog, dictionary }: IndexContext): Condition {
  const ids = values.map((value) => dictionary.idsOf(attribute, value));
  if (ids.some((of) => of.length === 0)) return "never";
  const joinWith = (tokens: readonly number[], rest: Sql): Sql => sql`
    JOIN (SELECT "set" AS ${ident(attribute)} FROM ${setsOf(catalog, attribute)} WHERE token IN (${join(tokens.map(integer))}) ${rest})
    USING (${ident(attribute)})`;
  const grouped = sql`GROUP BY "set"`;
  // A set that has a token in two spellings has two rows for it: it must be joined once, and cannot be counted.
  const isSpelledOnce = ids.every((of) => of.length === 1);
  if (ids.length <= joinsMax || !isSpelledOnce)
    return join(
      ids.map((of) => joinWith(of, of.length === 1 ? sql`` : grouped)),
      sql` `,
    );
  const wanted = [...new Set(ids.flat())];
  return joinWith(wanted, sql`${grouped} HAVING count(*) = ${integer(wanted.length)}`);
}

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

/** Plain NOT is correct for unknown values too: no compared column is null, unknown has the id 0. */
function negated(condition: Condition): Condition {
  if (typeof condition !== "string") return sql`NOT (${condition})`;
  return condition === "never" ? "always" : "never";
}

function inCondition({ column, ids }: InFilter): Condition {
  if (ids.length === 0) return "never";
  if (ids.length === 1) return sql`${ident(column)} = ${integer(ids[0] ?? unknownId)}`;
  return sql`${ident(column)} IN (${join(ids.map(integer))})`;
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

/** Returns an upper bound of the matches of all filters. Counts of values are known of the published day alone. */
export function maxMatches(filters: readonly ResolvedFilter[], context: IndexContext): number {
  const { rows, isToday } = context;
  return isToday ? Math.min(rows, ...filters.map((filter) => mostOfOne(filter, context))) : rows;
}

function mostOfOne(filter: ResolvedFilter, { rows, dictionary }: IndexContext): number {
  const sum = (ids: readonly number[]): number => ids.reduce((all, id) => all + dictionary.totalOf(id), 0);
  if (filter.kind === "in") return sum(filter.ids);
  if (filter.kind !== "hasTokens") return rows;
  const totals = filter.values.map((value) => sum(dictionary.idsOf(filter.attribute, value)));
  return filter.how === "any" ? totals.reduce((all, one) => all + one, 0) : Math.min(...totals);
}

/** Selects the id of the value of an attribute, of a list that of its set; 0 without an attribute. */
export const idOf = (attribute: CountedName | undefined): Sql => (attribute === undefined ? sql`0` : ident(attribute));

/** Returns rows with a column of ids (see `idOf`), with the ids of the tokens instead of a set's: a row for each. */
export function withTokens(
  rows: Sql,
  attribute: CountedName | undefined,
  { catalog }: IndexContext,
  column: Sql = sql`id`,
): Sql {
  const list = listNames.find((one) => one === attribute);
  if (list === undefined) return rows;
  return sql`SELECT token AS ${column}, found.* EXCLUDE (${column})
    FROM (${rows}) AS found JOIN ${setsOf(catalog, list)} AS sets ON sets."set" = found.${column}`;
}

/** Compiles filters to the rest of a statement over a table of listings in a search index, from FROM on. */
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import { type CountedName, listNames } from "../../listing/schema.ts";
import { setsOf } from "./build.ts";
import {
  allOf,
  type Condition,
  conditionOf,
  type IndexContext,
  type InFilter,
  inCondition,
  integer,
  type ResolvedFilter,
  resolveFilter,
  type TokensFilter,
} from "./conditions.ts";

/** Compiled filters. */
export interface Compiled {
  readonly matches: Condition;
  /** An upper bound of the matches. Counts of values are known of the published day alone. */
  readonly max: number;
  /** Whether the bound is their number. */
  readonly isExact: boolean;
}

/** A filter and an upper bound of its matches. */
interface Bounded {
  readonly filter: ResolvedFilter;
  readonly max: number;
}

/** Compiles filters, all of which a match passes: to none, to all, or to the rest of a statement from FROM on. */
export function compileFilters(filters: readonly Filter[], context: IndexContext): Compiled {
  const bounded = filters.map((one): Bounded => {
    const filter = resolveFilter(one, context);
    return { filter, max: context.isToday ? boundOf(filter, context) : context.rows };
  });
  const [first, ...others] = bounded;
  return {
    matches: matchesOf(bounded, context),
    max: Math.min(context.rows, ...bounded.map(({ max }) => max)),
    isExact: context.isToday && others.length === 0 && (first === undefined || first.filter.kind === "in"),
  };
}

function matchesOf(bounded: readonly Bounded[], context: IndexContext): Condition {
  const table = tableFor(bounded, context);
  const joins: Condition[] = [];
  const conditions: Condition[] = [];
  for (const { filter } of bounded) {
    if (filter.kind === "in" && filter.ids.length > joinedIdsMin && !orders[table].includes(filter.column))
      joins.push(joinWithIds(filter));
    else if (filter.kind === "in") conditions.push(inCondition(filter));
    else if (filter.kind === "hasTokens" && filter.how === "all") joins.push(joinWithSets(filter, context));
    else conditions.push(conditionOf(filter, context));
  }
  const condition = allOf(conditions);
  if (condition === "never" || joins.includes("never")) return "never";
  const joined = joins.filter((one) => typeof one !== "string");
  if (condition === "always" && joined.length === 0) return "always";
  return fromListings({ ...context, table }, joined, condition === "always" ? [] : [condition]);
}

/** The tables of the listings of the published day, each with the columns by which its listings lie together. */
const orders: Readonly<Record<Order, readonly string[]>> = {
  listings: ["make", "model"],
  listings_by_dealer: ["state", "dealer"],
};
type Order = "listings" | "listings_by_dealer";

/** Chooses the table whose order leaves fewer listings to scan: a page of a state takes a third of the time. */
function tableFor(bounded: readonly Bounded[], { isToday, rows }: IndexContext): Order {
  if (!isToday) return "listings";
  const scanned = (order: Order): number => {
    const inOrder = bounded.filter(({ filter }) => filter.kind === "in" && orders[order].includes(filter.column));
    return Math.min(rows, ...inOrder.map(({ max }) => max));
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

/** More ids than this, of a column by which listings do not lie together, are joined: two thirds of the time of a condition. */
const joinedIdsMin = 8;

/** The ids are one literal: each element of a list takes longer to plan than to join. */
export const joinWithIds = ({ column, ids }: InFilter): Sql =>
  sql`JOIN (SELECT unnest(${literal(`[${ids.join()}]`)}::INTEGER[]) AS ${ident(column)}) USING (${ident(column)})`;

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

/** Returns an upper bound of the matches of a filter on the published day. */
function boundOf(filter: ResolvedFilter, { rows, dictionary }: IndexContext): number {
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

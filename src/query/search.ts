/**
 * Listing search, in two steps: narrow columns tell the total and the page's positions, then the rows at those positions only are read.
 * Search over today, over a past day and over sold history is the same SQL over another list of files.
 */
import { bounds } from "../base/bounds.ts";
import { integerIn, type Row } from "../base/json.ts";
import { type Sql, sql } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Market } from "../lake/market.ts";
import { inOrder, type Order, placeIn } from "../lake/orders.ts";
import type { Requirement } from "./attributes.ts";
import type { Expansion } from "./expansions.ts";
import { type Field, fieldsOf, readingsOf, serving } from "./fields.ts";
import { originOf } from "./geography.ts";
import { type Mode, modeOf } from "./modes.ts";
import { orderOf, type Sort } from "./sorts.ts";
import { countMatches, matching, requirementsOf } from "./where.ts";
import type { Point } from "./zip-codes.ts";

export type SearchQuery = QueryOf<"searchListings">;

/** A search, decided in full; what remains is to run it. */
export interface SearchPlan {
  readonly mode: Mode;
  /** What listings have to fulfil; where nothing is required, all match. */
  readonly requirements: readonly Requirement[];
  readonly sort: Sort;
  readonly order: Order;
  readonly limit: number;
  readonly offset: number;
  /** In the order in which they are served. */
  readonly fields: readonly Field[];
  readonly include: readonly Expansion[];
  /** From where distances are served. */
  readonly origin: Point | undefined;
}

/** What the first step finds. */
export interface Top {
  readonly total: number;
  /** The `row_number`s of the page's rows, in their order. */
  readonly page: readonly number[];
}

/** Plans a search of a market. Refuses parameters that do not go together. */
export function planSearch(query: SearchQuery, market: Market): SearchPlan {
  const mode = modeOf(query, market);
  return {
    mode,
    requirements: requirementsOf(query, mode, market),
    sort: query.sort,
    order: orderOf(query),
    limit: query.limit,
    offset: query.offset,
    fields: fieldsOf(query.fields),
    include: query.include ?? [],
    origin: originOf(query),
  };
}

/**
 * Step one: the total, and the page's positions. Where little is required, the page is among the first listings of its order, and the
 * others are but counted.
 */
export async function topOf(plan: SearchPlan, market: Market): Promise<Top> {
  const { requirements, mode, limit } = plan;
  const among = amongFirsts(plan);
  const page = among === undefined ? [] : (await market.rows(among)).map((row) => integerIn(row, "row_number"));
  if (page.length < limit)
    return readTop(await market.rows(requirements.length === 0 ? topOfAll(plan) : topOfMatches(plan)));
  return { total: await countMatches(mode.listings, requirements, market), page };
}

/** Those of the page that are among the first listings of its order. */
function amongFirsts({ sort, order, mode, requirements, limit, offset }: SearchPlan): Sql | undefined {
  if (sort === "distance" || offset + limit > bounds.firsts || mode.listings.firsts === undefined) return undefined;
  return sql`SELECT row_number::UINTEGER AS row_number ${matching(mode.listings.firsts(sort), requirements)}
    ORDER BY ${inOrder(order)} LIMIT ${limit} OFFSET ${offset}`;
}

/** How many listings there are is known; the engine skips what cannot be on the page. */
function topOfAll({ limit, offset, order, mode }: SearchPlan): Sql {
  const { all: listings, count } = mode.listings;
  return sql`
    SELECT ${count}::INTEGER AS total, list(row_number::UINTEGER ORDER BY ${inOrder(order)}) AS page
    FROM (SELECT * FROM (${listings}) ${order.beside} ORDER BY ${inOrder(order)} LIMIT ${limit} OFFSET ${offset})`;
}

function topOfMatches({ limit, offset, order, mode, requirements }: SearchPlan): Sql {
  const end = offset + limit;
  const places = sql`SELECT ${placeIn(order)} AS place ${matching(mode.listings.all, requirements, order.beside)}`;
  const first =
    end <= bounds.heapRows
      ? sql`list_slice(min(place, ${end}), ${offset + 1}, ${end})`
      : sql`(SELECT list(place ORDER BY place) FROM (SELECT place FROM places ORDER BY place LIMIT ${limit} OFFSET ${offset}))`;
  return sql`
    WITH places AS ${end <= bounds.heapRows ? sql`` : sql`MATERIALIZED`} (${places})
    SELECT count(*)::INTEGER AS total, list_transform(${first}, lambda place: (place & 4294967295)::UINTEGER) AS page
    FROM places`;
}

/** The answer of the engine to step one, checked. */
function readTop(rows: readonly Row[]): Top {
  const page = rows[0]?.page ?? [];
  return { total: integerIn(rows[0], "total"), page: Array.isArray(page) ? page.map(Number) : [] };
}

/** Step two: the listings of the page, each as the JSON that is served of it. */
export async function readPage(plan: SearchPlan, page: readonly number[], market: Market): Promise<readonly string[]> {
  const { mode, fields, include } = plan;
  const serve = serving({ ...plan, status: mode.status }, market.dimensions);
  return (await mode.listings.read(page, readingsOf(fields, include))).map(serve);
}

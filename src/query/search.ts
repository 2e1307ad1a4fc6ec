/**
 * Listing search, in two steps: one pass over narrow columns gives the total and the page's positions together, then the wide
 * columns of those rows only are read. Search over today, over a past day and over sold history is the same SQL over
 * another list of files.
 */
import { bounds } from "../base/bounds.ts";
import { integerIn, type Row } from "../base/json.ts";
import { all, join, name, type Sql, sql } from "../base/sql.ts";
import { vocabulary } from "../contract/document.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Market } from "../lake/market.ts";
import { flat } from "../lake/views.ts";
import { type Expansion, expansions } from "./expansions.ts";
import { filtersOf } from "./filters.ts";
import { milesFrom, originOf } from "./geography.ts";
import { type Mode, modeOf } from "./modes.ts";
import { type Order, orderOf } from "./sorts.ts";
import { where } from "./where.ts";
import type { Point } from "./zip-codes.ts";

export type SearchQuery = QueryOf<"searchListings">;
type Field = SearchQuery["fields"][number];

/** A search, decided in full; what remains is to run it. */
export interface SearchPlan {
  readonly mode: Mode;
  readonly where: Sql;
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
    where: all([mode.within, where(filtersOf(query))]),
    order: orderOf(query),
    limit: query.limit,
    offset: query.offset,
    fields: fieldsOf(query.fields),
    include: query.include ?? [],
    origin: originOf(query),
  };
}

/** Step one: the total, and the page's positions. */
export function topOf(plan: SearchPlan): Sql {
  const { limit, offset, order, mode } = plan;
  const end = offset + limit;
  const places = sql`
    SELECT (${order.key} << 32) + row_number AS place FROM (${mode.listings.all}) ${order.beside} WHERE ${plan.where}`;
  const first =
    end <= bounds.heapRows
      ? sql`list_slice(min(place, ${end}), ${offset + 1}, ${end})`
      : sql`(SELECT list(place ORDER BY place) FROM (SELECT place FROM places ORDER BY place LIMIT ${limit} OFFSET ${offset}))`;
  return sql`
    WITH places AS ${end <= bounds.heapRows ? sql`` : sql`MATERIALIZED`} (${places})
    SELECT count(*)::INTEGER AS total, list_transform(${first}, lambda place: (place & 4294967295)::UINTEGER) AS page
    FROM places`;
}

/** The answer to step one, checked. */
export function readTop(rows: readonly Row[]): Top {
  const page = rows[0]?.page ?? [];
  return { total: integerIn(rows[0], "total"), page: Array.isArray(page) ? page.map(Number) : [] };
}

/** Step two: the page's rows, served as they are asked for. */
export function rowsOf(plan: SearchPlan, page: readonly number[]): Sql {
  const positions = join(page.map((position) => sql`${position}`));
  const special = servedAs(plan);
  const served = [
    ...plan.fields.map((field) => sql`${special[field] ?? name(field)} AS ${name(field)}`),
    ...plan.include.map((expansion) => sql`${expansions[expansion]} AS ${name(expansion)}`),
  ];
  return sql`
    SELECT ${join(served)} FROM (${flat(plan.mode.listings.at(page))}) AS listing
    ORDER BY list_position([${positions}], row_number)`;
}

/** How fields are served that are not a flat column as it is. */
const servedAs = ({ mode: { status }, origin }: SearchPlan): Readonly<Partial<Record<Field, Sql>>> => ({
  listed_at: sql`strftime(listed_at, '%Y-%m-%dT%H:%M:%SZ')`,
  sold_date: sql`sold_date::VARCHAR`,
  status: sql`${status}`,
  inventory_status: sql`${status}`,
  distance_miles: origin === undefined ? sql`NULL::DOUBLE` : sql`round(${milesFrom(origin)}, 1)`,
});

/** All fields that can be served, in the order of the document, in which they are served. */
const servable: readonly Field[] = vocabulary("searchListings", "fields").filter((field) => field !== "default");

/** Fields that are served only when they are asked for by name. */
const onRequest: readonly Field[] = ["features", "options_packages"];

function fieldsOf(asked: readonly Field[]): readonly Field[] {
  const isServed = (field: Field): boolean =>
    field === "id" ||
    field === "vin" ||
    asked.includes(field) ||
    (asked.includes("default") && !onRequest.includes(field));
  return servable.filter(isServed);
}

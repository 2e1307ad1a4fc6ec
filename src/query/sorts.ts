/**
 * Every sort, by a value that orders exactly as what is served; unknown values come last in both directions. Ties go by the
 * partition's own order.
 */
import { type Sql, sql } from "../base/sql.ts";
import type { Filters, QueryOf } from "../contract/types.ts";
import { milesFrom, neededOrigin } from "./geography.ts";

export type Sort = QueryOf<"searchListings">["sort"];

/** What listings are ordered by: a value of at most 31 bits, its direction, and what has to be joined to the listings for it. */
export interface Order {
  readonly value: Sql;
  readonly isDescending: boolean;
  readonly beside: Sql;
}

/** Seconds since 1990: 31 bits reach to 2058. */
const listedAt = sql`greatest(0, epoch(listed_at)::BIGINT - 631152000)`;
/** In ten-thousandths, as it is served; -1 is the least that there can be. */
const discount = sql`(discount_from_msrp * 10000)::BIGINT + 10000`;

const ascending = (value: Sql): Order => ({ value, isDescending: false, beside: sql`` });
const descending = (value: Sql): Order => ({ value, isDescending: true, beside: sql`` });

const orders: Readonly<Record<Exclude<Sort, "distance">, Order>> = {
  days_on_market: ascending(sql`days_on_market`),
  "-days_on_market": descending(sql`days_on_market`),
  listed_at: ascending(listedAt),
  "-listed_at": descending(listedAt),
  price: ascending(sql`price`),
  "-price": descending(sql`price`),
  miles: ascending(sql`miles`),
  "-miles": descending(sql`miles`),
  msrp: ascending(sql`msrp`),
  "-msrp": descending(sql`msrp`),
  discount: ascending(discount),
  "-discount": descending(discount),
};

/** The order of a sort; `distance` needs an origin, and refuses a request without one. */
export function orderOf({ sort, ...query }: Filters & { readonly sort: Sort }): Order {
  if (sort !== "distance") return orders[sort];
  const thousandths = sql`round(1000 * ${milesFrom(neededOrigin(query, "sort=distance"))})::BIGINT`;
  return {
    ...ascending(sql`thousandths_of_a_mile`),
    beside: sql`JOIN (SELECT dealer_key, ${thousandths} AS thousandths_of_a_mile FROM dealers) USING (dealer_key)`,
  };
}

/** An order as a list of terms, for ORDER BY. */
export const inOrder = ({ value, isDescending }: Order): Sql =>
  sql`${value} ${isDescending ? sql`DESC` : sql`ASC`} NULLS LAST, row_number`;

const last = 2 ** 31 - 1;

/** The same order as one BIGINT, the value before the place in the partition. */
export const placeIn = ({ value, isDescending }: Order): Sql =>
  sql`(coalesce(${isDescending ? sql`${last - 1} - (${value})` : value}, ${last})::BIGINT << 32) + row_number`;

/**
 * What listings are ordered by: values that order exactly as what is served, unknown ones last in both directions. Ties go by the
 * partition's own order.
 */

import { type Sql, sql } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";

/** An order that is the same for every request. */
export type OrderName = Exclude<QueryOf<"searchListings">["sort"], "distance">;

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

export const ascending = (value: Sql): Order => ({ value, isDescending: false, beside: sql`` });
const descending = (value: Sql): Order => ({ value, isDescending: true, beside: sql`` });

export const orders: Readonly<Record<OrderName, Order>> = {
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

/** An order as a list of terms, for ORDER BY. */
export const inOrder = ({ value, isDescending }: Order): Sql =>
  sql`${value} ${isDescending ? sql`DESC` : sql`ASC`} NULLS LAST, row_number`;

const last = 2 ** 31 - 1;

/** The same order as one BIGINT, the value before the place in the partition. */
export const placeIn = ({ value, isDescending }: Order): Sql =>
  sql`(coalesce(${isDescending ? sql`${last - 1} - (${value})` : value}, ${last})::BIGINT << 32) + row_number`;

/**
 * Every sort, as a key of at most 31 bits that orders exactly as what is served; unknown values come last in both directions.
 * Ties go by the partition's own order.
 */
import { type Sql, sql } from "../base/sql.ts";
import type { Filters, QueryOf } from "../contract/types.ts";
import { milesFrom, neededOrigin } from "./geography.ts";

export type Sort = QueryOf<"searchListings">["sort"];

const last = 2 ** 31 - 1;

const ascending = (key: Sql): Sql => sql`coalesce(${key}, ${last})::BIGINT`;
const descending = (key: Sql): Sql => sql`coalesce(${last - 1} - (${key}), ${last})::BIGINT`;

/** Seconds since 1990: 31 bits reach to 2058. */
const listedAt = sql`greatest(0, epoch(listed_at)::BIGINT - 631152000)`;
/** In ten-thousandths, as it is served; -1 is the least that there can be. */
const discount = sql`(discount_from_msrp * 10000)::BIGINT + 10000`;

const keys: Readonly<Record<Exclude<Sort, "distance">, Sql>> = {
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

/** What listings are ordered by. */
export interface Order {
  readonly key: Sql;
  /** What has to be joined to the listings for it. */
  readonly beside: Sql;
}

/** The order of a sort; `distance` needs an origin, and refuses a request without one. */
export function orderOf({ sort, ...query }: Filters & { readonly sort: Sort }): Order {
  if (sort !== "distance") return { key: keys[sort], beside: sql`` };
  const thousandths = sql`round(1000 * ${milesFrom(neededOrigin(query, "sort=distance"))})::BIGINT`;
  return {
    key: ascending(sql`thousandths_of_a_mile`),
    beside: sql`JOIN (SELECT dealer_key, ${thousandths} AS thousandths_of_a_mile FROM dealers) USING (dealer_key)`,
  };
}

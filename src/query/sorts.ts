/** Sorts: the orders of listings, and the distance from an origin, which is another one for each request. */
import { sql } from "../base/sql.ts";
import type { Filters, QueryOf } from "../contract/types.ts";
import { ascending, type Order, orders } from "../lake/orders.ts";
import { isWithin, milesFrom, neededOrigin } from "./geography.ts";

export type Sort = QueryOf<"searchListings">["sort"];

/** The order of a sort; `distance` needs an origin, and refuses a request without one. */
export function orderOf({ sort, ...query }: Filters & { readonly sort: Sort }): Order {
  if (sort !== "distance") return orders[sort];
  const origin = neededOrigin(query, "sort=distance");
  const measured = query.radius === undefined ? sql`` : sql`WHERE ${isWithin(origin, query.radius)}`;
  return {
    ...ascending(sql`thousandths_of_a_mile`),
    beside: sql`
      JOIN (SELECT dealer_key, round(1000 * ${milesFrom(origin)})::BIGINT AS thousandths_of_a_mile FROM dealers ${measured})
      USING (dealer_key)`,
  };
}

/** Sorts: the orders of listings, and the distance from an origin, which is another one for each request. */
import { sql } from "../base/sql.ts";
import type { Filters, QueryOf } from "../contract/types.ts";
import { ascending, type Order, orders } from "../lake/orders.ts";
import { milesFrom, neededOrigin } from "./geography.ts";

export type Sort = QueryOf<"searchListings">["sort"];

/** The order of a sort; `distance` needs an origin, and refuses a request without one. */
export function orderOf({ sort, ...query }: Filters & { readonly sort: Sort }): Order {
  if (sort !== "distance") return orders[sort];
  const thousandths = sql`round(1000 * ${milesFrom(neededOrigin(query, "sort=distance"))})::BIGINT`;
  return {
    ...ascending(sql`thousandths_of_a_mile`),
    beside: sql`JOIN (SELECT dealer_key, ${thousandths} AS thousandths_of_a_mile FROM dealers) USING (dealer_key)`,
  };
}

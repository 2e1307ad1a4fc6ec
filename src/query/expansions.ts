/**
 * What `include` adds to a listing, as SQL expressions over flat rows that are named `listing`, by the words of `include`:
 * `SELECT ${expansions.options} AS options FROM (${flat(...)}) AS listing`. They are the same in searches and in details, never
 * null, and served as they are. They need the market's `options_by_make`.
 */
import { type Sql, sql } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";

export type Expansion = NonNullable<QueryOf<"getListing">["include"]>[number];

export const expansions: Readonly<Record<Expansion, Sql>> = {
  /** A list of `PriceHistoryItem`, in the order in which the price changed. */
  price_history: sql`list_transform(coalesce(listing.price_history, []), lambda change: {
    changed_at: strftime(change.changed_at, '%Y-%m-%dT%H:%M:%SZ'), miles: change.miles,
    price_before: change.price_before, price_after: change.price_after})`,

  /** A list of `Option`, in the order of their codes; codes of which the make says nothing are left out. */
  options: sql`coalesce(list_filter(
    (SELECT known.options FROM options_by_make AS known WHERE known.make = listing.make),
    lambda option: list_contains(listing.options_packages, option.code)), [])`,
};

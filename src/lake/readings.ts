/**
 * What is read of listings when they are served, on pages and in details alike: the values of the fact by name, in the form in which
 * they are served. Keys lead into `Dimensions`.
 */
import { columnsOf, join, name, type Sql, sql } from "../base/sql.ts";
import { JsonRowFormat } from "./json-row.ts";

const own = <Column extends string>(...columns: readonly Column[]): Readonly<Record<Column, Sql>> =>
  columnsOf("facts", columns);

/** Each value, as SQL over `facts`. */
export const readings = {
  ...own("id", "vin", "build_key", "dealer_key", "price", "miles", "base_msrp", "msrp"),
  discount_from_msrp: sql`facts.discount_from_msrp::DOUBLE`,
  ...own("exterior_color", "interior_color", "base_exterior_color", "base_interior_color"),
  ...own("inventory_type", "availability_status", "stock_number", "vdp_url", "vhr_url", "photo_urls"),
  ...own("window_sticker_verified", "features", "options_packages", "days_on_market", "pricing"),
  listed_at: sql`strftime(facts.listed_at, '%Y-%m-%dT%H:%M:%SZ')`,
  last_checked_at: sql`strftime(facts.last_checked_at, '%Y-%m-%d %H:%M:%S.%f')`,
  missing_since: sql`facts.missing_since::VARCHAR`,
  sold_date: sql`facts.sold_date::VARCHAR`,
  price_history: sql`list_transform(coalesce(facts.price_history, []), lambda change: {
    date: strftime(change.changed_at, '%Y-%m-%d'), price: change.price,
    changed_at: strftime(change.changed_at, '%Y-%m-%dT%H:%M:%SZ'),
    price_before: change.price_before, miles: change.miles})`,
} as const satisfies Record<string, Sql>;

export type Reading = keyof typeof readings;

/** Whole listings. */
export const listingRow = new JsonRowFormat(readings);

/** Some of them, to select from `facts`. */
export const readOf = (names: readonly Reading[]): Sql =>
  join(names.map((reading) => sql`${readings[reading]} AS ${name(reading)}`));

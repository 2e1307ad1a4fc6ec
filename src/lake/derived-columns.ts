/** Columns of listings that follow from their other columns: how the price has changed, and what sellers add to it. */
import { literal, type Sql, sql } from "../db/sql.ts";
import type { DerivedName } from "../listing/schema.ts";

/** The first known price of a listing. */
const firstPrice = sql`coalesce(price_history[1].price_before, price_history[1].price, price)`;

/** Unlike `greatest`, unknown if the price is. */
const priceDrop = sql`CASE WHEN price < ${firstPrice} THEN ${firstPrice} - price WHEN price IS NOT NULL THEN 0 END`;

/** Roles of line items that governments charge: no part of what a seller asks. */
const governmentRoles = literal("(^|_)(tax|taxes|title|registration|license|lien|government)(_|$)");

/** The line items that a seller adds for every shopper. */
const additions = sql`list_filter(pricing.line_items, lambda item: item.direction = 'add'
  AND lower(coalesce(item.applicability, 'all')) = 'all' AND NOT regexp_matches(lower(coalesce(item.role, '')), ${governmentRoles}))`;

const sellerFees = sql`CASE WHEN len(pricing.line_items) > 0
  THEN try_cast(round(coalesce(list_sum(list_transform(${additions}, lambda item: item.amount_usd)), 0)) AS INTEGER) END`;

const allInPrice = sql`coalesce(pricing.seller_total_before_manufacturer_incentives_usd,
  try_cast(pricing.dealer_adjusted_vehicle_price_usd::BIGINT + ${sellerFees} AS INTEGER))`;

/** The changes of a listing that lowered its price. */
export const priceDrops = sql`list_filter(coalesce(price_history, []), lambda change: change.price < change.price_before)`;

/** Each as SQL over the stored columns of a listing. */
export const derivedColumns: Readonly<Record<DerivedName, Sql>> = {
  price_at_listing: firstPrice,
  price_drop: priceDrop,
  price_drop_percent: sql`round(100 * (${priceDrop}) / nullif(${firstPrice}, 0), 2)`,
  price_drops: sql`len(${priceDrops})`,
  price_changed_at: sql`price_history[-1].changed_at`,
  seller_fees: sellerFees,
  all_in_price: allInPrice,
};

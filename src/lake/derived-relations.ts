/**
 * Files of a table as relations, and what follows from their columns: how a price has changed, what sellers add to it, and the relations that the service
 * derives when it opens a version. Every file has exactly the columns of its table.
 */
import { join as joinPath } from "node:path";
import { columnType, ident, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { wordsIn } from "../db/text-matching.ts";
import type { DerivedName } from "../listing/schema.ts";
import type { LakeFile } from "./manifest.ts";
import { type TableName, tableOf } from "./tables.ts";

/**
 * Returns the newest row of every dealer, with `listing_count` (its listings among the given ones, under any of its keys) and `words` (its
 * search terms, each preceded by a space).
 */
export const dealerProfiles = (listings: Sql): Sql => sql`
  SELECT newest.*, coalesce(listing_count, 0)::INTEGER AS listing_count,
         ' ' || array_to_string(${wordsIn(sql`concat_ws(' ', "name", website, city)`)}, ' ') AS words
  FROM (SELECT DISTINCT ON (dealer_id) * FROM dealers ORDER BY dealer_id, dealer_key DESC) AS newest
  LEFT JOIN (SELECT dealer_id, count(*) AS listing_count FROM (${listings}) JOIN dealers USING (dealer_key) GROUP BY dealer_id) AS counted
    USING (dealer_id)`;

/** Returns the rows of the options that listings have: the newest one of each code of a make, if it has a name and a price. */
export const pricedOptions = (options: Sql): Sql => sql`
  FROM (SELECT DISTINCT ON (make, code) * FROM (${options}) ORDER BY make, code, option_key DESC)
  WHERE "name" IS NOT NULL AND msrp IS NOT NULL`;

/** The rank of each build in the sort order of listings; equal for builds that do not differ in it. */
export const buildRanks = sql`
  SELECT build_key, dense_rank() OVER (ORDER BY make, model, year, trim)::INTEGER AS build_rank FROM builds`;

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
  // Rounded down, so that a bound of two decimals is compared with the exact number.
  price_drop_percent: sql`floor(10000 * (${priceDrop})::BIGINT / nullif(${firstPrice}, 0)) / 100`,
  price_drops: sql`len(${priceDrops})`,
  price_changed_at: sql`price_history[-1].changed_at`,
  seller_fees: sellerFees,
  all_in_price: allInPrice,
};

/** A column to read in addition to those of the table. */
type ExtraColumn = "file_row_number" | "partition";

/** Returns the rows of a table's files as a relation. Paths are relative to `folder`. */
export function rowsOfFiles(
  table: TableName,
  files: readonly Pick<LakeFile, "path">[],
  folder: string,
  extraColumn?: ExtraColumn,
): Sql {
  const { columns, partition = "partition" } = tableOf(table);
  const extra = extraColumn === "partition" ? partition : extraColumn;
  if (files.length === 0) {
    const typed = Object.entries(columns).map(([column, type]) => sql`NULL::${columnType(type)} AS ${ident(column)}`);
    const untyped = extra === undefined ? [] : [sql`NULL AS ${ident(extra)}`];
    return sql`SELECT ${join([...typed, ...untyped])} WHERE false`;
  }
  const names = [...Object.keys(columns), ...(extra === undefined ? [] : [extra])];
  const paths = files.map(({ path }) => pathLiteral(joinPath(folder, path)));
  const isNumbered = extraColumn === "file_row_number" ? sql`, file_row_number = true` : sql``;
  return sql`SELECT ${join(names.map((name) => ident(name)))} FROM read_parquet([${join(paths)}],
    hive_partitioning = ${literal(String(extraColumn === "partition"))}${isNumbered})`;
}

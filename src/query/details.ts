/**
 * A listing in full, for the details of a listing and of a VIN, its parts shaped as schemas `ListingDetail`, `LatestListing` and
 * `Build` have them (sections 2.2 to 2.5 of the specification).
 */
import { isRow, type Json, type Row, textIn } from "../base/json.ts";
import { join, name, type Sql, sql } from "../base/sql.ts";
import type { Market } from "../lake/market.ts";
import { type Expansion, expanded, expansionsRead } from "./expansions.ts";

/** A listing's own fields, its dealer and its build. */
export interface Detail {
  readonly vin: string;
  readonly build: Row;
  /** All else, with `id`. */
  readonly listing: Row;
}

type Columns = Readonly<Record<string, Sql>>;

const same = (...columns: readonly string[]): Columns =>
  Object.fromEntries(columns.map((column) => [column, name("listing", column)]));
const served = (columns: Columns): Sql =>
  join(Object.entries(columns).map(([column, value]) => sql`${value} AS ${name(column)}`));

/** What the fact tells of the listing. */
const own: Columns = {
  id: sql`replace(listing.id::VARCHAR, '-', '')`,
  ...same("vin", "price", "miles", "inventory_type", "stock_number", "vdp_url", "vhr_url"),
  photo_urls: sql`coalesce(listing.photo_urls, [])`,
  photo_url_primary: sql`listing.photo_urls[1]`,
  pricing: sql`listing.pricing`,
  inventory_date: sql`strftime(listing.listed_at, '%Y-%m-%d')`,
  sold_date: sql`listing.sold_date::VARCHAR`,
  last_checked_at: sql`strftime(listing.last_checked_at, '%Y-%m-%d %H:%M:%S.%f')`,
};

/** What the fact tells of the vehicle. */
const ofVehicle: Columns = {
  ...same("exterior_color", "interior_color", "base_exterior_color", "base_interior_color"),
  window_sticker_verified: sql`coalesce(listing.window_sticker_verified, false)`,
  base_msrp: name("listing", "base_msrp"),
  combined_msrp: name("listing", "msrp"),
};

/** The columns of schema `Build`, in its order; `options` comes after them. */
const build = ["year", "make", "model", "trim", "version", "body_type", "drivetrain", "fuel_type", "powertrain_type"]
  .concat(["transmission", "engine", "cylinders", "doors", "seating_capacity"])
  .concat(["exterior_color", "interior_color", "base_exterior_color", "base_interior_color", "assembly_location"])
  .concat(["window_sticker_verified", "base_msrp", "combined_msrp"]);

const dealer = ["dealer_id", "name", "city", "state", "postal_code", "latitude", "longitude", "phone"];

/** The detail of a listing, given as a relation of the star that has it alone, or nothing; `include` adds what it names. */
export async function detailOf(
  listings: Sql,
  include: readonly Expansion[] = [],
  market: Market,
): Promise<Detail | undefined> {
  const { dimensions } = market;
  const values = [served(own), served(ofVehicle), sql`listing.build_key`, sql`listing.dealer_key`];
  const [fact] = await market.rows(sql`
    SELECT ${join([...values, ...expansionsRead(include)])}
    FROM (${listings}) AS listing`);
  if (fact === undefined) return undefined;
  const star = { ...dimensions.buildOf(fact), ...fact };
  const added = (expansion: Expansion): Row =>
    include.includes(expansion) ? { [expansion]: expanded(expansion, fact, star, dimensions) } : {};
  return {
    vin: textIn(fact, "vin"),
    build: { ...pick(star, build), ...added("options") },
    listing: {
      ...pick(fact, Object.keys(own)),
      pricing: pricingOf(fact),
      dealer: pick(dimensions.dealerOf(fact), dealer),
      price_history: [],
      ...added("price_history"),
    },
  };
}

/** A provider's pricing with its rows as they were shown, in their order; what a row lacks is unknown, but its place is not. */
function pricingOf({ pricing }: Row): Json {
  if (!isRow(pricing)) return null;
  const lines = Array.isArray(pricing.line_items) ? pricing.line_items.filter(isRow) : [];
  const shown = lines.map((line, place) => ({ ...line, row_order: line.row_order ?? place + 1 }));
  return { ...pricing, line_items: shown };
}

/** Some columns of a row, in the order in which they are named. */
const pick = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.map((column): [string, Json] => [column, row[column] ?? null]));

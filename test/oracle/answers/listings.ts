/** Listing search, slow and plain: every listing is looked at, and everything is done in the order in which it is said. */

import { numberOf, plain, type Query, queryValues } from "../random-requests/query.ts";
import { filterOf } from "./filters.ts";
import { distanceOf, oracleOrigin } from "./geography.ts";
import { compare, type FlatListing, type Market, optionKey } from "./market.ts";

export interface Found {
  readonly pagination: Readonly<Record<"limit" | "offset" | "total", number>> & { readonly next_offset: number | null };
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

export const defaultFields = [
  "id",
  "vin",
  "year",
  "make",
  "model",
  "trim",
  "version",
  "body_type",
  "drivetrain",
  "fuel_type",
  "powertrain_type",
  "transmission",
  "engine",
  "cylinders",
  "doors",
  "seating_capacity",
  "exterior_color",
  "interior_color",
  "base_exterior_color",
  "base_interior_color",
  "msrp",
  "discount_from_msrp",
  "price",
  "miles",
  "days_on_market",
  "listed_at",
  "status",
  "inventory_status",
  "availability_status",
  "inventory_type",
  "stock_number",
  "vdp_url",
  "sold_date",
  "dealer_id",
  "dealer_name",
  "dealer_type",
  "city",
  "state",
  "postal_code",
  "latitude",
  "longitude",
  "distance_miles",
  "photo_urls",
] as const;
const rarerFields = ["features", "options_packages"] as const;

/** All that `fields` may name, but for `default`. */
export const fields: readonly Field[] = [...defaultFields, ...rarerFields];

type Field = (typeof defaultFields)[number] | (typeof rarerFields)[number];

/** Answers a valid query of either path: how many listings match, and the fields of those on its page. */
export function oracleSearch(market: Market, query: Query): Found {
  const listings = matching(market, query);
  const sorted = listings.toSorted(orderOf(query, market));
  const limit = numberOf(query, "limit") ?? numberOf(query, "per_page") ?? 50;
  const offset = numberOf(query, "offset") ?? ((numberOf(query, "page") ?? 1) - 1) * limit;
  const total = listings.length;
  return {
    pagination: { limit, offset, total, next_offset: offset + limit < total ? offset + limit : null },
    data: sorted.slice(offset, offset + limit).map((listing) => present(listing, query, market)),
  };
}

/** The listings that a query's mode and filters let through, in the inventory's own order. */
export function matching(market: Market, query: Query): readonly FlatListing[] {
  return inventoryOf(market, query).filter(filterOf(query, market));
}

/** The listings that are searched: today's, a past day's, or those sold. */
function inventoryOf(market: Market, query: Query): readonly FlatListing[] {
  const day = query.get("snapshot_date");
  if (day !== undefined) return market.snapshots.get(plain(day)) ?? [];
  const isSold = query.has("sold_within_days") || queryValues(query.get("inventory_status")).includes("sold");
  return isSold ? market.sold : market.active;
}

type Key = (listing: FlatListing) => number | null;

/** Sorting is stable, so ties keep the order of the inventory. */
function orderOf(query: Query, { zips }: Market): (one: FlatListing, other: FlatListing) => number {
  const origin = oracleOrigin(query, zips);
  const keys: Readonly<Record<string, Key>> = {
    days_on_market: ({ days_on_market }) => days_on_market,
    listed_at: ({ listed_at }) => (listed_at === null ? null : Date.parse(listed_at)),
    price: ({ price }) => price,
    miles: ({ miles }) => miles,
    msrp: ({ msrp }) => msrp,
    discount: discountOf,
    distance: (listing) => {
      const miles = distanceOf(listing, origin);
      return miles === null ? null : Math.round(miles * 1000);
    },
  };
  const [sort = "days_on_market"] = queryValues(query.get("sort"));
  const key = keys[sort.replace(/^-/, "")];
  if (key === undefined) throw new TypeError(`There is no order ${sort}.`);
  return (one, other) => {
    const [left, right] = [key(one), key(other)];
    return left === null || right === null || !sort.startsWith("-") ? compare(left, right) : compare(right, left);
  };
}

/** The signed fraction of the MSRP in ten-thousandths: -0.12 is 12% below. */
export function discountOf({ price, msrp }: FlatListing): number | null {
  if (price === null || msrp === null || msrp === 0) return null;
  const fraction = (10_000 * (price - msrp)) / msrp;
  const rounded = Math.sign(fraction) * Math.round(Math.abs(fraction));
  return (rounded === 0 ? 0 : rounded) / 10_000;
}

function present(listing: FlatListing, query: Query, market: Market): Readonly<Record<string, unknown>> {
  const miles = distanceOf(listing, oracleOrigin(query, market.zips));
  const record: Readonly<Record<Field | "price_history" | "options", unknown>> = {
    ...listing,
    inventory_status: listing.status,
    discount_from_msrp: discountOf(listing),
    distance_miles: miles === null ? null : Math.round(miles * 10) / 10,
    options: listing.options_packages.flatMap((code) => market.options.get(optionKey(listing.make, code)) ?? []),
  };
  const asked = queryValues(query.get("fields") ?? "default").flatMap((name) =>
    name === "default" ? defaultFields : name,
  );
  const names = new Set<string>(["id", "vin", ...asked, ...queryValues(query.get("include"))]);
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

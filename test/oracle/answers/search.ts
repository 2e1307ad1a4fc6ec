/** Oracle of listing search: scans every listing, step by step. */
import { vocabulary } from "../../../src/contract/document.ts";
import { extensionNames, ratings } from "../../../src/listing/schema.ts";
import { decodeValue, numberOf, type Query, queryValues } from "../random-requests/query.ts";
import { filterOf } from "./filters.ts";
import { distanceOf, oracleOrigin } from "./geography.ts";
import { compare, type FlatListing, type OracleInventory, optionKey } from "./inventory.ts";

export interface OraclePage {
  readonly pagination: Readonly<Record<"limit" | "offset" | "total", number>> & { readonly next_offset: number | null };
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const ratingNames: readonly string[] = ratings;

const fieldValues = vocabulary("searchListings", "fields");
type Field = Exclude<(typeof fieldValues)[number], "default">;

/** All values of `fields` except `default`. */
export const fields = fieldValues.filter((name): name is Field => name !== "default");

/** Fields that are served only if a request names them. */
const requestedFields: readonly string[] = ["features", "options_packages", "keywords", ...extensionNames];
const defaultFields = fields.filter((name) => !requestedFields.includes(name));

/** Answers a valid query of either search: the total, and the requested fields of a page. */
export function oracleSearch(inventory: OracleInventory, query: Query): OraclePage {
  const listings = matchingListings(inventory, query);
  const sorted = listings.toSorted(orderOf(query, inventory));
  const limit = numberOf(query, "limit") ?? numberOf(query, "per_page") ?? 50;
  const offset = numberOf(query, "offset") ?? ((numberOf(query, "page") ?? 1) - 1) * limit;
  const total = listings.length;
  return {
    pagination: { limit, offset, total, next_offset: offset + limit < total ? offset + limit : null },
    data: sorted.slice(offset, offset + limit).map((listing) => present(listing, query, inventory)),
  };
}

/** Returns the listings that match a query's mode and filters, in the partition's order. */
export function matchingListings(inventory: OracleInventory, query: Query): readonly FlatListing[] {
  return searchedListings(inventory, query).filter(filterOf(query, inventory));
}

/** Returns the searched listings: of the as-of date, of a past day, or sold. */
function searchedListings(inventory: OracleInventory, query: Query): readonly FlatListing[] {
  const day = query.get("snapshot_date");
  if (day !== undefined) return inventory.snapshots.get(decodeValue(day)) ?? [];
  const isSold = query.has("sold_within_days") || queryValues(query.get("inventory_status")).includes("sold");
  return isSold ? inventory.sold : inventory.active;
}

type Key = (listing: FlatListing) => number | null;

/** Returns the order of a query. Sorting is stable, so ties keep the partition's order. */
function orderOf(query: Query, { zips }: OracleInventory): (one: FlatListing, other: FlatListing) => number {
  const origin = oracleOrigin(query, zips);
  const keys: Readonly<Record<string, Key>> = {
    days_on_market: ({ days_on_market }) => days_on_market,
    listed_at: ({ listed_at }) => (listed_at === null ? null : Date.parse(listed_at)),
    price: ({ price }) => price,
    miles: ({ miles }) => miles,
    msrp: ({ msrp }) => msrp,
    discount: (listing) => (discountOf(listing) === null ? null : Number(listing.price) / Number(listing.msrp)),
    // A rated price is at most twice its value.
    value: ({ price, market_value, value_rating }) =>
      value_rating === null ? null : 10 * ratingNames.indexOf(value_rating) + Number(price) / Number(market_value),
    price_drop: ({ price_drop }) => price_drop,
    all_in_price: ({ all_in_price }) => all_in_price,
    distance: (listing) => {
      const miles = distanceOf(listing, origin);
      return miles === null ? null : Math.round(miles * 1000);
    },
  };
  const [sort = "days_on_market"] = queryValues(query.get("sort"));
  const key = keys[sort.replace(/^-/, "")];
  if (key === undefined) throw new TypeError(`Unknown sort ${sort}.`);
  return (one, other) => {
    const left = key(one);
    const right = key(other);
    return left === null || right === null || !sort.startsWith("-") ? compare(left, right) : compare(right, left);
  };
}

/** Returns (price - MSRP) / MSRP to four decimals: -0.12 is 12 % below. */
export function discountOf({ price, msrp }: FlatListing): number | null {
  if (price === null || msrp === null || msrp === 0) return null;
  const fraction = (10_000 * (price - msrp)) / msrp;
  const rounded = Math.sign(fraction) * Math.round(Math.abs(fraction));
  return (rounded === 0 ? 0 : rounded) / 10_000;
}

function present(listing: FlatListing, query: Query, inventory: OracleInventory): Readonly<Record<string, unknown>> {
  const miles = distanceOf(listing, oracleOrigin(query, inventory.zips));
  const record: Readonly<Record<Field | "price_history" | "options", unknown>> = {
    ...listing,
    inventory_status: listing.status,
    discount_from_msrp: discountOf(listing),
    distance_miles: miles === null ? null : Math.round(miles * 10) / 10,
    options: listing.options_packages.flatMap((code) => inventory.options.get(optionKey(listing.make, code)) ?? []),
  };
  const requested = queryValues(query.get("fields") ?? "default").flatMap((name) =>
    name === "default" ? defaultFields : name,
  );
  const names = new Set<string>(["id", "vin", ...requested, ...queryValues(query.get("include"))]);
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

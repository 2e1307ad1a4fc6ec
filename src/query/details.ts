/**
 * A listing in full, for the details of a listing and of a VIN, its parts shaped as schemas `ListingDetail`, `LatestListing` and
 * `Build` have them (sections 2.2 to 2.5 of the specification).
 */
import { isRow, type Json, type Row, textIn } from "../base/json.ts";
import type { Reading } from "../lake/readings.ts";
import { buildRow, type Dimensions, dealerRow } from "../serving/dimensions.ts";
import { type Expansion, expanded, readingOf } from "./expansions.ts";

/** A listing's own fields, its dealer and its build. */
export interface Detail {
  readonly vin: string;
  readonly build: Row;
  /** All else, with `id`. */
  readonly listing: Row;
}

/** What is read of a listing for its detail. */
export function detailReadings(include: readonly Expansion[] = []): readonly Reading[] {
  return [...new Set([...read, ...include.map((expansion) => readingOf[expansion])])];
}

const read: readonly Reading[] = [
  ...(["build_key", "dealer_key", "id", "vin", "price", "miles", "inventory_type", "stock_number"] as const),
  ...(["vdp_url", "vhr_url", "photo_urls", "pricing", "listed_at", "sold_date", "last_checked_at"] as const),
  ...(["exterior_color", "interior_color", "base_exterior_color", "base_interior_color"] as const),
  ...(["window_sticker_verified", "base_msrp", "msrp"] as const),
];

/** The columns of schema `Build`, in its order; `options` comes after them. */
const build = ["year", "make", "model", "trim", "version", "body_type", "drivetrain", "fuel_type", "powertrain_type"]
  .concat(["transmission", "engine", "cylinders", "doors", "seating_capacity"])
  .concat(["exterior_color", "interior_color", "base_exterior_color", "base_interior_color", "assembly_location"])
  .concat(["window_sticker_verified", "base_msrp", "combined_msrp"]);

const dealer = ["dealer_id", "name", "city", "state", "postal_code", "latitude", "longitude", "phone"];

/** The detail of a listing, given what `detailReadings` had read of it; `include` adds what it names. */
export function detailOf(fact: Row, include: readonly Expansion[] = [], dimensions: Dimensions): Detail {
  const vehicle: Row = {
    ...{ ...buildRow.decode(dimensions.buildOf(fact.build_key)), ...fact },
    ...{ window_sticker_verified: fact.window_sticker_verified ?? false, combined_msrp: fact.msrp ?? null },
  };
  const added = (expansion: Expansion): Row =>
    include.includes(expansion)
      ? { [expansion]: expanded(expansion, fact[readingOf[expansion]], vehicle.make, dimensions) }
      : {};
  return {
    vin: textIn(fact, "vin"),
    build: { ...pick(vehicle, build), ...added("options") },
    listing: {
      ...ownOf(fact),
      dealer: pick(dealerRow.decode(dimensions.dealerOf(fact.dealer_key)), dealer),
      price_history: [],
      ...added("price_history"),
    },
  };
}

/** What the listing itself tells. */
function ownOf(fact: Row): Row {
  const photos = Array.isArray(fact.photo_urls) ? fact.photo_urls : [];
  return {
    ...pick(fact, ["id", "vin", "price", "miles", "inventory_type", "stock_number", "vdp_url", "vhr_url"]),
    photo_urls: photos,
    photo_url_primary: photos[0] ?? null,
    pricing: pricingOf(fact),
    inventory_date: typeof fact.listed_at === "string" ? fact.listed_at.slice(0, "YYYY-MM-DD".length) : null,
    ...pick(fact, ["sold_date", "last_checked_at"]),
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

/** Oracle of the metrics of facets and groups. */
import { type Query, queryValues } from "../random-requests/query.ts";
import { filterOf } from "./filters.ts";
import type { FlatListing, OracleInventory } from "./inventory.ts";
import { discountOf, matchingListings } from "./search.ts";
import { aggregateOf, ascending } from "./statistics.ts";

/** A bucket with fewer listings has no metric. */
export const sampleListingsMin = 10;
const saleDays = 30;

export interface Metric {
  readonly name: string;
  readonly value: number | null;
  readonly sample: number;
  readonly null_reason?: "insufficient_sample" | "no_values" | "no_data";
}

/** The matching listings, and the matching sales of the days before. */
export interface Population {
  readonly listings: readonly FlatListing[];
  readonly sold: readonly FlatListing[];
  /** Whether there was a snapshot before the first day of sales, or on it. */
  readonly hasSales: boolean;
}

/** Returns what a query of active listings finds, and the listings sold on its day or in the 29 days before. */
export function populationOf(inventory: OracleInventory, query: Query): Population {
  const day = decodeURIComponent(query.get("snapshot_date") ?? inventory.asOf);
  const [from] = [day].map((last) =>
    new Date(Date.parse(last) - 86_400_000 * (saleDays - 1)).toISOString().slice(0, 10),
  );
  const isMatch = filterOf(query, inventory);
  return {
    listings: matchingListings(inventory, query),
    sold: inventory.sold.filter(
      (listing) =>
        listing.sold_on_record !== null &&
        listing.sold_on_record >= (from ?? "") &&
        listing.sold_on_record <= day &&
        isMatch(listing),
    ),
    hasSales: [...inventory.snapshots.keys()].some((snapshot) => snapshot <= (from ?? "")),
  };
}

/** Returns a metric of some listings: no known value, too few, or the aggregate of the known values. */
export function oracleMetric(name: string, { listings, sold, hasSales }: Population): Metric {
  const [measure = "", aggregate = ""] = name.split(".");
  if (measure === "days_supply" || measure === "sell_through") {
    if (!hasSales) return { name, value: null, sample: 0, null_reason: "no_data" };
    return measure === "days_supply"
      ? daysSupplyOf(listings.length, sold.length)
      : sellThroughOf(listings.length, sold.length);
  }
  const known = knownOf(listings, measure);
  const sample = known.length;
  if (listings.length >= sampleListingsMin && sample === 0)
    return { name, value: null, sample, null_reason: "no_values" };
  if (sample < sampleListingsMin) return { name, value: null, sample, null_reason: "insufficient_sample" };
  return { name, value: aggregateOf(aggregate, known), sample };
}

function daysSupplyOf(active: number, sold: number): Metric {
  const name = "days_supply";
  if (active < sampleListingsMin) return { name, value: null, sample: sold, null_reason: "insufficient_sample" };
  if (sold === 0) return { name, value: null, sample: 0, null_reason: "no_values" };
  return { name, value: Math.round((100 * active * saleDays) / sold) / 100, sample: sold };
}

function sellThroughOf(active: number, sold: number): Metric {
  const name = "sell_through";
  const sample = active + sold;
  if (sample < sampleListingsMin) return { name, value: null, sample, null_reason: "insufficient_sample" };
  return { name, value: Math.round((10_000 * sold) / sample) / 10_000, sample };
}

/** Returns the names in `meta.definitions`, if any. */
export function definedOf(metrics: readonly string[]): { readonly definitions?: readonly string[] } {
  const defined = metrics.filter((name) => !name.includes("."));
  return defined.length === 0 ? {} : { definitions: defined };
}

/** Returns the known values of a measure in ascending order. */
export function knownOf(listings: readonly FlatListing[], measure: string): readonly number[] {
  return ascending(listings.flatMap((listing) => measured(listing, measure)));
}

/** Returns a listing's value of a measure, or nothing if it is unknown. */
function measured(listing: FlatListing, measure: string): readonly number[] {
  const value = measure === "discount_from_msrp" ? discountOf(listing) : listing[measure as "price"];
  return value === null ? [] : [value];
}

/** Returns the requested metrics. */
export const metricNames = (query: Query): readonly string[] => [...new Set(queryValues(query.get("metric")))];

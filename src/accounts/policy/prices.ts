/** What a request costs (section 8.3 of the specification): its usage class from one table, the class's price from another. */
import { createHash } from "node:crypto";
import type { OperationId, QueryOf } from "../../contract/types.ts";

/** The usage classes, as the document has them. */
export type UsageClass = NonNullable<QueryOf<"getUsage">["metering_class"]>[number];

/** Micros for a successful request. */
export const prices: Readonly<Record<UsageClass, number>> = {
  listing_search: 2_000,
  listing_search_historical: 4_000,
  listing_search_dealer_filtered: 3_000,
  listing_search_dealer_filtered_historical: 6_000,
  dealer_inventory_search: 3_000,
  dealer_inventory_search_historical: 6_000,
  listing_search_enriched: 40_000,
  facet_counts: 3_000,
  facet_counts_historical: 6_000,
  vehicle_detail: 3_000,
  vehicle_detail_enriched: 8_000,
  dealer_lookup: 1_000,
};

/** Names the price list; another list has another name. */
export const pricingVersion = nameOf(prices);

function nameOf(list: object): string {
  const hex = createHash("sha256").update(JSON.stringify(list)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** The operations that are paid for. */
export type MeteredId = Exclude<OperationId, "getUsage" | "getDocument">;

type Classes = readonly [
  plain: UsageClass,
  historical: UsageClass,
  dealerFiltered: UsageClass,
  dealerFilteredHistorical: UsageClass,
  enriched: UsageClass,
];

const search: Classes = [
  "listing_search",
  "listing_search_historical",
  "listing_search_dealer_filtered",
  "listing_search_dealer_filtered_historical",
  "listing_search_enriched",
];
const detail: Classes = [
  "vehicle_detail",
  "vehicle_detail",
  "vehicle_detail",
  "vehicle_detail",
  "vehicle_detail_enriched",
];
const inventory = ["dealer_inventory_search", "dealer_inventory_search_historical"] as const;
const facets = ["facet_counts", "facet_counts_historical"] as const;
const lookup = "dealer_lookup";

// biome-ignore format: a table is read by its columns
const classes: Readonly<Record<MeteredId, Classes>> = {
  //                     as it is   historical    dealer_id  both          include, whatever else applies
  searchListings:       search,
  searchListingsByPage: search,
  searchDealerListings: [...inventory,           ...inventory,             "listing_search_enriched"],
  getFacets:            [...facets,              ...facets,                "facet_counts"],
  getListing:           detail,
  getVin:               detail,
  searchDealers:        [lookup,    lookup,       lookup,    lookup,        lookup],
  getDealer:            [lookup,    lookup,       lookup,    lookup,        lookup],
};

/** The parameters that a price depends on. */
interface Priced {
  readonly inventory_status?: unknown;
  readonly sold_within_days?: unknown;
  readonly snapshot_date?: unknown;
  readonly dealer_id?: unknown;
  readonly include?: unknown;
}

/** The usage class of a validated request. */
export function usageClassOf(id: MeteredId, query: Priced): UsageClass {
  const [plain, historical, dealerFiltered, dealerFilteredHistorical, enriched] = classes[id];
  const isHistorical =
    query.inventory_status === "sold" || query.sold_within_days !== undefined || query.snapshot_date !== undefined;
  if (query.include !== undefined) return enriched;
  if (query.dealer_id !== undefined) return isHistorical ? dealerFilteredHistorical : dealerFiltered;
  return isHistorical ? historical : plain;
}

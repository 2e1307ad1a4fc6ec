/** Prices: one table maps an operation and its parameters to a usage class, another maps the class to micros. */
import { createHash } from "node:crypto";
import type { OperationId, QueryOf } from "../../contract/types.ts";
import { type PricingParameters, priceVariantOf } from "./price-variant.ts";

/** The usage classes: the values of the parameter `metering_class` in `schemas/openapi.yaml`. */
export type UsageClass = NonNullable<QueryOf<"getUsage">["metering_class"]>[number];

/** The price list: micros per successful request; of exports, per started `exportUnitRows` rows; of SQL, per started second. */
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
  trend_series: 20_000,
  vehicle_detail: 3_000,
  vehicle_detail_enriched: 8_000,
  dealer_lookup: 1_000,
  suggestion: 100,
  comparables: 5_000,
  valuations: 10_000,
  depreciation: 10_000,
  listing_changes: 5_000,
  evidence: 10_000,
  dealer_fit: 10_000,
  listing_export: 10_000,
  listing_export_historical: 20_000,
  listing_export_enriched: 200_000,
  sql_statement: 10_000,
};

/** How many rows of an export are priced together. */
export const exportUnitRows = 1_000;

/** Returns how often the price of an export is charged. An export without rows costs as much as one of a single row. */
export const exportUnits = (rows: number): number => Math.max(1, Math.ceil(rows / exportUnitRows));

/** The id of the price list: a UUID derived from its content. */
export const pricingVersion = uuidOf(prices);

function uuidOf(priceList: object): string {
  const hex = createHash("sha256").update(JSON.stringify(priceList)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

export type MeteredId = Exclude<OperationId, AccountOperationId | "getDocument">;

/** The operations about the calling account, which are never charged. */
export type AccountOperationId =
  | "getUsage"
  | "listSearches"
  | "createSearch"
  | "deleteSearch"
  | "resumeSearch"
  | "rotateSearchSecret";

/** The classes of which a request can be charged several units: thousands of rows, or seconds. */
export const unitClasses: readonly UsageClass[] = [
  "listing_export",
  "listing_export_historical",
  "listing_export_enriched",
  "sql_statement",
];

/** The usage classes of an operation, in the order of `PriceVariant`. The last one, of `include`, takes precedence. */
type OperationClasses = readonly [
  plain: UsageClass,
  historical: UsageClass,
  dealerFiltered: UsageClass,
  dealerFilteredHistorical: UsageClass,
  enriched?: UsageClass | undefined,
];

const always = (plain: UsageClass, enriched?: UsageClass): OperationClasses => [plain, plain, plain, plain, enriched];

/** Classes that do not depend on a dealer. */
const byAge = (plain: UsageClass, historical: UsageClass, enriched?: UsageClass): OperationClasses => [
  plain,
  historical,
  plain,
  historical,
  enriched,
];

const search: OperationClasses = [
  "listing_search",
  "listing_search_historical",
  "listing_search_dealer_filtered",
  "listing_search_dealer_filtered_historical",
  "listing_search_enriched",
];

const classes: Readonly<Record<MeteredId, OperationClasses>> = {
  searchListings: search,
  searchListingsByPage: search,
  searchDealerListings: byAge("dealer_inventory_search", "dealer_inventory_search_historical"),
  exportListings: byAge("listing_export", "listing_export_historical", "listing_export_enriched"),
  getFacets: byAge("facet_counts", "facet_counts_historical"),
  getGroups: byAge("facet_counts", "facet_counts_historical"),
  getTrends: always("trend_series"),
  suggestFilters: always("suggestion"),
  interpretQuestion: always("suggestion"),
  getListingComparables: always("comparables"),
  findComparables: always("comparables"),
  valueVehicles: always("valuations"),
  getDepreciation: always("depreciation"),
  listChanges: always("listing_changes"),
  getListing: always("vehicle_detail", "vehicle_detail_enriched"),
  getVin: always("vehicle_detail", "vehicle_detail_enriched"),
  getEvidence: always("evidence"),
  findFittingDealers: always("dealer_fit"),
  findFittingModels: always("dealer_fit"),
  searchDealers: always("dealer_lookup"),
  getDealer: always("dealer_lookup"),
  runSql: always("sql_statement"),
};

export const isMetered = (id: OperationId): id is MeteredId => Object.hasOwn(classes, id);

/** Returns the prices that requests of an operation can have, in micros. */
export const pricesOf = (id: MeteredId): readonly number[] =>
  classes[id].filter((usageClass) => usageClass !== undefined).map((usageClass) => prices[usageClass]);

/** Returns the usage classes that requests of an operation can have, by their price variant. */
export const usageClassesOf = (id: MeteredId): readonly (UsageClass | undefined)[] => classes[id];

export function usageClassOf(id: MeteredId, query: PricingParameters): UsageClass {
  const [plain, ...others] = classes[id];
  return others[priceVariantOf(query, classes[id][4] !== undefined) - 1] ?? plain;
}

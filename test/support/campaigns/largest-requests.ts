/** The largest requests of each operation that the document allows: pages of the most rows with all fields, in each format, lists as long as they may be. */
import assert from "node:assert/strict";
import { operation, vocabulary } from "../../../src/contract/document.ts";
import type { AnswerOf, OperationId } from "../../../src/contract/types.ts";
import { facetAggregates } from "../../oracle/answers/statistics.ts";
import { expensiveRequests } from "./fairness.ts";

/** A request; the body is sent as JSON by POST. */
export interface LargestRequest {
  readonly what: string;
  readonly path: string;
  readonly body?: object;
  readonly method?: string;
}

/** What requests name. */
export interface LargestContext {
  readonly listings: AnswerOf<"searchListings">["data"];
  readonly pastDay: string;
  /** The oldest version, which is kept. */
  readonly since: string;
  /** Ids of saved searches. */
  readonly searches: readonly string[];
  /** Differs between repetitions: neither a response cache nor an idempotent repetition answers them. */
  readonly nonce: number;
}

/** Returns the greatest value of an integer parameter. */
const maxOf = (id: OperationId, parameter: string): number =>
  operation(id).parameters.find(({ name }) => name === parameter)?.schema.maximum ?? assert.fail(`${id} ${parameter}`);

const allOf = (id: "searchListings" | "exportListings"): string => vocabulary(id, "fields").join();
const formats = ["json", "csv", "ndjson", "arrow", "parquet"] as const;
const metrics = facetAggregates.map((aggregate) => `price.${aggregate}`).slice(0, 5);

type Requests = (context: LargestContext) => Readonly<Record<string, string | LargestRequest>>;

const inFormats = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(formats.map((format) => [format, `${path}&format=${format}`]));

const page = (path: string, id: "searchListings" | "searchDealerListings" | "searchListingsByPage", nonce: number) => {
  const limit = `${id === "searchListingsByPage" ? "per_page" : "limit"}=100`;
  return `${path}?${limit}&fields=${allOf("searchListings")}&include=price_history,options&min_price=${nonce}`;
};

const first = ({ listings }: LargestContext) => listings[0] ?? assert.fail("no listings");
const vins = ({ listings }: LargestContext): string => listings.flatMap(({ vin }) => vin ?? []).join();
const longText = "used awd toyota rav4 hybrid under 25k with sunroof and leather within 50 miles of 94110 ".repeat(3);

/** The largest requests, by operation and by what they ask for. */
const requests = {
  searchListings: (of) => ({
    ...inFormats(page("/v1/listings", "searchListings", of.nonce)),
    "a past day": `${page("/v1/listings", "searchListings", of.nonce)}&snapshot_date=${of.pastDay}&offset=100000`,
    ...worst(of, "/v1/listings?"),
  }),
  searchListingsByPage: (of) => ({ json: page("/v1/listings/search", "searchListingsByPage", of.nonce) }),
  getListing: (of) => ({ json: `/v1/listings/${first(of).id}?include=price_history,options` }),
  getVin: (of) => ({ json: `/v1/vins/${first(of).vin}?include=price_history,options` }),
  getEvidence: (of) => ({ json: `/v1/vins/${first(of).vin}/evidence?limit=${maxOf("getEvidence", "limit")}` }),
  findFittingDealers: (of) => ({
    json: `/v1/vins/${first(of).vin}/dealer-fit?limit=${maxOf("findFittingDealers", "limit")}`,
  }),
  getListingComparables: (of) => ({
    json: `/v1/listings/${first(of).id}/comparables?limit=${maxOf("getListingComparables", "limit")}`,
  }),
  findComparables: (of) => ({
    json: `/v1/comparables?make=Ford&model=F-150&year=2022&miles=${10_000 + of.nonce}&limit=${maxOf("findComparables", "limit")}`,
  }),
  valueVehicles: (of) => ({ json: `/v1/valuations?vin=${vins(of)}` }),
  getDepreciation: ({ nonce }) => ({
    "by age": `/v1/depreciation?make=Ford&model=F-150&min_price=${nonce}`,
    "by miles": `/v1/depreciation?make=Ford&model=F-150&by=miles&min_price=${nonce}`,
  }),
  suggestFilters: ({ nonce }) => ({
    "a letter": `/v1/suggest?q=${String.fromCharCode(97 + (nonce % 26))}&limit=${maxOf("suggestFilters", "limit")}`,
    "a long text": `/v1/suggest?q=${encodeURIComponent(`${nonce} ${longText}`.slice(0, 100).trim())}`,
  }),
  interpretQuestion: ({ nonce }) => ({
    "a long text": `/v1/interpret?q=${encodeURIComponent(`${nonce} ${longText}`.slice(0, 200).trim())}`,
    "unknown words": `/v1/interpret?q=${encodeURIComponent(`x${nonce} ${"toyta camrx silverdo ".repeat(10)}`.slice(0, 200).trim())}`,
  }),
  getFacets: (of) => ({
    ...inFormats(
      `/v1/facets?facets=${vocabulary("getFacets", "facets").join()}&facet_value_limit=100&min_price=${of.nonce}`,
    ),
    ...worst(of, "/v1/facets?"),
  }),
  listChanges: ({ since, nonce }) => ({
    "default fields": `/v1/changes?since=${since}&limit=1000&min_price=${nonce}`,
    "all fields": `/v1/changes?since=${since}&limit=1000&fields=${allOf("searchListings")}&min_price=${nonce}`,
    "few fields": `/v1/changes?since=${since}&limit=1000&fields=id&min_price=${nonce}`,
  }),
  createSearch: ({ nonce }) => ({
    json: {
      what: "json",
      path: "/v1/searches",
      body: { name: `search ${nonce}`, query: `make=Ford&min_price=${nonce}` },
    },
  }),
  listSearches: () => ({ json: "/v1/searches" }),
  resumeSearch: ({ searches }) => ({
    json: { what: "json", path: `/v1/searches/${searches[0]}/resume`, method: "POST" },
  }),
  rotateSearchSecret: ({ searches }) => ({
    json: { what: "json", path: `/v1/searches/${searches[0]}/rotate`, method: "POST" },
  }),
  deleteSearch: ({ searches, nonce }) => ({
    json: { what: "json", path: `/v1/searches/${searches[1 + (nonce % 50)]}`, method: "DELETE" },
  }),
  getGroups: ({ nonce }) => ({
    ...inFormats(`/v1/groups?group_by=dealer_id,model,year&limit=1000&metric=${metrics.join()}&min_price=${nonce}`),
    "of few": `/v1/groups?group_by=make,model,trim&limit=1000&metric=days_supply,sell_through&min_price=${nonce}`,
  }),
  getTrends: ({ nonce, pastDay }) => ({
    ...inFormats(
      `/v1/trends?metric=count,new_listings,price.median,miles.p95,days_supply&interval=day&from=${pastDay}&facet=model,dealer_id,trim&facet_limit=50&min_price=${nonce}`,
    ),
  }),
  searchDealers: (of) => ({
    ...inFormats(`/v1/dealers?limit=100&offset=${of.nonce % 1000}`),
    ...worst(of, "/v1/dealers?"),
  }),
  getDealer: (of) => ({ json: `/v1/dealers/${first(of).dealer_id}` }),
  findFittingModels: (of) => ({
    json: `/v1/dealers/${first(of).dealer_id}/fit?limit=${maxOf("findFittingModels", "limit")}`,
  }),
  searchDealerListings: (of) => ({
    json: page(`/v1/dealers/${first(of).dealer_id}/listings`, "searchDealerListings", of.nonce),
  }),
  exportListings: ({ nonce }) => ({
    "10,000 rows, CSV": `/v1/exports?format=csv&make=Honda&fields=${allOf("exportListings")}&min_price=${nonce}`,
    "10 rows, arrow": `/v1/exports?format=arrow&fields=${allOf("exportListings")}&make=Honda&state=VT&min_price=${nonce}`,
  }),
  runSql: ({ nonce }) => ({
    json: { what: "json", path: "/v1/sql", body: { sql: `SELECT * FROM active LIMIT ${1000 + (nonce % 10)}` } },
  }),
  getUsage: () => ({ json: "/v1/usage" }),
  getDocument: () => ({ json: "/v1/openapi.json" }),
} satisfies Record<OperationId, Requests>;

const worst = ({ pastDay, nonce }: LargestContext, start: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    expensiveRequests(pastDay, `min_price=${nonce}`)
      .filter((path) => path.startsWith(start))
      .map((path, index) => [`expensive ${index + 1}`, path]),
  );

/** Returns the largest requests of an operation. */
export function largestRequests(id: OperationId, context: LargestContext): readonly LargestRequest[] {
  const of: Requests = requests[id];
  return Object.entries(of(context)).map(([what, request]) =>
    typeof request === "string" ? { what, path: request } : { ...request, what },
  );
}

export const largestOperations = Object.keys(requests) as OperationId[];

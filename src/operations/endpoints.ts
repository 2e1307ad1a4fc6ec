/**
 * Endpoints of the metered operations: plan, query, present. An endpoint takes a validated request and an open lake version and
 * returns a result. It knows neither HTTP nor accounts nor formats.
 */
import { refuse } from "../contract/errors.ts";
import type { RequestOf } from "../contract/types.ts";
import { listChangesOf } from "../query/changes/feed.ts";
import { cursorOf, type PagedRequest, positionOfCursor } from "../query/cursors.ts";
import { findDealer, findDealers } from "../query/dealers.ts";
import { explainVin } from "../query/evidence/evidence.ts";
import { countFacets, findGroups, planFacets } from "../query/facets/facets.ts";
import { fitDealers, fitModels } from "../query/fit/fit.ts";
import { findListing, findVin } from "../query/look-ups.ts";
import { planSearch, readPage, type SearchQuery, toOffsetQuery } from "../query/search.ts";
import { interpret } from "../query/suggest/interpret.ts";
import { suggest, vinHint } from "../query/suggest/suggest.ts";
import { computeTrends, planTrends } from "../query/trends/trends.ts";
import { unmatchedDealerValues, unmatchedIn } from "../query/unmatched.ts";
import { compareListing, compareVehicle, valueVins } from "../query/valuation/comparables.ts";
import { depreciate } from "../query/valuation/depreciation.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { type EndpointId, operationRequest } from "./caller.ts";
import { JsonTexts, listingDetail, pagination, type Result, redactApiKeys, vinRecord } from "./result.ts";

/** Throws a Refusal if the request cannot be answered, for example with `not_found`. */
export type Endpoint<Id extends EndpointId> = (request: RequestOf<Id>, version: LakeVersion) => Promise<Result>;

/** Returns a page of listings, schema `ListingCollection`; of a request with cursors, with that of the next page. */
async function search(query: SearchQuery, version: LakeVersion, request?: PagedRequest): Promise<Result> {
  const plan = planSearch(request === undefined ? query : { ...query, offset: offsetOf(request, query) }, version);
  const { total, keys } = await plan.mode.listings.findPage(plan);
  const listings = await readPage(plan, keys, version);
  const meta = { ...version.meta, ...redactApiKeys(await unmatchedIn(query, version)) };
  const cursorAt = request && ((offset: number) => cursorOf(version.manifest.version, request, String(offset)));
  return { data: new JsonTexts(listings), pagination: pagination(plan, total, cursorAt), meta };
}

/** Returns where a page begins: at the cursor, if the request has one. Refuses a cursor with an offset. */
function offsetOf(request: PagedRequest, { offset }: SearchQuery): number {
  const position = positionOfCursor(request, /^(?<offset>\d{1,10})$/);
  if (position !== undefined && offset !== 0) {
    const reason = "a cursor says where the page begins";
    throw refuse("incompatible_parameters", { parameters: "cursor and offset", reason });
  }
  return position === undefined ? offset : Number(position.offset);
}

const searchListings: Endpoint<"searchListings"> = (request, version) => search(request.query, version, request);

const searchListingsByPage: Endpoint<"searchListingsByPage"> = ({ query }, version) =>
  search(toOffsetQuery(query), version);

const getListing: Endpoint<"getListing"> = async ({ path, query }, version) => {
  const found = await findListing(path.listing_id, query.include, version);
  const { supersededBy } = found;
  return { data: listingDetail(found), meta: supersededBy === undefined ? {} : { superseded_by: supersededBy } };
};

const getVin: Endpoint<"getVin"> = async ({ path, query }, version) => {
  return { data: vinRecord(await findVin(path.vin, query.include, version)), meta: {} };
};

const getEvidence: Endpoint<"getEvidence"> = async ({ path, query: { limit } }, version) => {
  const { data, total } = await explainVin(path.vin, limit, version);
  const [first_day = version.manifest.as_of] = version.snapshotSizes.keys();
  return { data, meta: { limit, total, truncated: total > limit, first_day, ...version.meta } };
};

const findFittingDealers: Endpoint<"findFittingDealers"> = ({ path, query }, version) =>
  fitDealers(path.vin, query, version);

const findFittingModels: Endpoint<"findFittingModels"> = ({ path, query }, version) =>
  fitModels(path.dealer_id, query, version);

const searchDealers: Endpoint<"searchDealers"> = async ({ query }, version) => {
  const { total, page } = findDealers(query, version);
  const meta = { ...version.meta, ...redactApiKeys(unmatchedDealerValues(query, version)) };
  return { data: page, pagination: pagination(query, total), meta };
};

const getDealer: Endpoint<"getDealer"> = async ({ path }, version) => {
  return { data: findDealer(path.dealer_id, version), meta: {} };
};

const searchDealerListings: Endpoint<"searchDealerListings"> = async (request, version) => {
  const { dealer_id } = findDealer(request.path.dealer_id, version);
  return search({ ...request.query, dealer_id: [String(dealer_id)] }, version, request);
};

const getFacets: Endpoint<"getFacets"> = async ({ query }, version) => {
  const { data, meta } = await countFacets(planFacets(query, version));
  const unmatched = redactApiKeys(await unmatchedIn(query, version));
  return { data, meta: { ...meta, ...version.meta, ...unmatched } };
};

const getGroups: Endpoint<"getGroups"> = async ({ query }, version) => {
  const { data, meta } = await findGroups(query, version);
  const unmatched = redactApiKeys(await unmatchedIn(query, version));
  return { data, meta: { ...meta, ...version.meta, ...unmatched } };
};

const suggestFilters: Endpoint<"suggestFilters"> = async ({ query }, version) => {
  return { data: await suggest(query, version), meta: { limit: query.limit, ...vinHint(query.q), ...version.meta } };
};

const interpretQuestion: Endpoint<"interpretQuestion"> = async ({ query }, version) => {
  const { filters, ...words } = await interpret(query, version);
  const { path, querystring } = operationRequest("searchListings", filters);
  return { data: { filters, url: querystring === "" ? path : `${path}?${querystring}`, ...words }, meta: version.meta };
};

const getListingComparables: Endpoint<"getListingComparables"> = async ({ path, query }, version) => {
  const data = await compareListing(path.listing_id, query, version);
  return { data, meta: { limit: query.limit, ...version.meta } };
};

const findComparables: Endpoint<"findComparables"> = async ({ query }, version) => {
  const { data, unmatched } = await compareVehicle(query, version);
  return { data, meta: { limit: query.limit, ...version.meta, ...redactApiKeys(unmatched) } };
};

const valueVehicles: Endpoint<"valueVehicles"> = async ({ query }, version) => {
  return { data: await valueVins(query.vin, version), meta: version.meta };
};

const getDepreciation: Endpoint<"getDepreciation"> = async ({ query }, version) => {
  const { data, meta, unmatched } = await depreciate(query, version);
  return { data, meta: { ...meta, ...version.meta, ...redactApiKeys(unmatched) } };
};

const listChanges: Endpoint<"listChanges"> = async (request, version) => {
  const { texts, pagination, meta } = await listChangesOf(request, version);
  const unmatched = redactApiKeys(await unmatchedIn(request.query, version));
  return { data: new JsonTexts(texts), pagination, meta: { ...meta, ...unmatched } };
};

const getTrends: Endpoint<"getTrends"> = async ({ query }, version) => {
  const { data, meta } = await computeTrends(planTrends(query, version), version);
  const unmatched = redactApiKeys(await unmatchedIn(query, version));
  return { data, meta: { ...meta, ...version.meta, ...unmatched } };
};

export const endpoints: { readonly [Id in EndpointId]: Endpoint<Id> } = {
  searchListings,
  searchListingsByPage,
  getListing,
  getVin,
  getEvidence,
  findFittingDealers,
  findFittingModels,
  getFacets,
  getGroups,
  getTrends,
  getListingComparables,
  findComparables,
  valueVehicles,
  getDepreciation,
  suggestFilters,
  listChanges,
  interpretQuestion,
  searchDealers,
  getDealer,
  searchDealerListings,
};

export const isEndpoint = (id: string): id is EndpointId => Object.hasOwn(endpoints, id);

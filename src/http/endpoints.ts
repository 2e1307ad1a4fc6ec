/**
 * What answers the operations. An endpoint gets a typed, validated request and the market of one version, and gives the body
 * of its answer as JSON: plan, query, present.
 */
import type { MeteredId } from "../accounts/policy/prices.ts";
import type { RequestOf } from "../contract/types.ts";
import { findDealer, findDealers } from "../query/dealers.ts";
import { countFacets, planFacets } from "../query/facets.ts";
import { findListing, findVin } from "../query/look-ups.ts";
import { byOffset } from "../query/pages.ts";
import { findPage, planSearch, readPage, type SearchQuery } from "../query/search.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { listingDetail, pagination, vinRecord } from "./present.ts";

export type Endpoint<Id extends MeteredId> = (request: RequestOf<Id>, version: LakeVersion) => Promise<string>;

/** A page of listings, as schema `ListingCollection`: the listings are JSON already. */
async function search(query: SearchQuery, version: LakeVersion): Promise<string> {
  const plan = planSearch(query, version);
  const { total, positions } = await findPage(plan);
  const listings = await readPage(plan, positions, version);
  const rest = json({ pagination: pagination(plan, total), meta: version.meta });
  return `{"data":[${listings.join()}],${rest.slice(1)}`;
}

/** Operation `searchListings` (section 4.1 of the specification). */
const searchListings: Endpoint<"searchListings"> = ({ query }, version) => search(query, version);

/** Operation `searchListingsByPage` (section 4.2 of the specification). */
const searchListingsByPage: Endpoint<"searchListingsByPage"> = ({ query }, version) => search(byOffset(query), version);

/** Operation `getListing` (section 4.3 of the specification). */
const getListing: Endpoint<"getListing"> = async ({ path, query }, version) => {
  const found = await findListing(path.listing_id, query.include, version);
  const { supersededBy } = found;
  return json({ data: listingDetail(found), meta: supersededBy === undefined ? {} : { superseded_by: supersededBy } });
};

/** Operation `getVin` (section 4.4 of the specification). */
const getVin: Endpoint<"getVin"> = async ({ path, query }, version) => {
  return json({ data: vinRecord(await findVin(path.vin, query.include, version)), meta: {} });
};

/** Operation `searchDealers` (section 4.6 of the specification). */
const searchDealers: Endpoint<"searchDealers"> = async ({ query }, version) => {
  const { total, page } = findDealers(query, version);
  return json({ data: page, pagination: pagination(query, total), meta: version.meta });
};

/** Operation `getDealer` (section 4.7 of the specification). */
const getDealer: Endpoint<"getDealer"> = async ({ path }, version) => {
  return json({ data: findDealer(path.dealer_id, version), meta: {} });
};

/** Operation `searchDealerListings` (section 4.8 of the specification). */
const searchDealerListings: Endpoint<"searchDealerListings"> = async ({ path, query }, version) => {
  const { dealer_id } = findDealer(path.dealer_id, version);
  return search({ ...query, dealer_id: [String(dealer_id)] }, version);
};

/** Operation `getFacets` (section 4.5 of the specification). */
const getFacets: Endpoint<"getFacets"> = async ({ query }, version) => {
  const { data, meta } = await countFacets(planFacets(query, version));
  return json({ data, meta: { ...meta, ...version.meta } });
};

const json = (body: object): string => JSON.stringify(body);

/** What answers each operation that is paid for. */
export const endpoints: { readonly [Id in MeteredId]: Endpoint<Id> } = {
  searchListings,
  searchListingsByPage,
  getListing,
  getVin,
  getFacets,
  searchDealers,
  getDealer,
  searchDealerListings,
};

/**
 * What answers the operations. An endpoint gets a typed, validated request and the market of one version, and gives the body
 * of its answer as JSON: plan, query, present.
 */
import type { MeteredId } from "../accounts/prices.ts";
import type { RequestOf } from "../contract/types.ts";
import type { Market } from "../lake/market.ts";
import { findDealer, pageOf, readTotal, totalOf } from "../query/dealers.ts";
import { facetsOf, planFacets, readFacets } from "../query/facets.ts";
import { findListing, findVin } from "../query/listing.ts";
import { byOffset } from "../query/pages.ts";
import { planSearch, readPage, type SearchQuery, topOf } from "../query/search.ts";
import { countMatches } from "../query/where.ts";
import { listingDetail, pagination, vinRecord } from "./present.ts";

export type Endpoint<Id extends MeteredId> = (request: RequestOf<Id>, market: Market) => Promise<string>;

/** A page of listings, as schema `ListingCollection`: the listings are JSON already. */
async function search(query: SearchQuery, market: Market): Promise<string> {
  const plan = planSearch(query, market);
  const top = await topOf(plan, market);
  const listings = await readPage(plan, top.page, market);
  const rest = json({ pagination: pagination(plan, top.total), meta: market.meta });
  return `{"data":[${listings.join()}],${rest.slice(1)}`;
}

/** Operation `searchListings` (section 4.1 of the specification). */
const searchListings: Endpoint<"searchListings"> = ({ query }, market) => search(query, market);

/** Operation `searchListingsByPage` (section 4.2 of the specification). */
const searchListingsByPage: Endpoint<"searchListingsByPage"> = ({ query }, market) => search(byOffset(query), market);

/** Operation `getListing` (section 4.3 of the specification). */
const getListing: Endpoint<"getListing"> = async ({ path, query }, market) => {
  const found = await findListing(path.listing_id, query.include, market);
  const { supersededBy } = found;
  return json({ data: listingDetail(found), meta: supersededBy === undefined ? {} : { superseded_by: supersededBy } });
};

/** Operation `getVin` (section 4.4 of the specification). */
const getVin: Endpoint<"getVin"> = async ({ path, query }, market) => {
  return json({ data: vinRecord(await findVin(path.vin, query.include, market)), meta: {} });
};

/** Operation `searchDealers` (section 4.6 of the specification). */
const searchDealers: Endpoint<"searchDealers"> = async ({ query }, market) => {
  const total = readTotal(await market.rows(totalOf(query)));
  const data = await market.rows(pageOf(query));
  return json({ data, pagination: pagination(query, total), meta: market.meta });
};

/** Operation `getDealer` (section 4.7 of the specification). */
const getDealer: Endpoint<"getDealer"> = async ({ path }, market) => {
  return json({ data: await findDealer(path.dealer_id, market), meta: {} });
};

/** Operation `searchDealerListings` (section 4.8 of the specification). */
const searchDealerListings: Endpoint<"searchDealerListings"> = async ({ path, query }, market) => {
  const { dealer_id } = await findDealer(path.dealer_id, market);
  return search({ ...query, dealer_id: [String(dealer_id)] }, market);
};

/** Operation `getFacets` (section 4.5 of the specification). */
const getFacets: Endpoint<"getFacets"> = async ({ query }, market) => {
  const plan = planFacets(query, market);
  const total = await countMatches(plan.listings, plan.requirements, market);
  const { data, meta } = readFacets(plan, total, await market.rows(facetsOf(plan, total)));
  return json({ data, meta: { ...meta, ...market.meta } });
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

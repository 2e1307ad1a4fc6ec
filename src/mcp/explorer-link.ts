/** Links to the page of the explorer that shows the listings of an answer. */
import type { ResourceLink } from "@modelcontextprotocol/server";
import { operation } from "../contract/document.ts";
import { parametersWithDefault } from "../contract/types.ts";
import { type CallableId, type OperationRequest, queryString } from "../operations/operation-request.ts";

/** The pages by operation. Those with the path `/` take the filters of a search. */
const pages: Partial<Record<CallableId, (params: Readonly<Record<string, string>>) => string>> = {
  searchListings: () => "/",
  getFacets: () => "/",
  getTrends: () => "/",
  searchDealerListings: ({ dealer_id = "" }) => `/dealers/${encodeURIComponent(dealer_id)}`,
  getListing: ({ listing_id = "" }) => `/listings/${encodeURIComponent(listing_id)}`,
};

/** A longer link would take the place of items. */
const linkCharactersMax = 1_000;

const controls: ReadonlySet<string> = new Set([...parametersWithDefault, "include", "format", "csv_raw"]);
const filterNames = operation("searchListings").parameters.map(({ name }) => name);

/** Returns the link of a request to a service with a public origin; undefined if no page shows its listings. */
export function explorerLink(
  origin: string,
  { id, params = {}, querystring }: OperationRequest,
): ResourceLink | undefined {
  const path = pages[id]?.(params);
  if (path === undefined) return undefined;
  const filters = path === "/" ? filtersIn(querystring) : {};
  const query = Object.keys(filters).length === 0 ? "" : `?${queryString(filters)}`;
  const uri = `${origin}${path}${query}`;
  if (uri.length > linkCharactersMax) return undefined;
  return { type: "resource_link", uri, name: "explorer", title: "Show in the explorer", mimeType: "text/html" };
}

const filtersIn = (querystring: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new URLSearchParams(querystring)].filter(([name]) => filterNames.includes(name) && !controls.has(name)),
  );

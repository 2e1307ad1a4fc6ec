/**
 * Listing search in two steps: `Listings.findPage` returns the total and the keys of the page's listings, then only those rows are read.
 *
 * Active, snapshot and sold searches differ only in their listings (see `modes.ts`).
 */
import { defaultOf } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { Point } from "../listing/geography.ts";
import type { PageOrder, RowKey } from "../listing/source.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { type Expansion, type ListingField, resolveFields, serializerOf } from "./fields.ts";
import { filtersOf } from "./filters.ts";
import { originOf, requireOrigin } from "./geography.ts";
import { firstDefined, type InventoryMode, modeOf } from "./modes.ts";

export type SearchQuery = QueryOf<"searchListings">;

export interface SearchPlan {
  readonly mode: InventoryMode;
  readonly filters: readonly Filter[];
  readonly order: PageOrder;
  readonly limit: number;
  readonly offset: number;
  /** In response order. */
  readonly fields: readonly ListingField[];
  readonly include: readonly Expansion[];
  /** The origin of `distance_miles`. */
  readonly origin: Point | undefined;
}

/** Plans a search of a version. Refuses parameters that cannot be combined. */
export function planSearch(query: SearchQuery, version: LakeVersion): SearchPlan {
  const mode = modeOf(query, version);
  return {
    mode,
    filters: [...mode.filters, ...filtersOf(query, version.dimensions)],
    order: orderOf(query),
    limit: query.limit,
    offset: query.offset,
    fields: resolveFields(query.fields),
    include: query.include ?? [],
    origin: originOf(query),
  };
}

/** Returns the order of a page. Refuses `sort=distance` without an origin. */
function orderOf({ sort, ...query }: SearchQuery): PageOrder {
  return sort === "distance" ? { by: "distance", origin: requireOrigin(query, "sort=distance") } : { by: "sort", sort };
}

/** Returns the listings with the keys of a page, each as JSON text of schema `ListingSummary`. */
export async function readPage(
  plan: SearchPlan,
  keys: readonly RowKey[],
  version: LakeVersion,
): Promise<readonly string[]> {
  const { mode, fields, include } = plan;
  const names = [...fields, ...include];
  return mode.listings.read(keys, names, serializerOf(names, { ...plan, status: mode.status }, version.dimensions));
}

/** Returns the query of `searchListings` that one of the deprecated `searchListingsByPage` stands for. Refuses `page` or `per_page` combined with `limit` or `offset`. */
export function toOffsetQuery({
  page,
  per_page,
  limit,
  offset,
  ...query
}: QueryOf<"searchListingsByPage">): SearchQuery {
  const pageParameter = firstDefined({ page, per_page });
  const offsetParameter = firstDefined({ limit, offset });
  if (pageParameter !== undefined && offsetParameter !== undefined) {
    const reason = "a page is selected either by number or by offset";
    throw refuse("incompatible_parameters", { parameters: `${pageParameter} and ${offsetParameter}`, reason });
  }
  const size = per_page ?? limit ?? defaultOf("searchListings", "limit");
  return { ...query, limit: size, offset: offset ?? ((page ?? 1) - 1) * size };
}

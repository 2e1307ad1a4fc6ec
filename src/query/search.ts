/**
 * Listing search, in two steps: the source tells the total and the page's positions, then the rows at those positions only are read.
 * Search over today, over a past day and over sold history differ by their source alone.
 */
import type { QueryOf } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { Point } from "../listing/geography.ts";
import type { FoundPage, PageOrder } from "../listing/source.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { Expansion } from "./expansions.ts";
import { columnsOfFields, fieldsOf, type ListingField, servePage } from "./fields.ts";
import { filtersOf } from "./filters.ts";
import { neededOrigin, originOf } from "./geography.ts";
import { type InventoryMode, modeOf } from "./modes.ts";

export type SearchQuery = QueryOf<"searchListings">;

/** A search, decided in full; what remains is to run it. */
export interface SearchPlan {
  readonly mode: InventoryMode;
  readonly filters: readonly Filter[];
  readonly order: PageOrder;
  readonly limit: number;
  readonly offset: number;
  /** In the order in which they are served. */
  readonly fields: readonly ListingField[];
  readonly include: readonly Expansion[];
  /** From where distances are served. */
  readonly origin: Point | undefined;
}

/** Plans a search of a version. Refuses parameters that cannot be combined. */
export function planSearch(query: SearchQuery, version: LakeVersion): SearchPlan {
  const mode = modeOf(query, version);
  return {
    mode,
    filters: [...mode.filters, ...filtersOf(query)],
    order: orderOf(query),
    limit: query.limit,
    offset: query.offset,
    fields: fieldsOf(query.fields),
    include: query.include ?? [],
    origin: originOf(query),
  };
}

/** The order of a sort; `distance` needs an origin, and refuses a request without one. */
function orderOf({ sort, ...query }: SearchQuery): PageOrder {
  return sort === "distance" ? { by: "distance", origin: neededOrigin(query, "sort=distance") } : { by: "sort", sort };
}

/** Step one: the total, and where the page's listings are. */
export const findPage = ({ mode, ...plan }: SearchPlan): Promise<FoundPage> => mode.listings.findPage(plan);

/** Step two: the listings of the page, each as the JSON that is served of it. */
export async function readPage(
  plan: SearchPlan,
  positions: readonly number[],
  version: LakeVersion,
): Promise<readonly string[]> {
  const { mode, fields, include } = plan;
  const serve = servePage({ ...plan, status: mode.status }, version.dimensions);
  return (await mode.listings.read(positions, columnsOfFields(fields, include))).map(serve);
}

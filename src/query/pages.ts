/** Translates the page numbers of the deprecated operation `searchListingsByPage` to `limit` and `offset`. */
import { defaultOf } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import type { SearchQuery } from "./search.ts";

/** Returns the equivalent `searchListings` query. Refuses `page` or `per_page` combined with `limit` or `offset`. */
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

/** Returns the name of the first parameter that has a value. */
const firstDefined = (values: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(values).find((name) => values[name] !== undefined);

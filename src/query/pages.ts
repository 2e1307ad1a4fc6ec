/** The deprecated way to ask for a page, by its number (section 4.2 of the specification), as the way that replaced it. */
import { defaultOf } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import type { SearchQuery } from "./search.ts";

/** The search that a request by page number stands for. Refuses `page` or `per_page` together with `limit` or `offset`. */
export function byOffset({ page, per_page, limit, offset, ...query }: QueryOf<"searchListingsByPage">): SearchQuery {
  const given = (names: Readonly<Record<string, unknown>>): string | undefined =>
    Object.keys(names).find((name) => names[name] !== undefined);
  const [byPage, byOffset] = [given({ page, per_page }), given({ limit, offset })];
  if (byPage !== undefined && byOffset !== undefined) {
    const reason = "a page is asked for either by number or by offset";
    throw refuse("incompatible_parameters", { parameters: `${byPage} and ${byOffset}`, reason });
  }
  const size = per_page ?? limit ?? defaultOf("searchListings", "limit");
  return { ...query, limit: size, offset: offset ?? ((page ?? 1) - 1) * size };
}

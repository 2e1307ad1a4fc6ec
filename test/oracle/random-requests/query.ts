/** A request as it stands in a URL, and the values of its query taken apart. */

/** Parameters by name, each value percent-encoded as in the URL. */
export type Query = ReadonlyMap<string, string>;

/** Where the operations that the oracle answers are. */
export const places = {
  searchListings: "/v1/listings",
  searchListingsByPage: "/v1/listings/search",
  getFacets: "/v1/facets",
} as const;

export type Operation = keyof typeof places;

/** The path that asks an operation for a query. */
export function pathOf(operation: Operation, query: Query): string {
  const pairs = [...query].map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? places[operation] : `${places[operation]}?${pairs.join("&")}`;
}

/** A value in plain characters: `+` and `%20` are blanks. */
export function plain(raw: string): string {
  return decodeURIComponent(raw.replaceAll("+", " "));
}

export function itemsOf(raw: string, separator = ","): readonly string[] {
  return plain(raw).split(separator);
}

/** The items of a value of a closed vocabulary, whose case does not matter. */
export function queryValues(raw: string | undefined): readonly string[] {
  return raw === undefined ? [] : itemsOf(raw.toLowerCase());
}

/** The number of a parameter, or undefined where it is not given. */
export function numberOf(query: Query, name: string): number | undefined {
  const raw = query.get(name);
  return raw === undefined ? undefined : Number(plain(raw));
}

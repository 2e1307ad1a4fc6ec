/** A query as it stands in a URL, and its values taken apart. */

/** Parameters by name, each value percent-encoded as in the URL. */
export type Query = ReadonlyMap<string, string>;

/** The path that asks for a query. */
export function pathOf(query: Query): string {
  const pairs = [...query].map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? "/v1/listings" : `/v1/listings?${pairs.join("&")}`;
}

/** A value in plain characters: `+` and `%20` are blanks. */
export function plain(raw: string): string {
  return decodeURIComponent(raw.replaceAll("+", " "));
}

export function itemsOf(raw: string, separator = ","): readonly string[] {
  return plain(raw).split(separator);
}

/** The items of a value of a closed vocabulary, whose case does not matter. */
export function wordsOf(raw: string | undefined): readonly string[] {
  return raw === undefined ? [] : itemsOf(raw.toLowerCase());
}

/** The number of a parameter, or undefined where it is not given. */
export function numberOf(query: Query, name: string): number | undefined {
  const raw = query.get(name);
  return raw === undefined ? undefined : Number(plain(raw));
}

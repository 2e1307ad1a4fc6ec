/** Requests as encoded query strings, and their decoded values. */
import { operation } from "../../../src/contract/document.ts";

/** Percent-encoded values by parameter. */
export type Query = ReadonlyMap<string, string>;

export const operationPaths = {
  searchListings: "/v1/listings",
  searchListingsByPage: "/v1/listings/search",
  getFacets: "/v1/facets",
  getGroups: "/v1/groups",
  getTrends: "/v1/trends",
} as const;

export type Operation = keyof typeof operationPaths;

export const hasParameter = (of: Operation, name: string): boolean =>
  operation(of).parameters.some((parameter) => parameter.name === name);

export function pathOf(of: Operation, query: Query): string {
  const pairs = [...query].map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? operationPaths[of] : `${operationPaths[of]}?${pairs.join("&")}`;
}

/** Decodes a value; `+` and `%20` are spaces. */
export function decodeValue(raw: string): string {
  return decodeURIComponent(raw.replaceAll("+", " "));
}

/** Returns the items of a list. One in double quotes holds separators, and quotes and backslashes after a backslash. */
export function itemsOf(raw: string, separator = ","): readonly string[] {
  const item = separator === "|" ? barItem : commaItem;
  return [...decodeValue(raw).matchAll(item)].map(([text]) =>
    /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : text,
  );
}

const commaItem = /(?<=^|,)(?:"(?:[^"\\]|\\.)*"(?=,|$)|[^,]*)/gs;
const barItem = /(?<=^|\|)(?:"(?:[^"\\]|\\.)*"(?=\||$)|[^|]*)/gs;

/** Returns the lower-cased items of a value from a closed vocabulary. */
export function queryValues(raw: string | undefined): readonly string[] {
  return raw === undefined ? [] : itemsOf(raw.toLowerCase());
}

/** Returns a numeric parameter, or undefined if it is absent. */
export function numberOf(query: Query, name: string): number | undefined {
  const raw = query.get(name);
  return raw === undefined ? undefined : Number(decodeValue(raw));
}

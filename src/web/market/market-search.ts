/** The searches of the market: each by words, as in the question box, and by filters of the address, as a page of cars hands them on. */
import { ownValue } from "../../base/json.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { andList, capital, orList, pluralOf, shortened } from "../sentences/words.ts";
import { changedPath } from "../shell/address.ts";
import { pageRules } from "../shell/page-parameters.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { lostFilter } from "../shop/filter-words.ts";
import { apiFilters, readView, viewPath } from "../shop/view.ts";

export interface MarketSearch {
  /** Its words, as they stand in its box. */
  readonly words: string;
  /** The filters of its address, in the spelling of pages. */
  readonly given: TextParameters;
  /** The filters of both, as the API takes them. */
  readonly filters: TextParameters;
  /** In the singular: `RAV4`, `car`. */
  readonly name: string;
  readonly plural: string;
  /** `used`, `new`, or `used and new` where it mixes them. */
  readonly condition: string;
  /** Words that stand for no filter, or why there is nothing to show. */
  readonly error?: string | undefined;
}

/** The published day and the first one, `YYYY-MM-DD`, and the words for a market without a place. */
export interface MarketDays {
  readonly first: string;
  readonly last: string;
  readonly everywhere: string;
}

/** Words between two searches that are compared. */
export const against = /\s+(?:against|vs\.?|versus|compared (?:to|with))\s+/i;

/** What words stand for: filters, and why some stand for none. */
interface ReadWords {
  readonly words: string;
  readonly filters: TextParameters;
  readonly error?: string;
}

/** The words of both boxes, which may stand in one. */
export async function readBoxes(requests: PageRequests, query: URLSearchParams): Promise<readonly ReadWords[]> {
  const [first = "", ...others] = ["show", "against"].flatMap((box) => (query.get(box) ?? "").trim().split(against));
  const [compared, ...left] = others.filter((words) => words !== "");
  const boxes = [first, ...(compared === undefined ? [] : [compared])];
  const read = await Promise.all(boxes.map((words) => interpreted(requests, words)));
  if (left.length === 0) return read;
  const error = `Only two searches are compared. Left out: ${andList(left.map((words) => `“${shortened(words)}”`))}.`;
  return read.map((one, index) => (index === 1 ? { ...one, error: one.error ?? error } : one));
}

/** Without words and filters, the market is that of all used cars: medians do not mix new and used ones unasked. */
const usedCars: ReadWords = { words: "used cars", filters: { inventory_type: "used,certified" } };

/** Returns the one or two searches of an address: the first one has its filters. */
export function searchesOf(
  [first, compared]: readonly ReadWords[],
  given: TextParameters,
  days: MarketDays,
): readonly [own: MarketSearch, ...others: MarketSearch[]] {
  const isEmpty = first === undefined || (first.words === "" && Object.keys(given).length === 0);
  const own = searchOf(isEmpty ? usedCars : first, given, days);
  if (compared === undefined) return [own];
  const other = searchOf(compared, {}, days, own.filters.inventory_type);
  if (!isReadable(other)) return [own, other];
  const names = Object.keys({ ...own.filters, ...other.filters });
  if (names.every((name) => own.filters[name] === other.filters[name]))
    return [{ ...own, error: own.error ?? "Both boxes have the same search. An example that works: Honda CR-V." }];
  return distinguished(own, other);
}

/** Returns the filters among the parameters of an address. */
export const givenFilters = (query: URLSearchParams): TextParameters =>
  Object.fromEntries(
    Object.entries(readView(query)).filter(([name]) => ownValue(pageRules["/market"] ?? {}, name) === "filter"),
  );

/** The longest question that the API takes. */
const wordsMax = 200;

function searchOf(read: ReadWords, given: TextParameters, days: MarketDays, condition?: string): MarketSearch {
  const { words, error } = read;
  const own = { ...read.filters, ...apiFilters(given, days.last) };
  const isLost = error !== undefined && Object.keys(own).length === 0;
  const filters = isLost || condition === undefined ? own : { inventory_type: condition, ...own };
  const name = nameOf(filters);
  return { words, given, filters, name, plural: pluralOf(name), condition: conditionOf(filters), error };
}

/** Whether a search has a filter, or was asked without one: else there is nothing to show of it. */
export const isReadable = ({ error, filters }: MarketSearch): boolean =>
  error === undefined || Object.keys(filters).length > 0;

/** Interprets words without those for prices, which every market has. */
async function interpreted(requests: PageRequests, words: string): Promise<ReadWords> {
  const q = words
    .slice(0, wordsMax)
    .replace(/\s+prices?$/i, "")
    .trim();
  if (q === "") return { words, filters: {} };
  const answer = await requests.loadPart("words of the search", () => requests.call("interpretQuestion", { q }));
  if (answer === undefined) return { words, filters: {}, error: requests.missing.at(-1)?.reason ?? "" };
  const { filters, unmatched } = answer.data;
  const unknown = unmatched.map(({ text }) => `“${shortened(text)}”`);
  return unknown.length === 0
    ? { words, filters }
    : { words, filters, error: `Not understood: ${orList(unknown)}. An example that works: used Toyota RAV4 in WA.` };
}

/** Returns the one value of a filter; undefined if it has several or none. */
const oneOf = (filters: TextParameters, name: string): string | undefined => {
  const value = filters[name];
  return value === undefined || value.includes(",") ? undefined : value;
};

/** Returns what a search is of, in the singular: its model, make or body type, with the year and trim. */
function nameOf(filters: TextParameters): string {
  const body = oneOf(filters, "body_type");
  const kind = body === undefined ? undefined : /^[A-Z]{2,}/.test(body) ? body : body.toLowerCase();
  const model = oneOf(filters, "model");
  const thing = model === undefined ? [oneOf(filters, "make"), kind] : [model, oneOf(filters, "trim")];
  const named = [oneOf(filters, "year"), ...thing].filter((part) => part !== undefined && part !== "");
  return named.length === 0
    ? "car"
    : thing.every((part) => part === undefined)
      ? `${named.join(" ")} car`
      : named.join(" ");
}

function conditionOf({ inventory_type = "" }: TextParameters): string {
  const types = new Set(inventory_type.toLowerCase().split(",").filter(Boolean));
  if (types.size === 0 || (types.has("new") && types.size > 1)) return "used and new";
  return types.has("new") ? "new" : types.has("used") ? "used" : "certified";
}

/** Returns two searches whose names differ: by condition, or by the value of a filter in which they differ. */
function distinguished(own: MarketSearch, other: MarketSearch): readonly [MarketSearch, MarketSearch] {
  if (own.name !== other.name) return [own, other];
  const names = [...new Set([...Object.keys(own.filters), ...Object.keys(other.filters)])];
  const differing = names.find((name) => name !== "inventory_type" && own.filters[name] !== other.filters[name]);
  const named = (search: MarketSearch): MarketSearch => {
    if (own.condition !== other.condition)
      return { ...search, name: `${search.condition} ${search.name}`, plural: `${search.condition} ${search.plural}` };
    const by = search.filters[differing ?? ""] ?? "any";
    return { ...search, name: `${search.name} (${by})`, plural: `${search.plural} (${by})` };
  };
  return [named(own), named(other)];
}

/** Whether a refusal is of filters that a search has from the address. */
export const isOfAddress =
  ({ given }: MarketSearch) =>
  (thrown: unknown): boolean =>
    lostFilter(thrown, given) !== undefined;

/** Returns the page with the cars of a search, under further filters. */
export const carsPath = ({ filters }: Pick<MarketSearch, "filters">, more: TextParameters = {}): string =>
  viewPath(readView(new URLSearchParams({ ...filters, ...more })));

/** Returns the address of the page of the market with some parameters changed; undefined removes one. */
export const marketPath = (query: URLSearchParams, changes: Readonly<Record<string, string | undefined>>): string =>
  changedPath("/market", query, changes);

/** Returns where a search looks, in words: states, miles around a ZIP code, or everywhere. */
export function placeOf({ filters }: MarketSearch, { everywhere }: MarketDays): string {
  const { state, postal_code, radius } = filters;
  if (postal_code !== undefined && radius !== undefined) return `${radius} mi of ${postal_code}`;
  return state === undefined ? everywhere : state.toUpperCase().replaceAll(",", ", ");
}

/** Returns which cars the sample of a search has: `used and certified`. */
export const sampleOf = ({ condition }: MarketSearch): string =>
  condition === "used" ? "used and certified" : condition;

/** Returns the title of a page of searches. */
export const searchTitle = (searches: readonly MarketSearch[]): string =>
  searches.length > 1
    ? searches.map(({ name }) => capital(name)).join(" against ")
    : `The market of ${searches[0]?.plural ?? "cars"}`;

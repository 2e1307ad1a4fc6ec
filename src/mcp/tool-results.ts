/**
 * Turns the answer of an operation into the result of a tool call: structured content and text, together within a limit, with a link to the page of the
 * explorer that shows the same listings.
 */
import type { CallToolResult, ResourceLink } from "@modelcontextprotocol/server";
import type { Json } from "../base/json.ts";
import { operation } from "../contract/document.ts";
import { type Refusal, refuse } from "../contract/errors.ts";
import { type OperationId, parametersWithDefault } from "../contract/types.ts";
import { type CallableId, type OperationRequest, queryString } from "../operations/caller.ts";
import { type AnswerBody, compactText, isList } from "./compact-text.ts";

/** The size of a result in characters of JSON, and that of one with `detail=full`. */
const usualCharactersMax = 20_000;
const fullCharactersMax = 40_000;

/** The charge of a call. */
export interface CallUsage {
  readonly request_id: string;
  readonly charged_micros: number;
  /** Null for an operation that is never charged. */
  readonly usage_class: string | null;
}

/** The key of `CallUsage` in the `_meta` of a result. */
export const usageKey = "carquet/usage";

/** What the result of a call says beside the answer. */
interface ResultOptions {
  readonly id: OperationId;
  /** Whether the call asks for a longer result. */
  readonly isFull: boolean;
  readonly usage: CallUsage | undefined;
  /** The page of the explorer that shows the same. */
  readonly link: ResourceLink | undefined;
  /** The number of all items, of an answer whose `data` may be only the first of them. */
  readonly itemsTotal?: number;
}

/** How a result is shortened. */
interface Limit {
  readonly fits: (shown: AnswerBody) => boolean;
  /** The reason, and what allows a longer one, as ends of sentences. */
  readonly reason: string;
  readonly remedy: string;
  readonly itemsTotal: number;
}

/** Returns the result of a call. One that would be too long has fewer items, and a note that says how to get the others. */
export function resultOfAnswer(body: AnswerBody, options: ResultOptions): CallToolResult {
  const { id, isFull, usage, link } = options;
  const resultOf = (shown: AnswerBody): CallToolResult => ({
    content: [{ type: "text", text: compactText(id, shown) }, ...(link === undefined ? [] : [link])],
    structuredContent: shown,
    ...(usage === undefined ? {} : { _meta: { [usageKey]: usage } }),
  });
  const charactersMax = isFull ? fullCharactersMax : usualCharactersMax;
  const fits = (shown: AnswerBody): boolean => JSON.stringify(resultOf(shown)).length < charactersMax;
  const items = isList(body.data) ? body.data.length : 0;
  const { itemsTotal = items } = options;
  const limit = {
    fits,
    itemsTotal,
    reason: `to stay below ${charactersMax} characters`,
    remedy: isFull ? "" : `, or set detail to full, which allows ${fullCharactersMax}`,
  };
  const shown = withoutCursor(body);
  return resultOf(itemsTotal === items && fits(shown) ? shown : shortened(shown, limit));
}

/** Leaves out the cursor of the next page, for which tools have no parameter if their pages have an offset. */
function withoutCursor(body: AnswerBody): AnswerBody {
  if (body.pagination?.offset === undefined) return body;
  const { next_cursor: _, ...pagination } = body.pagination;
  return { ...body, pagination };
}

/** Returns the result of a refused call, with the message of the refusal. */
export const resultOfRefusal = ({ code, message }: Refusal): CallToolResult => ({
  content: [{ type: "text", text: `${code}: ${message}` }],
  isError: true,
});

/** Returns as much of an answer as fits: fewer items of `data`, at least one; then shorter lists within. */
function shortened(body: AnswerBody, limit: Limit): AnswerBody {
  const { fits } = limit;
  const items = isList(body.data) ? body.data.length : 0;
  const fewer = items === 0 ? undefined : longest(items, (count) => withFewerItems(body, count, limit), fits);
  if (fewer !== undefined && isList(fewer.data) && fewer.data.length > 0) return fewer;
  const first = items > 1 ? withFewerItems(body, 1, limit) : body;
  const short = longest(longestListIn(first), (length) => withShorterLists(first, length, limit), fits);
  if (short === undefined) throw refuse("incompatible_parameters", tooLarge);
  return short;
}

const tooLarge = {
  parameters: "The requested parts",
  reason: "the answer is too large for a tool; request fewer fields",
};

/** Returns the candidate of the greatest number, from 0 to `most`, that fits; undefined if none does. */
function longest(
  max: number,
  candidate: (count: number) => AnswerBody,
  fits: (shown: AnswerBody) => boolean,
): AnswerBody | undefined {
  let min = -1;
  let greatest = max;
  while (min < greatest) {
    const middle = Math.ceil((min + greatest) / 2);
    if (fits(candidate(middle))) min = middle;
    else greatest = middle - 1;
  }
  return min < 0 ? undefined : candidate(min);
}

function withFewerItems(body: AnswerBody, count: number, { itemsTotal, reason, remedy }: Limit): AnswerBody {
  const { data, pagination } = body;
  const items = isList(data) ? data : [];
  const fewer = { ...body, data: items.slice(0, count) };
  const shown = `Shortened to the first ${count} of ${itemsTotal} items, ${reason}.`;
  if (pagination === undefined) return { ...fewer, note: `${shown} Narrow the request to see the others${remedy}.` };
  const { offset } = pagination;
  if (offset === undefined)
    return { ...fewer, pagination: { limit: count }, note: `${shown} Repeat the call with limit=${count} to read on.` };
  const next_offset = offset + count;
  const note = `${shown} Continue with offset=${next_offset}, or request fewer fields${remedy}.`;
  return { ...fewer, pagination: { ...pagination, next_offset }, note };
}

/** Returns an answer whose lists, at any depth, have at most `length` entries. */
function withShorterLists(body: AnswerBody, length: number, { reason, remedy }: Limit): AnswerBody {
  const advice = `Narrow the request: fewer facets, values, metrics or expansions, or a shorter period${remedy}.`;
  const note = [body.note, `Lists are shortened to their first ${length} entries, ${reason}. ${advice}`];
  const members = Object.entries(body).map(([name, member]) => [name, shorten(member ?? null, length)] as const);
  return { ...body, ...Object.fromEntries(members), note: note.filter((part) => part !== undefined).join(" ") };
}

function shorten(value: Json, length: number): Json {
  if (isList(value)) return value.slice(0, length).map((item) => shorten(item, length));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member, length)]));
}

function longestListIn(value: Json | AnswerBody | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  const lengths = (isList(value) ? value : Object.values(value)).map((member) => longestListIn(member));
  return lengths.reduce((max, length) => Math.max(max, length), isList(value) ? value.length : 0);
}

/** The pages by operation. Those with the path `/` take the filters of a search. */
const pages: Partial<Record<CallableId, (params: Readonly<Record<string, string>>) => string>> = {
  searchListings: () => "/",
  getFacets: () => "/",
  getTrends: () => "/",
  searchDealerListings: ({ dealer_id = "" }) => `/dealers/${encodeURIComponent(dealer_id)}`,
  getListing: ({ listing_id = "" }) => `/listings/${encodeURIComponent(listing_id)}`,
};

/** A longer link would displace items. */
const linkCharactersMax = 1_000;

const controls: ReadonlySet<string> = new Set([...parametersWithDefault, "include", "format", "csv_raw"]);
/** Parameters that choose other data than that of the published day, which pages show. */
const pastNames = ["snapshot_date", "data_version"];
const filterNames = operation("searchListings").parameters.map(({ name }) => name);

/** Returns the link of a request to a service with a public origin; undefined if no page shows its listings. */
export function explorerLink(
  origin: string,
  { id, params = {}, querystring }: OperationRequest,
): ResourceLink | undefined {
  const path = pages[id]?.(params);
  const asked = new URLSearchParams(querystring);
  if (path === undefined || pastNames.some((name) => asked.has(name))) return undefined;
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

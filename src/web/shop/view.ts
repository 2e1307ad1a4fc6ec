/**
 * A view of the shop: the parameters of its URL. Filters are named and spelled as in the API, so that a view is an API request; a few
 * parameters are the page's: `min_year` and `max_year` stand for a list of years, the others choose what is shown.
 */
import { ownValue } from "../../base/json.ts";
import { separatorOf } from "../../contract/decode.ts";
import { operation } from "../../contract/document.ts";
import { listItem, splitList } from "../../contract/lists.ts";
import { queryString, type TextParameters } from "../../operations/caller.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";

/** The parameters of a view in the order of its URL, without empty ones. */
export type ViewParameters = TextParameters;

/** Parameters that choose what is shown of a search. */
const shownNames: ReadonlySet<string> = new Set(["view", "sort", "limit", "offset"]);
const yearNames: ReadonlySet<string> = new Set(["min_year", "max_year"]);
/** Values that mean the same as no value. */
const defaults: TextParameters = { sort: "value", offset: "0", view: "cars", inventory_status: "active" };

/** Returns the view of a query. Repeated parameters, as forms send them, are lists. Lists of years that are a range, as `apiFilters` writes it, are its bounds. */
export function readView(query: URLSearchParams): ViewParameters {
  const isBounded = [...yearNames].some((name) => query.has(name));
  const given = [...new Set(query.keys())].map((name): [string, string] => {
    const values = valuesOf(query, name).map((item) => spelled(name, item));
    if (name === "inventory_type") return [name, conditionsOf(values)];
    return [name, plainNumber(name, values.join(separatorIn(name)))];
  });
  const parameters: Record<string, string> = Object.fromEntries(
    given
      .filter(([name, value]) => value !== "" && value !== ownValue(defaults, name))
      .flatMap(([name, value]) => (name === "year" && !isBounded ? boundsOfYears(value) : [[name, value]])),
  );
  return parameters;
}

const valuesOf = (query: URLSearchParams, name: string): readonly string[] =>
  query.getAll(name).filter((value) => value !== "");

/** Returns the parameters of a query string as an operation takes them: repeated ones are lists. */
export const queryParameters = (query: URLSearchParams): TextParameters =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, valuesOf(query, name).join(separatorIn(name))]));

/** Returns the parameters of a list of years: bounds if they are one, or consecutive. The longest list has no first year. */
function boundsOfYears(list: string): readonly (readonly [name: string, value: string])[] {
  const years = [...new Set(list.split(","))].sort();
  const [first = ""] = years;
  const isRange = years.every((year, index) => /^\d{4}$/.test(year) && Number(year) === Number(first) + index);
  if (!isRange) return [["year", list]];
  const last = ["max_year", `${years.at(-1)}`] as const;
  return years.length === yearsMax ? [last] : [["min_year", first], last];
}

/** The words of closed vocabularies by their lower case and by their aliases, by parameter. */
const vocabularies: Readonly<Record<string, ReadonlyMap<string, string>>> = Object.fromEntries(
  operation("searchListings").parameters.flatMap(({ name, schema }) => {
    const words = schema.items?.enum ?? schema.enum ?? [];
    const aliases = Object.entries((schema.items ?? schema)["x-aliases"] ?? {});
    const spellings = words.map((word): [string, string] => [word.toLowerCase(), word]);
    return words.length === 0 ? [] : [[name, new Map([...spellings, ...aliases])]];
  }),
);

/** Returns the words of a closed vocabulary as the API spells them; other values unchanged. */
function spelled(name: string, value: string): string {
  const words = ownValue(vocabularies, name);
  if (words === undefined) return value;
  return value
    .split(",")
    .map((word) => words.get(word.trim().toLowerCase()) ?? word)
    .join();
}

/** Returns a bound as the API takes it: people write `$25,000`, `€25,000` and `25k`. The API refuses commas elsewhere, such as in `20000,00`. */
function plainNumber(name: string, value: string): string {
  const [, digits, thousands] = /^\p{Sc}?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(k)?$/iu.exec(value) ?? [];
  if (digits === undefined || !/^(min|max)_/.test(name)) return value;
  const plain = digits.replaceAll(",", "");
  return thousands === undefined ? plain : String(Math.round(Number(plain) * 1000));
}

/** Returns the conditions of the boxes of a form: "certified only" is chosen within "used, certified too", which names certified cars again. */
function conditionsOf(values: readonly string[]): string {
  const all = values.join().split(",");
  const isNarrow = all.filter((value) => value === "certified").length > 1;
  return [...new Set(all)].filter((value) => !isNarrow || value !== "used").join();
}

export const viewPath = (parameters: ViewParameters, path = "/shop"): string =>
  Object.keys(parameters).length === 0 ? path : `${path}?${queryString(parameters)}`;

/** Returns the path of a listing that a view shows. It leads back to the view, and with `offset` to the listings beside it in that page of results. */
export const listingPath = (id: string, view: ViewParameters): string => viewPath(view, `/listings/${id}`);

/** Returns the order of a view: the best price first, of listings that have values. */
export const orderOf = (view: ViewParameters): string | undefined =>
  view.sort ?? (isJudged(view) ? "value" : undefined);

/** Returns a view of the version in service, and its as-of date. If no prices were fitted to it, none is the best: the newest cars stand first. */
export const viewIn = (current: CurrentVersion, view: ViewParameters) =>
  current.use(async ({ hasFit, manifest: { as_of: asOf } }) => ({
    asOf,
    hasFit,
    view: hasFit || !isJudged(view) ? view : { sort: "days_on_market", ...view },
  }));

/** Returns a view with some parameters replaced, or removed if undefined; on its first page unless `offset` is among them. */
export function withParameters(
  view: ViewParameters,
  changes: Readonly<Record<string, string | undefined>>,
): ViewParameters {
  const { offset: _, ...rest } = view;
  const changed = Object.entries({ ...rest, ...changes });
  return Object.fromEntries(changed.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const separators: ReadonlyMap<string, string> = new Map(
  operation("searchListings").parameters.map((parameter) => [parameter.name, separatorOf(parameter)]),
);

const separatorIn = (name: string): string => separators.get(name) ?? ",";

export const listOf = (view: ViewParameters, name: string): readonly string[] =>
  view[name] === undefined ? [] : splitList(view[name], separatorIn(name)).map((value) => value.trim());

/** Returns the text of a parameter that has one value, or of one value of its list. */
export const listText = (name: string, value: string): string => listItem(value, separatorIn(name));

/** Returns a view with a value in place of one of a list, or added to it. */
export function withItem(view: ViewParameters, name: string, value: string, item: string): ViewParameters {
  const items = [...listOf(view, name).filter((one) => !isSameValue(one, value)), item];
  return withParameters(view, { [name]: items.map((one) => listText(name, one)).join(separatorIn(name)) });
}

/** Returns true if two values of a category are the same: names in any case, or the slug of one of them. */
const isSameValue = (one: string, other: string): boolean => slugOf(one) === slugOf(other);

/** Returns which of the values of a parameter are chosen, and the chosen ones that are not among these. */
export function chosenAmong(view: ViewParameters, name: string, values: readonly string[]) {
  const chosen = listOf(view, name);
  return {
    isChosen: (value: string): boolean => chosen.some((item) => isSameValue(item, value)),
    others: chosen.filter((item) => !values.some((value) => isSameValue(item, value))),
  };
}

const slugOf = (value: string): string => value.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");

/** Returns the names of the filters of a view. */
export const filterNames = (view: ViewParameters): readonly string[] =>
  Object.keys(view).filter((name) => !shownNames.has(name));

/** Returns a view without some filters. */
export function withoutFilters(view: ViewParameters, names: readonly string[]): ViewParameters {
  const removed: Record<string, string | undefined> = Object.fromEntries(names.map((name) => [name, undefined]));
  if (names.includes("postal_code")) removed.radius = undefined;
  return withParameters(view, removed);
}

/** Returns the filters of a view, as the API takes them. The as-of date bounds the years of a range without an end. */
export function apiFilters(view: ViewParameters, asOf: string): TextParameters {
  const names = filterNames(view).filter((name) => !yearNames.has(name));
  const filters = names.map((name): readonly [string, string] => [name, view[name] ?? ""]);
  const years = yearsOf(view, asOf);
  return {
    ...Object.fromEntries(filters),
    ...(years === undefined ? {} : { year: years }),
  };
}

/** Returns the filters of a view and its order, as the API takes them. */
export function orderedFilters(view: ViewParameters, asOf: string): TextParameters {
  const sort = orderOf(view);
  return { ...apiFilters(view, asOf), ...(sort === undefined ? {} : { sort }) };
}

/** Returns the request of a page of results with some fields. */
export const pageRequest = (view: ViewParameters, asOf: string, fields: readonly string[]): TextParameters =>
  withParameters(orderedFilters(view, asOf), {
    fields: fields.join(),
    limit: view.limit ?? (view.view === "table" ? "50" : "24"),
    offset: view.offset,
  });

/** The longest list that the API accepts, and how far ahead model years are sold. */
const yearsMax = 100;
const yearsAhead = 2;

/** Returns the list of years of a range; returns invalid bounds unchanged, for the API to refuse. */
function yearsOf({ min_year: min, max_year: max }: ViewParameters, asOf: string): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const last = Number(max ?? Math.max(Number(min), Number(asOf.slice(0, 4)) + yearsAhead));
  const first = Number(min ?? last - yearsMax + 1);
  const isRange = Number.isInteger(first) && Number.isInteger(last) && first <= last && last - first < yearsMax;
  if (!isRange) return `${min ?? ""}-${max ?? ""}`;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).join();
}

/** Whether a view has cars for sale, which have values. */
export const isJudged = ({ inventory_status, sold_within_days }: ViewParameters): boolean =>
  inventory_status !== "sold" && sold_within_days === undefined;

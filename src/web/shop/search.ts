/** The search behind a page of the shop: its cars, the counts beside the filters, the place of its ZIP code, and what would show more cars. */
import { ownValue } from "../../base/json.ts";
import { operation } from "../../contract/document.ts";
import { errors, Refusal } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { type CardListing, cardFields } from "../components/card.tsx";
import { conditionWords, type SearchChange, sparseCars } from "../sentences/shop.ts";
import { lower } from "../sentences/words.ts";
import { count, dollars } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { countViewFacets, facetDefinitions, noFacets, type ViewFacets } from "./facets.ts";
import { chosenFilters, type LostFilter, lostFilter, spokenSearch, type ViewNames } from "./filter-words.ts";
import {
  apiFilters,
  listOf,
  orderedFilters,
  pageRequest,
  type ViewParameters,
  viewPath,
  withoutFilters,
  withParameters,
} from "./view.ts";

/** What a search depends on besides its view. */
interface SearchContext {
  readonly requests: PageRequests;
  readonly asOf: string;
}

/** A search, or why it is invalid. */
export interface FoundView {
  readonly answer?: AnswerOf<"searchListings">;
  readonly facets: ViewFacets;
  /** The counts under all filters; undefined where those beside the filters are the same. */
  readonly within?: AnswerOf<"getFacets">["data"] | undefined;
  readonly place?: string | undefined;
  /** What a sparse search would show with one change, and the nearest cars beyond its radius. */
  readonly more?: MoreCars | undefined;
  readonly invalid?: Refusal;
}

/** Searches without the filters that the API refuses, which are `lost`. */
export async function findValid(
  context: SearchContext,
  view: ViewParameters,
): Promise<{ readonly view: ViewParameters; readonly found: FoundView; readonly lost: readonly LostFilter[] }> {
  const found = await findView(context, view);
  const lost = lostFilter(found.invalid, view);
  if (lost === undefined) return { view, found, lost: [] };
  const isPlaceless = lost.names.includes("postal_code") && view.sort === "distance";
  const rest = await findValid(context, withoutFilters(view, isPlaceless ? [...lost.names, "sort"] : lost.names));
  return { ...rest, lost: [lost, ...rest.lost] };
}

/** Searches, then counts. The first request validates the view, so that an invalid one is charged nothing. */
async function findView(context: SearchContext, view: ViewParameters): Promise<FoundView> {
  const { requests, asOf } = context;
  let answer: AnswerOf<"searchListings">;
  try {
    answer = await requests.call("searchListings", pageRequest(view, asOf, cardFields));
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || errors[thrown.code][0] !== 400) throw thrown;
    return { facets: noFacets, invalid: thrown };
  }
  const { total } = answer.pagination;
  const [facets, within, place] = await Promise.all([
    countViewFacets(requests, view, asOf),
    isCountedApart(view, total > answer.data.length) ? countWithin(context, view) : undefined,
    zipPlace(requests, view),
  ]);
  const more = total < sparseCars ? await moreCarsOf(context, view, { facets, place }, answer) : undefined;
  return { answer, facets: withLists(facets, within), within, place, more };
}

/** The facets of which a car has several values, so that each chosen one narrows the search. */
const listFacets = ["keywords", "features"] as const;

/** The filters that the counts beside them leave out, and the numbers of the verdict have. */
const boundNames = ["min_price", "max_price", "min_days_on_market", "max_days_on_market", "value_rating"];

const isCountedApart = (view: ViewParameters, hasMore: boolean): boolean =>
  listFacets.some((name) => view[name] !== undefined) ||
  (hasMore && boundNames.some((name) => view[name] !== undefined));

/** Returns the counts beside the filters, with those of lists under all filters. */
function withLists(facets: ViewFacets, within: FoundView["within"]): ViewFacets {
  if (within === undefined) return facets;
  const lists = listFacets.map((name) => [name, within.facets[name] ?? []] as const);
  return { ...facets, values: { ...facets.values, ...Object.fromEntries(lists) } };
}

async function countWithin({ requests, asOf }: SearchContext, view: ViewParameters) {
  const facets = "price,days_on_market,keywords,features,value_rating,inventory_type";
  const count = () => requests.call("getFacets", { facets, facet_value_limit: "50", ...apiFilters(view, asOf) });
  return (await requests.loadPart("numbers of this search", count))?.data;
}

/** Returns the place of a view's ZIP code: `Tacoma, WA`; undefined if it is unknown. */
export async function zipPlace(
  requests: PageRequests,
  { postal_code: zip }: ViewParameters,
): Promise<string | undefined> {
  const [, q] = /^(\d{5})(-\d{4})?$/.exec(zip ?? "") ?? [];
  if (q === undefined) return undefined;
  const answer = await requests.loadPart("name of the place", () => requests.call("suggestFilters", { q, limit: "3" }));
  const found = answer?.data.find(({ attribute, value }) => attribute === "postal_code" && value === q);
  return found?.text.replace(`${q} `, "");
}

/** What would show more cars than a sparse search. */
export interface MoreCars {
  readonly changes: readonly SearchChange[];
  /** The nearest cars beyond the radius, and how many they are. */
  readonly farther?:
    | { readonly cars: readonly CardListing[]; readonly total: number; readonly radius: number }
    | undefined;
  /** If none matches: the cheapest car without bounds of price and distance, and the nearest cars of the same body. */
  readonly cheapest?: { readonly car: CardListing; readonly words: string };
  readonly similar?: { readonly cars: readonly CardListing[]; readonly words: string };
}

/** The most changes that are counted, and the most cars that are shown beyond a search. */
const changesMax = 5;
const beyondMax = 4;

async function moreCarsOf(
  context: SearchContext,
  view: ViewParameters,
  names: ViewNames,
  { data: found, pagination: { total } }: AnswerOf<"searchListings">,
): Promise<MoreCars> {
  const counts = changesOf(view, names)
    .slice(0, changesMax)
    .map(async ([words, changed]) => {
      const answer = await search(context, changed, { fields: "id", limit: "1" });
      return answer === undefined ? [] : [changeTo(changed, words, answer)];
    });
  const [changes, farther, nothing] = await Promise.all([
    Promise.all(counts),
    fartherOf(context, view, found),
    total === 0 ? nothingOf(context, view, names) : undefined,
  ]);
  return {
    ...nothing,
    changes: [...(farther === undefined ? [] : [farther.change]), ...changes.flat(), ...(nothing?.changes ?? [])],
    farther: farther?.cars.length === 0 ? undefined : farther,
  };
}

const changeTo = (view: ViewParameters, words: string, { pagination }: AnswerOf<"searchListings">): SearchChange => ({
  words,
  cars: pagination.total,
  href: viewPath(view),
});

async function search({ requests, asOf }: SearchContext, view: ViewParameters, query: TextParameters) {
  const parameters = { ...orderedFilters(view, asOf), ...query };
  return requests.loadPart("other searches", () => requests.call("searchListings", parameters));
}

/** Returns the changes of a view that can show more cars: a greater price, then each filter less. Its radius is widened apart. */
function changesOf(view: ViewParameters, names: ViewNames): readonly (readonly [words: string, ViewParameters])[] {
  const price = Number(view.max_price);
  const greater = Math.ceil((price * 1.2) / 5000) * 5000;
  const isRaised = price > 0 && price < 1_000_000;
  const dropped = chosenFilters(view, names).filter((chosen) => !isRaised || !chosen.names.includes("max_price"));
  return [
    ...(isRaised ? [[`To ${dollars(greater)}`, withParameters(view, { max_price: String(greater) })] as const] : []),
    ...dropped.map(
      ({ names: [name = "", ...others], text }) =>
        [withoutWords(name, text), withoutFilters(view, [name, ...others])] as const,
    ),
  ];
}

/** Filters whose absence is not said by their titles. */
const anyWords: Readonly<Record<string, string>> = { postal_code: "At any distance", value_rating: "At any price" };

/** Returns the words for a search without a filter. */
function withoutWords(name: string, text: string): string {
  const facet = facetDefinitions.find(({ parameters }) => parameters.includes(name));
  return ownValue(anyWords, name) ?? (facet === undefined ? `Without ${text}` : `Any ${lower(facet.title)}`);
}

/** The longest radius that the API takes, in miles. */
const radiusMax =
  operation("searchListings").parameters.find(({ name }) => name === "radius")?.schema.maximum ?? Number.NaN;

/** Returns the nearest cars beyond the radius of a view, within one that is about one and a half times as long. */
async function fartherOf(context: SearchContext, view: ViewParameters, found: readonly CardListing[]) {
  const near = Number(view.radius);
  const wished = near < 100 ? Math.ceil(near / 25 + 1) * 25 : Math.ceil((near * 1.5) / 50) * 50;
  const radius = Math.min(wished, radiusMax);
  if (view.postal_code === undefined || !(near > 0 && near < radius)) return undefined;
  const wider = withParameters(view, { radius: String(radius) });
  const limit = String(found.length + beyondMax);
  const answer = await search(context, wider, { fields: cardFields.join(), sort: "distance", limit });
  if (answer === undefined) return undefined;
  return {
    cars: answer.data.filter(({ id }) => !found.some((one) => one.id === id)),
    total: answer.pagination.total - found.length,
    radius,
    change: changeTo(wider, `Within ${count(radius)} miles`, answer),
  };
}

/** The filters that say which car is meant, and those that say under which conditions. */
const kindNames = ["make", "model", "trim", "version"];
const conditionNames = ["min_price", "max_price", "postal_code", "radius", "min_mileage", "max_mileage", "sort"];

/** Returns what stands in place of no cars: the cheapest such car anywhere, and the nearest of the same body. */
async function nothingOf(
  context: SearchContext,
  view: ViewParameters,
  names: ViewNames,
): Promise<MoreCars | undefined> {
  const fields = cardFields.join();
  const plain = withoutFilters(view, conditionNames);
  const anywhere = await search(context, withParameters(plain, { sort: "price" }), { fields, limit: "1" });
  const [car] = anywhere?.data ?? [];
  if (anywhere === undefined || car === undefined) return undefined;
  const { postal_code: zip } = view;
  const cheapest = { car, words: kindOf(view, car) };
  const isBounded = conditionNames.some((name) => view[name] !== undefined && name !== "sort");
  const words = zip === undefined ? "At any price and mileage" : "At any price, any distance";
  const changes = isBounded ? [changeTo(plain, words, anywhere)] : [];
  const { body_type: body } = car;
  if (body == null || view.body_type !== undefined || kindNames.every((name) => view[name] === undefined))
    return { changes, cheapest };
  const placeless = withParameters(withoutFilters(view, [...kindNames, "postal_code", "sort"]), { body_type: body });
  const like = zip === undefined ? placeless : withParameters(placeless, { postal_code: zip, sort: "distance" });
  const answer = await search(context, like, { fields, limit: String(beyondMax) });
  if (answer === undefined || answer.data.length === 0) return { changes, cheapest };
  const what = spokenSearch(placeless, names) ?? "Cars";
  return {
    changes: [...changes, changeTo(like, `${what}, anywhere`, answer)],
    cheapest,
    similar: { cars: answer.data, words: what },
  };
}

/** Returns what kind of car was looked for: `used 911`. */
function kindOf(view: ViewParameters, { make, model }: CardListing): string {
  const name = view.model === undefined ? (view.make === undefined ? undefined : make) : model;
  return [conditionWords(listOf(view, "inventory_type")), name ?? "such car"].filter((word) => word !== "").join(" ");
}

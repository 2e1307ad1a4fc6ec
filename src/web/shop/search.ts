/** The search behind a page of the shop: its cars, the counts beside the filters, the place of its ZIP code, and what would show more cars. */
import { errors, Refusal } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { cardFields } from "../components/card.tsx";
import { type SearchChange, sparseCars } from "../sentences/shop.ts";
import { count, dollars } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { chosenColumns } from "./columns.tsx";
import { countViewFacets, noFacets, type ViewFacets } from "./facets.ts";
import { chosenFilters, spokenSearch, type ViewNames } from "./filter-words.ts";
import {
  apiFilters,
  inventoryOf,
  listOf,
  orderOf,
  pageSizeOf,
  type ViewParameters,
  viewPath,
  withoutFilters,
  withParameters,
} from "./view.ts";

export type FoundListings = AnswerOf<"searchListings">["data"];

/** What a search depends on besides its view. */
export interface SearchContext {
  readonly requests: PageRequests;
  readonly asOf: string;
  readonly photos: PhotoMode;
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

/** Searches, then counts. The first request validates the view, so that an invalid one is charged nothing, and can be corrected. */
export async function findView(context: SearchContext, view: ViewParameters): Promise<FoundView> {
  const { requests, asOf } = context;
  let answer: AnswerOf<"searchListings">;
  try {
    answer = await requests.call("searchListings", searchParameters(context, view));
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
  const names: ViewNames = { facets, place };
  const more = total < sparseCars ? await moreCarsOf(context, view, { names, found: answer.data, total }) : undefined;
  return { answer, facets: withLists(facets, within), within, place, more };
}

const fieldsOf = (view: ViewParameters, photos: PhotoMode): string =>
  [
    ...new Set([
      ...cardFields,
      ...(view.view === "table" ? chosenColumns(listOf(view, "columns")).flatMap((column) => column.fields) : []),
      ...(photos === "off" ? [] : ["photo_urls"]),
    ]),
  ].join();

function searchParameters({ asOf, photos }: SearchContext, view: ViewParameters): TextParameters {
  const { offset } = view;
  const sort = orderOf(view);
  return {
    ...apiFilters(view, asOf),
    ...(sort === undefined ? {} : { sort }),
    fields: fieldsOf(view, photos),
    limit: String(pageSizeOf(view)),
    ...(offset === undefined ? {} : { offset }),
  };
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
  if (zip === undefined || !/^\d{5}$/.test(zip)) return undefined;
  const answer = await requests.loadPart("name of the place", () =>
    requests.call("suggestFilters", { q: zip, limit: "3" }),
  );
  const found = answer?.data.find(({ attribute, value }) => attribute === "postal_code" && value === zip);
  return found?.text.replace(`${zip} `, "");
}

/** What would show more cars than a sparse search. */
export interface MoreCars {
  readonly changes: readonly SearchChange[];
  /** The nearest cars beyond the radius, and how many they are. */
  readonly farther?: {
    readonly cars: FoundListings;
    readonly total: number;
    readonly radius: number;
    readonly path: string;
  };
  /** The cheapest car without bounds of price and distance, if none matches. */
  readonly cheapest?: { readonly car: FoundListings[number]; readonly words: string };
  /** The nearest cars of the same body, if none matches. */
  readonly similar?: { readonly cars: FoundListings; readonly words: string; readonly path: string };
}

interface SparseSearch {
  readonly names: ViewNames;
  readonly found: FoundListings;
  readonly total: number;
}

/** The most changes that are counted. */
const changesMax = 5;

/** The most cars that are shown beyond a search. */
const beyondMax = 4;

async function moreCarsOf(context: SearchContext, view: ViewParameters, sparse: SparseSearch): Promise<MoreCars> {
  const { names, found, total } = sparse;
  const radius = Number(view.radius);
  const wider = view.postal_code === undefined || !(radius > 0) ? undefined : nextRadius(radius);
  const candidates = candidatesOf(view, names)
    .filter(({ words }) => words !== "")
    .slice(0, changesMax);
  const counts = candidates.map(async ({ words, changed }): Promise<SearchChange | undefined> => {
    const answer = await search(context, changed, { fields: "id", limit: "1" });
    return answer === undefined ? undefined : { words, cars: answer.pagination.total, href: viewPath(changed) };
  });
  const [changes, farther, nothing] = await Promise.all([
    Promise.all(counts),
    wider === undefined || wider > radiusMax ? undefined : fartherOf(context, view, wider, found),
    total === 0 ? nothingOf(context, view, names) : undefined,
  ]);
  const widened: SearchChange | undefined =
    farther === undefined
      ? undefined
      : { words: `Within ${count(farther.radius)} miles`, cars: farther.total + total, href: farther.path };
  const all = [widened, ...changes, ...(nothing?.changes ?? [])];
  return {
    changes: all.filter((change) => change !== undefined),
    ...(farther === undefined || farther.cars.length === 0 ? {} : { farther }),
    ...nothing?.shown,
  };
}

async function search(context: SearchContext, view: ViewParameters, query: TextParameters) {
  const { requests, asOf } = context;
  const sort = orderOf(view);
  const call = () =>
    requests.call("searchListings", { ...apiFilters(view, asOf), ...(sort === undefined ? {} : { sort }), ...query });
  return requests.loadPart("other searches", call);
}

const radiusMax = 3000;

/** Returns a round radius that is about one and a half times as long. */
const nextRadius = (radius: number): number =>
  radius < 100 ? Math.ceil(radius / 25 + 1) * 25 : Math.ceil((radius * 1.5) / 50) * 50;

interface Candidate {
  readonly words: string;
  readonly changed: ViewParameters;
}

/** Returns the changes of a view that can show more cars: a greater price, then each filter less. Its radius is widened apart. */
function candidatesOf(view: ViewParameters, names: ViewNames): readonly Candidate[] {
  const price = Number(view.max_price);
  const greater = Math.ceil((price * 1.2) / 5000) * 5000;
  const raised: readonly Candidate[] =
    price > 0 && price < 1_000_000
      ? [{ words: `To ${dollars(greater)}`, changed: withParameters(view, { max_price: String(greater) }) }]
      : [];
  const dropped = chosenFilters(view, names)
    .filter((chosen) => !chosen.names.includes("max_price") || raised.length === 0)
    .map((chosen) => ({ words: droppedText(chosen.names, chosen.text), changed: withoutFilters(view, chosen.names) }));
  return [...raised, ...dropped];
}

/** Filters whose absence has words. */
const anyWords: Readonly<Record<string, string>> = {
  drivetrain: "Any drivetrain",
  body_type: "Any body",
  make: "Any make and model",
  model: "Any model",
  trim: "Any trim",
  inventory_type: "New and used",
  base_exterior_color: "Any color",
  fuel_type: "Any fuel",
  postal_code: "At any distance",
  min_price: "At any price",
  max_price: "At any price",
  min_year: "Of any year",
  max_year: "Of any year",
  max_mileage: "With any mileage",
  value_rating: "At any price",
};

const droppedText = ([name = ""]: readonly string[], text: string): string => anyWords[name] ?? `Without ${text}`;

async function fartherOf(context: SearchContext, view: ViewParameters, radius: number, found: FoundListings) {
  const wider = withParameters(view, { radius: String(radius) });
  const limit = String(found.length + beyondMax);
  const answer = await search(context, wider, { fields: fieldsOf({}, context.photos), sort: "distance", limit });
  if (answer === undefined) return undefined;
  const known = new Set(found.map(({ id }) => id));
  return {
    cars: answer.data.filter(({ id }) => !known.has(id)),
    total: answer.pagination.total - found.length,
    radius,
    path: viewPath(wider),
  };
}

/** The filters that say which car is meant, and not under which conditions. */
const conditionNames = ["min_price", "max_price", "postal_code", "radius", "min_mileage", "max_mileage", "sort"];
const kindNames = ["make", "model", "trim", "version"];

/** Returns what stands in place of no cars: the cheapest such car anywhere, and the nearest of the same body. */
async function nothingOf(context: SearchContext, view: ViewParameters, names: ViewNames) {
  const fields = fieldsOf({}, context.photos);
  const plain = withoutFilters(view, conditionNames);
  const anywhere = withParameters(plain, { sort: "price" });
  const cheapest = await search(context, anywhere, { fields, limit: "1" });
  const car = cheapest?.data[0];
  if (cheapest === undefined || car === undefined) return undefined;
  const isBounded = conditionNames.some((name) => view[name] !== undefined && name !== "sort");
  const words = view.postal_code === undefined ? "At any price and mileage" : "At any price, any distance";
  const change: SearchChange = { words, cars: cheapest.pagination.total, href: viewPath(plain) };
  const changes = isBounded ? [change] : [];
  const shown = { cheapest: { car, words: kindOf(view, car) } };
  const body = car.body_type;
  if (body == null || !kindNames.some((name) => view[name] !== undefined) || view.body_type !== undefined)
    return { changes, shown };
  const like = withParameters(withoutFilters(view, [...kindNames, "radius"]), {
    body_type: body,
    ...(view.postal_code === undefined ? {} : { postal_code: view.postal_code, sort: "distance" }),
  });
  const similar = await search(context, like, { fields, limit: String(beyondMax) });
  if (similar === undefined || similar.data.length === 0) return { changes, shown };
  const { postal_code: _, ...placeless } = like;
  const what = spokenSearch(placeless, names) ?? "Cars";
  const path = viewPath(like);
  const other: SearchChange = { words: `${what}, anywhere`, cars: similar.pagination.total, href: path };
  return { changes: [...changes, other], shown: { ...shown, similar: { cars: similar.data, words: what, path } } };
}

/** Returns what kind of car was looked for: `used 911`. */
function kindOf(view: ViewParameters, car: FoundListings[number]): string {
  const condition = listOf(view, "inventory_type").includes("used")
    ? "used "
    : view.inventory_type === "new"
      ? "new "
      : "";
  const name = view.model === undefined ? (view.make === undefined ? "such car" : car.make) : car.model;
  return `${condition}${name ?? "such car"}`;
}

/** Whether a view has the cars of the published day, which have values. */
export const isJudged = (view: ViewParameters): boolean => inventoryOf(view) === "active";

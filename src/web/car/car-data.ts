/** What the page of a car shows: the listing, its value among similar cars, its VIN's evidence, its dealer's stock, and other cars. */
import type { AnswerOf } from "../../contract/types.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { type CardListing, cardFields } from "../components/card.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import {
  apiFilters,
  filterNames,
  listText,
  orderOf,
  pageSizeOf,
  type ViewParameters,
  withParameters,
} from "../shop/view.ts";

export type ListingDetail = AnswerOf<"getListing">["data"];
export type Valued = AnswerOf<"getListingComparables">["data"];
export type Evidence = AnswerOf<"getEvidence">["data"];

/** The search that led to the page, and the published day. */
export interface ShownView {
  readonly view: ViewParameters;
  readonly asOf: string;
}

/** The position of a car in its search, from 1, and the numbers of the cars beside it in `cars`. */
interface Position {
  readonly number: number;
  readonly total: number;
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

/** Other cars: those of the search, or of the model. */
export interface OtherCars {
  readonly from: "search" | "branded" | "model";
  readonly cars: readonly CardListing[];
  readonly position?: Position | undefined;
  /** The distance of the car itself, if the search has an origin. */
  readonly miles?: number | null | undefined;
}

export type CarParts = Awaited<ReturnType<typeof loadParts>>;

/** Loads what a page has beside its listing: each part is undefined if it could not be loaded. */
export async function loadParts(listing: ListingDetail, requests: PageRequests, shown: ShownView) {
  const { id, dealer } = listing;
  const [ofVin, valued, typicalDays, stock] = await Promise.all([
    loadVin(requests, listing),
    requests.loadPart("similar cars", () => loadSimilar(requests, id)),
    requests.loadPart("the typical time on the lot", () => typicalDaysOf(requests, listing)),
    requests.loadPart("the dealer's stock", () => loadStock(requests, dealer.dealer_id)),
  ]);
  const own = ofVin.listings.find((one) => one.id === id);
  const isBranded = own?.keywords?.includes("branded") === true;
  const others = await requests.loadPart("other cars", () => loadOthers(requests, { listing, isBranded }, shown));
  return { ...ofVin, own, valued, typicalDays, stock, others };
}

/** The most similar cars of an answer: with fewer, the answer has all of them. */
export const similarMax = 60;

/** Returns the value of a listing and its similar cars; with a radius in miles, those within. */
export const loadSimilar = async (requests: PageRequests, listing_id: string, radius?: number): Promise<Valued> =>
  (
    await requests.call(
      "getListingComparables",
      { limit: String(similarMax), ...(radius === undefined ? {} : { radius: String(radius) }) },
      { listing_id },
    )
  ).data;

/** The fewest cars whose median is said, as in the API. */
const sampleMin = 10;

/** Returns the typical time on the lot of cars of the model and condition, at most one year older or newer; null for fewer than ten. */
async function typicalDaysOf(
  requests: PageRequests,
  { vehicle: { build }, inventory_type: condition }: ListingDetail,
): Promise<number | null> {
  const { make, model, year } = build;
  if (make === null || model === null) return null;
  const { data } = await requests.call("getFacets", {
    facets: "days_on_market",
    ...ofModel(make, model),
    ...(year === null ? {} : { year: `${year - 1},${year},${year + 1}` }),
    ...(condition === null ? {} : { inventory_type: condition }),
  });
  const days = data.stats.days_on_market;
  return days === undefined || days.count < sampleMin ? null : days.median;
}

export const ofModel = (make: string, model: string) => ({
  make: listText("make", make),
  model: listText("model", model),
});

/** Counts the cars of a dealer, how many of its prices are rated, and how many of these are great or good. */
async function loadStock(requests: PageRequests, dealer_id: string) {
  const { data } = await requests.call("getFacets", { facets: "value_rating,days_on_market", dealer_id });
  const ratings = data.facets.value_rating ?? [];
  const sumOf = (counted: typeof ratings): number => counted.reduce((sum, { count }) => sum + count, 0);
  return {
    cars: data.total,
    medianDays: data.stats.days_on_market?.median,
    rated: sumOf(ratings),
    goodOrBetter: sumOf(ratings.filter(({ value }) => value === "great" || value === "good")),
  };
}

const ownFields = [...cardFields, "keywords", "dealer_name"];

/** Loads the evidence about a VIN and its listings: the sold ones only if this one is, or the evidence names others. */
async function loadVin(requests: PageRequests, { id, vin, sold_date: sold }: ListingDetail) {
  const query = { vin_pattern: vin, fields: ownFields.join(), limit: "20" };
  const search = (more: TextParameters): Promise<readonly CardListing[]> =>
    requests
      .loadPart("listings of this car", () => requests.call("searchListings", { ...query, ...more }))
      .then((answer) => answer?.data ?? []);
  const [evidence, active] = await Promise.all([
    requests.loadPart("evidence", () => requests.call("getEvidence", { limit: "200" }, { vin })),
    search({}),
  ]);
  const isAlone = evidence?.data.steps.every(({ listing_id }) => listing_id === null || listing_id === id) ?? false;
  const past = sold === null && isAlone ? [] : await search({ inventory_status: "sold" });
  return { evidence: evidence?.data, listings: [...active, ...past] };
}

/** How many other cars the page shows. */
const othersMax = 4;
const otherFields = [...cardFields, "keywords"].join();

interface OthersOf {
  readonly listing: ListingDetail;
  readonly isBranded: boolean;
}

/** Loads cars to go on with: those of the search that led here, else of the model; of a branded car, the nearest ones with a clean title. */
async function loadOthers(
  requests: PageRequests,
  { listing, isBranded }: OthersOf,
  shown: ShownView,
): Promise<OtherCars> {
  if (filterNames(shown.view).length > 0 && !isBranded) return loadOfSearch(requests, listing.id, shown);
  const { vehicle, dealer, inventory_type: condition } = listing;
  const { make, model } = vehicle.build;
  const from = isBranded ? "branded" : "model";
  if (make === null || model === null) return { from, cars: [] };
  const { latitude, longitude } = dealer;
  const isPlaced = latitude !== null && longitude !== null;
  const order = isPlaced
    ? { latitude: String(latitude), longitude: String(longitude), sort: "distance" }
    : { sort: "days_on_market" };
  const { data } = await requests.call("searchListings", {
    ...ofModel(make, model),
    ...(isBranded ? { keywords: "clean_title" } : condition === null ? {} : { inventory_type: condition }),
    ...order,
    fields: otherFields,
    limit: String(othersMax + 1),
  });
  return { from, cars: data.filter(({ id }) => id !== listing.id).slice(0, othersMax) };
}

/**
 * Finds a car in the page of results that begins at the view's `offset`, and the cars beside it, also on the pages before and after. It asks for results
 * that the visitor has seen, which pages get without another charge.
 */
async function loadOfSearch(requests: PageRequests, listing: string, { view, asOf }: ShownView): Promise<OtherCars> {
  const start = Number(view.offset ?? 0);
  const size = pageSizeOf(view);
  const first = Math.max(0, start - 1);
  const shown = {
    sort: orderOf(view),
    fields: otherFields,
    offset: String(first),
    limit: String(start - first + size + 1),
  };
  const { data, pagination } = await requests.call("searchListings", withParameters(apiFilters(view, asOf), shown));
  const at = data.findIndex(({ id }) => id === listing);
  const after = [...data.slice(at + 1), ...data.slice(0, Math.max(0, at))];
  const cars = after.slice(0, othersMax);
  if (at === -1) return { from: "search", cars };
  return {
    from: "search",
    cars,
    miles: data[at]?.distance_miles,
    position: {
      number: first + at + 1,
      total: pagination.total,
      previous: data[at - 1]?.id,
      next: data[at + 1]?.id,
    },
  };
}

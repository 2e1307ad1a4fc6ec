/** What the page of a car shows: the listing, its value among similar cars, its VIN's evidence, its dealer's stock, and other cars. */
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { ratingWords } from "../components/badge.tsx";
import { type CardListing, cardFields } from "../components/card.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import { countIn } from "../shop/facets.ts";
import { zipPlace } from "../shop/search.ts";
import { filterNames, listText, pageRequest, type ViewParameters } from "../shop/view.ts";

export type ListingDetail = AnswerOf<"getListing">["data"];
export type Valued = AnswerOf<"getListingComparables">["data"];
export type Evidence = AnswerOf<"getEvidence">["data"];

/** A car, the search that led to it, the published day, and how photos are shown. */
interface CarOfView {
  readonly listing: ListingDetail;
  readonly view: ViewParameters;
  readonly asOf: string;
  readonly photos: PhotoMode;
}

/** Other cars: those of the search, or of the model. */
interface OtherCars {
  readonly from: "search" | "branded" | "model";
  readonly cars: readonly CardListing[];
  /** The number of the car in its search, from 1, and of how many. */
  readonly position?: { readonly number: number; readonly total: number };
  /** The distance of the car itself, if the search has an origin. */
  readonly miles?: number | null | undefined;
}

/** The page of a car: each part is undefined if it could not be loaded. */
export type ShownCar = Awaited<ReturnType<typeof loadCar>>;

export async function loadCar(requests: PageRequests, shown: CarOfView) {
  const { listing } = shown;
  const { id, vin, dealer, sold_date: sold } = listing;
  const ofVin = { vin_pattern: vin, fields: cardFields.join(), limit: "20" };
  const [evidence, ofCar, valued, stock, place] = await Promise.all([
    requests.loadPart("evidence", () => requests.call("getEvidence", { limit: "200" }, { vin })),
    requests.loadPart("facts of this car", () =>
      requests.call("searchListings", { ...ofVin, ...(sold === null ? {} : { inventory_status: "sold" }) }),
    ),
    requests.loadPart("similar cars", () => loadSimilar(requests, id)),
    requests.loadPart("the dealer's stock", () => loadStock(requests, dealer.dealer_id)),
    zipPlace(requests, shown.view),
  ]);
  const own = ofCar?.data.find((one) => one.id === id);
  const isBranded = own?.keywords?.includes("branded") === true;
  const others = await requests.loadPart("other cars", () => loadOthers(requests, shown, isBranded));
  return { ...shown, evidence: evidence?.data, own, valued, stock, others, place };
}

/** The most similar cars of an answer: with fewer, the answer has all of them. */
export const similarMax = 60;

/** Returns the value of a listing and its similar cars; with a radius in miles, those within. */
export async function loadSimilar(requests: PageRequests, listing_id: string, radius?: number): Promise<Valued> {
  const query = { limit: String(similarMax), ...(radius === undefined ? {} : { radius: String(radius) }) };
  return (await requests.call("getListingComparables", query, { listing_id })).data;
}

export const ofModel = (make: string, model: string) => ({
  make: listText("make", make),
  model: listText("model", model),
});

const ofCondition = ({ inventory_type: type }: ListingDetail) => (type === null ? {} : { inventory_type: type });

/** Counts the cars of a dealer, how many of its prices are rated, and how many of these are great or good. */
async function loadStock(requests: PageRequests, dealer_id: string) {
  const { data } = await requests.call("getFacets", {
    facets: "value_rating,days_on_market,inventory_type",
    dealer_id,
  });
  const { value_rating: ratings = [], inventory_type: types = [] } = data.facets;
  return {
    cars: data.total,
    used: countIn(types, "used", "certified"),
    new: countIn(types, "new"),
    medianDays: data.stats.days_on_market?.median,
    rated: countIn(ratings, ...Object.keys(ratingWords)),
    goodOrBetter: countIn(ratings, "great", "good"),
  };
}

/** How many other cars the page shows. */
const othersMax = 4;

/** Loads cars to go on with: those of the search that led here, else of the model; of a branded car, the nearest ones with a clean title. */
async function loadOthers(requests: PageRequests, shown: CarOfView, isBranded: boolean): Promise<OtherCars> {
  if (filterNames(shown.view).length > 0 && !isBranded) return loadOfSearch(requests, shown);
  const { vehicle, dealer, id } = shown.listing;
  const { make, model } = vehicle.build;
  const from = isBranded ? "branded" : "model";
  if (make === null || model === null) return { from, cars: [] };
  const { latitude, longitude } = dealer;
  const { data } = await requests.call("searchListings", {
    ...ofModel(make, model),
    ...(isBranded ? { keywords: "clean_title" } : ofCondition(shown.listing)),
    ...(latitude === null || longitude === null
      ? { sort: "days_on_market" }
      : { latitude: String(latitude), longitude: String(longitude), sort: "distance" }),
    fields: cardFields.join(),
    limit: String(othersMax + 1),
  });
  return { from, cars: data.filter((car) => car.id !== id).slice(0, othersMax) };
}

/** Finds a car in the page of results that begins at the view's `offset`, which the visitor has seen, and the cars after it. */
async function loadOfSearch(requests: PageRequests, { listing, view, asOf }: CarOfView): Promise<OtherCars> {
  const offset = Number(view.offset ?? 0);
  const request = pageRequest(view, asOf, cardFields);
  const { data, pagination } = await requests.call("searchListings", request);
  const at = data.findIndex(({ id }) => id === listing.id);
  const cars = [...data.slice(at + 1), ...data.slice(0, Math.max(0, at))].slice(0, othersMax);
  if (at === -1) return { from: "search", cars };
  const position = { number: offset + at + 1, total: pagination.total };
  return { from: "search", cars, miles: data[at]?.distance_miles, position };
}

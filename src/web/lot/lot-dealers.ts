/** Dealers beside each other: how each prices against similar cars, how long its cars stand, and how far away it is. */
import type { AnswerOf } from "../../contract/types.ts";
import type { Point } from "../../listing/geography.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { distanceMiles, pointOfZip } from "../../query/geography.ts";
import { rankedCarsMin } from "../sentences/lot.ts";
import { count, plainWords } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";

export interface MarketDealer {
  readonly id: string;
  readonly name: string;
  readonly cars: number;
  /** The median of prices against similar cars, as a fraction; null if too few are rated. */
  readonly toMarket: number | null;
  readonly days: number | null;
  readonly supply: number | null;
  /** Where it is, in words, and how far from the origin, in miles. */
  readonly place?: string | undefined;
  readonly miles?: number | null | undefined;
}

/** A dealer whose medians are known. */
export type RankedDealer = MarketDealer & Medians;
type Medians = Readonly<Record<"toMarket" | "days", number>>;

export const milesText = (miles: number): string => count(miles, "\u00a0mi");

/** Formats days with at most one decimal. */
export const roundedDays = (days: number): string => String(Math.round(days * 10) / 10);

/** The most dealers that the API counts at once, describes at once, and filters listings by. */
const groupsMax = 1000;
const describedMax = 100;
export const filteredMax = 50;

/** Loads the dealers whose listings match filters, those with the most first, and how many there are. */
export async function loadDealers(requests: PageRequests, filters: TextParameters) {
  const metric = "price_to_value.median,days_on_market.median,days_supply";
  const query = { ...filters, group_by: "dealer_id", metric, limit: String(groupsMax) };
  const { data, meta } = await requests.call("getGroups", query);
  return { dealers: data.flatMap(dealerOf), total: meta.total_groups };
}

function dealerOf(group: AnswerOf<"getGroups">["data"][number]): readonly MarketDealer[] {
  const { values, dealer_name, count: cars, metrics } = group;
  const { dealer_id: id = null } = values;
  const [toMarket = null, days = null, supply = null] = metrics.map(({ value }) => value);
  return id === null ? [] : [{ id, name: dealer_name ?? id, cars, toMarket, days, supply }];
}

/** The most listings that are read for the medians of small dealers. */
const readMax = 400;
export const pageMax = 100;

/**
 * Returns the dealers with at least five rated cars. The API has medians of ten values or more: those of smaller dealers are of their listings, which
 * are read, those of the largest first.
 */
export async function rankDealers(
  requests: PageRequests,
  dealers: readonly MarketDealer[],
  filters: TextParameters,
): Promise<readonly RankedDealer[]> {
  let read = 0;
  const small = dealers
    .filter((dealer) => dealer.cars >= rankedCarsMin && !isRanked(dealer))
    .slice(0, filteredMax)
    .filter(({ cars }) => {
      read += cars;
      return read <= readMax;
    });
  const medians = await readMedians(requests, small, filters);
  return dealers.map((dealer): MarketDealer => ({ ...dealer, ...medians.get(dealer.id) })).filter(isRanked);
}

const isRanked = (dealer: MarketDealer): dealer is RankedDealer => dealer.toMarket !== null && dealer.days !== null;

async function readMedians(
  requests: PageRequests,
  dealers: readonly MarketDealer[],
  filters: TextParameters,
): Promise<ReadonlyMap<string, Medians>> {
  const query = {
    ...filters,
    dealer_id: dealers.map(({ id }) => id).join(),
    fields: "dealer_id,price_to_value,days_on_market",
    limit: String(pageMax),
  };
  const pages = Math.ceil(dealers.reduce((sum, { cars }) => sum + cars, 0) / pageMax);
  const offsets = Array.from({ length: pages }, (_, page) => String(page * pageMax));
  const answers = await Promise.all(offsets.map((offset) => requests.call("searchListings", { ...query, offset })));
  const cars = answers.flatMap(({ data }) => data);
  const medians = dealers.flatMap(({ id }): readonly [string, Medians][] => {
    const own = cars.filter(({ dealer_id }) => dealer_id === id);
    const rated = own.flatMap(({ price_to_value }) => price_to_value ?? []);
    const days = own.flatMap(({ days_on_market }) => days_on_market ?? []);
    return rated.length < rankedCarsMin ? [] : [[id, { toMarket: medianOf(rated), days: medianOf(days) }]];
  });
  return new Map(medians);
}

/** Returns the median, as the API computes it: the mean of the two in the middle. That of no values is unknown. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? 0)) / 2;
}

/** Returns dealers with their places, and their distances from an origin. The API describes the first ones. */
export async function placeDealers<Dealer extends MarketDealer>(
  requests: PageRequests,
  dealers: readonly Dealer[],
  origin?: Point,
): Promise<readonly Dealer[]> {
  if (dealers.length === 0) return dealers;
  const described = dealers.slice(0, describedMax).map(({ id }) => id);
  const found = await requests.loadPart("places of dealers", () =>
    requests.call("searchDealers", { dealer_id: described.join(), limit: String(describedMax) }),
  );
  const placed = new Map(found?.data.map((dealer) => [dealer.dealer_id, dealer]));
  return dealers.map((dealer) => {
    const known = placed.get(dealer.id);
    const miles = known === undefined || origin === undefined ? null : distanceMiles(known, origin);
    return { ...dealer, place: plainWords(known?.city, known?.state), miles };
  });
}

type Located = Readonly<Record<"latitude" | "longitude", number | null> & { postal_code: string | null }>;

/** Returns the filters of the surroundings of a dealer: by its ZIP code, else by its coordinates; undefined if neither is known. */
export function aroundDealer(dealer: Located, radius: number): TextParameters | undefined {
  const { postal_code, latitude, longitude } = dealer;
  if (postal_code !== null && pointOfZip(postal_code) !== undefined) return { postal_code, radius: String(radius) };
  if (latitude === null || longitude === null) return undefined;
  return { latitude: String(latitude), longitude: String(longitude), radius: String(radius) };
}

/** Returns where a dealer is; undefined if it is unknown. */
export const pointOf = ({ postal_code, latitude, longitude }: Located): Point | undefined =>
  latitude !== null && longitude !== null ? { latitude, longitude } : pointOfZip(postal_code ?? "");

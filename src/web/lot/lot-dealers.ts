/** Dealers beside each other: how each prices against similar cars, how long its cars stand, and how far away it is. */
import type { AnswerOf } from "../../contract/types.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { distanceMiles, pointOfZip } from "../../query/geography.ts";
import { rankedCarsMin } from "../sentences/lot.ts";
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
export interface RankedDealer extends MarketDealer {
  readonly toMarket: number;
  readonly days: number;
}

type Point = NonNullable<ReturnType<typeof pointOfZip>>;

/** The most dealers that the API counts at once, describes at once, and filters listings by. */
const groupsMax = 1000;
export const describedMax = 100;
export const filteredMax = 50;

/** Loads the dealers whose listings match filters, those with the most first, and how many there are. */
export async function loadDealers(
  requests: PageRequests,
  filters: TextParameters,
): Promise<{ readonly dealers: readonly MarketDealer[]; readonly total: number }> {
  const metric = "price_to_value.median,days_on_market.median,days_supply";
  const query = { ...filters, group_by: "dealer_id", metric, limit: String(groupsMax) };
  const { data, meta } = await requests.call("getGroups", query);
  return { dealers: data.flatMap(dealerOf), total: meta.total_groups };
}

function dealerOf({ values, dealer_name, count: cars, metrics }: AnswerOf<"getGroups">["data"][number]) {
  const { dealer_id: id = null } = values;
  const [toMarket = null, days = null, supply = null] = metrics.map(({ value }) => value);
  return id === null ? [] : [{ id, name: dealer_name ?? id, cars, toMarket, days, supply }];
}

/** The most listings that are read for the medians of small dealers. */
const readMax = 400;
const pageMax = 100;

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
  const medians = small.length === 0 ? new Map() : await readMedians(requests, small, filters);
  return dealers.map((dealer): MarketDealer => ({ ...dealer, ...medians.get(dealer.id) })).filter(isRanked);
}

const isRanked = (dealer: MarketDealer): dealer is RankedDealer => dealer.toMarket !== null && dealer.days !== null;

type Medians = Pick<RankedDealer, "toMarket" | "days">;

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
  const answers = await Promise.all(
    Array.from({ length: pages }, (_, page) =>
      requests.call("searchListings", { ...query, offset: String(page * pageMax) }),
    ),
  );
  const cars = answers.flatMap(({ data }) => data);
  return new Map(
    dealers.flatMap(({ id }): readonly [string, Medians][] => {
      const own = cars.filter((car) => car.dealer_id === id);
      const rated = own.flatMap(({ price_to_value }) => price_to_value ?? []);
      const days = own.flatMap(({ days_on_market }) => days_on_market ?? []);
      return rated.length < rankedCarsMin ? [] : [[id, { toMarket: medianOf(rated), days: medianOf(days) }]];
    }),
  );
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const upper = sorted[sorted.length >> 1] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? 0)) / 2;
}

/** Returns dealers with their places, and their distances from an origin. The API describes the first ones. */
export async function placeDealers<Dealer extends MarketDealer>(
  requests: PageRequests,
  dealers: readonly Dealer[],
  origin: Point | undefined,
): Promise<readonly Dealer[]> {
  if (dealers.length === 0) return dealers;
  const dealer_id = dealers
    .slice(0, describedMax)
    .map(({ id }) => id)
    .join();
  const found = await requests.loadPart("places of dealers", () =>
    requests.call("searchDealers", { dealer_id, limit: String(describedMax) }),
  );
  const placed = new Map(found?.data.map((dealer) => [dealer.dealer_id, dealer]));
  return dealers.map((dealer) => {
    const described = placed.get(dealer.id);
    const place = [described?.city, described?.state].filter((part) => part != null).join(", ");
    const miles = described === undefined || origin === undefined ? null : distanceMiles(described, origin);
    return { ...dealer, place, miles };
  });
}

interface Located {
  readonly postal_code: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** Returns the filters of the surroundings of a dealer: by its ZIP code, else by its coordinates; undefined if neither is known. */
export function aroundDealer(
  { postal_code, latitude, longitude }: Located,
  radius: number,
): TextParameters | undefined {
  if (postal_code !== null && pointOfZip(postal_code) !== undefined) return { postal_code, radius: String(radius) };
  if (latitude === null || longitude === null) return undefined;
  return { latitude: String(latitude), longitude: String(longitude), radius: String(radius) };
}

/** Returns where a dealer is; undefined if it is unknown. */
export const pointOf = ({ postal_code, latitude, longitude }: Located): Point | undefined =>
  latitude !== null && longitude !== null ? { latitude, longitude } : pointOfZip(postal_code ?? "");

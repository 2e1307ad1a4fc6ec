/** What the page of a lot shows: its cars by age, those to decide on, its rank among dealers around it, and the models that sell there. */
import type { AnswerOf } from "../../contract/types.ts";
import { queryString, type TextParameters } from "../../operations/caller.ts";
import { type DealerLot, rankAmong } from "../sentences/lot.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { aroundDealer, loadDealers, placeDealers, pointOf, type RankedDealer, rankDealers } from "./lot-dealers.ts";

type Dealer = AnswerOf<"getDealer">["data"];

/** The distances of competitors in miles. */
export const radii = [25, 50, 100] as const;

/** The distance within which sales say what to buy. */
export const buyRadius = 250;

/** Which cars of which dealer are shown, beside which others. */
export interface LotChoice {
  readonly dealer: Dealer;
  /** Whether it is the reader's dealer. */
  readonly isOwn: boolean;
  readonly condition: "used" | "new";
  readonly radius: number;
  readonly counts: Readonly<Record<"used" | "new", number>>;
  /** Whether the counts are known. */
  readonly isCounted: boolean;
}

/** Returns the filter of a condition. Used includes certified. */
export const typesOf = (condition: LotChoice["condition"]): string => (condition === "new" ? "new" : "used,certified");

/** Returns the page with the cars of a choice, under further filters. */
export const rowsPath = ({ dealer, condition }: LotChoice, more: TextParameters = {}): string =>
  `/shop?${queryString({ dealer_id: dealer.dealer_id, inventory_type: typesOf(condition), ...more })}`;

/** Cars by days on the lot. */
export interface AgeBucket {
  readonly text: string;
  readonly filters: TextParameters;
  readonly cars: number;
  /** The sum of their prices. */
  readonly money: number;
}

const buckets = [
  ["0 to 15", 0, 15],
  ["16 to 30", 16, 30],
  ["31 to 45", 31, 45],
  ["46 to 60", 46, 60],
  ["over 60", 61, undefined],
] as const;

export type AgedCar = AnswerOf<"searchDealerListings">["data"][number];

const carFields =
  "vin,year,make,model,trim,body_type,exterior_color,base_exterior_color,features,price,days_on_market,price_drops,keywords,market_value,market_value_low,market_value_high,price_to_value,value_rating";

/** The cars to decide on that are shown. */
const carsMax = 9;

/** The orders of the cars to decide on. */
export const carSorts = ["-days_on_market", "days_on_market", "-price", "price", "value", "-value"] as const;

export interface Lot {
  readonly choice: LotChoice;
  readonly aging: readonly AgeBucket[];
  readonly cars: readonly AgedCar[];
  readonly carSort: string;
  /** The dealers around with five rated cars or more, the cheapest first. */
  readonly ranked: readonly RankedDealer[];
  readonly said: DealerLot;
}

/** Reads which cars are shown: those of the address, else used ones, else new ones. Throws the Refusal of the API. */
export async function readChoice(
  requests: PageRequests,
  params: TextParameters,
  query: URLSearchParams,
  ownId: string | undefined,
): Promise<LotChoice> {
  const { data: dealer } = await requests.call("getDealer", {}, params);
  const { dealer_id } = dealer;
  const counted = await requests.loadPart("number of cars", () =>
    requests.call("getFacets", { facets: "inventory_type", dealer_id }),
  );
  const countOf = (...types: readonly string[]): number =>
    (counted?.data.facets.inventory_type ?? [])
      .filter(({ value }) => types.includes(value))
      .reduce((sum, { count }) => sum + count, 0);
  const counts = { used: countOf("used", "certified"), new: countOf("new") };
  const asked = query.get("condition");
  const usual = counts.used === 0 && counts.new > 0 ? "new" : "used";
  return {
    dealer,
    isOwn: ownId === dealer_id,
    condition: asked === "new" || asked === "used" ? asked : usual,
    radius: radii.find((radius) => String(radius) === query.get("radius")) ?? radii[1],
    counts,
    isCounted: counted !== undefined,
  };
}

/** Loads what a page of a lot shows. Parts that the API refuses are empty. */
export async function loadLot(requests: PageRequests, choice: LotChoice, query: URLSearchParams): Promise<Lot> {
  const { dealer, condition, radius } = choice;
  const { dealer_id } = dealer;
  const own = { dealer_id, inventory_type: typesOf(condition) };
  const around = aroundDealer(dealer, radius);
  const sort = carSorts.find((one) => one === query.get("sort")) ?? carSorts[0];
  const [aging, cars, ranked, clean, supply] = await Promise.all([
    requests.loadPart("age of the cars", () => loadAging(requests, own)),
    requests.loadPart("cars", () => requests.call("searchDealerListings", carsQuery(condition, sort), { dealer_id })),
    around === undefined ? [] : loadRanked(requests, choice, around),
    requests.loadPart("branded titles", () =>
      requests.call("getFacets", { ...own, facets: "inventory_type", keywords: "branded" }),
    ),
    around === undefined ? undefined : loadSupply(requests, condition, around),
  ]);
  const loaded = {
    aging: aging ?? [],
    ranked,
    branded: brandedOf(choice, clean?.data.total),
    marketSupply: supplyOf(supply),
  };
  return { choice, aging: loaded.aging, cars: cars?.data ?? [], carSort: sort, ranked, said: saidOf(choice, loaded) };
}

const carsQuery = (condition: LotChoice["condition"], sort: string): TextParameters => ({
  inventory_type: typesOf(condition),
  sort,
  fields: carFields,
  limit: String(carsMax),
});

const loadAging = (requests: PageRequests, own: TextParameters): Promise<readonly AgeBucket[]> =>
  Promise.all(
    buckets.map(async ([text, from, to]): Promise<AgeBucket> => {
      const filters = {
        min_days_on_market: String(from),
        ...(to === undefined ? {} : { max_days_on_market: String(to) }),
      };
      const { data } = await requests.call("getFacets", { ...own, ...filters, facets: "price" });
      const { mean = null, count = 0 } = data.stats.price ?? {};
      return { text, filters, cars: data.total, money: Math.round((mean ?? 0) * count) };
    }),
  );

async function loadRanked(
  requests: PageRequests,
  { dealer, condition }: LotChoice,
  around: TextParameters,
): Promise<readonly RankedDealer[]> {
  const filters = { ...around, inventory_type: typesOf(condition) };
  const ranked = await requests.loadPart("dealers nearby", async () => {
    const { dealers } = await loadDealers(requests, filters);
    return rankDealers(requests, dealers, filters);
  });
  const sorted = [...(ranked ?? [])].sort((one, other) => one.toMarket - other.toMarket);
  return placeDealers(requests, sorted, pointOf(dealer));
}

/** Loads the groups by which days of supply of all dealers around are known. */
const loadSupply = (requests: PageRequests, condition: LotChoice["condition"], around: TextParameters) =>
  requests.loadPart("days of supply", () =>
    requests.call("getGroups", {
      ...around,
      inventory_type: typesOf(condition),
      group_by: "inventory_type",
      metric: "days_supply",
    }),
  );

/** Returns how many cars have a branded title: as a filter, the keyword leaves these out. */
const brandedOf = ({ condition, counts }: LotChoice, clean: number | undefined): number | undefined =>
  clean === undefined ? undefined : counts[condition] - clean;

/** Returns the days until the cars of all groups are sold, at the sales of the last 30 days; undefined for fewer than 10 sales. */
function supplyOf(answer: AnswerOf<"getGroups"> | undefined): number | undefined {
  const groups = answer?.data ?? [];
  const cars = groups.reduce((sum, { count }) => sum + count, 0);
  const sold = groups.reduce((sum, { metrics }) => sum + (metrics[0]?.sample ?? 0), 0);
  return sold < soldMin ? undefined : (cars * soldDays) / sold;
}

const soldMin = 10;
const soldDays = 30;

interface Loaded {
  readonly aging: readonly AgeBucket[];
  readonly ranked: readonly RankedDealer[];
  readonly branded: number | undefined;
  readonly marketSupply: number | undefined;
}

/** Returns what is said of a lot. */
function saidOf(choice: LotChoice, { aging, ranked, branded, marketSupply }: Loaded): DealerLot {
  const { dealer, isOwn, condition, counts } = choice;
  const own = ranked.find(({ id }) => id === dealer.dealer_id);
  const others = ranked.filter((one) => one !== own);
  const aged = aging.at(-1);
  return {
    isOwn,
    condition,
    cars: counts[condition],
    priceRank:
      own === undefined
        ? undefined
        : rankAmong(
            own.toMarket,
            others.map(({ toMarket }) => toMarket),
          ),
    ageRank:
      own === undefined
        ? undefined
        : rankAmong(
            own.days,
            others.map(({ days }) => days),
          ),
    dealers: ranked.length,
    toMarket: own?.toMarket,
    medianDays: own?.days,
    aged: aged?.cars,
    agedPrice: aged?.money,
    allPrice: aging.reduce((sum, { money }) => sum + money, 0),
    branded,
    supplyDays: own?.supply,
    marketSupplyDays: marketSupply,
    hrefs: {
      rank: "#rank",
      aged: rowsPath(choice, { ...aged?.filters, sort: "-days_on_market" }),
      cars: rowsPath(choice),
      toMarket: rowsPath(choice, { sort: "value" }),
    },
  };
}

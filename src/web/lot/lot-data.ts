/** What the page of a lot shows: its cars by age, those to decide on, its rank among dealers around it, and the models that sell there. */
import type { AnswerOf } from "../../contract/types.ts";
import { queryString, type TextParameters } from "../../operations/caller.ts";
import type { DealerLot } from "../sentences/lot.ts";
import { changedPath } from "../shell/address.ts";
import { pageParameters } from "../shell/page-parameters.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { countIn } from "../shop/facets.ts";
import { withParameters } from "../shop/view.ts";
import { aroundDealer, loadDealers, placeDealers, pointOf, type RankedDealer, rankDealers } from "./lot-dealers.ts";

type Dealer = AnswerOf<"getDealer">["data"];

/** The distance within which sales say what to buy. */
export const buyRadius = 250;

export const lotConditions = pageParameters["/dealers/:dealer_id"].condition;

/** Which cars of which dealer are shown, beside which others. */
export interface LotChoice {
  readonly dealer: Dealer;
  /** The address of the page. */
  readonly query: URLSearchParams;
  /** Whether it is the reader's dealer. */
  readonly isOwn: boolean;
  readonly condition: (typeof lotConditions)[number];
  readonly radius: number;
  readonly counts: Readonly<Record<"used" | "new", number>>;
  /** Whether the counts are known. */
  readonly isCounted: boolean;
}

/** Returns the filter of a condition. Used includes certified. */
export const typesOf = (condition: LotChoice["condition"]): string => (condition === "new" ? "new" : "used,certified");

export const pathOfLot = ({ dealer }: LotChoice): string => `/dealers/${dealer.dealer_id}`;

/** Returns the page of a lot with some parameters of its address changed, at one of its sheets. */
export const lotPath = (
  choice: LotChoice,
  changes: Readonly<Record<string, string | undefined>>,
  anchor = "",
): string => `${changedPath(pathOfLot(choice), choice.query, changes)}${anchor}`;

/** Returns the page with the cars of a choice, under further filters. */
export const rowsPath = ({ dealer, condition }: LotChoice, more: TextParameters = {}): string =>
  `/shop?${queryString({ dealer_id: dealer.dealer_id, inventory_type: typesOf(condition), ...more })}`;

/** Returns the condition of SQL for the cars of a choice. */
export const carsInSql = ({ dealer, condition }: LotChoice): string =>
  `dealer_id = '${dealer.dealer_id}'\n  AND inventory_type IN (${typesInSql(condition)})`;

export const typesInSql = (condition: LotChoice["condition"]): string =>
  condition === "new" ? "'new'" : "'used', 'certified'";

/** Cars by days on the lot. */
export interface AgeBucket {
  readonly text: string;
  readonly filters: TextParameters;
  readonly cars: number;
  /** The sum of their prices. */
  readonly money: number;
}

/** The first and the last day of each age. */
export const ageBounds = [
  ["0 to 15", 0, 15],
  ["16 to 30", 16, 30],
  ["31 to 45", 31, 45],
  ["46 to 60", 46, 60],
  ["over 60", 61, undefined],
] as const;

const carFields =
  "vin,year,make,model,trim,body_type,exterior_color,base_exterior_color,features,price,days_on_market,price_drops,keywords,market_value,market_value_low,market_value_high,price_to_value,value_rating";

/** The cars to decide on that are shown. */
const carsMax = 9;

/** What a page of a lot shows. Parts that the API refuses are empty. */
export type Lot = Awaited<ReturnType<typeof loadLot>>;

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
  const types = counted?.data.facets.inventory_type ?? [];
  const counts = { used: countIn(types, "used", "certified"), new: countIn(types, "new") };
  const usual = counts.used === 0 && counts.new > 0 ? "new" : "used";
  return {
    dealer,
    query,
    isOwn: ownId === dealer_id,
    condition: lotConditions.find((one) => one === query.get("condition")) ?? usual,
    radius: Number(query.get("radius") ?? 50),
    counts,
    isCounted: counted !== undefined,
  };
}

export async function loadLot(requests: PageRequests, choice: LotChoice) {
  const { dealer, condition, query, radius } = choice;
  const { dealer_id } = dealer;
  const own = { dealer_id, inventory_type: typesOf(condition) };
  const around = aroundDealer(dealer, radius);
  const carSort = query.get("sort") ?? "-days_on_market";
  const shownCars = { inventory_type: own.inventory_type, sort: carSort, fields: carFields, limit: String(carsMax) };
  const [aging = [], cars, ranked = [], clean, marketSupply] = await Promise.all([
    requests.loadPart("age of the cars", () => loadAging(requests, own)),
    requests.loadPart("cars", () => requests.call("searchDealerListings", shownCars, { dealer_id })),
    around && requests.loadPart("dealers nearby", () => loadRanked(requests, choice, around)),
    requests.loadPart("branded titles", () =>
      requests.call("getFacets", { ...own, facets: "inventory_type", keywords: "branded" }),
    ),
    around && requests.loadPart("days of supply", () => loadSupply(requests, condition, around)),
  ]);
  // As a filter, the keyword leaves the cars with a branded title out.
  const branded = clean === undefined ? undefined : choice.counts[condition] - clean.data.total;
  const said = saidOf(choice, { aging, ranked, branded, marketSupply });
  return { choice, aging, cars: cars?.data ?? [], carSort, ranked, said };
}

const loadAging = (requests: PageRequests, own: TextParameters): Promise<readonly AgeBucket[]> =>
  Promise.all(
    ageBounds.map(async ([text, from, to]) => {
      const bounds = { min_days_on_market: String(from), max_days_on_market: to?.toString() };
      const filters = withParameters({}, bounds);
      const { data } = await requests.call("getFacets", { ...own, ...filters, facets: "price" });
      const { mean = null, count = 0 } = data.stats.price ?? {};
      return { text, filters, cars: data.total, money: Math.round((mean ?? 0) * count) };
    }),
  );

/** Returns the dealers around with five rated cars or more, the cheapest first. */
async function loadRanked(
  requests: PageRequests,
  { dealer, condition }: LotChoice,
  around: TextParameters,
): Promise<readonly RankedDealer[]> {
  const filters = { ...around, inventory_type: typesOf(condition) };
  const { dealers } = await loadDealers(requests, filters);
  const ranked = await rankDealers(requests, dealers, filters);
  const sorted = [...ranked].sort((one, other) => one.toMarket - other.toMarket);
  return placeDealers(requests, sorted, pointOf(dealer));
}

const soldMin = 10;
const soldDays = 30;

async function loadSupply(requests: PageRequests, condition: LotChoice["condition"], around: TextParameters) {
  const groups = { inventory_type: typesOf(condition), group_by: "inventory_type", metric: "days_supply" };
  return supplyOf((await requests.call("getGroups", { ...around, ...groups })).data);
}

/** Returns the days until the cars of all dealers around are sold, at the sales of the last 30 days; undefined for fewer than 10 sales. */
export function supplyOf(groups: AnswerOf<"getGroups">["data"]): number | undefined {
  const cars = groups.reduce((sum, { count }) => sum + count, 0);
  const sold = groups.reduce((sum, { metrics }) => sum + (metrics[0]?.sample ?? 0), 0);
  return sold < soldMin ? undefined : (cars * soldDays) / sold;
}

interface Loaded {
  readonly aging: readonly AgeBucket[];
  readonly ranked: readonly RankedDealer[];
  readonly branded: number | undefined;
  readonly marketSupply: number | undefined;
}

/** Returns what is said of a lot. */
export function saidOf(choice: LotChoice, { aging, ranked, branded, marketSupply }: Loaded): DealerLot {
  const { dealer, isOwn, condition, counts } = choice;
  const own = ranked.find(({ id }) => id === dealer.dealer_id);
  const rankBy = (name: "toMarket" | "days"): number | undefined =>
    own && 1 + ranked.filter((one) => one[name] < own[name]).length;
  const aged = aging.at(-1);
  return {
    isOwn,
    condition,
    cars: counts[condition],
    priceRank: rankBy("toMarket"),
    ageRank: rankBy("days"),
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

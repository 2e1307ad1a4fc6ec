/** What a market was on each day: median prices, stock, days on the lot and sales of one or two searches; and what their models lose with age. */
import { epochDay, plusDays } from "../../base/day.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { isSoldKnown, type MarketPeriod, type MarketSide, type TrendInterval } from "../sentences/market.ts";
import { acceptedFilters } from "../shell/page-parameters.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { carsPath, isOfAddress, type MarketDays, type MarketSearch } from "./market-search.ts";

/** Returns the days of the period that an address chooses: by default 30. */
export const periodIn = (query: URLSearchParams): string => query.get("days") ?? "30";

/** Periods up to this many days have a point a day, longer ones a point a week. */
const dailyMax = 62;

/** Charts of fewer values are sentences. */
export const chartMin = 10;

const metrics = ["price.median", "count", "sold", "days_on_market.median", "days_supply"] as const;

export type MarketMetric = (typeof metrics)[number];

/** An interval with the numbers of a search; null for one that is unknown. */
export interface MarketPoint extends TrendInterval, Readonly<Record<MarketMetric, number | null>> {
  /** The sales of the 30 days that end with the interval. */
  readonly sold30: number | null;
}

export interface SearchTrend {
  readonly search: MarketSearch;
  readonly points: readonly MarketPoint[];
  /** The model's prices by age; undefined if the search has several models, or the API refuses it. */
  readonly loss: AnswerOf<"getDepreciation">["data"] | undefined;
  /** The names of filters that prices over time do not have. */
  readonly others: readonly string[];
}

/** What the figures show. */
export interface ShownMarket {
  readonly trends: readonly SearchTrend[];
  readonly sides: readonly MarketSide[];
  readonly period: MarketPeriod;
  readonly query: URLSearchParams;
  /** The statement of the days, if columns express the filters. */
  readonly sql?: string | undefined;
  /** The statement of the prices by model year. */
  readonly lossSql?: string | undefined;
}

/** A day: the point of each search. */
export type DayRow = readonly MarketPoint[];

export const rowsOf = (trends: readonly SearchTrend[]): readonly DayRow[] =>
  (trends[0]?.points ?? []).map((_, index) => trends.flatMap(({ points }) => points[index] ?? []));

export interface Period {
  readonly from: string;
  readonly to: string;
  readonly interval: "day" | "week";
}

/** Returns the days of a period that ends with the published day, and whether a point is a day or a week. */
export function trendPeriod(query: URLSearchParams, { first, last }: MarketDays): Period {
  const start = plusDays(last, -Number(periodIn(query)));
  const from = start < first ? first : start;
  return { from, to: last, interval: epochDay(last) - epochDay(from) > dailyMax ? "week" : "day" };
}

/** Loads the days of a search, and the prices of its model by age. Returns undefined if its days cannot be loaded. Throws refusals of filters of the address. */
export async function loadTrend(
  requests: PageRequests,
  search: MarketSearch,
  period: Period,
  days: MarketDays,
): Promise<SearchTrend | undefined> {
  const { filters, others } = acceptedFilters("getTrends", search.filters);
  const call = () => requests.call("getTrends", { ...filters, metric: metrics.join(), ...period });
  const trend = await requests.loadPart(`prices of ${search.plural}`, call, isOfAddress(search));
  if (trend === undefined) return undefined;
  const loss = await loadLoss(requests, search);
  const points = (trend.data[0]?.points ?? []).map((point) => pointOf(point, period, days));
  return { search, points, loss, others };
}

async function loadLoss(requests: PageRequests, search: MarketSearch): Promise<SearchTrend["loss"]> {
  const { make, model } = search.filters;
  if (make === undefined || model === undefined || `${make}${model}`.includes(",")) return undefined;
  const { filters } = acceptedFilters("getDepreciation", search.filters);
  const answer = await requests.loadPart(`depreciation of ${search.plural}`, () =>
    requests.call("getDepreciation", { ...filters, make, model, by: "age" }),
  );
  return answer?.data;
}

type Answered = AnswerOf<"getTrends">["data"][number]["points"][number];

/** Returns a point. Sales that cannot be known are unknown, not 0. */
function pointOf({ start, end, days, metrics: found }: Answered, { interval }: Period, data: MarketDays): MarketPoint {
  const metricOf = (name: MarketMetric) => found.find((metric) => metric.name === name);
  const numberOf = (name: MarketMetric): number | null => metricOf(name)?.value ?? null;
  return {
    interval,
    start,
    end,
    days,
    "price.median": numberOf("price.median"),
    count: days === 0 ? null : numberOf("count"),
    sold: days > 0 && isSoldKnown(start, data) ? numberOf("sold") : null,
    "days_on_market.median": numberOf("days_on_market.median"),
    days_supply: numberOf("days_supply"),
    sold30: isSoldKnown(plusDays(end, 1 - soldDays), data) ? (metricOf("days_supply")?.sample ?? null) : null,
  };
}

/** Days of supply are of the sales of this many days. */
export const soldDays = 30;

/** Returns what is said of a search; nothing of a change on a first day. */
export function sideOf({ search, points, loss }: SearchTrend, { from, to }: Period): MarketSide {
  const last = points.at(-1);
  const [first] = points.slice(0, -1);
  // The change is from the first day on: its own sales were before. Those of weeks are not of the same days.
  const after = points.slice(1).filter((point) => point.days > 0);
  const isKnown = after.length > 0 && after.every(({ interval, sold }) => interval === "day" && sold !== null);
  return {
    name: search.name,
    plural: search.plural,
    cars: last?.count,
    median: last?.["price.median"],
    medianBefore: first?.["price.median"],
    sold: isKnown ? after.reduce((sum, { sold }) => sum + (sold ?? 0), 0) : null,
    days: last?.["days_on_market.median"],
    daysBefore: first?.["days_on_market.median"],
    supplyDays: last?.days_supply,
    yearLoss: loss?.curve.loss_percent,
    hrefs: {
      change: "#price",
      cars: carsPath(search),
      sold: soldPath(search, epochDay(to) - epochDay(from)),
    },
  };
}

/** Returns the page with the cars of a search that were sold in some days. */
export const soldPath = (search: MarketSearch, days: number): string =>
  carsPath(
    { filters: Object.fromEntries(Object.entries(search.filters).filter(([name]) => name !== "value_rating")) },
    { inventory_status: "sold", sold_within_days: String(days) },
  );

/** Returns the period in the words of verdicts. Searches of different conditions have them in their names. */
export function spokenPeriod(trends: readonly SearchTrend[], { from, to }: Period): MarketPeriod {
  const conditions = new Set(trends.map(({ search }) => search.condition));
  const [condition = ""] = conditions.size === 1 ? conditions : [];
  const isBound = ({ search }: SearchTrend): boolean => "min_price" in search.filters || "max_price" in search.filters;
  return { from, asOf: to, condition, hasPriceBound: trends.some(isBound) };
}

/** What a listing is compared with: cars like it that are for sale, their median price by day, and the inventory of its dealer. */
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import type { PriceOfDay } from "../../charts/price-steps.tsx";
import type { PageRequests } from "../../shell/page-requests.ts";
import { listOf, listText } from "../../shop/view.ts";

export type ListingDetail = AnswerOf<"getListing">["data"];

/** The fewest listings whose median is shown, as in the API. */
const sampleMin = 10;

export type SuchCars = Awaited<ReturnType<typeof countSuchCars>>;

/** Returns the filters for cars of the same model and condition, at most one model year older or newer; undefined if the make or model is unknown. */
export function suchCars({ vehicle: { build }, inventory_type: condition }: ListingDetail): TextParameters | undefined {
  const { make, model, year } = build;
  if (make === null || model === null) return undefined;
  return {
    make: listText("make", make),
    model: listText("model", model),
    ...(year === null ? {} : { year: `${year - 1},${year},${year + 1}` }),
    ...(condition === null ? {} : { inventory_type: condition }),
  };
}

/** Returns filters in words, for example `used Toyota RAV4, 2022 to 2024`. */
export function suchWords(filters: TextParameters): string {
  const years = listOf(filters, "year");
  const words = ["inventory_type", "make", "model"].flatMap((name) => listOf(filters, name)).join(" ");
  return years.length === 0 ? words : `${words}, ${years[0]} to ${years.at(-1)}`;
}

/** Returns the median price and days on market of cars; null for fewer than ten. */
export async function countSuchCars(requests: PageRequests, filters: TextParameters) {
  const { data } = await requests.call("getFacets", { facets: "price,days_on_market", ...filters });
  const medianOf = (stats: typeof data.stats.price): number | null =>
    stats === undefined || stats.count < sampleMin ? null : stats.median;
  return { filters, price: medianOf(data.stats.price), days: medianOf(data.stats.days_on_market) };
}

export type DealerInventory = Awaited<ReturnType<typeof countInventory>>;

/** Counts the listings of a dealer, how many of its prices are rated, and how many of these are great or good. */
export async function countInventory(requests: PageRequests, dealer_id: string) {
  const { data } = await requests.call("getFacets", { facets: "value_rating,dealer_type,days_on_market", dealer_id });
  const ratings = data.facets.value_rating ?? [];
  const sumOf = (counted: typeof ratings): number => counted.reduce((sum, { count }) => sum + count, 0);
  return {
    total: data.total,
    type: data.facets.dealer_type?.[0]?.value,
    medianDays: data.stats.days_on_market?.median ?? null,
    rated: sumOf(ratings),
    goodOrBetter: sumOf(ratings.filter(({ value }) => /^(great|good)$/.test(value))),
  };
}

/** Returns the median price of such cars on each of the last 90 days; null for fewer than ten. */
export async function loadMedians(requests: PageRequests, filters: TextParameters): Promise<readonly PriceOfDay[]> {
  const { data } = await requests.call("getTrends", { metric: "price.median", interval: "day", ...filters });
  return (data[0]?.points ?? []).map(({ end, metrics }) => ({ day: end, value: metrics[0]?.value ?? null }));
}

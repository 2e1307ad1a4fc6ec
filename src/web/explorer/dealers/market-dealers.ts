/** The dealers whose listings match filters: how many each has, for how long, at which prices against the market, and where the dealers are. */
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import { feedStates } from "../../../query/quality/calendar.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import { oncePerVersion } from "../../../serving/kept-versions.ts";
import { lastDays } from "../../../serving/published-day.ts";
import type { MapDot } from "../../charts/us-map.tsx";
import { amountOf, plainWords } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { inventoryOf } from "../../shop/view.ts";

/** A dealer with its name and place. */
type PlacedDealer = AnswerOf<"searchDealers">["data"][number];

export interface MarketDealer {
  readonly id: string;
  readonly name: string;
  readonly state: string | null;
  readonly type: string | null;
  readonly listings: number;
  /** The median of the days on market, of 10 listings or more. */
  readonly days: number | null;
  /** The median of prices relative to their estimates, of 10 listings or more. */
  readonly toValue: number | null;
}

export interface MarketDealers {
  /** Those with the most listings first, at most `groupsMax`. */
  readonly dealers: readonly MarketDealer[];
  /** How many dealers and listings match. */
  readonly total: number;
  readonly listings: number;
  /** The dealers whose place is known. */
  readonly placed: readonly PlacedDealer[];
}

/** The most dealers that the API counts at once, and that it describes at once. */
const groupsMax = 1000;
export const describedMax = 100;

/** Finds the dealers whose listings match filters. */
export async function findMarketDealers(requests: PageRequests, filters: TextParameters): Promise<MarketDealers> {
  const hasValues = inventoryOf(filters) === "active";
  const { data, meta } = await requests.call("getGroups", {
    group_by: "dealer_id,state,dealer_type",
    metric: `days_on_market.median${hasValues ? ",price_to_value.median" : ""}`,
    limit: String(groupsMax),
    ...filters,
  });
  const dealers = data.flatMap(({ values, dealer_name, count: listings, metrics }): readonly MarketDealer[] => {
    const { dealer_id: id = null, state = null, dealer_type: type = null } = values;
    const [days, toValue] = metrics.map(({ value }) => value);
    if (id === null) return [];
    return [{ id, name: dealer_name ?? id, state, type, listings, days: days ?? null, toValue: toValue ?? null }];
  });
  return { dealers, total: meta.total_groups, listings: meta.total, placed: [] };
}

/** Finds the places of dealers: of the first ones, as many as the API describes at once. */
export async function placeDealers(requests: PageRequests, ids: readonly string[]): Promise<readonly PlacedDealer[]> {
  if (ids.length === 0) return [];
  const dealer_id = [...new Set(ids)].slice(0, describedMax).join();
  const placed = await requests.loadPart("places of dealers", () =>
    requests.call("searchDealers", { dealer_id, limit: String(describedMax) }),
  );
  return placed?.data ?? [];
}

/** The states of dealers' feeds on the last days, by day. */
export type RecentFeeds = Awaited<ReturnType<typeof feedStates>>;

const recentFeedsOf = oncePerVersion((version) => {
  const { as_of, days } = version.manifest;
  return feedStates(
    version,
    lastDays(as_of).filter((day) => days[day] !== undefined),
  );
});

/** Returns what came from dealers on the last days. It is read once for each version, which takes a processor 45 ms for 500 dealers. */
export const recentFeeds = (current: CurrentVersion): Promise<RecentFeeds> => current.use(recentFeedsOf);

/** Returns a dot for each dealer with coordinates, by its number of listings. */
export function dealerDots({ dealers, placed }: Pick<MarketDealers, "dealers" | "placed">): readonly MapDot[] {
  const sizes = new Map(dealers.map(({ id, listings }) => [id, listings]));
  return placed.flatMap(({ dealer_id, name, city, state, longitude, latitude }) => {
    const size = sizes.get(dealer_id) ?? 0;
    if (longitude === null || latitude === null || size === 0) return [];
    return [{ longitude, latitude, size, title: `${plainWords(name, city, state)}: ${amountOf(size, "listing")}` }];
  });
}

/**
 * Trend source: the interface that operation `getTrends` uses to measure the listings of many days at once, and to count the events of listings.
 */
import type { Filter } from "./filter.ts";
import type { CountedName } from "./schema.ts";
import type { Statistic } from "./source.ts";

export interface LevelRequest {
  /** The days to measure, each with a snapshot. */
  readonly days: readonly string[];
  readonly filters: readonly Filter[];
  /** The attribute to group by; undefined for one group. */
  readonly attribute: CountedName | undefined;
  /** Maximum number of values: those with the most listings over all days. */
  readonly limit: number;
  readonly statistics: readonly Statistic[];
}

/** The active listings of one day that have one value of the attribute. */
export interface Level {
  readonly day: string;
  /** Identifies the value: equal for all of its spellings. Empty without an attribute. */
  readonly key: string;
  readonly value: string;
  readonly count: number;
  /** One for each requested statistic. The metric is null if there are too few listings, or if none of them has the measure. */
  readonly statistics: readonly { readonly sample: number; readonly metric: number | null }[];
}

export type ListingEvent = "new_listings" | "sold" | "price_drops";

/** The days from `start` to `end`, both inclusive, in which events of one kind are counted. */
export interface EventWindow {
  readonly event: ListingEvent;
  readonly start: string;
  readonly end: string;
}

export interface EventRequest {
  readonly windows: readonly EventWindow[];
  readonly filters: readonly Filter[];
  readonly attribute: CountedName | undefined;
  /** The values to count, as keys of `Level`. Ignored without an attribute. */
  readonly keys: readonly string[];
}

export interface EventCount {
  /** The position of the window in the request. */
  readonly window: number;
  readonly key: string;
  readonly count: number;
}

export interface TrendSource {
  /** Returns the levels of all days, most frequent values first. Values without listings on a day are absent. */
  measureLevels(request: LevelRequest): Promise<readonly Level[]>;
  /** Counts events of all listings, past ones included. Filters apply to a listing as it was last observed. Zeros are absent. */
  countEvents(request: EventRequest): Promise<readonly EventCount[]>;
}

/** Parameters of a generated demo market: its size, its span, and the shares of cars, feeds and dealers affected by each event. */
import type { DialectName } from "./deliveries/dialects.ts";

/** Default shares of the events, each between 0 and `shareMax`. */
export const defaultShares = {
  /** Cars that another store of the dealer's group lists as well. */
  shared: 0.015,
  /** Cars that move to another store of the group. */
  transferred: 0.012,
  /** Cars that disappear for some days and are listed again by the same dealer. */
  relisted: 0.015,
  /** Cars with an invalid or unusually formatted value. */
  dirt: 0.03,
  /** Feeds per day that contain the inventory of the day before. */
  late: 0.01,
  /** Feeds per day that are truncated. */
  partial: 0.004,
  /** Feeds per day that are empty. */
  empty: 0.003,
  /** Feeds per day that are not delivered. */
  absent: 0.01,
  /** Dealers that close within the span. */
  closing: 0.005,
} as const;

type MarketEvent = keyof typeof defaultShares;
export type Shares = Readonly<Record<MarketEvent, number>>;

/** The events that happen to feeds. A feed has at most one of them. */
export const feedFailures = ["late", "partial", "empty", "absent"] as const satisfies readonly MarketEvent[];

/** The greatest allowed share. Beyond it, a dealer's feeds carry too little information. */
export const shareMax = 0.2;

export interface MarketShape {
  readonly listings: number;
  readonly days: number;
  /** The last of these days, YYYY-MM-DD. */
  readonly end: string;
  readonly seed: number;
  readonly format: "csv" | "parquet";
  /** Layout of a provider in which inventories are written, instead of the Carquet format. */
  readonly dialect?: DialectName | undefined;
  /** Whether equipment follows the variant (`typical`), or nearly every car has its own options and features (`distinct`). */
  readonly options: "typical" | "distinct";
  readonly shares: Shares;
}

/** Shares of listings by inventory type and kind of dealer. */
export const listingMix = {
  /** Share of all listings; the remaining ones are used cars. */
  new: 0.52,
  certified: 0.08,
  /** Share of the used cars that are at franchised dealers. */
  usedAtFranchise: 0.55,
  /** Share of the used cars at franchised dealers that have one of the dealer's makes. */
  usedOfOwnMake: 0.4,
} as const;

/** Size of the United States market, to which a generated market is scaled. */
export const unitedStates = { listings: 4_000_000, independentDealers: 26_000 } as const;

/** The longest time that a slot at a large dealer is vacant between two cars. */
export const vacancyDaysMax = 3;
/** Share of slots that are vacant on a day. */
export const vacancyShare = 0.02;
/** The shortest stay of a car at a dealer. */
export const stayDaysMin = 4;
/** Size from which a dealer's normal turnover cannot look like a collapsed feed. */
export const largeDealerSlots = 20;
/** The part of a truncated feed that arrives, in tenths. */
export const partialTenths = 3;
/** The first days of the span have no feed failures, because ingest does not know the usual feed size yet. */
export const failureFreeDays = 3;

/** What a generated market is like: its size, its span, and how much of what happens to cars and feeds happens in it. */

/** Shares of what goes wrong or changes hands, each between 0 and `shareMax`. */
export const defaultShares = {
  /** Cars that a sister store of the dealer's group lists too. */
  shared: 0.015,
  /** Cars that move to a sister store. */
  transferred: 0.012,
  /** Cars that are away for some days and come back to the same dealer. */
  relisted: 0.015,
  /** Cars of which the dealer writes something that is not usable, or in an unusual way. */
  dirt: 0.03,
  /** Feeds a day that tell the inventory of the day before. */
  late: 0.01,
  /** Feeds a day that were cut short. */
  partial: 0.004,
  /** Feeds a day with nothing in them. */
  empty: 0.003,
  /** Feeds a day that do not come. */
  absent: 0.01,
  /** Dealers that stop delivering for good within the span. */
  closing: 0.005,
} as const;

export type MarketEvent = keyof typeof defaultShares;
export type Shares = Readonly<Record<MarketEvent, number>>;

/** Those that befall a feed; a feed has one of them at most. */
export const feedFailures = ["late", "partial", "empty", "absent"] as const satisfies readonly MarketEvent[];

/** The greatest share: more trouble than that, and a dealer's feeds tell nothing any more. */
export const shareMax = 0.2;

export interface MarketShape {
  /** Active listings on each day, nearly. */
  readonly listings: number;
  /** Days with a delivery, `end` being the last. */
  readonly days: number;
  readonly end: string;
  readonly seed: number;
  readonly format: "csv" | "parquet";
  /** Whether equipment follows the version, or nearly every car has options and features of its own. */
  readonly options: "typical" | "distinct";
  readonly shares: Shares;
}

/** How the listings of a market divide. */
export const listingMix = {
  /** Of all listings: new and certified ones; the others are used. */
  new: 0.52,
  certified: 0.08,
  /** Of the used ones: those at franchised dealers, and of these those of the dealer's own makes. */
  usedAtFranchise: 0.55,
  usedOfOwnMake: 0.4,
} as const;

/** The United States, to scale: what a share of their listings is a share of. */
export const unitedStates = { listings: 4_000_000, independentDealers: 26_000 } as const;

/** On lots large enough, a place is empty between two cars, for so many days at most; so many places are empty on a day. */
export const vacancyDaysMax = 3;
export const vacancyShare = 0.02;
/** The shortest stay of a car on a lot. */
export const stayDaysMin = 4;
/** A dealer of this size loses and gains cars without its feed looking as if it had been cut short. */
export const largeDealerSlots = 20;
/** How much of a feed is there that was cut short. */
export const partialTenths = 3;
/** No feed fails on the first days, when it cannot be told how large it should be. */
export const failureFreeDays = 3;

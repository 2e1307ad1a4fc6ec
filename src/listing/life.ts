/** Thresholds of the listing lifecycle, in days, feeds or shares. Ingest applies them; `verify` checks the published lake against them. */

export const life = {
  /** Days a vehicle must be absent before it counts as sold. */
  soldAfterDays: 3,
  /** Feeds the owner must have delivered without the vehicle before it counts as sold. */
  soldAfterFeeds: 3,
  /** Days a vehicle must have been observed before it can count as sold: a VIN mistyped once is never sold. */
  soldSeenDays: 2,
  /** Days after which a missing listing that did not qualify as sold ends. */
  endedAfterDays: 90,
  /** Days without a feed after which a silent dealer loses its claims. */
  silentDays: 7,
  /** Number of recent accepted feeds that determine a dealer's usual size. */
  usualFeeds: 7,
  /** A feed smaller than this share of the usual size is collapsed. */
  collapsedShare: 0.5,
  /** The usual size from which a smaller feed is collapsed. */
  collapsedVinsMin: 1,
  /** A price that rises or falls by more than this factor from one feed to the next has jumped; so has one that becomes unknown. */
  jumpFactor: 2,
  /** A feed in which more than this share of the known prices jumped is collapsed. */
  jumpedShare: 0.5,
  /** The number of known prices from which their jumps are judged. */
  jumpedPricesMin: 10,
  /** Consecutive collapsed feeds after which the smaller size becomes the dealer's usual size. */
  collapsedFeeds: 7,
} as const;

/** The thresholds by which a feed is collapsed, and for how many feeds: the defaults of settings. */
export type CollapseThresholds = Readonly<
  Record<
    "collapsedShare" | "collapsedVinsMin" | "collapsedFeeds" | "jumpFactor" | "jumpedShare" | "jumpedPricesMin",
    number
  >
>;

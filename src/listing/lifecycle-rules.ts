/**
 * The numbers and rules of the listing lifecycle. Rules are pure functions that return SQL: ingest decides by them and records which rule decided; one
 * expression evaluates a rule for all rows, and tests evaluate it for single rows.
 */
import { join, type Sql, sql } from "../db/sql.ts";

/** The numbers of the lifecycle. */
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

/** Every rule by its id in evidence, with what it says. */
export const lifecycleRules = {
  feed_row: "A dealer claims every VIN that its feed contains.",
  standing_claim: "While a dealer delivers nothing, its claims stand.",
  collapsed_feed:
    "While a dealer's feed is held because its rows or prices collapsed, its claims to VINs without a row in it stand.",
  absent_from_feed: "An accepted feed of a dealer ends its claims to the VINs that it lacks.",
  silent_dealer: `After ${life.silentDays} days without a delivery, or by a decision of an operator, the claims of a dealer end.`,
  only_claimant: "A VIN that one dealer claims belongs to it.",
  current_owner: "The current owner keeps a VIN while it claims it.",
  franchise_of_the_make: "A new car belongs to a franchise of its make.",
  has_a_price: "A claim with a price wins against one without.",
  has_photos: "A claim with photos wins against one without.",
  earliest_claim: "The earliest claim wins.",
  lowest_dealer_id: "The claim of the lowest dealer id wins among equal ones.",
  unclaimed: "A listing whose VIN no dealer claims is missing.",
  absent_long_enough: `A listing is sold once it was absent for ${life.soldAfterDays} days and from ${life.soldAfterFeeds} accepted feeds, if it was seen on ${life.soldSeenDays} days.`,
  missing_too_long: `A listing that was missing for ${life.endedAfterDays} days ends.`,
  superseded: "A listing ends when its VIN belongs to another dealer.",
  rejected_row: "A row without a valid VIN or dealer is rejected.",
  unknown_value: "An invalid value becomes unknown.",
  noted_value: "An unusual value is used and noted.",
  merged_row: "The last row of a VIN and dealer in a delivery replaces the others.",
} as const;

export type LifecycleRule = keyof typeof lifecycleRules;

/**
 * The rules by which one of several claims to a VIN wins, strongest first, each as a sort key over the columns of `decidedClaims`: the lowest value
 * wins. The lake records their ids.
 */
const ownerRules: readonly (readonly [rule: LifecycleRule, sortKey: Sql])[] = [
  ["current_owner", sql`if(is_current_owner, 0, 1)`],
  ["franchise_of_the_make", sql`if(is_new_at_franchise, 0, 1)`],
  ["has_a_price", sql`if(has_price, 0, 1)`],
  ["has_photos", sql`if(has_photos, 0, 1)`],
  ["earliest_claim", sql`claimed_since`],
  ["lowest_dealer_id", sql`dealer_id`],
];

/** The rule that decides for claims without another one. */
export const onlyClaimant: LifecycleRule = "only_claimant";

/**
 * Returns the outcome of contested claims: `vin`, `dealer_id`, `is_owner` and `decided_by`, the first rule in which the owner's claim differs from the
 * next one. The claims have `vin`, `dealer_id`, `is_current_owner`, `is_new_at_franchise`, `has_price`, `has_photos` and `claimed_since`.
 */
export function decidedClaims(contestedClaims: Sql): Sql {
  const cases = ownerRules.map(
    ([rule, sortKey]) => sql`WHEN ${sortKey} IS DISTINCT FROM lead(${sortKey}) OVER claims_of_vin THEN ${rule}`,
  );
  return sql`
    SELECT vin, dealer_id, rank = 1 AS is_owner, first_value(decided_by) OVER (PARTITION BY vin ORDER BY rank) AS decided_by
    FROM (SELECT vin, dealer_id, row_number() OVER claims_of_vin AS rank, CASE ${join(cases, sql` `)} END AS decided_by
          FROM ${contestedClaims}
          WINDOW claims_of_vin AS (PARTITION BY vin ORDER BY ${join(ownerRules.map(([, sortKey]) => sortKey))}))`;
}

/** The absence of a listing whose VIN is unclaimed on a day. */
interface Absence {
  /** Whole days since the owner's feed last contained it. */
  readonly daysAbsent: Sql;
  /** Accepted feeds of the owner without it since then. */
  readonly feedsWithout: Sql;
  /** Number of days on which the owner's feed contained it. */
  readonly daysSeen: Sql;
  /** Whole days since it became missing; 0 on that day. */
  readonly daysMissing: Sql;
}

/** Returns the state of an unclaimed listing: `missing`, `sold` or `ended`. */
export function stateOfAbsent({ daysAbsent, feedsWithout, daysSeen, daysMissing }: Absence): Sql {
  return sql`CASE
    WHEN ${daysAbsent} >= ${life.soldAfterDays} AND ${feedsWithout} >= ${life.soldAfterFeeds} AND ${daysSeen} >= ${life.soldSeenDays} THEN 'sold'
    WHEN ${daysMissing} >= ${life.endedAfterDays} THEN 'ended'
    ELSE 'missing' END`;
}

/** A feed, compared with the dealer's earlier feeds. */
export interface ComparedFeed {
  readonly vins: Sql;
  /** Number of VINs in each of the dealer's last accepted feeds, as a list. */
  readonly acceptedVins: Sql;
  /** Number of consecutive collapsed feeds before it. */
  readonly collapsedInARow: Sql;
  /** Numbers of its vehicles with a price the day before, and of those whose price jumped. */
  readonly knownPrices?: Sql;
  readonly jumpedPrices?: Sql;
  /** Whether an operator has released it. */
  readonly isReleased?: Sql;
  /** Whether an operator has rejected it. */
  readonly isRejected?: Sql;
}

/** Returns the size below which a feed is collapsed; null if none is. */
export const vinsMinOf = (acceptedVins: Sql, { collapsedShare, collapsedVinsMin }: CollapseThresholds = life): Sql =>
  sql`CASE WHEN list_median(${acceptedVins}) >= ${collapsedVinsMin} THEN ${collapsedShare} * list_median(${acceptedVins}) END`;

/** Returns what of a feed has collapsed: its `prices`, its `rows`, or null for neither. */
export function collapseOf(
  { vins, acceptedVins, knownPrices = sql`0`, jumpedPrices = sql`0` }: ComparedFeed,
  thresholds: CollapseThresholds = life,
): Sql {
  const { jumpedShare, jumpedPricesMin } = thresholds;
  return sql`CASE
    WHEN ${knownPrices} >= ${jumpedPricesMin} AND ${jumpedPrices} > ${jumpedShare} * ${knownPrices} THEN 'prices'
    WHEN ${vins} < ${vinsMinOf(acceptedVins, thresholds)} THEN 'rows' END`;
}

/**
 * Returns the verdict on a feed: `accepted`; `collapsed` (it is held: VINs without a row do not count as absent), as a rejected feed always is; or `resized`
 * (a collapsed feed that was released, or is the last of several in a row: accepted, and the dealer's usual size restarts from it).
 */
export function feedVerdict(feed: ComparedFeed, thresholds: CollapseThresholds = life): Sql {
  const { collapsedInARow, isReleased = sql`false`, isRejected = sql`false` } = feed;
  return sql`CASE
    WHEN ${isRejected} THEN 'collapsed'
    WHEN ${collapseOf(feed, thresholds)} IS NULL THEN 'accepted'
    WHEN ${isReleased} OR ${collapsedInARow} + 1 >= ${thresholds.collapsedFeeds} THEN 'resized'
    ELSE 'collapsed' END`;
}

/** Returns whether a dealer is silent: its claims lapse after `silentDays` without a delivery. */
export function isSilent(daysSinceDelivery: Sql): Sql {
  return sql`(${daysSinceDelivery} >= ${life.silentDays})`;
}

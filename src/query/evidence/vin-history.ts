/** What the lake records about a VIN: claims, ends of listings, issues, and the feeds of the claiming dealers. */
import { integerIn, isRow, type Json, type Row, stringOrNull, textIn } from "../../base/json.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { buildRow } from "../../serving/dimensions.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";

/** Schema `EvidenceStep`. */
export type EvidenceStep = AnswerOf<"getEvidence">["data"]["steps"][number];
export type EvidenceFact = EvidenceStep["facts"][number];

/** Rows of a dealer that hold from one day until another, or still. */
export interface ClaimInterval {
  readonly dealerId: string;
  /** The listing, if the dealer owns the VIN. */
  readonly id: string | null;
  readonly isOwner: boolean;
  /** The id of the rule that decided. */
  readonly decidedBy: string;
  readonly from: string;
  readonly until: string | null;
  readonly unseenFeeds: number;
  /** Null while the dealer's last feed contained it. */
  readonly lastSeen: string | null;
  readonly file: string;
  readonly row: number;
  /** What the feed states: attributes of the listing and of its build. */
  readonly values: Row;
}

/** What a dealer had delivered by a day. */
interface DealerDay {
  readonly verdict: string;
  /** Whether an operator has rejected the feed. */
  readonly isRejected: boolean;
  readonly vins: number;
  readonly usualVins: number;
  /** The size below which the feed is collapsed. */
  readonly minVins: number;
  readonly lastDeliveredOn: string;
  readonly feeds: number;
  readonly acceptedFeeds: number;
}

export interface VinHistory {
  /** The published days from the first claim on. */
  readonly days: readonly string[];
  readonly claims: readonly ClaimInterval[];
  /** The days on which listings were sold or ended, by id. */
  readonly ends: ReadonlyMap<string, { readonly state: "sold" | "ended"; readonly day: string }>;
  readonly issues: readonly Row[];
  /** Returns what a dealer had delivered by a published day. */
  readonly dealerOn: (dealerId: string, day: string) => DealerDay;
}

export async function readVinHistory(vin: string, version: LakeVersion): Promise<VinHistory> {
  const records = version.feeds;
  const [rows, ends, issues] = await Promise.all([records.claimsOf(vin), records.endsOf(vin), records.issuesOf(vin)]);
  const claims = rows.map((row) => claimOf(row, version));
  const first = claims[0]?.from ?? version.manifest.as_of;
  const dealers = [...new Set(claims.map(({ dealerId }) => dealerId))];
  const feeds = dealers.length === 0 ? [] : await records.feedsOf(dealers, first);
  const byDay = new Map(
    feeds.map((row) => [`${textIn(row, "dealer_id")} ${textIn(row, "delivery_date")}`, dealerDayOf(row)]),
  );
  return {
    claims,
    issues,
    days: [...version.snapshotSizes.keys()].filter((day) => day >= first),
    ends: new Map(ends.map((row) => [textIn(row, "id"), { state: stateIn(row), day: textIn(row, "day") }])),
    dealerOn: (dealerId, day) => byDay.get(`${dealerId} ${day}`) ?? nothingDelivered,
  };
}

const stateIn = (row: Row): "sold" | "ended" => (row.state === "sold" ? "sold" : "ended");

function claimOf(row: Row, { dimensions }: LakeVersion): ClaimInterval {
  const delivered: Json = JSON.parse(textIn(row, "delivered"));
  return {
    dealerId: textIn(row, "dealer_id"),
    id: stringOrNull(row.id),
    isOwner: row.is_owner === true,
    decidedBy: textIn(row, "decided_by"),
    from: textIn(row, "valid_from"),
    until: stringOrNull(row.valid_to),
    unseenFeeds: integerIn(row, "unseen_feeds"),
    lastSeen: stringOrNull(row.last_seen),
    file: textIn(row, "file"),
    row: integerIn(row, "row"),
    values: { ...buildRow.decode(dimensions.buildOf(row.build_key)), ...(isRow(delivered) ? delivered : {}) },
  };
}

const nothingDelivered: DealerDay = {
  verdict: "none",
  isRejected: false,
  vins: 0,
  usualVins: 0,
  minVins: 0,
  lastDeliveredOn: "",
  feeds: 0,
  acceptedFeeds: 0,
};

const dealerDayOf = (row: Row): DealerDay => ({
  verdict: textIn(row, "verdict"),
  isRejected: row.collapse === "rejected",
  vins: numberOr0(row.vins),
  usualVins: numberOr0(row.usual_vins),
  minVins: numberOr0(row.min_vins),
  lastDeliveredOn: textIn(row, "last_delivered_on"),
  feeds: integerIn(row, "feeds"),
  acceptedFeeds: integerIn(row, "accepted_feeds"),
});

const numberOr0 = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

/** Returns whether a claim stands on a day. */
export const holdsOnDay = ({ from, until }: ClaimInterval, day: string): boolean =>
  from <= day && (until === null || until > day);

/** Returns the day on which a feed contained the vehicle last, as of a day on which the claim stands. */
export const seenBy = (claim: ClaimInterval, day: string, { dealerOn }: VinHistory): string =>
  claim.lastSeen ?? dealerOn(claim.dealerId, day).lastDeliveredOn;

/** Returns the last published day on which a claim stands. */
export const lastDayOf = ({ until }: ClaimInterval, days: readonly string[]): string =>
  days.findLast((day) => until === null || day < until) ?? "";

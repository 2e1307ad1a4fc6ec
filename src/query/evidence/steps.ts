/**
 * The steps of evidence about a VIN, without their sentences: what the feeds of dealers stated, the issues of rows, and the decisions about its listings.
 * Decisions and the rules that made them are those that the lake records; feeds have the numbers that they rest on.
 */
import { epochDay } from "../../base/day.ts";
import { isRow, type Json, type Row, stringOrNull, textIn } from "../../base/json.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { type LifecycleRule, life, lifecycleRules } from "../../listing/lifecycle-rules.ts";
import {
  type ClaimInterval,
  type EvidenceFact,
  type EvidenceStep,
  holdsOnDay,
  lastDayOf,
  seenBy,
  type VinHistory,
} from "./vin-history.ts";

/** A step without its sentence. */
export type Finding = Omit<EvidenceStep, "text">;

/** An issue, with its reason. */
export interface IssueFinding extends Finding {
  readonly reason: string;
}

/** Returns a finding that has no more than the given properties, in the order of the document. */
const finding = ({
  day,
  event,
  rule,
  dealer_id,
  last_day = null,
  listing_id = null,
  ...given
}: Pick<Finding, "day" | "event" | "dealer_id" | "rule"> & Partial<Finding>): Finding => ({
  day,
  last_day,
  event,
  rule,
  dealer_id,
  listing_id,
  claimants: [],
  is_confirmed: null,
  facts: [],
  changes: [],
  source: null,
  ...given,
});

const fact = (name: EvidenceFact["name"], value: number, threshold: number | null = null): EvidenceFact => ({
  name,
  value,
  threshold,
});

/** Returns what the feeds of all dealers stated, and where their claims ended. */
export function claimFindings(history: VinHistory): readonly Finding[] {
  const dealers = [...new Set(history.claims.map(({ dealerId }) => dealerId))];
  return dealers.flatMap((dealer) => {
    const claims = history.claims.filter(({ dealerId }) => dealerId === dealer);
    return [
      ...claims.flatMap((claim, index) => statedBy(claim, claims[index - 1], history)),
      ...claims.flatMap((claim, index) => endOfClaim(claim, claims[index + 1], history)),
      ...unconfirmed(claims, history),
    ];
  });
}

/** The values that an interval begins with, or those that differ from the interval before it. */
function statedBy(claim: ClaimInterval, before: ClaimInterval | undefined, history: VinHistory): readonly Finding[] {
  const isContinued = before?.until === claim.from;
  const changes = changesBetween(isContinued ? before.values : {}, claim.values);
  if (isContinued && changes.length === 0) return [];
  return [
    finding({
      day: claim.from,
      event: isContinued ? "changed" : "claimed",
      rule: "feed_row",
      dealer_id: claim.dealerId,
      listing_id: claim.id,
      changes,
      source: { file: claim.file, row: claim.row, day: seenBy(claim, lastDayOf(claim, history.days), history) },
    }),
  ];
}

function changesBetween(before: Row, after: Row): EvidenceStep["changes"] {
  return Object.keys(after).flatMap((field) => {
    const was = before[field] ?? null;
    const is = after[field] ?? null;
    if (JSON.stringify(was) === JSON.stringify(is) || (was === null && isEmpty(is))) return [];
    return [{ field, before: textOf(was), after: textOf(is) }];
  });
}

const isEmpty = (value: Json): boolean => value === false || (Array.isArray(value) && value.length === 0);

/** Returns a value as text; of a list, the number of its items. */
function textOf(value: Json): string | null {
  if (value === null) return null;
  return Array.isArray(value) ? String(value.length) : isRow(value) ? JSON.stringify(value) : String(value);
}

function endOfClaim(claim: ClaimInterval, next: ClaimInterval | undefined, history: VinHistory): readonly Finding[] {
  const { dealerId, until: day } = claim;
  if (day === null || next?.from === day) return [];
  const { verdict, lastDeliveredOn, vins } = history.dealerOn(dealerId, day);
  const isSilent = verdict === "none";
  const days = epochDay(day) - epochDay(lastDeliveredOn);
  return [
    finding({
      day,
      event: "claim_ended",
      rule: isSilent ? "silent_dealer" : "absent_from_feed",
      dealer_id: dealerId,
      listing_id: claim.id,
      facts: isSilent
        ? [fact("days_without_feed", days, days < life.silentDays ? null : life.silentDays)]
        : [fact("feed_vins", vins)],
    }),
  ];
}

/** The days on which a dealer's claim stood without a row, those with the same reason together. */
function unconfirmed(claims: readonly ClaimInterval[], history: VinHistory): readonly Finding[] {
  const found: Finding[] = [];
  let yesterday: Finding | undefined;
  for (const day of history.days) {
    const claim = claims.find((interval) => holdsOnDay(interval, day));
    const today = claim && unconfirmedOn(day, claim, history);
    const last = found.at(-1);
    const isContinued = last !== undefined && yesterday !== undefined && yesterday.rule === today?.rule;
    if (isContinued && today?.rule === "standing_claim")
      found[found.length - 1] = { ...last, last_day: day, facts: today.facts };
    else if (today !== undefined) found.push(today);
    yesterday = today;
  }
  return found;
}

function unconfirmedOn(day: string, claim: ClaimInterval, history: VinHistory): Finding | undefined {
  if (seenBy(claim, day, history) === day) return undefined;
  const { verdict, isRejected, vins, usualVins, minVins, lastDeliveredOn } = history.dealerOn(claim.dealerId, day);
  const isDelivered = verdict !== "none";
  return finding({
    day,
    event: "unconfirmed",
    rule: isDelivered ? "collapsed_feed" : "standing_claim",
    dealer_id: claim.dealerId,
    listing_id: claim.id,
    facts: isRejected
      ? []
      : isDelivered
        ? [fact("feed_vins", vins, minVins), fact("usual_vins", usualVins)]
        : [fact("days_without_feed", epochDay(day) - epochDay(lastDeliveredOn), life.silentDays)],
  });
}

const issueRules: Readonly<Record<string, LifecycleRule>> = {
  rejected: "rejected_row",
  held: "collapsed_feed",
  unknown: "unknown_value",
  noted: "noted_value",
  merged: "merged_row",
};

/** Returns the issues of rows with the VIN, each once. */
export const issueFindings = ({ issues }: VinHistory): readonly IssueFinding[] =>
  issues.map((row) => {
    const { dealer_id, days, value, newest } = row;
    const first = textIn(row, "first_day");
    const last = textIn(row, "last_day");
    const { file, row: line } = isRow(newest) ? newest : {};
    const base = finding({
      day: first,
      last_day: last === first ? null : last,
      event: "issue",
      rule: issueRules[textIn(row, "outcome")] ?? null,
      dealer_id: stringOrNull(dealer_id),
      facts: [fact("repeated_days", Number(days))],
      changes: [{ field: textIn(row, "field"), before: textOf(value ?? null), after: null }],
      source: { file: String(file), row: Number(line), day: last },
    });
    return { ...base, reason: textIn(row, "reason") };
  });

/** A listing that is active or missing, with the claim by which it was active last. */
interface OpenListing {
  readonly claim: ClaimInterval;
  /** The claimants when it was active last. */
  readonly claimants: string;
  readonly missingFrom: string | undefined;
}

/** The state of the latest listing of a VIN. */
type VinStatus = AnswerOf<"getEvidence">["data"]["status"];

/** Returns the decisions of all days, and the state after them. */
export function decisionsOf(history: VinHistory): {
  readonly decisions: readonly Finding[];
  readonly status: VinStatus;
} {
  const decisions: Finding[] = [];
  let open: OpenListing | undefined;
  let status: VinStatus = null;
  for (const day of history.days) {
    const today = history.claims.filter((claim) => holdsOnDay(claim, day));
    const owned = today.find(({ isOwner }) => isOwner);
    const claimants = today.map(({ dealerId }) => dealerId).sort();
    const made = owned === undefined ? decideAbsence(day, open, history) : decideOwner(day, owned, claimants, open);
    decisions.push(...made);
    const last = made.at(-1)?.event;
    const isClosed = last === "sold" || last === "ended";
    if (owned !== undefined) open = { claim: owned, claimants: claimants.join(), missingFrom: undefined };
    else if (isClosed) open = undefined;
    else if (open !== undefined) open = { ...open, missingFrom: open.missingFrom ?? day };
    status = owned === undefined ? (isClosed ? last : open === undefined ? status : "missing") : "active";
  }
  return { decisions, status };
}

function decideOwner(
  day: string,
  { id, dealerId, decidedBy }: ClaimInterval,
  claimants: readonly string[],
  open: OpenListing | undefined,
): readonly Finding[] {
  const isSame = open?.claim.id === id;
  const wasMissing = open?.missingFrom !== undefined;
  if (isSame && !wasMissing && open.claim.decidedBy === decidedBy && open.claimants === claimants.join()) return [];
  const rule = ruleOf(decidedBy);
  const ownership = finding({
    day,
    event: isSame ? (wasMissing ? "returned" : "kept") : "listed",
    rule,
    dealer_id: dealerId,
    listing_id: id,
    claimants: [...claimants],
    is_confirmed: rule !== null,
  });
  if (isSame || open === undefined) return [ownership];
  const superseded = {
    ...ownership,
    event: "ended",
    rule: "superseded",
    dealer_id: open.claim.dealerId,
    listing_id: open.claim.id,
  } as const;
  return [superseded, ownership];
}

/** Returns the rule with a recorded id; null for a rule that this release does not have. */
const ruleOf = (id: string): LifecycleRule | null => (Object.hasOwn(lifecycleRules, id) ? (id as LifecycleRule) : null);

const absenceRules = { missing: "unclaimed", sold: "absent_long_enough", ended: "missing_too_long" } as const;

function decideAbsence(day: string, open: OpenListing | undefined, history: VinHistory): readonly Finding[] {
  if (open === undefined) return [];
  const { claim, missingFrom = day } = open;
  const end = claim.id === null ? undefined : history.ends.get(claim.id);
  const state = end?.day === day ? end.state : "missing";
  if (state === "missing" && open.missingFrom !== undefined) return [];
  const lastDay = lastDayOf(claim, history.days);
  const then = history.dealerOn(claim.dealerId, lastDay);
  const now = history.dealerOn(claim.dealerId, day);
  const soldAfter = (threshold: number): number | null => (state === "sold" ? threshold : null);
  const daysAbsent = epochDay(day) - epochDay(seenBy(claim, lastDay, history));
  const feedsWithout = now.acceptedFeeds - then.acceptedFeeds;
  const daysSeen = then.feeds - claim.unseenFeeds;
  const daysMissing = epochDay(day) - epochDay(missingFrom);
  return [
    finding({
      day,
      event: state,
      rule: absenceRules[state],
      dealer_id: claim.dealerId,
      listing_id: claim.id,
      is_confirmed: true,
      facts: [
        fact("days_absent", daysAbsent, soldAfter(life.soldAfterDays)),
        fact("feeds_without", feedsWithout, soldAfter(life.soldAfterFeeds)),
        fact("days_seen", daysSeen, soldAfter(life.soldSeenDays)),
        ...(state === "ended" ? [fact("days_missing", daysMissing, life.endedAfterDays)] : []),
      ],
    }),
  ];
}

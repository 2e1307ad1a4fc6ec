/** The steps of evidence that dealers' feeds are: where claims began, changed, stood without a row, and ended, and the issues of rows. */
import { epochDay } from "../../base/day.ts";
import { isRow, type Json, type Row, stringOrNull, textIn } from "../../base/json.ts";
import { life } from "../../listing/life.ts";
import type { LifecycleRule } from "../../listing/lifecycle-rules.ts";
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

/** Returns a finding of an event that has no more than the given properties, in the order of the document. */
export const finding = ({
  day,
  event,
  rule,
  dealer_id,
  last_day = null,
  listing_id = null,
  ...given
}: Pick<Finding, "day" | "event" | "dealer_id" | "rule"> & Partial<Finding>): Finding => ({
  ...{ day, last_day, event, rule, dealer_id, listing_id },
  ...{ claimants: [], is_confirmed: null, facts: [], changes: [], source: null },
  ...given,
});

export const fact = (name: EvidenceFact["name"], value: number, threshold: number | null = null): EvidenceFact => ({
  name,
  value,
  threshold,
});

/** Returns what the feeds of all dealers stated, and where their claims ended. */
export function claimFindings(history: VinHistory): readonly Finding[] {
  const byDealer = new Map<string, ClaimInterval[]>();
  for (const claim of history.claims) byDealer.set(claim.dealerId, [...(byDealer.get(claim.dealerId) ?? []), claim]);
  return [...byDealer.values()].flatMap((claims) => [
    ...claims.flatMap((claim, index) => statedBy(claim, claims[index - 1], history)),
    ...claims.flatMap((claim, index) => endOfClaim(claim, claims[index + 1], history)),
    ...unconfirmed(claims, history),
  ]);
}

/** The values that an interval begins with, or those that differ from the interval before it. */
function statedBy(claim: ClaimInterval, before: ClaimInterval | undefined, history: VinHistory): readonly Finding[] {
  const isContinued = before?.until === claim.from;
  const changes = changesBetween(isContinued ? before.values : {}, claim.values);
  if (isContinued && changes.length === 0) return [];
  const day = claim.file === null ? "" : seenBy(claim, lastDayOf(claim, history.days), history);
  return [
    finding({
      ...{ day: claim.from, event: isContinued ? "changed" : "claimed", rule: "feed_row", dealer_id: claim.dealerId },
      ...{ listing_id: claim.id, changes },
      source: claim.file === null ? null : { file: claim.file, row: claim.row, day },
    }),
  ];
}

function changesBetween(before: Row, after: Row): EvidenceStep["changes"] {
  return Object.keys(after).flatMap((field) => {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
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
  return [
    finding({
      ...{ day, event: "claim_ended", rule: isSilent ? "silent_dealer" : "absent_from_feed", dealer_id: dealerId },
      listing_id: claim.id,
      facts: isSilent
        ? [fact("days_without_feed", epochDay(day) - epochDay(lastDeliveredOn), life.silentDays)]
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
  const { verdict, vins, usualVins, minVins, lastDeliveredOn } = history.dealerOn(claim.dealerId, day);
  const isDelivered = verdict !== "none";
  return finding({
    ...{ day, event: "unconfirmed", dealer_id: claim.dealerId, listing_id: claim.id },
    rule: isDelivered ? "collapsed_feed" : "standing_claim",
    facts: isDelivered
      ? [fact("feed_vins", vins, minVins), fact("usual_vins", usualVins)]
      : [fact("days_without_feed", epochDay(day) - epochDay(lastDeliveredOn), life.silentDays)],
  });
}

const issueRules: Readonly<Record<string, LifecycleRule>> = {
  ...{
    rejected: "rejected_row",
    held: "collapsed_feed",
    unknown: "unknown_value",
    noted: "noted_value",
    merged: "merged_row",
  },
};

/** An issue, with its reason. */
export interface IssueFinding extends Finding {
  readonly reason: string;
}

/** Returns the issues of rows with the VIN, each once. */
export const issueFindings = ({ issues }: VinHistory): readonly IssueFinding[] =>
  issues.map((row) => {
    const { dealer_id, days, value, newest } = row;
    const [first, last] = [textIn(row, "first_day"), textIn(row, "last_day")];
    const { file, row: line } = isRow(newest) ? newest : {};
    const base = finding({
      ...{ day: first, last_day: last === first ? null : last, event: "issue" },
      ...{
        rule: issueRules[textIn(row, "outcome")] ?? null,
        dealer_id: stringOrNull(dealer_id),
      },
      facts: [fact("repeated_days", Number(days))],
      changes: [{ field: textIn(row, "field"), before: textOf(value ?? null), after: null }],
      source: { file: String(file), row: Number(line), day: last },
    });
    return { ...base, reason: textIn(row, "reason") };
  });

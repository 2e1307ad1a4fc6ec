/**
 * The decisions about the listings of a VIN, a finding for each: they are those that the lake records, with the claims and numbers that they rest on.
 * Those are also what the rules are applied to again.
 */
import { epochDay } from "../../base/day.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { join, type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";
import { decidedClaims, onlyClaimant, ownerRuleOf, stateOfAbsent } from "../../listing/lifecycle-rules.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { type Finding, fact, finding } from "./claim-steps.ts";
import { type ClaimInterval, holdsOnDay, lastDayOf, seenBy, type VinHistory } from "./vin-history.ts";

/** A listing that is active or missing, with the claim by which it was active last. */
interface OpenListing {
  readonly claim: ClaimInterval;
  /** The claimants when it was active last. */
  readonly claimants: string;
  readonly missingFrom: string | undefined;
}

/** Numbers about an absent listing. */
interface AbsenceNumbers {
  readonly daysAbsent: number;
  readonly feedsWithout: number;
  readonly daysSeen: number;
  readonly daysMissing: number;
}

/** A decision, and what decided it: claims, of which one is the owner's, or an absence with its state. */
interface Decision {
  readonly finding: Finding;
  readonly claims?: readonly ClaimInterval[];
  /** The dealer of the listing that was open on the day before. */
  readonly ownerBefore?: string | undefined;
  readonly absence?: AbsenceNumbers & { readonly state: string };
}

/** The state of the latest listing of a VIN. */
type VinStatus = AnswerOf<"getEvidence">["data"]["status"];

/** Returns the decisions of all days, and the state after them. */
export function decisionsOf(history: VinHistory): {
  readonly decisions: readonly Decision[];
  readonly status: VinStatus;
} {
  const decisions: Decision[] = [];
  let open: OpenListing | undefined;
  let status: VinStatus = null;
  for (const day of history.days) {
    const today = history.claims.filter((claim) => holdsOnDay(claim, day));
    const owned = today.find(({ isOwner }) => isOwner);
    const made = owned === undefined ? decideAbsence(day, open, history) : decideOwner(day, owned, today, open);
    decisions.push(...made);
    const last = made.at(-1)?.finding.event;
    const isClosed = last === "sold" || last === "ended";
    if (owned !== undefined) open = { claim: owned, claimants: claimantsOf(today).join(), missingFrom: undefined };
    else if (isClosed) open = undefined;
    else if (open !== undefined) open = { ...open, missingFrom: open.missingFrom ?? day };
    status = owned === undefined ? (isClosed ? last : open === undefined ? status : "missing") : "active";
  }
  return { decisions, status };
}

const claimantsOf = (claims: readonly ClaimInterval[]): readonly string[] =>
  claims.map(({ dealerId }) => dealerId).sort();

function decideOwner(
  day: string,
  owned: ClaimInterval,
  claims: readonly ClaimInterval[],
  open: OpenListing | undefined,
): readonly Decision[] {
  const claimants = [...claimantsOf(claims)];
  const rule = ownerRuleOf(owned.decidedBy) ?? null;
  const isSame = open?.claim.id === owned.id;
  const isUnchanged =
    isSame &&
    open.missingFrom === undefined &&
    open.claim.decidedBy === owned.decidedBy &&
    open.claimants === claimants.join();
  if (isUnchanged) return [];
  const event = isSame ? (open.missingFrom === undefined ? "kept" : "returned") : "listed";
  const ownership = finding({ day, event, rule, dealer_id: owned.dealerId, listing_id: owned.id, claimants });
  const decided = { claims, ownerBefore: open?.claim.dealerId };
  if (isSame || open === undefined) return [{ finding: ownership, ...decided }];
  const { dealerId, id } = open.claim;
  const superseded = finding({
    day,
    event: "ended",
    rule: "superseded",
    dealer_id: dealerId,
    listing_id: id,
    claimants,
  });
  return [
    { finding: superseded, ...decided },
    { finding: ownership, ...decided },
  ];
}

function decideAbsence(day: string, open: OpenListing | undefined, history: VinHistory): readonly Decision[] {
  if (open === undefined) return [];
  const { claim, missingFrom } = open;
  const end = claim.id === null ? undefined : history.ends.get(claim.id);
  const state = end?.day === day ? end.state : "missing";
  if (state === "missing" && missingFrom !== undefined) return [];
  const numbers = absenceOn(day, open, history);
  const { daysAbsent, feedsWithout, daysSeen, daysMissing } = numbers;
  const rules = { missing: "unclaimed", sold: "absent_long_enough", ended: "missing_too_long" } as const;
  const isSold = state === "sold";
  const facts = [
    fact("days_absent", daysAbsent, isSold ? life.soldAfterDays : null),
    fact("feeds_without", feedsWithout, isSold ? life.soldAfterFeeds : null),
    fact("days_seen", daysSeen, isSold ? life.soldSeenDays : null),
    ...(state === "ended" ? [fact("days_missing", daysMissing, life.endedAfterDays)] : []),
  ];
  const { dealerId: dealer_id, id: listing_id } = claim;
  return [
    {
      finding: finding({ day, event: state, rule: rules[state], dealer_id, listing_id, facts }),
      absence: { ...numbers, state },
    },
  ];
}

/** Returns the numbers that `stateOfAbsent` reads, from deliveries. */
function absenceOn(day: string, { claim, missingFrom = day }: OpenListing, history: VinHistory): AbsenceNumbers {
  const lastDay = lastDayOf(claim, history.days);
  const [then, now] = [history.dealerOn(claim.dealerId, lastDay), history.dealerOn(claim.dealerId, day)];
  return {
    daysAbsent: epochDay(day) - epochDay(seenBy(claim, lastDay, history)),
    feedsWithout: now.acceptedDeliveries - then.acceptedDeliveries,
    daysSeen: then.deliveries - claim.unseenDeliveries,
    daysMissing: epochDay(day) - epochDay(missingFrom),
  };
}

/** Returns the findings, each with whether the rules, applied again to what decided it, decide the same. */
export async function confirm(decisions: readonly Decision[], version: LakeVersion): Promise<readonly Finding[]> {
  const numbered = decisions.map((decision, index) => ({ ...decision, index }));
  const absences = numbered.flatMap(({ index, absence }) =>
    absence === undefined ? [] : [absentState(index, absence)],
  );
  const contests = numbered.flatMap(({ index, claims = [], ownerBefore }) =>
    claims.length > 1 ? claims.map((claim) => contestedClaim(index, claim, ownerBefore)) : [],
  );
  const statements = [
    ...absences,
    ...(contests.length === 0
      ? []
      : [
          sql`SELECT vin::INTEGER AS place, dealer_id || ' ' || decided_by AS decided
             FROM (${decidedClaims(sql`(${join(contests, sql` UNION ALL `)})`)}) WHERE is_owner`,
        ]),
  ];
  const rows = statements.length === 0 ? [] : await version.rows(join(statements, sql` UNION ALL `));
  const decided = new Map(rows.map((row) => [row.place, row.decided]));
  return numbered.map((decision) => {
    const recorded = recordedOutcome(decision);
    const outcome = decided.get(decision.index) ?? soleOutcome(decision);
    return { ...decision.finding, is_confirmed: recorded === undefined ? null : recorded === outcome };
  });
}

const outcomeOf = ({ dealerId, decidedBy }: ClaimInterval): string => `${dealerId} ${decidedBy}`;

/** Returns what the lake records of a decision; undefined if it has no rule. */
function recordedOutcome({ absence, claims = [] }: Decision): string | undefined {
  const owned = claims.find(({ isOwner }) => isOwner);
  return absence?.state ?? (owned === undefined || owned.decidedBy === "" ? undefined : outcomeOf(owned));
}

function soleOutcome({ claims = [] }: Decision): string {
  const [claim] = claims;
  return claim === undefined ? "" : outcomeOf({ ...claim, decidedBy: onlyClaimant });
}

function absentState(index: number, absence: AbsenceNumbers): Sql {
  const state = stateOfAbsent({
    ...{ daysAbsent: sql`${absence.daysAbsent}`, feedsWithout: sql`${absence.feedsWithout}` },
    ...{ daysSeen: sql`${absence.daysSeen}`, daysMissing: sql`${absence.daysMissing}` },
  });
  return sql`SELECT ${index}::INTEGER AS place, ${state} AS decided`;
}

/** Returns a claim as a row for `decidedClaims`, in which each decision stands for a VIN. */
function contestedClaim(index: number, claim: ClaimInterval, ownerBefore: string | undefined): Sql {
  const { dealerId, claimedSince, values, makes } = claim;
  const { price, photo_urls: photos, inventory_type: type, make } = values;
  const isNewAtFranchise = type === "new" && make !== null && make !== undefined && makes.includes(make);
  return sql`SELECT ${index} AS vin, ${dealerId} AS dealer_id, ${dealerId === ownerBefore} AS is_current_owner,
    ${isNewAtFranchise} AS is_new_at_franchise, ${typeof price === "number"} AS has_price,
    ${Array.isArray(photos) && photos.length > 0} AS has_photos, ${claimedSince} AS claimed_since`;
}

/**
 * Usage tiers (sections 3 and 8.2 of the specification): what a tier allows, and when an account rises to the next one. The review
 * is a pure function of the account's history and the day. One review moves an account by one tier at most, and never down.
 */
import { plusDays } from "../../base/day.ts";
import { type AccountState, billingState } from "./billing-state.ts";
import type { RateLimits } from "./rate-limiter.ts";

export const tiers = [1, 2, 3, 4] as const;
export type Tier = (typeof tiers)[number];

export const limitsOf: Readonly<Record<Tier, RateLimits>> = {
  1: { per10s: 20, per60s: 60 },
  2: { per10s: 100, per60s: 100 },
  3: { per10s: 200, per60s: 600 },
  4: { per10s: 500, per60s: 3000 },
};

interface Step {
  readonly to: Tier;
  readonly paidUsd: number;
  /** Whole days since the first successful paid credit. */
  readonly days: number;
  readonly reviewKind: "automatic" | "manual";
  readonly needsGoodStanding: boolean;
}

/** How an account rises from each tier. */
const steps: Readonly<Partial<Record<Tier, Step>>> = {
  1: { to: 2, paidUsd: 25, days: 7, reviewKind: "automatic", needsGoodStanding: true },
  2: { to: 3, paidUsd: 150, days: 14, reviewKind: "automatic", needsGoodStanding: true },
  3: { to: 4, paidUsd: 500, days: 30, reviewKind: "manual", needsGoodStanding: false },
};

/** For so many days a chargeback reversal is recent, and for so many a declined manual review is not asked for again. */
const recentDays = 90;
const declinedDays = 30;

/** A paid credit, as far as a review goes. Promotional and administrative credits do not count. */
export interface PaidCredit {
  readonly micros: number;
  /** The UTC day on which it was confirmed; null while it is not. Only confirmed credits are verified. */
  readonly confirmed: string | null;
  /** The UTC day on which a chargeback took it back; null when none did. */
  readonly reversed: string | null;
}

/** What a review looks at. */
export interface AccountHistory {
  readonly tier: Tier;
  readonly state: AccountState;
  readonly balanceMicros: number;
  readonly lowMicros: number;
  readonly credits: readonly PaidCredit[];
  /** The UTC day on which a manual review last declined; null when none did. */
  readonly declined: string | null;
}

export interface TierDecision {
  /** The next tier, when the account has what it takes. */
  readonly to: Tier | null;
  /** Whether that happens by itself, or somebody has to approve it. */
  readonly reviewKind: "automatic" | "manual" | null;
  /** What is missing, in words; empty when nothing is. */
  readonly missing: readonly string[];
}

/** Whether an account rises, as of a UTC day. */
export function decideTier(history: AccountHistory, day: string): TierDecision {
  const step = steps[history.tier];
  if (step === undefined) return { to: null, reviewKind: null, missing: ["a higher tier"] };
  const missing = [
    ...missingMoney(history.credits, step, day),
    ...(step.needsGoodStanding ? missingStanding(history, day) : []),
    ...(history.declined !== null && day < plusDays(history.declined, declinedDays)
      ? [`${declinedDays} days since it was declined`]
      : []),
  ];
  return missing.length === 0
    ? { to: step.to, reviewKind: step.reviewKind, missing }
    : { to: null, reviewKind: null, missing };
}

function missingMoney(credits: readonly PaidCredit[], { paidUsd, days }: Step, day: string): readonly string[] {
  const verified = credits.filter(
    ({ confirmed, reversed }) => confirmed !== null && confirmed <= day && (reversed === null || reversed > day),
  );
  const paid = verified.reduce((sum, { micros }) => sum + micros, 0);
  const since = verified.map(({ confirmed }) => confirmed ?? day).sort()[0];
  return [
    ...(paid < paidUsd * 1_000_000 ? [`${paidUsd} USD of verified paid credits`] : []),
    ...(since === undefined || plusDays(since, days) > day ? [`${days} days since the first paid credit`] : []),
  ];
}

/** What is missing for good standing: active, in neither a blocked billing state nor one after a recent chargeback reversal. */
function missingStanding({ credits, ...account }: AccountHistory, day: string): readonly string[] {
  const billing = billingState(account);
  const isRecent = ({ reversed }: PaidCredit) =>
    reversed !== null && reversed <= day && plusDays(reversed, recentDays) > day;
  return [
    ...(billing === "suspended" ? ["an active account"] : []),
    ...(billing === "exhausted" ? ["a positive balance"] : []),
    ...(credits.some(isRecent) ? [`${recentDays} days since the last chargeback reversal`] : []),
  ];
}

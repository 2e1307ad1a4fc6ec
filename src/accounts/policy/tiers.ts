/**
 * Usage tiers: the rate limits of each tier, and the rules for promotion to the next. Pure functions of an account's history and a day.
 * A review promotes by one tier at most and never demotes.
 */
import { plusDays } from "../../base/day.ts";
import { type AccountState, billingState } from "./billing-state.ts";
import type { RateLimits } from "./rate-limiter.ts";

export const tiers = [1, 2, 3, 4] as const;
export type Tier = (typeof tiers)[number];

export const tierLimits: Readonly<Record<Tier, RateLimits>> = {
  1: { per10s: 20, per60s: 60 },
  2: { per10s: 100, per60s: 100 },
  3: { per10s: 200, per60s: 600 },
  4: { per10s: 500, per60s: 3000 },
};

interface PromotionRule {
  readonly to: Tier;
  readonly paidUsd: number;
  /** Whole days since the first confirmed paid credit. */
  readonly days: number;
  readonly reviewKind: "automatic" | "manual";
  readonly needsGoodStanding: boolean;
}

const promotionRules: Readonly<Partial<Record<Tier, PromotionRule>>> = {
  1: { to: 2, paidUsd: 25, days: 7, reviewKind: "automatic", needsGoodStanding: true },
  2: { to: 3, paidUsd: 150, days: 14, reviewKind: "automatic", needsGoodStanding: true },
  3: { to: 4, paidUsd: 500, days: 30, reviewKind: "manual", needsGoodStanding: false },
};

/** Days that a chargeback reversal ends good standing, and days between a declined review and the next one. */
const reversalDays = 90;
const declinedDays = 30;

/** A paid credit. Promotional credits and adjustments do not count towards a tier. */
export interface PaidCredit {
  readonly micros: number;
  /** The UTC day of confirmation, or null. Only confirmed credits count. */
  readonly confirmed: string | null;
  /** The UTC day of the chargeback reversal, or null. */
  readonly reversed: string | null;
}

export interface AccountHistory {
  readonly tier: Tier;
  readonly state: AccountState;
  readonly balanceMicros: number;
  readonly lowBalanceMicros: number;
  readonly credits: readonly PaidCredit[];
  /** The UTC day of the last declined review, or null. */
  readonly declined: string | null;
}

interface TierDecision {
  /** The next tier if the account qualifies, else null. */
  readonly to: Tier | null;
  /** Whether the promotion is automatic or needs an operator's approval; null without one. */
  readonly reviewKind: "automatic" | "manual" | null;
  /** The unmet requirements; empty if the account qualifies. */
  readonly missing: readonly string[];
}

export function decideTier(history: AccountHistory, day: string): TierDecision {
  const rule = promotionRules[history.tier];
  if (rule === undefined) return { to: null, reviewKind: null, missing: ["a higher tier"] };
  const missing = [
    ...missingPayments(history.credits, rule, day),
    ...(rule.needsGoodStanding ? missingStanding(history, day) : []),
    ...(history.declined !== null && day < plusDays(history.declined, declinedDays)
      ? [`${declinedDays} days since the last declined review`]
      : []),
  ];
  return missing.length === 0
    ? { to: rule.to, reviewKind: rule.reviewKind, missing }
    : { to: null, reviewKind: null, missing };
}

function missingPayments(
  credits: readonly PaidCredit[],
  { paidUsd, days }: PromotionRule,
  day: string,
): readonly string[] {
  const verified = credits.filter(
    ({ confirmed, reversed }) => confirmed !== null && confirmed <= day && (reversed === null || reversed > day),
  );
  const paidMicros = verified.reduce((sum, { micros }) => sum + micros, 0);
  const firstDay = verified.map(({ confirmed }) => confirmed ?? day).sort()[0];
  return [
    ...(paidMicros < paidUsd * 1_000_000 ? [`${paidUsd} USD of verified paid credits`] : []),
    ...(firstDay === undefined || plusDays(firstDay, days) > day ? [`${days} days since the first paid credit`] : []),
  ];
}

/** Good standing: not suspended, a positive balance, and no recent chargeback reversal. */
function missingStanding({ credits, ...account }: AccountHistory, day: string): readonly string[] {
  const state = billingState(account);
  const isRecentlyReversed = ({ reversed }: PaidCredit): boolean =>
    reversed !== null && reversed <= day && plusDays(reversed, reversalDays) > day;
  return [
    ...(state === "suspended" ? ["an active account"] : []),
    ...(state === "exhausted" ? ["a positive balance"] : []),
    ...(credits.some(isRecentlyReversed) ? [`${reversalDays} days since the last chargeback reversal`] : []),
  ];
}

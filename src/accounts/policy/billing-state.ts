/** What an account may spend: its billing state, and whether it can pay for a request. Pure; the same rule holds and charges. */
import { type Refusal, refuse } from "../../contract/errors.ts";
import { usdOf } from "../money.ts";

/** What somebody has set an account to. */
export type AccountState = "active" | "suspended";

/** What follows from that and the balance. */
export type BillingState = "active" | "low_balance" | "exhausted" | "suspended";

/** Below this balance an account is low, unless it says otherwise: 5 USD. */
export const lowBalanceMicros = 5_000_000;

export interface Funds {
  readonly state: AccountState;
  readonly balanceMicros: number;
  /** The balance below which the account is low. */
  readonly lowMicros: number;
  /** Charged in the UTC calendar month. */
  readonly spentMicros: number;
  /** The most that may be charged in a month; null when there is no cap. */
  readonly capMicros: number | null;
}

export function billingState({
  state,
  balanceMicros,
  lowMicros,
}: Omit<Funds, "spentMicros" | "capMicros">): BillingState {
  if (state === "suspended") return "suspended";
  if (balanceMicros <= 0) return "exhausted";
  return balanceMicros < lowMicros ? "low_balance" : "active";
}

/** Why an account cannot pay for something. */
export type Shortfall =
  | { readonly code: "billing_state_blocked"; readonly state: BillingState; readonly why: string }
  | { readonly code: "monthly_spend_cap_exceeded"; readonly cap: string };

/** Why an account cannot pay so many micros; undefined when it can. */
export function shortfall(funds: Funds, micros: number): Shortfall | undefined {
  const state = billingState(funds);
  if (state === "suspended") return { code: "billing_state_blocked", state, why: "" };
  if (funds.balanceMicros < micros) {
    const why = `: this one costs ${usdOf(micros)} USD, and ${usdOf(funds.balanceMicros)} USD is left`;
    return { code: "billing_state_blocked", state, why };
  }
  if (funds.capMicros !== null && funds.spentMicros + micros > funds.capMicros)
    return { code: "monthly_spend_cap_exceeded", cap: usdOf(funds.capMicros) };
  return undefined;
}

/** The answer to somebody who cannot pay: 402. */
export function refuseForBilling(short: Shortfall): Refusal {
  return short.code === "billing_state_blocked" ? refuse(short.code, short) : refuse(short.code, short);
}

/** Billing state of an account, and whether it can pay a price. Pure; holds and charges apply the same rule. */
import { type Refusal, refuse } from "../../contract/errors.ts";
import { formatUsd } from "../money.ts";

export type AccountState = "active" | "suspended";

/** Derived from the account state and the balance. */
export type BillingState = "active" | "low_balance" | "exhausted" | "suspended";

/** The `lowBalanceMicros` of a new account: 5 USD. */
export const defaultLowBalanceMicros = 5_000_000;

/** The fields of an account that decide whether it can pay. */
export interface Funds {
  readonly state: AccountState;
  readonly balanceMicros: number;
  /** The billing state is `low_balance` below this balance. */
  readonly lowBalanceMicros: number;
  /** Charges of the UTC calendar month. */
  readonly spentMicros: number;
  /** The spend cap of a UTC calendar month; null without a cap. */
  readonly capMicros: number | null;
}

export function billingState({
  state,
  balanceMicros,
  lowBalanceMicros,
}: Omit<Funds, "spentMicros" | "capMicros">): BillingState {
  if (state === "suspended") return "suspended";
  if (balanceMicros <= 0) return "exhausted";
  return balanceMicros < lowBalanceMicros ? "low_balance" : "active";
}

/** What pages call the state of an account: its billing state, or `new` before its first charge. A suspended account is suspended. */
export function shownState(
  account: Omit<Funds, "spentMicros" | "capMicros"> & { readonly isNew: boolean },
): BillingState | "new" {
  const state = billingState(account);
  return account.isNew && state !== "suspended" ? "new" : state;
}

/** Why an account cannot pay: the error code with the details of its message. */
export type Shortfall =
  | { readonly code: "billing_state_blocked"; readonly state: BillingState; readonly why: string }
  | { readonly code: "monthly_spend_cap_exceeded"; readonly cap: string };

/** Returns undefined if an account can pay a price, else why not. Only a suspended account cannot pay nothing. */
export function shortfall(funds: Funds, micros: number): Shortfall | undefined {
  const state = billingState(funds);
  if (state === "suspended") return { code: "billing_state_blocked", state, why: "" };
  if (micros === 0) return undefined;
  if (funds.balanceMicros < micros) {
    const why = `: the request costs ${formatUsd(micros)} USD, the balance is ${formatUsd(funds.balanceMicros)} USD`;
    return { code: "billing_state_blocked", state, why };
  }
  if (funds.capMicros !== null && funds.spentMicros + micros > funds.capMicros)
    return { code: "monthly_spend_cap_exceeded", cap: formatUsd(funds.capMicros) };
  return undefined;
}

export function refuseForBilling(short: Shortfall): Refusal {
  if (short.code === "monthly_spend_cap_exceeded") return refuse(short.code, short);
  return refuse(short.code, {
    ...short,
    remedy: short.state === "suspended" ? "to reactivate the account" : "for credit",
  });
}

/**
 * Refuses with a 402 code if an account cannot pay a price in a UTC month, beside what is held for its other requests. Its spending of an earlier
 * month does not count.
 */
export function requireFunds(
  account: Funds & { readonly month: string },
  micros: number,
  heldMicros: number,
  month: string,
): void {
  const spentMicros = (account.month === month ? account.spentMicros : 0) + heldMicros;
  const short = shortfall({ ...account, balanceMicros: account.balanceMicros - heldMicros, spentMicros }, micros);
  if (short !== undefined) throw refuseForBilling(short);
}

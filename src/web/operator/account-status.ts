/** The status of an account, in the words of operators. */
import type { Account } from "../../accounts/account.ts";
import { billingState } from "../../accounts/policy/billing-state.ts";

/** Formats the status of an account: `low balance`. */
export const statusText = (account: Account): string => billingState(account).replace("_", " ");

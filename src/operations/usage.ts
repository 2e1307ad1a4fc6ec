/** Operation `getUsage`: the usage of the calling account, from the ledger. */
import type { Accounts, Identity } from "../accounts/accounts.ts";
import { dayOf } from "../accounts/clock.ts";
import { usageRange } from "../accounts/ledger/usage.ts";
import type { AnswerOf, RequestOf } from "../contract/types.ts";

export async function usageOf(
  accounts: Accounts,
  identity: Identity,
  { query }: RequestOf<"getUsage">,
): Promise<AnswerOf<"getUsage">> {
  const range = usageRange(query, dayOf(accounts.administration.nowMs));
  const rows = await accounts.usage(identity, range);
  return {
    data: [...rows],
    totals: {
      requests: rows.reduce((sum, { requests }) => sum + requests, 0),
      charged_micros: rows.reduce((sum, { charged_micros }) => sum + charged_micros, 0),
    },
    meta: {
      start_date: range.startDate,
      end_date: range.endDate,
      interval: "day",
      currency: "USD",
      source: "ledger",
      freshness: "eventually consistent, at most 2 seconds behind the ledger",
    },
  };
}

/** Operation `getUsage`: the usage of the account that sends the request, from the ledger. Never charged. */
import type { Accounts } from "../accounts/accounts.ts";
import type { AnswerOf } from "../contract/types.ts";
import { identityOf, type ValidatedMiddleware } from "./context.ts";

export const respondWithUsage =
  (accounts: Accounts): ValidatedMiddleware<"getUsage"> =>
  async (context, { query }) => {
    const { range, rows } = await accounts.usage(identityOf(context), query);
    const body: AnswerOf<"getUsage"> = {
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
    context.body = body;
    context.set("Cache-Control", "private, no-store");
  };

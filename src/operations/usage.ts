/** Operation `getUsage`: the usage of the calling account, from the ledger. Never charged. */
import type { Accounts } from "../accounts/accounts.ts";
import { decoderOf } from "../contract/decode.ts";
import type { AnswerOf } from "../contract/types.ts";
import { type Caller, countCall, requireScope } from "./caller.ts";
import type { OperationRequest } from "./operation-request.ts";

export async function answerUsage(
  accounts: Accounts,
  caller: Caller,
  { querystring, params = {} }: Pick<OperationRequest, "querystring" | "params">,
): Promise<AnswerOf<"getUsage">> {
  requireScope(caller, "getUsage");
  countCall(accounts, caller);
  const { query } = decoderOf("getUsage")(querystring, params);
  const { range, rows } = await accounts.usage(caller.identity, query);
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

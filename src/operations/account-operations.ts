/**
 * Answers the operations about the calling account, for requests with an API key, pages and tool calls alike. They are limited, and never charged.
 */
import type { Accounts, Identity } from "../accounts/accounts.ts";
import { dayOf } from "../accounts/clock.ts";
import { listUsage, usageRange } from "../accounts/ledger/usage.ts";
import type { AccountOperationId } from "../accounts/policy/prices.ts";
import { decodeBody, decoderOf } from "../contract/decode.ts";
import type { AnswerOf, BodyOf, RequestOf } from "../contract/types.ts";
import { type Caller, countCall, type OperationRequest, requireScope } from "./caller.ts";
import { type AccountServices, changeSearch, listSavedSearches, saveSearch } from "./saved-searches.ts";

/** A valid request. */
interface AccountCall<Id extends AccountOperationId> extends RequestOf<Id> {
  readonly caller: Caller;
  readonly body: BodyOf<Id>;
}

type Handler<Id extends AccountOperationId> = (
  call: AccountCall<Id>,
  services: AccountServices,
) => Promise<AnswerOf<Id>>;

const handlers: { readonly [Id in AccountOperationId]: Handler<Id> } = {
  getUsage: ({ caller, ...request }, { accounts }) => usageOf(accounts, caller.identity, request),
  listSearches: async ({ caller }, services) => ({ data: await listSavedSearches(caller.identity, services) }),
  createSearch: ({ caller, body }, services) => saveSearch(caller.identity, body, services),
  deleteSearch: async ({ caller, path }, services) => ({
    data: await changeSearch(caller.identity, path.search_id, "delete", services),
  }),
  resumeSearch: async ({ caller, path }, services) => ({
    data: await changeSearch(caller.identity, path.search_id, "resume", services),
  }),
  rotateSearchSecret: async ({ caller, path }, services) => ({
    data: await changeSearch(caller.identity, path.search_id, "rotate", services),
  }),
};

export const isAccountOperation = (id: string): id is AccountOperationId => Object.hasOwn(handlers, id);

/** A request whose `body` reads the text that it sends, once it may be answered; none by default. */
interface AccountRequest extends Pick<OperationRequest, "querystring" | "params"> {
  readonly body?: () => Promise<string>;
}

/** Answers an operation. Refuses as documented. */
export async function answerAccount<Id extends AccountOperationId>(
  id: Id,
  caller: Caller,
  { querystring, params = {}, body = async () => "" }: AccountRequest,
  services: AccountServices,
): Promise<AnswerOf<Id>> {
  requireScope(caller, id);
  await countCall(services.accounts, caller);
  const request = decoderOf(id)(querystring, params);
  const handler: Handler<Id> = handlers[id];
  return handler({ ...request, caller, body: decodeBody(id, await body()) }, services);
}

async function usageOf(
  accounts: Accounts,
  identity: Identity,
  { query }: RequestOf<"getUsage">,
): Promise<AnswerOf<"getUsage">> {
  const range = usageRange(query, dayOf(accounts.administration.nowMs));
  const rows = await accounts.administration.call(listUsage, identity.key.accountId, range);
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

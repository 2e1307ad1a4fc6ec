/**
 * What happens to a request, as a sentence. Each verb is a step; each operation of the document has a route of its own.
 */
import Router from "@koa/router";
import compose from "koa-compose";
import type { Accounts } from "../accounts/accounts.ts";
import type { MeteredId } from "../accounts/policy/prices.ts";
import { document, operation, operations } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Middleware, RequestState } from "./context.ts";
import { announceDeprecation } from "./middleware/announce-deprecation.ts";
import { answer } from "./middleware/answer.ts";
import { charge } from "./middleware/charge.ts";
import { holdPrice } from "./middleware/hold-price.ts";
import { identify } from "./middleware/identify.ts";
import { announceLimits, limitRate } from "./middleware/limit-rate.ts";
import { refuseKeyInQuery } from "./middleware/refuse-key-in-query.ts";
import { requireScope } from "./middleware/require-scope.ts";
import { validate } from "./middleware/validate.ts";
import type { ResponseCache } from "./response-cache.ts";
import { serveContent } from "./static-content.ts";
import { answerUsage } from "./usage-endpoint.ts";

/** What answers and meters. */
export interface PipelineServices {
  readonly current: CurrentVersion;
  readonly answers: ResponseCache;
  readonly accounts: Accounts;
}

/**
 * The steps of an operation that is answered from the market, and paid for, wherever the answer comes from. From `validate` on each step
 * hands its successor what that needs: nothing is priced before it is validated, nothing answered before its price is held.
 */
function metered<Id extends MeteredId>(id: Id, { current, answers, accounts }: PipelineServices): Middleware {
  const answered = answer(id, { current, answers }, charge(accounts));
  return compose([
    announceDeprecation(operation(id)),
    refuseKeyInQuery,
    identify(accounts),
    announceLimits(accounts),
    requireScope(id),
    limitRate(accounts),
    validate(id, holdPrice(accounts, id, answered)),
  ]);
}

/** The steps of an operation that needs a key, and no money. */
function unmetered(id: "getUsage", accounts: Accounts): Middleware {
  return compose([
    refuseKeyInQuery,
    identify(accounts),
    announceLimits(accounts),
    requireScope(id),
    limitRate(accounts),
    validate(id, answerUsage(accounts)),
  ]);
}

/** The steps of an operation that is answered without the market, and needs no key. */
function free(id: OperationId, answered: Middleware): Middleware {
  return compose([refuseKeyInQuery, validate(id, async (context) => answered(context, async () => {}))]);
}

function stepsOf(id: OperationId, means: PipelineServices): Middleware {
  if (id === "getDocument") return free(id, serveContent(JSON.stringify(document), "application/json"));
  return id === "getUsage" ? unmetered(id, means.accounts) : metered(id, means);
}

/** Routes each path of the document. */
export function routes(means: PipelineServices): ReturnType<Router<RequestState>["routes"]> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const { id, path } of operations.values()) {
    router.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), stepsOf(id, means));
  }
  return router.routes();
}

/** Every operation is a GET. */
export const refuseOtherMethods: Middleware = async ({ method }, next) => {
  if (method !== "GET") throw refuse("method_not_allowed", { method });
  await next();
};

/** What no route has taken. */
export const refuseUnknownPath: Middleware = async ({ path }) => {
  throw refuse("not_found", { what: "resource", id: path });
};

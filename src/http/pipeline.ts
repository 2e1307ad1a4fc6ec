/** Router: the middleware pipeline of every operation of the document. Each pipeline reads as a list of verbs, one module per verb. */
import Router from "@koa/router";
import compose from "koa-compose";
import type { Accounts } from "../accounts/accounts.ts";
import type { MeteredId } from "../accounts/policy/prices.ts";
import { document, operation, operations } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import type { TableEncoder } from "../formats/table-formats.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Middleware, RequestState } from "./context.ts";
import { type AdmissionBounds, admit } from "./middleware/admit.ts";
import { charge } from "./middleware/charge.ts";
import { setDeprecationHeaders } from "./middleware/deprecation-headers.ts";
import { holdPrice } from "./middleware/hold-price.ts";
import { identify } from "./middleware/identify.ts";
import { limitRate, setRateLimitHeaders } from "./middleware/limit-rate.ts";
import { refuseKeyInQuery } from "./middleware/refuse-key-in-query.ts";
import { requireScope } from "./middleware/require-scope.ts";
import { respond } from "./middleware/respond.ts";
import { validate } from "./middleware/validate.ts";
import type { ResponseCache } from "./response-cache.ts";
import { serveContent } from "./static-content.ts";
import { respondWithUsage } from "./usage-endpoint.ts";

export interface PipelineServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
  readonly encoder: TableEncoder;
  readonly accounts: Accounts;
  readonly admission: AdmissionBounds;
}

/**
 * The pipeline of a metered operation. From `validate` on, each middleware passes its result to the next as an argument, so that no
 * request is priced before it is validated, and none is computed before its price is held.
 */
function meteredPipeline<Id extends MeteredId>(
  id: Id,
  { accounts, ...services }: PipelineServices,
  admitRequest: Middleware,
): Middleware {
  const respondAndCharge = respond(id, services, charge(accounts));
  return compose([
    setDeprecationHeaders(operation(id)),
    refuseKeyInQuery,
    identify(accounts),
    setRateLimitHeaders(accounts),
    requireScope(id),
    admitRequest,
    limitRate(accounts),
    validate(id, holdPrice(accounts, id, respondAndCharge)),
  ]);
}

/** The pipeline of `getUsage`: needs an API key, is never charged. */
function usagePipeline(id: "getUsage", accounts: Accounts): Middleware {
  return compose([
    refuseKeyInQuery,
    identify(accounts),
    setRateLimitHeaders(accounts),
    requireScope(id),
    limitRate(accounts),
    validate(id, respondWithUsage(accounts)),
  ]);
}

/** The pipeline of a public operation: needs neither an API key nor a lake version. */
function publicPipeline(id: OperationId, handler: Middleware): Middleware {
  return compose([refuseKeyInQuery, validate(id, async (context) => handler(context, async () => {}))]);
}

function pipelineOf(id: OperationId, services: PipelineServices, admitRequest: Middleware): Middleware {
  if (id === "getDocument") return publicPipeline(id, serveContent(JSON.stringify(document), "application/json"));
  return id === "getUsage" ? usagePipeline(id, services.accounts) : meteredPipeline(id, services, admitRequest);
}

/** Returns the router: one GET route per operation, in an order where literal paths win. */
export function routes(services: PipelineServices): ReturnType<Router<RequestState>["routes"]> {
  const admitRequest = admit(services.accounts, services.admission);
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const { id, path } of operations.values()) {
    const nameOperation: Middleware = (context, next) => {
      context.state.operation = id;
      return next();
    };
    router.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), nameOperation, pipelineOf(id, services, admitRequest));
  }
  return router.routes();
}

/** Every operation is a GET. */
export const refuseOtherMethods: Middleware = async ({ method }, next) => {
  if (method !== "GET") throw refuse("method_not_allowed", { method });
  await next();
};

/** Refuses paths without a route with `not_found`. */
export const refuseUnknownPath: Middleware = async ({ path }) => {
  throw refuse("not_found", { what: "resource", id: path });
};

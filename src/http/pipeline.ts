/**
 * The pipeline of every operation of the document, and the router of the API. Each pipeline reads as a list of verbs, one module per
 * verb. What follows authentication is the same for requests with an API key and for those made within the process (`ask.ts`).
 */
import Router from "@koa/router";
import compose from "koa-compose";
import type { Accounts } from "../accounts/accounts.ts";
import { document, operation, operations } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import type { TableEncoder } from "../formats/table-formats.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import { allowedMethods } from "./allowed-methods.ts";
import type { Middleware, OperationContext, OperationStep, RequestContext, RequestState } from "./context.ts";
import { type EndpointId, endpoints } from "./endpoints.ts";
import { type ExportServices, respondWithExport } from "./exports/respond-with-export.ts";
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
  readonly exports: ExportServices;
  readonly exportAdmission: AdmissionBounds;
}

/**
 * The pipeline of a metered operation after authentication. From `validate` on, each step passes its result to the next as an argument,
 * so that no request is priced before it is validated, and none is computed before its price is held.
 */
function meteredSteps<Id extends EndpointId>(
  id: Id,
  { accounts, ...services }: PipelineServices,
  admitRequest: OperationStep,
): OperationStep {
  const respondAndCharge = respond(id, services, charge(accounts));
  return compose<OperationContext>([
    setRateLimitHeaders(accounts),
    requireScope(id),
    admitRequest,
    limitRate(accounts),
    validate(id, holdPrice(accounts, id, respondAndCharge)),
  ]);
}

/** The pipeline of `exportListings`: as that of a metered operation, but the price depends on the rows, and the response is a file. */
function exportPipeline(id: "exportListings", { accounts, exports, exportAdmission }: PipelineServices): Middleware {
  return compose<RequestContext>([
    refuseKeyInQuery,
    identify(accounts),
    setRateLimitHeaders(accounts),
    requireScope(id),
    admit(accounts, exportAdmission),
    limitRate(accounts),
    validate(id, respondWithExport(exports, charge(accounts))),
  ]);
}

/** The operations that can be asked within the process: those that answer an account in JSON. */
export type AskedId = EndpointId | "getUsage";

/** The pipeline of each operation in JSON after authentication. */
export type OperationPipelines = Readonly<Record<AskedId, OperationStep>>;

/** Returns the pipelines of all operations in JSON. They count the requests of an account in progress together. */
export function operationPipelines(services: PipelineServices): OperationPipelines {
  const admitRequest = admit(services.accounts, services.admission);
  const ids = Object.keys(endpoints) as EndpointId[];
  const metered = Object.fromEntries(ids.map((id) => [id, meteredSteps(id, services, admitRequest)]));
  return { ...(metered as Record<EndpointId, OperationStep>), getUsage: usageSteps("getUsage", services.accounts) };
}

/** The pipeline of `getUsage` after authentication: it is never charged. */
function usageSteps(id: "getUsage", accounts: Accounts): OperationStep {
  return compose<OperationContext>([
    setRateLimitHeaders(accounts),
    requireScope(id),
    limitRate(accounts),
    validate(id, respondWithUsage(accounts)),
  ]);
}

/** The pipeline of a public operation: needs neither an API key nor a lake version. */
function publicPipeline(id: OperationId, handler: Middleware): Middleware {
  const check = validate(id, async () => {});
  return compose<RequestContext>([
    refuseKeyInQuery,
    async (context, next) => {
      await check(context, next);
      await next();
    },
    handler,
  ]);
}

function pipelineOf(id: OperationId, services: PipelineServices, pipelines: OperationPipelines): Middleware {
  if (id === "getDocument") return publicPipeline(id, serveContent(JSON.stringify(document), "application/json"));
  if (id === "exportListings") return exportPipeline(id, services);
  return compose([setDeprecationHeaders(operation(id)), refuseKeyInQuery, identify(services.accounts), pipelines[id]]);
}

/** Returns the router: one GET route per operation, in an order where literal paths win. */
export function routes(
  services: PipelineServices,
  pipelines: OperationPipelines,
): ReturnType<Router<RequestState>["routes"]> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const { id, path } of operations.values()) {
    const nameOperation: Middleware = (context, next) => {
      context.state.operation = id;
      return next();
    };
    router.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), nameOperation, pipelineOf(id, services, pipelines));
  }
  return router.routes();
}

/** Refuses methods that the path does not have. Every operation is a GET; forms of the web application are a POST. */
export const refuseOtherMethods: Middleware = async (context, next) => {
  const [{ method }, allowed] = [context, allowedMethods(context)];
  if (!allowed.includes(method)) throw refuse("method_not_allowed", { method, allowed: allowed.join(" or ") });
  await next();
};

/** Refuses paths without a route with `not_found`. */
export const refuseUnknownPath: Middleware = async ({ path }) => {
  throw refuse("not_found", { what: "resource", id: path });
};

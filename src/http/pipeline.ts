/** The pipeline of every operation of the document over HTTP, and the router of the API. Each pipeline reads as a list of verbs. */
import compose from "koa-compose";
import type { AccountOperationId } from "../accounts/policy/prices.ts";
import { decoderOf } from "../contract/decode.ts";
import { document, documentWithoutAccounts, operation, operations } from "../contract/document.ts";
import type { OperationId } from "../contract/types.ts";
import { answerAccount, isAccountOperation } from "../operations/account-operations.ts";
import type { Admission } from "../operations/admission.ts";
import { answer, type OperationServices } from "../operations/answer.ts";
import type { EndpointId } from "../operations/caller.ts";
import { hasFormats } from "../operations/representation.ts";
import type { AccountServices } from "../operations/saved-searches.ts";
import {
  callerOf,
  createRouter,
  type Middleware,
  type RequestContext,
  type Routes,
  readBody,
  setUsageHeaders,
} from "./context.ts";
import { respondWithExport } from "./exports/respond-with-export.ts";
import { respondWithSql, type SqlServices } from "./exports/respond-with-sql.ts";
import { identify } from "./middleware/identify.ts";
import { refuseKeyInQuery } from "./middleware/refuse-requests.ts";
import { setDeprecationHeaders, setRateLimitHeaders } from "./middleware/set-headers.ts";
import { serveContent, setAnswerHeaders } from "./responses/headers.ts";

export interface PipelineServices extends OperationServices, AccountServices {
  readonly exports: SqlServices;
  readonly exportAdmission: Admission;
}

/** The size of the body of an operation about the account. */
const bodyBytesMax = 8_192;

/** Responds to a metered operation, in the negotiated format. A request whose preconditions do not ask for the response is free. */
const respond =
  (id: EndpointId, services: PipelineServices): Middleware =>
  async (context) => {
    const { querystring, params, headers } = context;
    const answered = await answer(callerOf(context), { id, querystring, params }, services, headers);
    setAnswerHeaders(context, id, answered);
    if (answered.content === undefined) {
      context.status = 304;
      return;
    }
    setUsageHeaders(context, answered.usage, services.accounts);
    context.body = answered.content;
  };

/** Responds to an operation about the account, which is never charged. */
const respondWithAccount =
  (id: AccountOperationId, services: PipelineServices): Middleware =>
  async (context) => {
    const body = async (): Promise<string> =>
      operation(id).requestBody === undefined ? "" : readBody(context, bodyBytesMax);
    const { querystring, params } = context;
    context.body = await answerAccount(id, callerOf(context), { querystring, params, body }, services);
    context.set("Cache-Control", "private, no-store");
  };

/** The pipeline of a public operation: needs neither an API key nor a lake version. */
function publicPipeline(id: OperationId, handler: Middleware): Middleware {
  const decode = decoderOf(id);
  const validate: Middleware = ({ querystring, params }, next) => {
    decode(querystring, params);
    return next();
  };
  return compose<RequestContext>([refuseKeyInQuery, validate, handler]);
}

function handlerOf(id: Exclude<OperationId, "getDocument">, services: PipelineServices): Middleware {
  if (id === "exportListings") return respondWithExport(services.exports, services.exportAdmission);
  if (id === "runSql") return respondWithSql(services.exports, services.exportAdmission);
  if (isAccountOperation(id)) return respondWithAccount(id, services);
  return respond(id, services);
}

function pipelineOf(id: OperationId, services: PipelineServices): Middleware {
  if (id === "getDocument") {
    const served = services.accounts.isOpen ? documentWithoutAccounts() : document;
    return publicPipeline(id, serveContent(JSON.stringify(served), "application/json"));
  }
  const { deprecation } = operation(id);
  return compose<RequestContext>([
    ...(deprecation === undefined ? [] : [setDeprecationHeaders(deprecation)]),
    refuseKeyInQuery,
    identify(services.accounts),
    setRateLimitHeaders(services.accounts),
    handlerOf(id, services),
  ]);
}

/** Returns the router: one route per operation, in an order where literal paths win. */
export function routes(services: PipelineServices): Routes {
  const router = createRouter();
  for (const definition of operations.values()) {
    const { id, path, method } = definition;
    const isNegotiated = hasFormats(definition);
    const nameOperation: Middleware = (context, next) => {
      context.state.operation = id;
      if (isNegotiated) context.vary("Accept");
      return next();
    };
    router[method](path.replaceAll(/\{(\w+)\}/g, ":$1"), nameOperation, pipelineOf(id, services));
  }
  return router.routes();
}

/** Types of the middleware: Koa's context with the state of one request. */
import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Identity } from "../accounts/accounts.ts";
import type { OperationId } from "../contract/types.ts";

export interface RequestState {
  /** Identifies the request in `X-Request-Id`, the log and, if it is charged, the ledger. */
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  arrivedAtMs: number;
  log: Logger;
  /** The operation of the document that the request names; undefined for all other paths. */
  operation?: OperationId;
  errorCode?: string;
  /** Parameters of the `WWW-Authenticate` header of a refusal, such as the URL of metadata. */
  challengeParameters?: readonly string[];
  /** The API key and its account; set by `identify`. */
  identity?: Identity;
}

export type RequestContext = ParameterizedContext<RequestState, DefaultContext>;
export type Middleware = KoaMiddleware<RequestState, DefaultContext>;

/** Returns the identity of a request. Throws a TypeError before `identify` has run. */
export function identityOf({ state: { identity } }: RequestContext): Identity {
  if (identity === undefined)
    throw new TypeError("Request without an identity: expected `identify` earlier in the pipeline.");
  return identity;
}

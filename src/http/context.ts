/** What the steps of the pipeline hand on: Koa's context with the state of one request, typed. */
import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Hold, Identity } from "../accounts/accounts.ts";
import type { OperationId, RequestOf } from "../contract/types.ts";

export interface RequestState {
  /** Names the request in its answer, in the log, and in the ledger when it is charged. */
  requestId: string;
  log: Logger;
  /** The error code that the request was answered with. */
  code?: string;
  /** Who asks; there after `identify`. */
  identity?: Identity;
}

export type RequestContext = ParameterizedContext<RequestState, DefaultContext>;
export type Middleware = KoaMiddleware<RequestState, DefaultContext>;

/** A step that needs the validated request; only `validate` has one to hand on. */
export type ValidatedMiddleware<Id extends OperationId> = (
  context: RequestContext,
  request: RequestOf<Id>,
) => Promise<void>;

/** A step that needs the price held too; only `holdPrice` has one to hand on. */
export type PricedMiddleware<Id extends OperationId> = (
  context: RequestContext,
  request: RequestOf<Id>,
  hold: Hold,
) => Promise<void>;

/** Charges what is held for an answer. */
export type ChargeRequest = (context: RequestContext, hold: Hold) => Promise<void>;

/** Who asks, in a step that comes after `identify`. */
export function identityOf({ state: { identity } }: RequestContext): Identity {
  if (identity === undefined) throw new TypeError("Nobody has been identified.");
  return identity;
}

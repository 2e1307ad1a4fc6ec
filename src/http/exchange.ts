/** What the steps of the pipeline hand on: Koa's context with the state of one request, typed. */
import type { DefaultContext, Middleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Hold, Identity } from "../accounts/accounts.ts";

export interface State {
  /** Names the request in its answer, in the log, and in the ledger when it is charged. */
  requestId: string;
  log: Logger;
  /** The error code that the request was answered with. */
  code?: string;
  /** Who asks; there after `identify`. */
  identity?: Identity;
  /** The price that is held; there after `holdPrice`. */
  hold?: Hold;
}

export type Exchange = ParameterizedContext<State, DefaultContext>;
export type Step = Middleware<State, DefaultContext>;

/** Who asks, in a step that comes after `identify`. */
export function identityOf({ state: { identity } }: Exchange): Identity {
  if (identity === undefined) throw new TypeError("Nobody has been identified.");
  return identity;
}

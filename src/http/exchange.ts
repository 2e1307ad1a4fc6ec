/** What the steps of the pipeline hand on: Koa's context with the state of one request, typed. */
import type { DefaultContext, Middleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";

export interface State {
  /** Names the request in its answer and in the log. */
  requestId: string;
  log: Logger;
  /** The error code that the request was answered with. */
  code?: string;
}

export type Exchange = ParameterizedContext<State, DefaultContext>;
export type Step = Middleware<State, DefaultContext>;

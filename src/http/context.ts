/** Types of the middleware pipeline: Koa's context with the state of one request, and the part of it that operations need. */
import type { IncomingHttpHeaders } from "node:http";
import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Hold, Identity } from "../accounts/accounts.ts";
import type { OperationId, RequestOf } from "../contract/types.ts";
import type { Job } from "../db/job.ts";

export interface RequestState {
  /** Identifies the request in `X-Request-Id`, the log and, if it is charged, the ledger. */
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  arrivedAtMs: number;
  log: Logger;
  /** The operation of the document that the request names; undefined for all other paths. */
  operation?: OperationId;
  /** The code of the error response, if any. */
  errorCode?: string;
  /** Parameters of the `WWW-Authenticate` header of a refusal, such as the URL of metadata. */
  challengeParameters?: readonly string[];
  /** The API key and its account; set by `identify`. */
  identity?: Identity;
  /** The job of a metered operation; set by `admit`. */
  job?: Job;
  /** Whether the request was counted against the rate limit; set by `limitRate`. */
  isCounted?: boolean;
  /** The page that an operation is a part of. */
  page?: CountedPage;
}

/** A page of the web application, which counts against the rate limit as one request, however many operations it asks. */
export interface CountedPage {
  isCounted: boolean;
}

export type RequestContext = ParameterizedContext<RequestState, DefaultContext>;
export type Middleware = KoaMiddleware<RequestState, DefaultContext>;

/**
 * What the pipeline of an operation needs of a request and its response. Koa's context has it; so has a request that is made within the
 * process.
 */
export interface OperationContext {
  readonly state: RequestState;
  readonly path: string;
  readonly querystring: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly req: {
    once(event: "close", listener: () => void): unknown;
    off(event: "close", listener: () => void): unknown;
  };
  readonly res: {
    readonly closed: boolean;
    readonly headersSent: boolean;
    setHeader(name: string, value: string | number): OperationContext["res"];
  };
  readonly socket: { readonly destroyed: boolean };
  status: number;
  body: unknown;
  get(header: string): string;
  set(header: string, value: string): void;
  vary(header: string): void;
}

/** A step of the pipeline of an operation. */
export type OperationStep<Context = OperationContext> = (
  context: Context,
  next: () => Promise<unknown>,
) => Promise<unknown>;

/** A middleware that needs the validated request. Only `validate` can call it. */
export type ValidatedMiddleware<Id extends OperationId, Context = OperationContext> = (
  context: Context,
  request: RequestOf<Id>,
) => Promise<void>;

/** A middleware that needs the validated request and the hold of its price. Only `holdPrice` can call it. */
export type PricedMiddleware<Id extends OperationId> = (
  context: OperationContext,
  request: RequestOf<Id>,
  hold: Hold,
) => Promise<void>;

/** Charges a hold. Resolves when the charge is durable. */
export type ChargeRequest = (context: OperationContext, hold: Hold) => Promise<void>;

/** Returns the identity of a request. Throws a TypeError before `identify` has run. */
export function identityOf({ state: { identity } }: OperationContext): Identity {
  if (identity === undefined)
    throw new TypeError("Request without an identity: expected `identify` earlier in the pipeline.");
  return identity;
}

/** Returns the job of a request. Throws a TypeError before `admit` has run. */
export function jobOf({ state: { job } }: OperationContext): Job {
  if (job === undefined) throw new TypeError("Request without a job: expected `admit` earlier in the pipeline.");
  return job;
}

/**
 * One request: Koa's context with its state, routers in which `HEAD` matches wherever `GET` does, its body within a limit, and the call of an operation
 * that it stands for.
 */
import Router from "@koa/router";
import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Accounts, Identity } from "../accounts/accounts.ts";
import { pricingVersion } from "../accounts/policy/prices.ts";
import { decodedBody } from "../contract/decode.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import { Abandoned } from "../db/job.ts";
import type { Usage } from "../operations/answer.ts";
import type { CallClient, Caller } from "../operations/caller.ts";

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

export type Routes = ReturnType<Router<RequestState>["routes"]>;

/** Returns a router whose paths match exactly: in their case, and without another slash at the end. */
export const createRouter = (): Router<RequestState> => new Router<RequestState>({ sensitive: true, strict: true });

const disconnected = new Abandoned("The client has disconnected.");

export function callerOf(context: RequestContext): Caller {
  const { requestId, arrivedAtMs } = context.state;
  const { "idempotency-key": idempotencyKey, "carquet-version": dataVersion } = context.headers;
  return {
    identity: identityOf(context),
    requestId,
    arrivedAtMs,
    client: clientOf(context),
    idempotencyKey: idempotencyKey?.toString(),
    dataVersion: dataVersion?.toString(),
  };
}

/** Returns a signal that aborts with `Abandoned` when the client of a request disconnects. */
export function clientSignal({ res }: Pick<RequestContext, "res">): AbortSignal {
  const controller = new AbortController();
  res.once("close", () => controller.abort(disconnected));
  return controller.signal;
}

/** Returns the client of a request, which may have disconnected before its request emits an event. */
const clientOf = ({ res, socket }: RequestContext): CallClient => ({
  requireConnected() {
    if (res.closed || socket.destroyed) throw disconnected;
  },
  onDisconnect(listener) {
    // A request whose body has been read is closed already.
    const onClose = (): void => listener(disconnected);
    res.once("close", onClose);
    return () => res.off("close", onClose);
  },
});

/** Sets the headers about a charge, unless nothing is charged. */
export function setUsageHeaders({ res }: RequestContext, { usageClass, micros }: Usage, { isOpen }: Accounts): void {
  if (res.headersSent || isOpen) return;
  res
    .setHeader("X-Usage-Class", usageClass)
    .setHeader("X-Usage-Cost-Micros", micros)
    .setHeader("X-Pricing-Version", pricingVersion);
  if (micros === 0) res.setHeader("Idempotent-Replayed", "true");
}

/** How much of a body that is too long is received, and discarded, before the connection is closed. */
const discardedBytesMax = 8 * 2 ** 20;

/** Reads a body as UTF-8. Refuses with `body_too_large` one that is longer than `bytesMax`, and other encodings. Throws Abandoned if it does not arrive whole. */
export async function readBody(context: RequestContext, bytesMax: number): Promise<string> {
  const text = decodedBody(await readBytes(context, bytesMax));
  if (text === undefined) throw refuse("body_too_large", { limit: bytesMax });
  return text;
}

/** Reads a body as `readBody` does, as bytes. */
export async function readBytes({ req }: RequestContext, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // By default, leaving the loop destroys the request and the connection that the response needs.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else if (bytes > discardedBytesMax) break;
    }
  } catch (thrown) {
    throw new Abandoned("The body of the request did not arrive.", { cause: thrown });
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks);
}

/** Calls of operations over HTTP: the caller, its disconnection, and the headers about the charge. */
import type { Accounts } from "../accounts/accounts.ts";
import { pricingVersion } from "../accounts/policy/prices.ts";
import { Abandoned } from "../db/job.ts";
import type { Usage } from "../operations/answer.ts";
import type { Caller } from "../operations/caller.ts";
import { identityOf, type RequestContext } from "./context.ts";

const disconnected = new Abandoned("The client has disconnected.");

export function callerOf(context: RequestContext): Caller {
  const { requestId, arrivedAtMs } = context.state;
  const { "idempotency-key": idempotencyKey, "carquet-version": dataVersion } = context.headers;
  return {
    identity: identityOf(context),
    requestId,
    arrivedAtMs,
    signal: clientSignal(context),
    idempotencyKey: idempotencyKey?.toString(),
    dataVersion: dataVersion?.toString(),
  };
}

/** Returns a signal that aborts with `Abandoned` when the client of a request disconnects. */
export function clientSignal({ res }: Pick<RequestContext, "res">): AbortSignal {
  const controller = new AbortController();
  // A request whose body has been read is closed already.
  res.once("close", () => controller.abort(disconnected));
  return controller.signal;
}

/** Throws Abandoned if the client has disconnected, even if its request has not emitted an event yet. */
export function requireConnected({ res, socket }: RequestContext): void {
  if (res.closed || socket.destroyed) throw disconnected;
}

/** Sets the headers about a charge, unless nothing is charged. */
export function setUsageHeaders({ res }: RequestContext, { usageClass, micros }: Usage, { isOpen }: Accounts): void {
  if (res.headersSent || isOpen) return;
  res
    .setHeader("X-Usage-Class", usageClass)
    .setHeader("X-Usage-Cost-Micros", micros)
    .setHeader("X-Pricing-Version", pricingVersion);
  if (micros === 0) res.setHeader("Idempotent-Replayed", "true");
}

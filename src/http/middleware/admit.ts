/**
 * Admission: limits the concurrent requests of an account, and creates the job of a request, which ends at its deadline or when its
 * client disconnects. Time that an uncharged request has used counts against the rate limits.
 */
import { Readable } from "node:stream";
import type { Accounts } from "../../accounts/accounts.ts";
import { refuse } from "../../contract/errors.ts";
import { Abandoned, Job } from "../../db/job.ts";
import { identityOf, type OperationContext, type OperationStep } from "../context.ts";

export interface AdmissionBounds {
  /** The most requests of an account in progress at once. */
  readonly concurrentRequests: number;
  /** From the arrival of a request to its response. */
  readonly deadlineMs: number;
  /** Session time of an uncharged request that counts as one request against the rate limits. */
  readonly unchargedMs: number;
}

/** Returns a middleware that counts all requests that pass through it. Refuses with `concurrency_limit_exceeded`. */
export function admit(
  accounts: Accounts,
  { concurrentRequests, deadlineMs, unchargedMs }: AdmissionBounds,
): OperationStep {
  const inProgress = new Map<string, number>();
  const add = (accountId: string, change: 1 | -1): void => {
    const count = (inProgress.get(accountId) ?? 0) + change;
    if (count > concurrentRequests)
      throw refuse("concurrency_limit_exceeded", { limit: concurrentRequests, retryAfter: 1 });
    if (count === 0) inProgress.delete(accountId);
    else inProgress.set(accountId, count);
  };
  return async (context, next) => {
    const identity = identityOf(context);
    const { accountId } = identity.key;
    add(accountId, 1);
    const job = new Job(accountId);
    context.state.job = job;
    const unbind = bind(job, context, deadlineMs);
    try {
      await next();
    } finally {
      unbind();
      whenSent(context, () => add(accountId, -1));
      if (job.signal.aborted) {
        const requests = Math.ceil(job.time.at(performance.now()) / unchargedMs);
        accounts.countUncharged(identity, Math.max(0, requests - (context.state.isCounted === true ? 1 : 0)));
      }
    }
  };
}

/** Calls a function when the response has been sent: at once, unless its body is a stream. */
function whenSent({ body, res }: OperationContext, call: () => void): void {
  if (body instanceof Readable && !res.closed) body.once("close", call);
  else call();
}

/** Aborts a job at the deadline of its request, and when the client disconnects. Returns a function that stops this. */
function bind(job: Job, { req, state }: OperationContext, deadlineMs: number): () => void {
  const onDeadline = (): void => job.abort(refuse("deadline_exceeded", { seconds: deadlineMs / 1000 }));
  const onClose = (): void => job.abort(new Abandoned("The client has disconnected."));
  const remainingMs = state.arrivedAtMs + deadlineMs - performance.now();
  if (remainingMs <= 0) onDeadline();
  const timer = setTimeout(onDeadline, remainingMs);
  req.once("close", onClose);
  return () => {
    clearTimeout(timer);
    req.off("close", onClose);
  };
}

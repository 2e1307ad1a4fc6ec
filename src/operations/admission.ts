/**
 * Admission: limits the concurrent calls of an account, and creates the job of a call, which ends at its deadline or when its client disconnects. Time
 * that an uncharged call has used counts against the rate limits.
 */
import type { Accounts } from "../accounts/accounts.ts";
import { ConcurrencyLimit } from "../accounts/policy/rate-limiter.ts";
import { inTurnOf } from "../base/turns.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import { Job } from "../db/job.ts";
import { accountRequestsMax, type Caller, countCall, requestDeadlineMs, requireScope } from "./caller.ts";

export interface AdmissionLimits {
  /** The most calls of an account in progress at once. */
  readonly concurrentRequests?: number;
  /** From the arrival of a request to its response. */
  readonly deadlineMs?: number;
  /** Session time of an uncharged call that counts as one request against the rate limits. */
  readonly unchargedMs?: number;
}

const defaults = { concurrentRequests: accountRequestsMax, deadlineMs: requestDeadlineMs, unchargedMs: 100 } as const;

export class Admission {
  private readonly limits: Required<AdmissionLimits>;
  private readonly calls = new ConcurrencyLimit();

  constructor(
    private readonly accounts: Accounts,
    limits: AdmissionLimits,
  ) {
    this.limits = { ...defaults, ...limits };
  }

  /**
   * Runs the work of a call of an operation, and counts the call against the rate limit. It is in progress until `endOf` its result resolves, if it has an
   * end. Refuses with `missing_scope`, `concurrency_limit_exceeded` and `rate_limit_exceeded`.
   */
  async run<T>(
    caller: Caller,
    id: OperationId,
    work: (job: Job) => Promise<T>,
    endOf?: (result: T) => Promise<unknown> | undefined,
  ): Promise<T> {
    requireScope(caller, id);
    const { accountId } = caller.identity.key;
    const leave = this.calls.enter(accountId, this.limits.concurrentRequests);
    const job = new Job(accountId);
    const unbind = bind(job, caller, this.limits.deadlineMs);
    let isCounted: boolean = false;
    let end: Promise<unknown> | undefined;
    try {
      isCounted = await countCall(this.accounts, caller);
      const result = await inTurnOf(accountId, () => {
        caller.client.requireConnected();
        job.signal.throwIfAborted();
        return work(job);
      });
      end = endOf?.(result);
      return result;
    } finally {
      unbind();
      if (end === undefined) leave();
      else end.then(leave, leave);
      if (job.signal.aborted) this.countUncharged(caller, job.usedMs(performance.now()), isCounted);
    }
  }

  /** Counts time that is not charged, of a call or of opening a version for it, against the rate limits, beyond the request that is counted already. */
  countUncharged({ identity }: Caller, usedMs: number, isCounted = true): void {
    const requests = Math.ceil(usedMs / this.limits.unchargedMs) - Number(isCounted);
    // Nothing waits for the count; the requests that follow are refused if it fails.
    this.accounts.countUncharged(identity, requests).catch(() => undefined);
  }
}

/** Aborts a job at the deadline of its call, and when the client disconnects. Returns a function that stops this. */
function bind(job: Job, { arrivedAtMs, client }: Caller, deadlineMs: number): () => void {
  const onDeadline = (): void => job.abort(refuse("deadline_exceeded", { seconds: deadlineMs / 1000 }));
  const remainingMs = arrivedAtMs + deadlineMs - performance.now();
  if (remainingMs <= 0) onDeadline();
  const timer = setTimeout(onDeadline, remainingMs);
  const unbind = client.onDisconnect((reason) => job.abort(reason));
  return () => {
    clearTimeout(timer);
    unbind();
  };
}

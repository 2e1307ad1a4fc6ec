/**
 * Job: the engine's work for a request, from the HTTP pipeline down to the session pool. It knows the accounts that wait for it and ends
 * early when its client disconnects or its deadline passes. Identical concurrent requests share a job, which ends early when none of
 * them waits any longer.
 */
import { setMaxListeners } from "node:events";
import { everyAccount, UsedTime } from "../base/fair-shares.ts";
import { orAborted } from "../base/time-limit.ts";

/** The reason of a job whose client disconnected: no response can be sent. */
export class Abandoned extends Error {
  override readonly name = "Abandoned";
}

export class Job {
  private readonly accountIds: Set<string>;
  private readonly controller = new AbortController();
  /** The time that its work holds sessions. */
  readonly time = new UsedTime();
  private shared: { readonly job: Job; readonly beforeMs: number } | undefined;
  private isBegun = false;
  private joined = 0;
  private waiting = 0;

  constructor(...accountIds: readonly string[]) {
    this.accountIds = new Set(accountIds);
    // Each waiting and running statement listens; Node.js would warn of more than ten.
    setMaxListeners(0, this.controller.signal);
  }

  get accounts(): ReadonlySet<string> {
    return this.accountIds;
  }

  /** Aborts when the job ends early. Its reason is what callers of the pool then get: a Refusal, or Abandoned. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Returns the session time that it has used until now; of that of a shared job, since it waits for it, the part of one of those that have waited. */
  usedMs(nowMs: number): number {
    const { shared } = this;
    const sharedMs = shared === undefined ? 0 : (shared.job.time.at(nowMs) - shared.beforeMs) / shared.job.joined;
    return this.time.at(nowMs) + sharedMs;
  }

  /** Whether a statement of the job has run, or its rows have been read. */
  get hasBegun(): boolean {
    return this.isBegun;
  }

  /** Notes that a statement of the job runs, or that its rows are about to be read. */
  begin(): void {
    this.isBegun = true;
  }

  /** Ends the job early. Its waiting statements are dropped, its running ones are interrupted. */
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** Adds a job that waits for the outcome of this one. The last one to be aborted aborts this one. */
  join(job: Job): void {
    for (const accountId of job.accounts) this.accountIds.add(accountId);
    job.shared = { job: this, beforeMs: this.time.at(performance.now()) };
    this.joined += 1;
    this.waiting += 1;
    const leave = (): void => {
      this.waiting -= 1;
      if (this.waiting === 0) this.controller.abort(job.signal.reason);
    };
    if (job.signal.aborted) leave();
    else job.signal.addEventListener("abort", leave, { once: true });
  }

  /** Settles as `work` does, or rejects as soon as the job is aborted. */
  race<T>(work: Promise<T>): Promise<T> {
    return orAborted(this.signal, work);
  }
}

/** Returns the job of an account that ends with a signal. */
export function jobUntil(signal: AbortSignal, accountId: string): Job {
  const job = new Job(accountId);
  signal.addEventListener("abort", () => job.abort(signal.reason), { once: true });
  return job;
}

/** Returns a job without a client, for work that a version computes once for all requests. */
export const serviceJob = (): Job => new Job(everyAccount);

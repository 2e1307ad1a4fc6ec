/**
 * Fair pool: a fixed number of slots (sessions of the engine, writers of files), and a bounded queue for them that is fair between accounts (see
 * `FairShares`).
 *
 * An account takes another slot only while more are idle than it holds. Running work cannot be preempted, so this keeps a slot free for
 * the first work of another account: alone, an account has half of them, at least one. What is done once for every account takes any idle slot.
 */
import { AsyncResource } from "node:async_hooks";
import { everyAccount, FairShares } from "../base/fair-shares.ts";
import { refuse } from "../contract/errors.ts";
import type { Job } from "./job.ts";

export interface FairPoolOptions<Slot> {
  /**
   * How many may wait for a slot; beyond it, the account with the most of them is refused. Those of jobs that have begun are never refused: their work
   * would be lost.
   */
  readonly waitingMax: number;
  readonly refusal: () => Error;
  /** Called when work ends, with the time that it waited for a slot and the time that it ran. */
  readonly onEnd?: ((waitMs: number, runMs: number) => void) | undefined;
  /** Called with a slot that is used no more, because the pool is closed. */
  readonly retire?: (slot: Slot) => void;
}

export interface WorkCounts {
  readonly waiting: number;
  readonly running: number;
  /** How long the longest of those that run has; undefined if none does. */
  readonly longestMs: number | undefined;
}

interface Waiting<Slot> {
  readonly job: Job;
  readonly start: (slot: Slot, account: string) => void;
  readonly drop: (reason: unknown) => void;
}

export class FairPool<Slot> {
  private readonly waiting = new Set<Waiting<Slot>>();
  private readonly shares = new FairShares();
  private readonly running = new Set<{ readonly startedAtMs: number }>();
  private isClosed = false;

  constructor(
    private readonly idle: Slot[],
    private readonly options: FairPoolOptions<Slot>,
  ) {}

  get counts(): WorkCounts {
    const [longest] = this.running;
    const longestMs = longest && performance.now() - longest.startedAtMs;
    return { waiting: this.waiting.size, running: this.running.size, longestMs };
  }

  /** Retires the slots; those in use when their work has ended. Refuses what waits, and what comes later. */
  close(): void {
    this.isClosed = true;
    for (const waiting of this.waiting) this.drop(waiting, this.options.refusal());
    for (const slot of this.idle.splice(0)) this.options.retire?.(slot);
  }

  /** Does work while it holds a slot. Refuses it if too many wait, and rejects with the reason of the job if that is aborted before it has ended. */
  use<T>(job: Job, work: (slot: Slot) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = job;
      if (signal.aborted) return reject(signal.reason);
      if (this.isClosed) return reject(this.options.refusal());
      const queuedAtMs = performance.now();
      const onAbort = (): void => this.drop(waiting, signal.reason);
      const waiting: Waiting<Slot> = {
        job,
        // Its turns count for its own account, not for that whose work has ended.
        start: AsyncResource.bind((slot: Slot, account: string) => {
          signal.removeEventListener("abort", onAbort);
          this.run(job, account, queuedAtMs, slot, work).then(resolve, reject);
        }),
        drop: (reason) => {
          signal.removeEventListener("abort", onAbort);
          reject(reason);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.waiting.add(waiting);
      this.startWaiting();
      if (this.waiting.size > this.options.waitingMax) this.drop(this.mostCrowding(), this.options.refusal());
    });
  }

  /** Does work with a slot, which counts for one of the accounts of its job. */
  private async run<T>(
    job: Job,
    account: string,
    queuedAtMs: number,
    slot: Slot,
    work: (slot: Slot) => Promise<T>,
  ): Promise<T> {
    const startedAtMs = performance.now();
    const endShare = this.shares.start(account, startedAtMs);
    const { signal, time } = job;
    time.start(startedAtMs);
    const turn = { startedAtMs };
    this.running.add(turn);
    try {
      const working = work(slot);
      job.begin();
      const result = await working;
      signal.throwIfAborted();
      return result;
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      const endedAtMs = performance.now();
      time.end(endedAtMs);
      endShare(endedAtMs);
      this.options.onEnd?.(startedAtMs - queuedAtMs, endedAtMs - startedAtMs);
      this.running.delete(turn);
      this.release(slot);
    }
  }

  private release(slot: Slot): void {
    if (this.isClosed) this.options.retire?.(slot);
    else this.idle.push(slot);
    this.startWaiting();
  }

  /** Starts waiting work while there are slots for it. */
  private startWaiting(): void {
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const slot = this.idle.pop();
      if (slot === undefined) return;
      this.waiting.delete(next.waiting);
      next.waiting.start(slot, next.account);
    }
  }

  /**
   * Returns the first waiting work of the account that has used the least time lately, among accounts that may take a slot. Work of a job that has begun goes
   * before that of others: if all jobs of an account advanced at once, all could end at their deadlines.
   */
  private next(): { readonly waiting: Waiting<Slot>; readonly account: string } | undefined {
    const nowMs = performance.now();
    let min: number = Number.POSITIVE_INFINITY;
    let next: ReturnType<FairPool<Slot>["next"]>;
    if (this.idle.length === 0) return undefined;
    for (const waiting of this.waiting) {
      const { account, usedMs } = this.shares.leastUsed(waiting.job.accounts, nowMs);
      const isLater = usedMs > min || (usedMs === min && !(waiting.job.hasBegun && !next?.waiting.job.hasBegun));
      const holdsEnough = account !== everyAccount && this.shares.heldBy(account) >= this.idle.length;
      if (isLater || holdsEnough) continue;
      min = usedMs;
      next = { waiting, account };
    }
    return next;
  }

  /**
   * Returns the last waiting work of the account with the most of them, among jobs that have not begun. Shared work counts for the account of it that has
   * the fewest, so that none is refused for another's.
   */
  private mostCrowding(): Waiting<Slot> | undefined {
    const refusable = [...this.waiting].filter(({ job }) => !job.hasBegun);
    const counts = new Map<string, number>();
    for (const { job } of refusable)
      for (const account of job.accounts) counts.set(account, (counts.get(account) ?? 0) + 1);
    const crowdOf = ({ job }: Waiting<Slot>): number =>
      Math.min(...[...job.accounts].map((account) => counts.get(account) ?? 0));
    const crowds = refusable.map(crowdOf);
    return refusable[crowds.lastIndexOf(Math.max(...crowds))];
  }

  private drop(waiting: Waiting<Slot> | undefined, reason: unknown): void {
    if (waiting !== undefined && this.waiting.delete(waiting)) waiting.drop(reason);
  }
}

/** Returns a pool of numbered slots, which refuses with `overloaded`. */
export const slotPool = (slots: number, waitingMax: number): FairPool<number> =>
  new FairPool(
    Array.from({ length: slots }, (_, number) => number),
    { waitingMax, refusal: () => refuse("overloaded", {}) },
  );

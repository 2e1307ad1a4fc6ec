/**
 * Slots that accounts share, with and without a queue. An account takes another one only while more are idle than it holds: alone it has half of them, at least
 * one, and another account finds one free.
 */
import { refuse } from "../contract/errors.ts";
import type { Job } from "./job.ts";

export class AccountSlots {
  private readonly held = new Map<string, number>();
  private takenCount = 0;

  constructor(private readonly max: number) {}

  heldBy(accountId: string): number {
    return this.held.get(accountId) ?? 0;
  }

  isFreeFor(accountId: string): boolean {
    return this.max - this.takenCount > this.heldBy(accountId);
  }

  /** Takes a slot, whether or not one is free. Returns a function that releases it, to be called once. */
  take(accountId: string): () => void {
    this.takenCount += 1;
    this.held.set(accountId, this.heldBy(accountId) + 1);
    return () => {
      this.takenCount -= 1;
      const left = this.heldBy(accountId) - 1;
      if (left > 0) this.held.set(accountId, left);
      else this.held.delete(accountId);
    };
  }
}

export interface QueueLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** The `Retry-After` of work that is refused. */
  readonly retrySeconds?: number;
}

interface Waiting {
  readonly accountId: string;
  readonly start: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * A fixed number of slots, and a bounded queue for them: the account that holds the fewest goes next, and beyond `waitingMax`, the last work of the account with
 * the most waiting is refused.
 */
export class FairQueue {
  private readonly waiting = new Set<Waiting>();
  private readonly slots: AccountSlots;

  constructor(private readonly limits: QueueLimits) {
    this.slots = new AccountSlots(limits.runningMax);
  }

  /**
   * Does work while it holds a slot, for the first account of a job. Refuses with `overloaded` if too many wait, and rejects with the reason of the
   * job if that is aborted before.
   */
  async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
    const [accountId = ""] = job.accounts;
    const release = await this.waitForSlot(job, accountId);
    try {
      return await work();
    } finally {
      release();
      this.startNext();
    }
  }

  /** Resolves when an account has a slot, with a function that releases it. */
  private waitForSlot({ signal }: Job, accountId: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        signal.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        accountId,
        start: () => {
          leave();
          resolve(this.slots.take(accountId));
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      const onAbort = (): void => waiting.refuse(signal.reason);
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      this.waiting.add(waiting);
      this.startNext();
      if (this.waiting.size > this.limits.waitingMax)
        this.mostCrowding()?.refuse(
          refuse("overloaded", this.limits.retrySeconds === undefined ? {} : { retryAfter: this.limits.retrySeconds }),
        );
    });
  }

  /** Starts waiting work while there are slots for its accounts. */
  private startNext(): void {
    const heldBy = ({ accountId }: Waiting): number => this.slots.heldBy(accountId);
    for (;;) {
      const [next] = [...this.waiting]
        .filter(({ accountId }) => this.slots.isFreeFor(accountId))
        .sort((one, other) => heldBy(one) - heldBy(other));
      if (next === undefined) return;
      next.start();
    }
  }

  /** Returns the last work of the account with the most waiting. */
  private mostCrowding(): Waiting | undefined {
    const countOf = ({ accountId }: Waiting): number =>
      [...this.waiting].filter((one) => one.accountId === accountId).length;
    return [...this.waiting].sort((one, other) => countOf(one) - countOf(other)).at(-1);
  }
}

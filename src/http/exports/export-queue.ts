/**
 * Export queue: a fixed number of writers, and a bounded queue for them with caps by account.
 *
 * The account that holds the fewest writers goes next; see `AccountSlots` for how many it can have.
 */
import { refuse } from "../../contract/errors.ts";
import { AccountSlots } from "../../db/account-slots.ts";
import type { Job } from "../../db/job.ts";

export interface QueueLimits {
  /** Exports that are written at once. */
  readonly writtenMax: number;
  /** Exports that wait for a writer; beyond it, the account with the most of them is refused. */
  readonly waitingMax: number;
}

/** The `Retry-After` of an export that is refused because too many are written, or because their disk space is used up. */
export const exportRetrySeconds = 30;

/** An export that waits for a writer. */
interface Waiting {
  readonly accountId: string;
  readonly start: () => void;
  readonly refuse: (reason: Error) => void;
}

export class ExportQueue {
  private readonly waiting = new Set<Waiting>();
  private readonly writers: AccountSlots;

  constructor(private readonly limits: QueueLimits) {
    this.writers = new AccountSlots(limits.writtenMax);
  }

  /**
   * Does work while it holds a writer, for the first account of a job. Refuses with `overloaded` if too many wait, and rejects with the reason of the
   * job if that is aborted before.
   */
  async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
    const [accountId = ""] = job.accounts;
    const release = await this.waitForWriter(job, accountId);
    try {
      return await work();
    } finally {
      release();
      this.startNext();
    }
  }

  /** Resolves when an account has a writer, with a function that releases it. */
  private waitForWriter({ signal }: Job, accountId: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        signal.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        accountId,
        start: () => {
          leave();
          resolve(this.writers.take(accountId));
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
        this.mostCrowding()?.refuse(refuse("overloaded", { retryAfter: exportRetrySeconds }));
    });
  }

  /** Starts waiting exports while there are writers for their accounts. */
  private startNext(): void {
    const heldBy = ({ accountId }: Waiting): number => this.writers.heldBy(accountId);
    for (;;) {
      const [next] = [...this.waiting]
        .filter(({ accountId }) => this.writers.isFreeFor(accountId))
        .sort((one, other) => heldBy(one) - heldBy(other));
      if (next === undefined) return;
      next.start();
    }
  }

  /** Returns the last export of the account with the most waiting ones. */
  private mostCrowding(): Waiting | undefined {
    const countOf = ({ accountId }: Waiting): number =>
      [...this.waiting].filter((one) => one.accountId === accountId).length;
    return [...this.waiting].sort((one, other) => countOf(one) - countOf(other)).at(-1);
  }
}

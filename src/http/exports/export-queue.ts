/**
 * Export queue: a fixed number of writers, and a bounded queue for them with caps by account.
 *
 * The account that holds the fewest writers goes next. An account takes another one only while more are idle than it holds, as for sessions of the
 * engine: alone it has half of them, at least one, and another account finds one free.
 */
import { refuse } from "../../contract/errors.ts";
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
  /** The accounts of the exports that are written. */
  private readonly writing: string[] = [];

  constructor(private readonly limits: QueueLimits) {}

  /**
   * Does work while it holds a writer, for the first account of a job. Refuses with `overloaded` if too many wait, and rejects with the reason of the
   * job if that is aborted before.
   */
  async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
    const [accountId = ""] = job.accounts;
    await this.waitForWriter(job, accountId);
    try {
      return await work();
    } finally {
      this.writing.splice(this.writing.indexOf(accountId), 1);
      this.startNext();
    }
  }

  private waitForWriter({ signal }: Job, accountId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiting);
        signal.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        accountId,
        start: () => {
          leave();
          this.writing.push(accountId);
          resolve();
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
    for (;;) {
      const held = countsOf(this.writing);
      const heldBy = ({ accountId }: Waiting): number => held.get(accountId) ?? 0;
      const idle = this.limits.writtenMax - this.writing.length;
      const [next] = [...this.waiting]
        .filter((one) => idle > heldBy(one))
        .sort((one, other) => heldBy(one) - heldBy(other));
      if (next === undefined) return;
      next.start();
    }
  }

  /** Returns the last export of the account with the most waiting ones. */
  private mostCrowding(): Waiting | undefined {
    const counts = countsOf([...this.waiting].map(({ accountId }) => accountId));
    const countOf = ({ accountId }: Waiting): number => counts.get(accountId) ?? 0;
    return [...this.waiting].sort((one, other) => countOf(one) - countOf(other)).at(-1);
  }
}

function countsOf(accountIds: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const accountId of accountIds) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  return counts;
}

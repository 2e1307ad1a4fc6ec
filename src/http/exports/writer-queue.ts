/**
 * Writers of exports: a fixed number, and a bounded queue that is fair between accounts.
 *
 * The account that holds the fewest writers goes next. While others wait, an account keeps at most half of the writers: the export that it began
 * last releases its writer, and begins again later. After two restarts it keeps its writer, which is one of its account's half.
 */
import { refuse } from "../../contract/errors.ts";
import type { Job } from "../../db/job.ts";
import { exportRetrySeconds } from "./export-process.ts";

export interface WriterLimits {
  /** Exports that are written at once. */
  readonly writtenMax: number;
  /** Exports that wait for a writer; beyond it, the account with the most of them is refused. */
  readonly waitingMax: number;
}

/** An export that waits for a writer, or has one. */
interface Turn {
  readonly accountId: string;
  readonly start: () => void;
  readonly refuse: (reason: Error) => void;
  /** Ends the work, which begins again. */
  readonly preempt: AbortController;
  /** How often the export has given a writer up. */
  readonly restarts: number;
}

/** An export that has begun so often again keeps its writer. */
const restartsMax = 2;

export class WriterQueue {
  private readonly waiting = new Set<Turn>();
  /** In the order in which they began. */
  private readonly writing = new Set<Turn>();

  /** The writers that an account keeps while others wait. */
  private readonly share: number;

  constructor(private readonly limits: WriterLimits) {
    this.share = Math.max(1, Math.floor(limits.writtenMax / 2));
  }

  /**
   * Does the work of a job while it holds a writer; again from the beginning if it had to give the writer up, which aborts the signal of the work.
   * Refuses with `overloaded` if too many wait, and rejects with the reason of the job once that is aborted.
   */
  async run<T>(job: Job, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let restarts = 0; ; restarts += 1) {
      const turn = await this.take(job, restarts);
      try {
        return await work(AbortSignal.any([job.signal, turn.preempt.signal]));
      } catch (thrown) {
        if (job.signal.aborted || !turn.preempt.signal.aborted) throw thrown;
      } finally {
        this.writing.delete(turn);
        this.startNext();
      }
    }
  }

  /** Waits for a writer. */
  private take(job: Job, restarts: number): Promise<Turn> {
    const [accountId = ""] = job.accounts;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(turn);
        job.signal.removeEventListener("abort", onAbort);
      };
      const turn: Turn = {
        ...{ accountId, restarts, preempt: new AbortController() },
        start: () => {
          leave();
          this.writing.add(turn);
          resolve(turn);
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      const onAbort = (): void => turn.refuse(job.signal.reason);
      if (job.signal.aborted) return reject(job.signal.reason);
      job.signal.addEventListener("abort", onAbort, { once: true });
      this.waiting.add(turn);
      this.startNext();
      this.limitWaiting();
      this.preemptLast();
    });
  }

  /** Starts waiting exports while there are writers for them. */
  private startNext(): void {
    while (this.writing.size < this.limits.writtenMax) {
      const held = countByAccount(this.writing);
      const [first, ...others] = [...this.waiting].filter((turn) => this.canStart(turn));
      if (first === undefined) return;
      const heldBy = ({ accountId }: Turn): number => held.get(accountId) ?? 0;
      others.reduce((one, other) => (heldBy(other) < heldBy(one) ? other : one), first).start();
    }
  }

  /** Returns whether an export may begin: one that keeps its writer needs a place in its account's share. */
  private canStart({ accountId, restarts }: Turn): boolean {
    if (restarts < restartsMax) return true;
    const kept = [...this.writing].filter((turn) => turn.restarts >= restartsMax);
    return (countByAccount(kept).get(accountId) ?? 0) < this.share;
  }

  /** Refuses the last export of the account with the most waiting ones, if too many wait. */
  private limitWaiting(): void {
    if (this.waiting.size <= this.limits.waitingMax) return;
    const counts = countByAccount(this.waiting);
    const crowding = [...this.waiting].reduce((one, other) =>
      (counts.get(other.accountId) ?? 0) >= (counts.get(one.accountId) ?? 0) ? other : one,
    );
    crowding.refuse(refuse("overloaded", { retryAfter: exportRetrySeconds }));
  }

  /** Takes a writer from the account that holds more than half of them, if an account without a writer waits. */
  private preemptLast(): void {
    const held = countByAccount(this.writing);
    if (![...this.waiting].some(({ accountId }) => !held.has(accountId))) return;
    const last = [...this.writing].findLast(
      ({ accountId, restarts }) => (held.get(accountId) ?? 0) > this.share && restarts < restartsMax,
    );
    last?.preempt.abort();
  }
}

function countByAccount(turns: Iterable<Turn>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { accountId } of turns) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  return counts;
}

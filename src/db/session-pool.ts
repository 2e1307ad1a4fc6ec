/**
 * Session pool: a fixed number of DuckDB sessions, and a bounded queue of statements that is fair between accounts (see `FairShares`).
 *
 * An account takes another session only while more sessions are idle than it holds. A running statement cannot be preempted, so this
 * keeps a session free for the first statement of another account.
 */
import { availableParallelism } from "node:os";
import type { Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { DuckDatabase, Session } from "./duckdb.ts";
import { FairShares } from "./fair-shares.ts";
import type { Job } from "./job.ts";
import type { Sql } from "./sql.ts";

/**
 * Concurrent queries. One account uses at most half of them, two for each processor: one query can be planned while another executes.
 * Leaves threads of the pool free, also while versions change.
 */
export const sessionsMax = Math.min(12, 4 * availableParallelism());

/**
 * Queries that may wait for a session; beyond it, the account with the most of them is refused as `overloaded`. Those of jobs that have begun are
 * never refused: their work would be lost, and their charges refunded.
 */
const waitingQueriesMax = 512;

export interface PoolOptions {
  readonly sessions?: number;
  readonly waitingQueries?: number;
  /** Called when a statement ends, with the time that it waited for a session and the time that it ran. */
  readonly onStatement?: ((waitMs: number, runMs: number) => void) | undefined;
}

export interface Engine {
  rows(query: Sql): Promise<readonly Row[]>;
  /** Returns the INTEGER columns of a query, chunk by chunk. */
  vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]>;
}

export interface StatementCounts {
  readonly waiting: number;
  readonly running: number;
}

/** A statement that runs: the account that it counts for, empty for the service, and how long it has run. */
export interface RunningStatement {
  readonly account: string;
  readonly ms: number;
}

interface Waiting {
  readonly job: Job;
  readonly start: (session: Session, account: string) => void;
  readonly drop: (reason: unknown) => void;
}

/** A statement that has got a session. */
interface Turn {
  readonly job: Job;
  /** The account that it counts for, one of the job's. */
  readonly account: string;
  readonly queuedAtMs: number;
}

/** An interrupt is repeated at this interval, because DuckDB forgets one that arrives before its statement starts. */
const interruptMs = 20;

export class SessionPool {
  private readonly waiting = new Set<Waiting>();
  private readonly shares = new FairShares();
  private readonly running = new Set<{ readonly account: string; readonly startedAtMs: number }>();
  private isClosed = false;

  private constructor(
    private readonly idle: Session[],
    private readonly options: PoolOptions,
  ) {}

  static async open(database: DuckDatabase, options: PoolOptions): Promise<SessionPool> {
    const sessions = Array.from({ length: options.sessions ?? sessionsMax }, () => database.connect());
    return new SessionPool(await Promise.all(sessions), options);
  }

  /**
   * Returns the engine of a job. Its statements are refused with `overloaded` if too many wait, and end with the reason of the job's
   * signal once it is aborted.
   */
  engineOf(job: Job): Engine {
    return {
      rows: (query) => this.use(job, (session) => session.rows(query)),
      vectors: (query) => this.use(job, (session) => session.vectors(query)),
    };
  }

  get statements(): StatementCounts {
    return { waiting: this.waiting.size, running: this.running.size };
  }

  /** The statements that run, the longest first. */
  get runningStatements(): readonly RunningStatement[] {
    const nowMs = performance.now();
    return [...this.running].map(({ account, startedAtMs }) => ({ account, ms: nowMs - startedAtMs }));
  }

  /** Closes the sessions; those in use when their statement has ended. */
  close(): void {
    this.isClosed = true;
    for (const session of this.idle.splice(0)) session.close();
  }

  private use<T>(job: Job, work: (session: Session) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = job;
      if (signal.aborted) return reject(signal.reason);
      const queuedAtMs = performance.now();
      const onAbort = (): void => this.drop(waiting, signal.reason);
      const waiting: Waiting = {
        job,
        start: (session, account) => {
          signal.removeEventListener("abort", onAbort);
          this.run({ job, account, queuedAtMs }, session, work).then(resolve, reject);
        },
        drop: (reason) => {
          signal.removeEventListener("abort", onAbort);
          reject(reason);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.waiting.add(waiting);
      this.startWaiting();
      const { waitingQueries = waitingQueriesMax } = this.options;
      if (this.waiting.size > waitingQueries) this.drop(this.mostCrowding(), refuse("overloaded", {}));
    });
  }

  /** Runs work on a session for an account, and interrupts it once the job is aborted. */
  private async run<T>(
    { job, account, queuedAtMs }: Turn,
    session: Session,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    const startedAtMs = performance.now();
    const endShare = this.shares.start(account, startedAtMs);
    const { signal, time } = job;
    time.start(startedAtMs);
    const turn = { account, startedAtMs };
    this.running.add(turn);
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      session.interrupt();
      timer = setInterval(() => session.interrupt(), interruptMs);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const working = work(session);
      job.begin();
      const result = await working;
      signal.throwIfAborted();
      return result;
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      clearInterval(timer);
      signal.removeEventListener("abort", onAbort);
      const endedAtMs = performance.now();
      time.end(startedAtMs, endedAtMs);
      endShare(endedAtMs);
      this.options.onStatement?.(startedAtMs - queuedAtMs, endedAtMs - startedAtMs);
      this.running.delete(turn);
      this.release(session);
    }
  }

  private release(session: Session): void {
    if (this.isClosed) session.close();
    else this.idle.push(session);
    this.startWaiting();
    if (this.running.size + this.waiting.size === 0) this.shares.reset();
  }

  /** Starts waiting statements while there are sessions for them. */
  private startWaiting(): void {
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const session = this.idle.pop();
      if (session === undefined) return;
      this.waiting.delete(next.waiting);
      next.waiting.start(session, next.account);
    }
  }

  /** Returns the first waiting statement of the account with the least virtual time, among accounts that may take a session. */
  private next(): { readonly waiting: Waiting; readonly account: string } | undefined {
    const nowMs = performance.now();
    let min: number = Number.POSITIVE_INFINITY;
    let next: ReturnType<SessionPool["next"]>;
    if (this.idle.length === 0) return undefined;
    for (const waiting of this.waiting) {
      const { account, virtualMs } = this.shares.leastUsed(waiting.job.accounts, nowMs);
      if (virtualMs >= min || this.shares.heldBy(account) >= this.idle.length) continue;
      min = virtualMs;
      next = { waiting, account };
    }
    return next;
  }

  /** Returns the last waiting statement of the account with the most of them, among jobs that have not begun. */
  private mostCrowding(): Waiting | undefined {
    const counts = new Map<string, number>();
    let max: number = 0;
    let crowding: Waiting | undefined;
    for (const waiting of this.waiting) {
      if (waiting.job.hasBegun) continue;
      const [account = ""] = waiting.job.accounts;
      const count = (counts.get(account) ?? 0) + 1;
      counts.set(account, count);
      if (count >= max) {
        max = count;
        crowding = waiting;
      }
    }
    return crowding;
  }

  private drop(waiting: Waiting | undefined, reason: unknown): void {
    if (waiting !== undefined && this.waiting.delete(waiting)) waiting.drop(reason);
  }
}

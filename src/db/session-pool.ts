/** Session pool: a fixed number of DuckDB sessions, fair between accounts, whose statements are interrupted when their job is aborted. */
import { availableParallelism } from "node:os";
import type { Row } from "../base/json.ts";
import { turnSoon } from "../base/turns.ts";
import { refuse } from "../contract/errors.ts";
import type { DuckDatabase, Session } from "./duckdb.ts";
import { classifyFault } from "./engine-faults.ts";
import { FairPool, type WorkCounts } from "./fair-pool.ts";
import type { Job } from "./job.ts";
import type { Sql } from "./sql.ts";

/**
 * Concurrent queries. One account uses at most half of them, two for each processor: one query can be planned while another executes.
 * Leaves threads of the pool free, also while versions change.
 */
export const sessionsMax = Math.min(12, 4 * availableParallelism());

/** Queries that may wait for a session. */
const waitingQueriesMax = 512;

export interface PoolOptions {
  readonly sessions?: number;
  readonly waitingQueries?: number;
  /** Called when a statement ends, with the time that it waited for a session and the time that it ran. */
  readonly onStatement?: ((waitMs: number, runMs: number) => void) | undefined;
}

export interface Engine {
  rows(query: Sql): Promise<readonly Row[]>;
  /** Returns the INTEGER and UUID columns of a query, chunk by chunk: see `Session.vectors`. */
  vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]>;
}

/** An interrupt is repeated at this interval, because DuckDB forgets one that arrives before its statement starts. */
const interruptMs = 20;

export class SessionPool {
  /** Whether the engine has failed, and answers nothing more. */
  hasFailed = false;

  private constructor(private readonly pool: FairPool<Session>) {}

  static async open(
    database: DuckDatabase,
    { sessions = sessionsMax, waitingQueries: waitingMax = waitingQueriesMax, onStatement: onEnd }: PoolOptions,
  ): Promise<SessionPool> {
    const idle = await Promise.all(Array.from({ length: sessions }, () => database.connect()));
    const refusal = (): Error => refuse("overloaded", {});
    return new SessionPool(new FairPool(idle, { waitingMax, refusal, onEnd, retire: (session) => session.close() }));
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

  get statements(): WorkCounts {
    return this.pool.counts;
  }

  /** Closes the sessions; those in use when their statement has ended. */
  close(): void {
    this.pool.close();
  }

  /** Resolves in a turn of the account's. */
  private async use<T>(job: Job, work: (session: Session) => Promise<T>): Promise<T> {
    try {
      const result = await this.pool.use(job, (session) => interruptible(session, job.signal, work));
      await turnSoon();
      return result;
    } catch (thrown) {
      this.hasFailed ||= classifyFault(thrown) === "engine failed";
      throw thrown;
    }
  }
}

/** Runs work on a session, and interrupts it once a signal aborts. */
export async function interruptible<T>(
  session: Session,
  signal: AbortSignal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    session.interrupt();
    timer = setInterval(() => session.interrupt(), interruptMs);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work(session);
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

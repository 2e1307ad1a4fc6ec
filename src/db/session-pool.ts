/** Session pool: a fixed number of DuckDB sessions, a bounded wait queue, and a deadline for each query. */
import type { Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { DuckDatabase, Session } from "./duckdb.ts";
import type { Sql } from "./sql.ts";

export interface PoolBounds {
  readonly sessions: number;
  readonly waitingQueries: number;
  readonly deadlineMs: number;
}

export class SessionPool {
  private readonly waiting: ((session: Session) => void)[] = [];

  private constructor(
    private readonly idle: Session[],
    private readonly bounds: PoolBounds,
  ) {}

  static async open(database: DuckDatabase, bounds: PoolBounds): Promise<SessionPool> {
    const sessions = Array.from({ length: bounds.sessions }, () => database.connect());
    return new SessionPool(await Promise.all(sessions), bounds);
  }

  /** Returns the rows of a query. Refuses with `overloaded` or `deadline_exceeded`. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.use((session) => session.rows(query));
  }

  /** Returns the INTEGER columns of a query, chunk by chunk. Refuses with `overloaded` or `deadline_exceeded`. */
  vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]> {
    return this.use((session) => session.vectors(query));
  }

  private async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    const session = await this.acquire();
    try {
      return await this.withDeadline(session, work, startedAtMs + this.bounds.deadlineMs - performance.now());
    } finally {
      this.release(session);
    }
  }

  close(): void {
    for (const session of this.idle) session.close();
  }

  /** Runs work on a session and interrupts it after `remainingMs`. */
  private async withDeadline<T>(
    session: Session,
    work: (session: Session) => Promise<T>,
    remainingMs: number,
  ): Promise<T> {
    const deadlineExceeded = (): Error => refuse("deadline_exceeded", { seconds: this.bounds.deadlineMs / 1000 });
    if (remainingMs <= 0) throw deadlineExceeded();
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      session.interrupt();
    }, remainingMs);
    try {
      const result = await work(session);
      if (isOverdue) throw deadlineExceeded();
      return result;
    } catch (thrown) {
      throw isOverdue ? deadlineExceeded() : thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  private acquire(): Promise<Session> {
    const session = this.idle.pop();
    if (session !== undefined) return Promise.resolve(session);
    if (this.waiting.length >= this.bounds.waitingQueries) return Promise.reject(refuse("overloaded", {}));
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private release(session: Session): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(session);
    else next(session);
  }
}

/** Sessions shared by requests: a few run, a bounded number wait, and none runs longer than its deadline. */
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

  /** The rows of a query; refuses with `overloaded` or `deadline_exceeded`. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.use((session) => session.rows(query));
  }

  /** The INTEGER columns of a query, part by part; refuses with `overloaded` or `deadline_exceeded`. */
  vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]> {
    return this.use((session) => session.vectors(query));
  }

  private async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    const session = await this.take();
    try {
      return await this.inTime(session, work, startedAtMs + this.bounds.deadlineMs - performance.now());
    } finally {
      this.give(session);
    }
  }

  close(): void {
    for (const session of this.idle) session.close();
  }

  private async inTime<T>(session: Session, work: (session: Session) => Promise<T>, leftMs: number): Promise<T> {
    const late = (): Error => refuse("deadline_exceeded", { seconds: this.bounds.deadlineMs / 1000 });
    if (leftMs <= 0) throw late();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      session.interrupt();
    }, leftMs);
    try {
      const result = await work(session);
      if (isLate) throw late();
      return result;
    } catch (thrown) {
      throw isLate ? late() : thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  private take(): Promise<Session> {
    const session = this.idle.pop();
    if (session !== undefined) return Promise.resolve(session);
    if (this.waiting.length >= this.bounds.waitingQueries) return Promise.reject(refuse("overloaded", {}));
    return new Promise((taken) => this.waiting.push(taken));
  }

  private give(session: Session): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(session);
    else next(session);
  }
}

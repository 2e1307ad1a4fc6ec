/** Sessions shared by requests: a few run, a bounded number wait, and none runs longer than its deadline. */
import type { Row } from "../base/json.ts";
import type { Sql } from "../base/sql.ts";
import { refuse } from "../contract/errors.ts";
import type { Database, Session } from "./duckdb.ts";

export interface PoolBounds {
  readonly sessions: number;
  readonly waitingQueries: number;
  readonly deadlineMs: number;
}

export class Pool {
  private readonly waiting: ((session: Session) => void)[] = [];

  private constructor(
    private readonly idle: Session[],
    private readonly bounds: PoolBounds,
  ) {}

  static async open(database: Database, bounds: PoolBounds): Promise<Pool> {
    const sessions = Array.from({ length: bounds.sessions }, () => database.connect());
    return new Pool(await Promise.all(sessions), bounds);
  }

  /** The rows of a query; refuses with `overloaded` or `deadline_exceeded`. */
  async rows(query: Sql): Promise<readonly Row[]> {
    const startedAtMs = performance.now();
    const session = await this.take();
    try {
      return await this.inTime(session, query, startedAtMs + this.bounds.deadlineMs - performance.now());
    } finally {
      this.give(session);
    }
  }

  close(): void {
    for (const session of this.idle) session.close();
  }

  private async inTime(session: Session, query: Sql, leftMs: number): Promise<readonly Row[]> {
    const late = (): Error => refuse("deadline_exceeded", { seconds: this.bounds.deadlineMs / 1000 });
    if (leftMs <= 0) throw late();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      session.interrupt();
    }, leftMs);
    try {
      const rows = await session.rows(query);
      if (isLate) throw late();
      return rows;
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

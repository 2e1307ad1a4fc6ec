/**
 * A SQLite file with the interface of `SqlDatabase`, which other processes use too. Statements run in the calling thread, one transaction at a time.
 * While another process holds the lock of the file, a statement is tried again: the thread serves others meanwhile.
 *
 * A service flushes the log at intervals (see `FlushedDatabase`), and has another thread, which runs only while it is used: it writes checkpoints, and
 * runs the reads that may be long.
 */
import { close as closeDescriptor, fdatasync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { classifyFault } from "./engine-faults.ts";
import { FlushedDatabase, type FlushOptions } from "./flushed-database.ts";
import { type Sql, sql } from "./sql.ts";
import { SqlDatabase, type SqlReply, sqliteDialect, WithinTransaction } from "./sql-database.ts";
import { SqliteDatabase } from "./sqlite.ts";
import { SqliteThread } from "./sqlite-thread.ts";

/** How long the opening of a file waits for another process that recovers or closes it. */
const openMs = 1_000;

/** How often a locked file is tried. */
const retryMs = 2;

/** Commits between two checkpoints: a charge writes about six pages of the log. */
const checkpointCommits = 500;

export interface SharedSqliteOptions {
  /** How long to wait for the lock of another process. */
  readonly busyMs: number;
  /** Set in a service, whose commits need not wait for the disk. */
  readonly flush?: FlushOptions | undefined;
}

/** Opens an existing file. Throws a UserError if it is no database. */
export function openSharedSqlite(path: string, { busyMs, flush }: SharedSqliteOptions): SqlDatabase {
  const engine = SqliteDatabase.open(path, { busyMs: openMs, synchronous: flush === undefined ? "FULL" : "NORMAL" });
  // From now on, none waits within the engine, which blocks the thread.
  engine.all(sql`PRAGMA busy_timeout = 0`);
  if (flush === undefined) return new SharedSqlite(engine, busyMs);
  const file = new SharedSqlite(engine, busyMs, new SqliteThread(path));
  let log: number | undefined;
  let commits = 0;
  const sync = async (): Promise<void> => {
    log ??= openSync(`${path}-wal`, "r");
    await promisify(fdatasync)(log);
    if (commits < checkpointCommits) return;
    commits = 0;
    file.checkpoint().catch(flush.onError);
  };
  return new FlushedDatabase(file, {
    ...flush,
    sync,
    onCommit: () => {
      commits += 1;
    },
    onClose: () => log !== undefined && closeDescriptor(log),
  });
}

/** Opens a file that only this process reads, such as a backup. */
export const openSqliteToRead = (path: string): SqlDatabase => new SharedSqlite(SqliteDatabase.openToRead(path), 0);

interface Posted {
  readonly statement: Sql;
  resolve(count: number): void;
  reject(thrown: unknown): void;
}

class SharedSqlite extends SqlDatabase {
  readonly dialect = sqliteDialect;
  /** Settles when the transaction in progress has ended. */
  private inProgress: Promise<void> | undefined;
  /** The statements that are posted in this turn of the event loop. */
  private posted: Posted[] = [];

  constructor(
    private readonly file: SqliteDatabase,
    private readonly busyMs: number,
    private readonly thread?: SqliteThread,
  ) {
    super();
  }

  protected execute(statement: Sql, kind: "query" | "change"): Promise<SqlReply> {
    return this.attempt(() => executeOn(this.file, statement, kind));
  }

  /** Runs a statement in one transaction with all others of this turn of the event loop: a commit takes as long as a charge. */
  override post(statement: Sql): Promise<number> {
    return new Promise((resolve, reject) => {
      this.posted.push({ statement, resolve, reject });
      if (this.posted.length === 1) setImmediate(() => void this.runPosted(this.posted.splice(0)));
    });
  }

  transaction<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.within("IMMEDIATE", work);
  }

  reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.thread?.reading(work) ?? this.within("DEFERRED", work);
  }

  async checkpoint(): Promise<void> {
    await this.thread?.checkpoint();
  }

  async close(): Promise<void> {
    await this.thread?.close();
    this.file.close();
  }

  /** Runs a statement when no transaction is in progress, and again while another process holds the lock. */
  private async attempt<T>(statement: () => T): Promise<T> {
    let deadlineMs: number | undefined;
    for (;;) {
      while (this.inProgress !== undefined) await this.inProgress;
      try {
        return statement();
      } catch (thrown) {
        if (classifyFault(thrown) !== "busy") throw thrown;
        // Only the lock of another process is waited for no longer.
        if (this.thread?.checkpointing === undefined) deadlineMs ??= performance.now() + this.busyMs;
        if (performance.now() >= (deadlineMs ?? Number.POSITIVE_INFINITY)) throw thrown;
      }
      await pause(retryMs);
    }
  }

  /** Runs statements in a transaction. One that violates a constraint fails alone. */
  private async runPosted(posted: readonly Posted[]): Promise<void> {
    const settled: (() => void)[] = [];
    const run = ({ statement, resolve, reject }: Posted): void => {
      try {
        const count = this.file.run(statement);
        settled.push(() => resolve(count));
      } catch (thrown) {
        if (classifyFault(thrown) !== "constraint") throw thrown;
        settled.push(() => reject(thrown));
      }
    };
    try {
      await this.attempt(() => {
        settled.length = 0;
        // One alone is a transaction already.
        if (posted.length === 1) posted.forEach(run);
        else this.file.transaction(() => posted.forEach(run));
      });
    } catch (thrown) {
      for (const { reject } of posted) reject(thrown);
    }
    for (const settle of settled) settle();
  }

  private async within<T>(mode: "IMMEDIATE" | "DEFERRED", work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    let end = (): void => undefined;
    const transaction = await this.attempt(() => {
      const begun = this.file.begin(mode);
      this.inProgress = new Promise((resolve) => {
        end = resolve;
      });
      return begun;
    });
    try {
      const result = await work(
        new WithinTransaction(sqliteDialect, (statement, kind) => executeOn(this.file, statement, kind)),
      );
      transaction.commit();
      return result;
    } catch (thrown) {
      transaction.rollBack();
      throw thrown;
    } finally {
      this.inProgress = undefined;
      end();
    }
  }
}

function executeOn(file: SqliteDatabase, statement: Sql, kind: "query" | "change"): SqlReply {
  return kind === "query" ? { rows: file.all(statement), count: 0 } : { rows: [], count: file.run(statement) };
}

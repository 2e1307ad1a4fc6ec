/**
 * A database of a service, which commits without a wait for the disk. What it runs is flushed before that resolves; what it posts is flushed within
 * 100 ms, or before that resolves if each is.
 */
import { OutcomeUnknown } from "./engine-faults.ts";
import { LogFlusher } from "./log-flusher.ts";
import type { Sql } from "./sql.ts";
import { SqlDatabase, type SqlReply } from "./sql-database.ts";

export interface FlushOptions {
  /** Whether what is posted is flushed at once. */
  readonly isEachFlushed: boolean;
  /** Receives the errors of flushes and checkpoints that no statement waits for. */
  readonly onError: (thrown: unknown) => void;
  /** Receives the time of each flush. */
  readonly onFlush: (ms: number) => void;
}

interface LogOptions extends FlushOptions {
  /** Writes to disk what is committed. */
  readonly sync: () => Promise<void>;
  readonly onCommit?: () => void;
  readonly onClose?: () => unknown;
}

export class FlushedDatabase extends SqlDatabase {
  private readonly log: LogFlusher;
  private isClosed = false;

  /** `database` commits without a wait for the disk. */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: LogOptions,
  ) {
    super();
    const sync = async (): Promise<void> => {
      const startedAtMs = performance.now();
      await options.sync();
      options.onFlush(performance.now() - startedAtMs);
    };
    this.log = new LogFlusher(sync, options.onError);
  }

  get dialect(): SqlDatabase["dialect"] {
    return this.database.dialect;
  }

  protected async execute(statement: Sql, kind: "query" | "change"): Promise<SqlReply> {
    // A query that changes something may be on disk later.
    if (kind === "query") return { rows: await this.database.all(statement), count: 0 };
    return { rows: [], count: await this.flushed(this.database.run(statement)) };
  }

  override post(statement: Sql): Promise<number> {
    return this.posted(() => this.database.post(statement));
  }

  transaction<T>(work: (database: SqlDatabase) => Promise<T>, isPosted = false): Promise<T> {
    const commit = (): Promise<T> => this.database.transaction(work);
    return isPosted ? this.posted(commit) : this.flushed(commit());
  }

  reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.database.reading(work);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    // A file on a disk that hangs is not closed: that would block the thread.
    await this.log.flush();
    await this.database.close();
    this.options.onClose?.();
  }

  private async posted<T>(commit: () => Promise<T>): Promise<T> {
    if (this.options.isEachFlushed) return this.flushed(commit());
    await this.log.admit();
    const result = await commit();
    this.options.onCommit?.();
    this.log.note();
    return result;
  }

  private async flushed<T>(committing: Promise<T>): Promise<T> {
    const result = await committing;
    this.options.onCommit?.();
    await this.log.flush().catch((thrown: unknown) => {
      throw new OutcomeUnknown("It is not known whether the change is on disk.", thrown);
    });
    return result;
  }
}

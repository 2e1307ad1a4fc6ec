/**
 * PostgreSQL with the interface of `SqliteDatabase`: a call returns when the server has replied, so that transactions of one thread never
 * overlap. A connection thread does the input and output. Only threads that may block use it: ledger workers and commands.
 *
 * A lost connection is replaced at the next statement outside of a transaction. If it is lost during a COMMIT, the new connection learns
 * what became of the transaction, because each transaction writes a new id: `transaction` returns if it was committed, and throws
 * if it was not. The server's transaction ids would not do: after a crash they are used again.
 */
import { randomUUID } from "node:crypto";
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import type { Row } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { startWorker } from "../base/worker-threads.ts";
import type {
  ConnectionRequest,
  ConnectionSettings,
  StatementError,
  StatementReply,
  StatementRequest,
} from "./postgres-connection.ts";
import { InvalidValue, literal, type Sql, sql, type Value } from "./sql.ts";
import { type Columns, postgresDialect, type SqlDatabase } from "./sql-database.ts";

export interface PostgresOptions {
  /** How long to wait for a lock of another connection. */
  readonly busyMs: number;
  /** How long to wait for a reply before the connection counts as lost; 0 for no limit. */
  readonly replyMs?: number;
  /** How long to try to learn what became of a transaction whose connection was lost during its COMMIT. */
  readonly settleMs?: number;
}

/** An error of the server, with its SQLSTATE, or of the connection. */
export class PostgresFault extends Error {
  override readonly name = "PostgresFault";
  /** The SQLSTATE, or the code of a system error. */
  readonly code: string;
  readonly isConnectionLost: boolean;

  constructor({ message, code, isConnectionLost }: StatementError) {
    super(message);
    this.code = code;
    this.isConnectionLost = isConnectionLost;
  }
}

type StatementResult = Exclude<StatementReply, { readonly error: StatementError }>;

const connectionModule = new URL("./postgres-connection.ts", import.meta.url);
/** SQLSTATEs of transactions that were rolled back in favor of another: serialization failure and deadlock. */
const rolledBack: ReadonlySet<string> = new Set(["40001", "40P01"]);
const attemptsMost = 5;
const [settlePauseMs, defaultSettleMs] = [100, 10_000];

/** Returns true for the URL of a PostgreSQL database. */
export const isPostgresUrl = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);

/** Returns a location as it can be printed: a URL without its password. */
export const withoutPassword = (location: string): string =>
  isPostgresUrl(location)
    ? location.replace(/^(\w+:\/\/[^/@:]*):.*@/, "$1@").replaceAll(/([?&]password=)[^&]*/g, "$1***")
    : location;

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = postgresDialect;
  private readonly replies = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Worker;
  private readonly port: MessagePort;
  /** Names this database in `carquet_commits`, over all of its connections. */
  private readonly name = randomUUID();
  private recordsCommits = false;
  private depth = 0;
  private isClosed = false;

  private constructor(
    url: string,
    private readonly options: PostgresOptions,
  ) {
    const { busyMs, replyMs = 0 } = options;
    this.thread = startWorker(connectionModule, {
      url,
      busyMs,
      replyMs,
      replies: this.replies,
    } satisfies ConnectionSettings);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.thread.postMessage(port2, [port2]);
    // Neither keeps the process running: this thread waits for each reply itself.
    this.thread.unref();
    this.port.unref();
  }

  /** Connects to a server. Throws a UserError if that fails. */
  static open(url: string, options: PostgresOptions): PostgresDatabase {
    const database = new PostgresDatabase(url, options);
    try {
      database.run(sql`SELECT 1`);
      return database;
    } catch (thrown) {
      database.close();
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      throw new UserError(`${withoutPassword(url)}: cannot be opened as a database: ${reason}.`, { cause: thrown });
    }
  }

  all(query: Sql): readonly Row[] {
    return this.execute(query).rows;
  }

  one(query: Sql): Row | undefined {
    return this.execute(query).rows[0];
  }

  run(statement: Sql): number {
    return this.execute(statement).count;
  }

  runOver(
    columns: Columns,
    rows: readonly Readonly<Record<string, Value>>[],
    statementOver: (items: Sql) => Sql,
  ): number {
    return rows.length === 0 ? 0 : this.run(statementOver(this.dialect.rows(columns, rows)));
  }

  transaction<T>(work: () => T): T {
    if (this.depth > 0) return this.savepoint(work);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.attempt(work);
      } catch (thrown) {
        const isRetried = thrown instanceof PostgresFault && rolledBack.has(thrown.code) && attempt < attemptsMost;
        if (!isRetried) throw thrown;
      }
    }
  }

  reading<T>(work: () => T): T {
    if (this.depth > 0) return this.savepoint(work);
    this.begin(sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    return this.within(work, () => this.statement("COMMIT"));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.port.postMessage(JSON.stringify(null satisfies ConnectionRequest));
    this.port.close();
  }

  /**
   * Records the last transaction in the table `carquet_commits` from now on. Without, one whose connection is lost during its COMMIT throws
   * whatever became of it.
   */
  recordCommits(): void {
    this.run(sql`DELETE FROM carquet_commits WHERE at < now() - INTERVAL '7 days'`);
    this.recordsCommits = true;
  }

  private attempt<T>(work: () => T): T {
    const transactionId = randomUUID();
    this.begin(this.recordsCommits ? sql`BEGIN; ${this.recordCommit(transactionId)}` : sql`BEGIN`);
    return this.within(work, () => this.commit(transactionId));
  }

  /** Stores the id of the current transaction. Waits for an earlier one of this database to end. */
  private recordCommit(transactionId: string): Sql {
    return sql`
      INSERT INTO carquet_commits (name, transaction_id) VALUES (${literal(this.name)}, ${literal(transactionId)})
      ON CONFLICT (name) DO UPDATE SET transaction_id = excluded.transaction_id, at = now()`;
  }

  /** Starts a transaction; connects again if the connection has been lost since the last one. */
  private begin(statement: Sql): void {
    const request = { text: statement.text, values: [], isPrepared: false, mayConnect: true };
    try {
      this.send(request);
    } catch (thrown) {
      if (thrown instanceof PostgresFault && thrown.isConnectionLost) this.send(request);
      else {
        this.rollBack("ROLLBACK");
        throw thrown;
      }
    }
  }

  private within<T>(work: () => T, commit: () => unknown): T {
    this.depth += 1;
    let result: T;
    try {
      result = work();
    } catch (thrown) {
      this.rollBack("ROLLBACK");
      throw thrown;
    } finally {
      this.depth -= 1;
    }
    commit();
    return result;
  }

  private commit(transactionId: string): void {
    try {
      const { command } = this.statement("COMMIT");
      if (command !== "COMMIT")
        throw new TypeError("The transaction was rolled back: expected its errors to be thrown.");
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault) || !thrown.isConnectionLost) throw thrown;
      if (!this.recordsCommits || this.lastCommitted() !== transactionId) throw thrown;
    }
  }

  /** Returns the id of the last committed transaction, when none is in progress. Throws a UserError if it is unknown after `settleMs`. */
  private lastCommitted(): unknown {
    const giveUpAtMs = performance.now() + (this.options.settleMs ?? defaultSettleMs);
    for (;;) {
      try {
        // Locks the row: a transaction that the server has not ended yet holds it, or is inserting it.
        return this.one(sql`
          INSERT INTO carquet_commits (name, transaction_id) VALUES (${this.name}, '')
          ON CONFLICT (name) DO UPDATE SET at = now() RETURNING transaction_id`)?.transaction_id;
      } catch (thrown) {
        if (performance.now() > giveUpAtMs)
          throw new UserError(
            "The connection was lost during a commit: expected the server to be reachable again. Check whether the change was made.",
            { cause: thrown },
          );
      }
      sleep(settlePauseMs);
    }
  }

  private savepoint<T>(work: () => T): T {
    this.statement("SAVEPOINT part");
    this.depth += 1;
    try {
      const result = work();
      this.statement("RELEASE part");
      return result;
    } catch (thrown) {
      this.rollBack("ROLLBACK TO part; RELEASE part");
      throw thrown;
    } finally {
      this.depth -= 1;
    }
  }

  /** Rolls back after an error. A transaction whose connection is lost is rolled back by the server. */
  private rollBack(text: string): void {
    try {
      this.statement(text);
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault)) throw thrown;
    }
  }

  private execute(statement: Sql): StatementResult {
    const { text, values } = statement;
    const request = { text, values: values.map(bound), isPrepared: true };
    if (this.depth > 0) return this.send({ ...request, mayConnect: false });
    return this.send({ ...request, mayConnect: true });
  }

  private statement(text: string): StatementResult {
    return this.send({ text, values: [], isPrepared: false, mayConnect: false });
  }

  /** Sends a statement and waits for the reply. */
  private send(request: StatementRequest): StatementResult {
    if (this.isClosed) throw new TypeError("The database is closed.");
    this.port.postMessage(JSON.stringify(request));
    for (;;) {
      const known = Atomics.load(this.replies, 0);
      const received: { readonly message: string } | undefined = receiveMessageOnPort(this.port);
      if (received === undefined) {
        if (known === -1) throw new TypeError("The connection thread has exited.");
        Atomics.wait(this.replies, 0, known);
        continue;
      }
      const reply: StatementReply = JSON.parse(received.message);
      if ("error" in reply) throw new PostgresFault(reply.error);
      return reply;
    }
  }
}

function bound(value: Value): Value {
  if (typeof value === "object" && value !== null) throw new TypeError("A list cannot be bound; bind it as JSON.");
  if (typeof value === "string" && value.includes("\0")) throw new InvalidValue("A text with a NUL cannot be bound.");
  return typeof value === "bigint" ? String(value) : value;
}

/** Blocks the thread. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

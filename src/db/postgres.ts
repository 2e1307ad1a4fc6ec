/**
 * PostgreSQL with the interface of `SqliteDatabase`: a call returns when the server has replied, so that transactions of one thread never overlap.
 * A connection thread does the input and output. Only threads that may block use it: ledger workers and commands.
 *
 * A lost connection is replaced at the next statement outside of a transaction. If it is lost during a COMMIT, the new connection learns the
 * outcome, because each transaction writes a new id: `transaction` returns if it was committed, and throws if it was not. The server's transaction
 * ids would not do: after a crash they are used again.
 */
import { randomUUID } from "node:crypto";
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import type { Row } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { startWorker } from "../base/worker-threads.ts";
import type {
  ConnectionRequest,
  ConnectionSettings,
  Statement,
  StatementError,
  StatementReply,
  StatementsReply,
  StatementsRequest,
} from "./postgres-connection.ts";
import { literal, type Sql, sql, type Value } from "./sql.ts";
import { type Columns, postgresDialect, type SqlDatabase, scalarOf } from "./sql-database.ts";

export interface PostgresOptions {
  /** How long to wait for a lock of another connection. */
  readonly busyMs: number;
  /**
   * How long the server keeps a transaction that waits for its next statement, so that a process that hangs does not hold its locks; 0 for no
   * limit.
   */
  readonly idleMs?: number;
  /** How long to wait for a reply before the connection counts as lost; 0 for no limit. */
  readonly replyMs?: number;
  /** How long to try to resolve a transaction whose connection was lost during its COMMIT. */
  readonly settleMs?: number;
}

const defaultIdleMs = 60_000;
/** The most statements that wait for the next one. */
const queuedMax = 8;
const settlePauseMs = 100;
const defaultSettleMs = 10_000;
/** How often work is run whose error is transient. */
const attemptsMax = 5;

/** Returns true for the URL of a PostgreSQL database. */
export const isPostgresUrl = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);

/** Returns a location as it can be printed: a URL without its password. */
export const withoutPassword = (location: string): string =>
  isPostgresUrl(location)
    ? location.replace(/^(\w+:\/\/[^/@:]*):.*@/, "$1@").replaceAll(/([?&]password=)[^&]*/g, "$1***")
    : location;

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = postgresDialect;
  private readonly connection: BlockingConnection;
  /** Names this database in `carquet_commits`, over all of its connections. */
  private readonly name = randomUUID();
  private recordsCommits = false;
  private depth = 0;
  /** Statements of the transaction that are sent with the next one. */
  private queued: Statement[] = [];
  /** Whether the transaction has begun on the server. */
  private hasBegun = false;

  private constructor(
    url: string,
    private readonly options: PostgresOptions,
  ) {
    const { busyMs, idleMs = defaultIdleMs, replyMs = 0 } = options;
    this.connection = new BlockingConnection({ url, busyMs, idleMs, replyMs });
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

  queue(statement: Sql): void {
    if (this.depth === 0) throw new TypeError("A statement was queued outside of a transaction.");
    this.queued.push(prepared(statement));
    if (this.queued.length >= queuedMax) this.flush();
  }

  queueOver(
    columns: Columns,
    rows: readonly Readonly<Record<string, Value>>[],
    statementOver: (items: Sql) => Sql,
  ): void {
    if (rows.length > 0) this.queue(statementOver(this.dialect.rows(columns, rows)));
  }

  transaction<T>(work: () => T): T {
    return this.depth > 0 ? this.savepoint(work) : repeatTransient(() => this.attempt(work));
  }

  reading<T>(work: () => T): T {
    if (this.depth > 0) return this.savepoint(work);
    return repeatTransient(() => {
      this.begin(sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`);
      return this.within(work, () => this.send(simple("COMMIT")));
    });
  }

  close(): void {
    this.connection.close();
  }

  /**
   * Records the last transaction in the table `carquet_commits` from now on. If commits are not recorded, a connection lost during a COMMIT
   * always throws, even if the transaction was committed.
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

  /** Starts a transaction with its first statement. */
  private begin(statement: Sql): void {
    this.queued = [simple(statement.text)];
    this.hasBegun = false;
  }

  private within<T>(work: () => T, commit: () => unknown): T {
    this.depth += 1;
    let result: T;
    try {
      result = work();
      // The COMMIT is not sent with the BEGIN, which may be repeated.
      if (!this.hasBegun) this.flush();
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
      const { command } = this.send(simple("COMMIT"));
      if (command !== "COMMIT")
        throw new TypeError("The transaction was rolled back: expected its errors to be thrown.");
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault) || !thrown.isConnectionLost) throw thrown;
      if (!this.recordsCommits || this.lastCommitted() !== transactionId) throw thrown;
    }
  }

  /** Returns the id of the last committed transaction, when none is in progress. Throws a UserError if it is unknown after `settleMs`. */
  private lastCommitted(): unknown {
    const deadlineMs = performance.now() + (this.options.settleMs ?? defaultSettleMs);
    for (;;) {
      try {
        // Locks the row: a transaction that the server has not ended yet holds it, or is inserting it.
        return this.one(sql`
          INSERT INTO carquet_commits (name, transaction_id) VALUES (${this.name}, '')
          ON CONFLICT (name) DO UPDATE SET at = now() RETURNING transaction_id`)?.transaction_id;
      } catch (thrown) {
        if (performance.now() > deadlineMs)
          throw new UserError(
            "The connection was lost during a commit: expected the server to be reachable again. Check whether the change was applied.",
            { cause: thrown },
          );
      }
      sleep(settlePauseMs);
    }
  }

  private savepoint<T>(work: () => T): T {
    this.send(simple("SAVEPOINT part"));
    this.depth += 1;
    try {
      const result = work();
      this.send(simple("RELEASE part"));
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
    this.queued = [];
    if (!this.hasBegun) return;
    try {
      this.send(simple(text));
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault)) throw thrown;
    }
  }

  private execute(statement: Sql): StatementReply {
    const request = prepared(statement);
    if (this.depth > 0) return this.send(request);
    return repeatTransient(() => lastOf(this.connection.exchange({ statements: [request], mayConnect: true })));
  }

  private flush(): void {
    const last = this.queued.pop();
    if (last !== undefined) this.send(last);
  }

  /**
   * Sends a statement of the transaction together with the queued ones. If the connection has been lost since the last transaction, the first ones
   * are sent again: none of them is committed.
   */
  private send(statement: Statement): StatementReply {
    const mayConnect = !this.hasBegun;
    const request = { statements: [...this.queued.splice(0), statement], mayConnect };
    this.hasBegun = true;
    try {
      return lastOf(this.connection.exchange(request));
    } catch (thrown) {
      if (!mayConnect || !(thrown instanceof PostgresFault) || !thrown.isConnectionLost) throw thrown;
      return lastOf(this.connection.exchange(request));
    }
  }
}

function lastOf(results: readonly StatementReply[]): StatementReply {
  const last = results.at(-1);
  if (last === undefined) throw new TypeError("No statement was sent: expected at least one.");
  return last;
}

/** A statement that the connection prepares. */
const prepared = ({ text, values }: Sql): Statement => ({ text, values: values.map(parameterOf), isPrepared: true });

/** Statements without parameters, such as those that start and end a transaction. */
const simple = (text: string): Statement => ({ text, values: [], isPrepared: false });

function parameterOf(value: Value): Value {
  const parameter = scalarOf(value);
  return typeof parameter === "bigint" ? String(parameter) : parameter;
}

/** Blocks the thread. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const connectionModule = new URL("./postgres-connection.ts", import.meta.url);

/** The connection thread, as the thread sees it that waits for its replies. */
class BlockingConnection {
  private readonly replies = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Worker;
  private readonly port: MessagePort;
  private isClosed = false;

  constructor(settings: Omit<ConnectionSettings, "replies">) {
    this.thread = startWorker(connectionModule, { ...settings, replies: this.replies } satisfies ConnectionSettings);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.thread.postMessage(port2, [port2]);
    // Neither keeps the process running: this thread waits for each reply itself.
    this.thread.unref();
    this.port.unref();
  }

  /** Sends statements, waits for the reply, and returns their results. Throws a PostgresFault if one of them fails. */
  exchange(request: StatementsRequest): readonly StatementReply[] {
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
      const reply: StatementsReply = JSON.parse(received.message);
      if ("error" in reply) throw new PostgresFault(reply.error);
      return reply.results;
    }
  }

  /** Ends the thread. Idempotent. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.port.postMessage(JSON.stringify(null satisfies ConnectionRequest));
    this.port.close();
  }
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

  /** Returns true if the transaction was rolled back in favor of another one (serialization failure, deadlock), and can be run again at once. */
  get isTransient(): boolean {
    return this.code === "40001" || this.code === "40P01";
  }
}

/** Runs work, and again while its error is transient, a few times. */
function repeatTransient<T>(work: () => T): T {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault) || !thrown.isTransient || attempt === attemptsMax) throw thrown;
    }
  }
}

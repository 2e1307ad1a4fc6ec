/**
 * PostgreSQL with the interface of `SqliteDatabase`: a call returns when the server has replied, so that transactions of one thread never overlap.
 * A connection thread does the input and output. Only threads that may block use it: ledger workers and commands.
 *
 * A lost connection is replaced at the next statement outside of a transaction. If it is lost during a COMMIT, the new connection learns the
 * outcome, because each transaction writes a new id: `transaction` returns if it was committed, and throws if it was not. The server's transaction
 * ids would not do: after a crash they are used again.
 */
import { randomUUID } from "node:crypto";
import type { Row } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { BlockingConnection } from "./blocking-connection.ts";
import type { Statement, StatementReply, StatementsRequest } from "./postgres-connection.ts";
import { PostgresFault, repeatTransient } from "./postgres-fault.ts";
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

/** Read at the start of each transaction, in the same round trip. `check` throws if the transaction may not be run. */
interface TransactionGuard {
  readonly query: Sql;
  check(row: Row | undefined): void;
}

const defaultIdleMs = 60_000;
/** The most statements that wait for the next one. */
const queuedMax = 8;
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
  private readonly connection: BlockingConnection;
  /** Names this database in `carquet_commits`, over all of its connections. */
  private readonly name = randomUUID();
  /** Set if commits are recorded. */
  private guard: TransactionGuard | undefined;
  private depth = 0;
  /** Statements of the transaction that are sent with the next one. */
  private queued: Statement[] = [];
  /** Checks the row that starts the transaction; undefined once it has begun on the server. */
  private checkStart: TransactionGuard["check"] | undefined;

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
   * Records the last transaction in the table `carquet_commits` from now on, and guards each one. If commits are not recorded, a connection lost
   * during a COMMIT always throws, even if the transaction was committed.
   */
  recordCommits(guard: TransactionGuard): void {
    this.run(sql`DELETE FROM carquet_commits WHERE at < now() - INTERVAL '7 days'`);
    this.guard = guard;
  }

  private attempt<T>(work: () => T): T {
    const { guard } = this;
    const transactionId = randomUUID();
    if (guard === undefined) this.begin(sql`BEGIN`);
    else this.begin(sql`BEGIN; ${this.recordCommit(transactionId)}; ${guard.query}`, (row) => guard.check(row));
    return this.within(work, () => this.commit(transactionId));
  }

  /** Stores the id of the current transaction. Waits for an earlier one of this database to end. */
  private recordCommit(transactionId: string): Sql {
    return sql`
      INSERT INTO carquet_commits (name, transaction_id) VALUES (${literal(this.name)}, ${literal(transactionId)})
      ON CONFLICT (name) DO UPDATE SET transaction_id = excluded.transaction_id, at = now()`;
  }

  /** Starts a transaction with its first statement, whose last row is then checked. */
  private begin(statement: Sql, check: TransactionGuard["check"] = () => undefined): void {
    this.queued = [simple(statement.text)];
    this.checkStart = check;
  }

  private within<T>(work: () => T, commit: () => unknown): T {
    this.depth += 1;
    let result: T;
    try {
      result = work();
      // The COMMIT is not sent with the BEGIN, which may be repeated.
      if (this.checkStart !== undefined) this.flush();
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
      if (this.guard === undefined || this.lastCommitted() !== transactionId) throw thrown;
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
    if (this.checkStart !== undefined) return;
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
    const { checkStart } = this;
    const request = { statements: [...this.queued.splice(0), statement], mayConnect: checkStart !== undefined };
    this.checkStart = undefined;
    const results = this.exchangeTwice(request);
    checkStart?.(results[0]?.rows[0]);
    return lastOf(results);
  }

  private exchangeTwice(request: StatementsRequest): readonly StatementReply[] {
    try {
      return this.connection.exchange(request);
    } catch (thrown) {
      if (request.mayConnect && thrown instanceof PostgresFault && thrown.isConnectionLost)
        return this.connection.exchange(request);
      throw thrown;
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

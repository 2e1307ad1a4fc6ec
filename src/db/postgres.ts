/**
 * PostgreSQL with the interface of `SqlDatabase`: a pool of connections that accounts share, a transaction on one of them. If a connection is lost during a statement or a
 * COMMIT, that throws, and whether it was executed is not known.
 */
import pg from "pg";
import { everyAccount } from "../base/fair-shares.ts";
import type { Row } from "../base/json.ts";
import { presentAccount } from "../base/turns.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { refuse } from "../contract/errors.ts";
import { slotPool } from "./fair-pool.ts";
import { FlushedDatabase, type FlushOptions } from "./flushed-database.ts";
import { Job } from "./job.ts";
import { type Sql, sql, type Value } from "./sql.ts";
import { checked, postgresDialect, SqlDatabase, type SqlReply, scalarOf, WithinTransaction } from "./sql-database.ts";

export interface PostgresOptions {
  /** How long to wait for a lock of another connection. */
  readonly busyMs: number;
  /**
   * How long the server keeps a transaction that waits for its next statement, so that a process that hangs does not hold its locks; 0 for no
   * limit.
   */
  readonly idleMs?: number;
  /** How long to wait for a reply before the connection counts as lost. Default: a minute. */
  readonly replyMs?: number;
  /** Set in a service, whose commits need not wait for the disk. */
  readonly flush?: FlushOptions | undefined;
}

const defaultIdleMs = 60_000;
const defaultReplyMs = 60_000;
const connectMs = 2_000;
const connectionsMax = 10;
/** How many statements and transactions wait for a connection, for `connectMs` at most. */
const waitingMax = 512;
/** How often work is run whose error is transient. */
const attemptsMax = 5;

/**
 * TCP keep-alive: when the server drops a vanished client, whose session it would keep for hours, and the delay of the first probe on this side.
 * Without effect on Unix sockets.
 */
const keepAliveSeconds = 10;
const keepAlive = {
  tcp_keepalives_idle: keepAliveSeconds,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20_000,
};

/** Returns true for the URL of a PostgreSQL database. */
export const isPostgresUrl = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);

/** Returns a location as it can be printed: a URL without its password. */
export const withoutPassword = (location: string): string =>
  isPostgresUrl(location)
    ? location.replace(/^(\w+:\/\/[^/@:]*):.*@/, "$1@").replaceAll(/([?&]password=)[^&]*/g, "$1***")
    : location;

/** Connects to a server. Throws a UserError if that fails. */
export async function connectPostgres(url: string, { flush, ...options }: PostgresOptions): Promise<SqlDatabase> {
  const flushes = flush?.isEachFlushed === false ? flush : undefined;
  const database = new PostgresDatabase(url, flushes === undefined ? "on" : "off", options);
  await checked(database, () => database.one(sql`SELECT 1`)).catch((thrown: unknown) => {
    const reason = messageOf(thrown);
    throw new UserError(`${withoutPassword(url)}: cannot be opened as a database: ${reason}.`, { cause: thrown });
  });
  return flushes === undefined ? database : new FlushedDatabase(database, { ...flushes, sync: () => database.flush() });
}

/** 64-bit integers, and sums of them. A number that is not exact fails where it is read. */
const types = new pg.TypeOverrides();
for (const oid of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(oid, Number);

class PostgresDatabase extends SqlDatabase {
  readonly dialect = postgresDialect;
  private readonly pool: pg.Pool;
  private readonly shares = slotPool(connectionsMax, waitingMax);
  private isClosed = false;

  /** Commits wait for the disk if `synchronousCommit` is on, regardless of the server's default. */
  constructor(
    url: string,
    synchronousCommit: "on" | "off",
    { busyMs, idleMs = defaultIdleMs, replyMs = defaultReplyMs }: PostgresOptions,
  ) {
    super();
    const settings = Object.entries({ ...keepAlive, synchronous_commit: synchronousCommit });
    this.pool = new pg.Pool({
      connectionString: url,
      types,
      max: connectionsMax,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      connectionTimeoutMillis: connectMs,
      query_timeout: replyMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveSeconds * 1000,
      application_name: "carquet",
      lock_timeout: busyMs,
      idle_in_transaction_session_timeout: idleMs,
      onConnect: async (client) => {
        // Without a listener, a connection that is lost while it is in use would end the process, not only fail the statement.
        client.on("error", () => undefined);
        await client.query(
          `SELECT ${settings.map(([name, value]) => `set_config('${name}', '${value}', false)`).join()}`,
        );
      },
    });
    // The pool drops a connection that breaks between two statements. Without a listener, that would end the process.
    this.pool.on("error", () => undefined);
  }

  protected execute(statement: Sql): Promise<SqlReply> {
    return repeatTransient(() => this.withClient((client) => executePrepared(client, statement)));
  }

  transaction<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.within("BEGIN", work);
  }

  reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.within("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  /** Writes to disk what is committed: the server's log up to the commit of a transaction that has logged something. One with only an id does not wait for the disk. */
  async flush(): Promise<void> {
    const message = "SELECT pg_logical_emit_message(true, 'carquet', '')";
    const text = `BEGIN; SET LOCAL synchronous_commit = on; ${message}; COMMIT`;
    await this.withClient((client) => executeText(client, text), everyAccount);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.pool.end();
  }

  private within<T>(begin: string, work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return repeatTransient(() =>
      this.withClient(async (client) => {
        await executeText(client, begin);
        const transaction = new WithinTransaction(postgresDialect, (statement) => executePrepared(client, statement));
        const result = await work(transaction).catch(async (thrown: unknown) => {
          // The server rolls back if the connection is lost.
          if (!(thrown instanceof PostgresFault && thrown.isConnectionLost)) await executeText(client, "ROLLBACK");
          throw thrown;
        });
        const { command } = await executeText(client, "COMMIT");
        if (command !== "COMMIT")
          throw new TypeError("The transaction was rolled back: expected its errors to be thrown.");
        return result;
      }),
    );
  }

  /** Does work with a connection of the share of an account. Refuses with `overloaded` if it waits too long for one. */
  private async withClient<T>(
    work: (client: pg.PoolClient) => Promise<T>,
    account: string = presentAccount(),
  ): Promise<T> {
    const job = new Job(account);
    const timer = setTimeout(() => job.abort(refuse("overloaded", {})), connectMs);
    const begin = (): Promise<T> => {
      clearTimeout(timer);
      return this.withConnection(work);
    };
    return this.shares.use(job, begin).finally(() => clearTimeout(timer));
  }

  /** Does work with a connection, which is closed if it is lost. */
  private async withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.isClosed) throw new TypeError("The database is closed.");
    const client = await this.pool.connect().catch((thrown: unknown) => {
      throw new PostgresFault(thrown, false);
    });
    let isLost = false;
    try {
      return await work(client);
    } catch (thrown) {
      isLost = thrown instanceof PostgresFault && thrown.isConnectionLost;
      throw thrown;
    } finally {
      client.release(isLost);
    }
  }
}

interface Reply extends SqlReply {
  readonly command: string;
}

const names = new Map<string, string>();

/** Prepares a statement, for the next time, and runs it. */
function executePrepared(client: pg.PoolClient, { text, values }: Sql): Promise<Reply> {
  const name = names.get(text) ?? `s${names.size + 1}`;
  names.set(text, name);
  return executeText(client, { name, text, values: values.map(parameterOf) });
}

/** Runs a text of one or more statements; returns the result of the last. Throws a PostgresFault. */
async function executeText(client: pg.PoolClient, query: string | pg.QueryConfig): Promise<Reply> {
  try {
    const reply = await client.query<Row>(query);
    // The declared type does not know that a text of several statements has a result for each.
    const last = [reply].flat().at(-1);
    return { rows: last?.rows ?? [], count: last?.rowCount ?? 0, command: last?.command ?? "" };
  } catch (thrown) {
    throw new PostgresFault(thrown, true);
  }
}

function parameterOf(value: Value): Value {
  const parameter = scalarOf(value);
  return typeof parameter === "bigint" ? String(parameter) : parameter;
}

/** SQLSTATEs with which the server ends a connection. The severity is translated, so it cannot be asked. */
const endOfConnection = /^(57P|08|25P03)/;

/** Returns the message of an error. That of several addresses without a server is empty. */
function textOf(thrown: unknown): string {
  const text = messageOf(thrown instanceof AggregateError ? thrown.errors[0] : thrown);
  return text === "Query read timeout" ? "the server does not reply" : text;
}

/** An error of the server, with its SQLSTATE, or of the connection. */
export class PostgresFault extends Error {
  override readonly name = "PostgresFault";
  /** The SQLSTATE, or the code of a system error. */
  readonly code: string;
  readonly isConnectionLost: boolean;
  /** Whether the statement may have been executed. */
  readonly isOutcomeUnknown: boolean;

  constructor(thrown: unknown, isSent: boolean) {
    super(textOf(thrown), { cause: thrown });
    this.code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
    this.isConnectionLost = !(thrown instanceof pg.DatabaseError) || endOfConnection.test(this.code);
    this.isOutcomeUnknown = this.isConnectionLost && isSent;
  }

  /** Returns true if the transaction was rolled back in favor of another one (serialization failure, deadlock), and can be run again at once. */
  get isTransient(): boolean {
    return this.code === "40001" || this.code === "40P01";
  }
}

/** Runs work, and again while its error is transient, a few times. */
async function repeatTransient<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault) || !thrown.isTransient || attempt === attemptsMax) throw thrown;
    }
  }
}

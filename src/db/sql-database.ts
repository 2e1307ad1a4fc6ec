/**
 * The interface that SQLite and PostgreSQL share, so that one set of functions runs on both. It is asynchronous for PostgreSQL's sake: SQLite works in
 * the calling thread, and its promises are resolved already. `SqlDialect` holds their differences.
 */
import type { Row } from "../base/json.ts";
import { InvalidValue, type Sql, sql, type Value } from "./sql.ts";

/** The rows of a query, or how many rows an INSERT, UPDATE or DELETE changed, without those of triggers. */
export interface SqlReply {
  readonly rows: readonly Row[];
  readonly count: number;
}

export abstract class SqlDatabase {
  abstract readonly dialect: SqlDialect;

  /** Runs a query for its rows, or a statement for the number of rows that it changes. */
  protected abstract execute(statement: Sql, kind: "query" | "change"): Promise<SqlReply>;

  /**
   * Runs work in one transaction, on the database that it receives; within another one, in a savepoint of that. Commits it to disk before this resolves,
   * or rolls it back if it throws; if it is posted, resolves as `post` does. The work runs one statement after the other, and waits for nothing else.
   * PostgreSQL may run it again, after a deadlock.
   */
  abstract transaction<T>(work: (database: SqlDatabase) => Promise<T>, isPosted?: boolean): Promise<T>;

  /** Runs reading work in one transaction, which sees one state of the database. May be long: a service reads a file in another thread meanwhile. */
  abstract reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T>;

  /** Idempotent. */
  abstract close(): Promise<void>;

  async all(query: Sql): Promise<readonly Row[]> {
    return (await this.execute(query, "query")).rows;
  }

  async one(query: Sql): Promise<Row | undefined> {
    return (await this.execute(query, "query")).rows[0];
  }

  /** Runs a statement; resolves when it is on disk, with how many rows an INSERT, UPDATE or DELETE changed, without those of triggers. */
  async run(statement: Sql): Promise<number> {
    return (await this.execute(statement, "change")).count;
  }

  /** Runs a statement like `run`. A database that flushes its log at intervals resolves before it is on disk. */
  post(statement: Sql): Promise<number> {
    return this.run(statement);
  }
}

/** A database within a transaction, for the work of that. Another transaction within it is a savepoint. */
export class WithinTransaction extends SqlDatabase {
  constructor(
    readonly dialect: SqlDialect,
    private readonly executeWithin: (statement: Sql, kind: "query" | "change") => SqlReply | Promise<SqlReply>,
  ) {
    super();
  }

  protected async execute(statement: Sql, kind: "query" | "change"): Promise<SqlReply> {
    return this.executeWithin(statement, kind);
  }

  async transaction<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    await this.run(sql`SAVEPOINT part`);
    try {
      const result = await work(this);
      await this.run(sql`RELEASE part`);
      return result;
    } catch (thrown) {
      // Fails if the connection is lost, or, on a full disk, the whole transaction is rolled back.
      await this.run(sql`ROLLBACK TO part`).catch(() => undefined);
      await this.run(sql`RELEASE part`).catch(() => undefined);
      throw thrown;
    }
  }

  reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return work(this);
  }

  async close(): Promise<void> {}
}

/** Returns an open database that passes a check; closes it if the check throws. */
export async function checked(
  database: SqlDatabase,
  check: (database: SqlDatabase) => Promise<unknown>,
): Promise<SqlDatabase> {
  try {
    await check(database);
    return database;
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** Runs work on a database, then closes it. */
export async function useAndClose<Database extends SqlDatabase, T>(
  opening: Promise<Database>,
  work: (database: Database) => T | Promise<T>,
): Promise<T> {
  const database = await opening;
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Returns a value that both engines can bind. Throws a TypeError for a list, and an InvalidValue for a text with a NUL. */
export function scalarOf(value: Value): string | number | bigint | boolean | null {
  if (typeof value === "object" && value !== null)
    throw new TypeError("A list cannot be a parameter; bind it as JSON.");
  return rejectNul(value);
}

/** Throws an InvalidValue for a text with a NUL: SQLite's driver would bind what precedes it, and PostgreSQL has no such texts. */
function rejectNul<T>(value: T): T {
  if (typeof value === "string" && value.includes("\0"))
    throw new InvalidValue("A text with a NUL cannot be a parameter.");
  return value;
}

export interface SqlDialect {
  readonly name: "sqlite" | "postgres";
  /**
   * At the end of a SELECT, locks the selected rows until the end of the transaction. Empty in SQLite, where a transaction is the only
   * writer. What was read before the lock may be out of date; statements after it see what others have committed.
   */
  readonly forUpdate: Sql;
  /** The UTC month of a Unix time in milliseconds, as `YYYY-MM`. */
  monthOf(atMs: Sql): Sql;
  /** The UTC day of a Unix time in milliseconds, as `YYYY-MM-DD`. */
  dayOf(atMs: Sql): Sql;
  contains(text: Sql, part: Sql): Sql;
}

export const sqliteDialect: SqlDialect = {
  name: "sqlite",
  forUpdate: sql``,
  monthOf: (atMs) => sql`strftime('%Y-%m', ${atMs} / 1000, 'unixepoch')`,
  dayOf: (atMs) => sql`date(${atMs} / 1000, 'unixepoch')`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
};

export const postgresDialect: SqlDialect = {
  name: "postgres",
  // Weaker than FOR UPDATE: rows that refer to the locked ones can be inserted meanwhile.
  forUpdate: sql`FOR NO KEY UPDATE`,
  monthOf: (atMs) => sql`to_char(to_timestamp(${atMs} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM')`,
  dayOf: (atMs) => sql`to_char(to_timestamp(${atMs} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
};

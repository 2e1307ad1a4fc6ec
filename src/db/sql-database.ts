/**
 * The interface that SQLite and PostgreSQL share, so that one set of statements runs on both. It is synchronous: SQLite works in the calling
 * thread, and PostgreSQL's connection blocks it. `SqlDialect` holds their differences.
 */
import type { Row } from "../base/json.ts";
import { InvalidValue, ident, integerLiteral, join, type Sql, sql, type Value } from "./sql.ts";

export interface SqlDatabase {
  readonly dialect: SqlDialect;
  all(query: Sql): readonly Row[];
  one(query: Sql): Row | undefined;
  /** Runs a statement; returns how many rows an INSERT, UPDATE or DELETE changed, without those of triggers. */
  run(statement: Sql): number;
  /**
   * Runs a statement of a transaction whose result is not needed. PostgreSQL receives it together with the next statement or the COMMIT, which
   * then throws its error.
   */
  queue(statement: Sql): void;
  /**
   * Queues a statement over rows that are not in a table, in their order. `statementOver` receives a relation named `items` with these
   * columns. SQLite runs the statement for each row, PostgreSQL once for all.
   */
  queueOver(
    columns: Columns,
    rows: readonly Readonly<Record<string, Value>>[],
    statementOver: (items: Sql) => Sql,
  ): void;
  /**
   * Runs work in one transaction; within another one, in a savepoint of that. Commits it to disk before this returns, or rolls it back if it
   * throws. PostgreSQL may run the work of an outermost transaction again, after a deadlock or a migration.
   */
  transaction<T>(work: () => T): T;
  /** Runs reading work in one transaction, which sees one state of the database. */
  reading<T>(work: () => T): T;
  /** Idempotent. */
  close(): void;
}

/** Returns a value that both engines can bind. Throws a TypeError for a list, and an InvalidValue for a text with a NUL. */
export function scalarOf(value: Value): string | number | bigint | boolean | null {
  if (typeof value === "object" && value !== null)
    throw new TypeError("A list cannot be a parameter; bind it as JSON.");
  return rejectNul(value);
}

/** Throws an InvalidValue for a text with a NUL: SQLite's driver would bind what precedes it, and PostgreSQL has no such texts. */
export function rejectNul<T>(value: T): T {
  if (typeof value === "string" && value.includes("\0"))
    throw new InvalidValue("A text with a NUL cannot be a parameter.");
  return value;
}

type SqlColumnType = "text" | "integer";

/** The columns of rows that are not in a table. */
export type Columns = Readonly<Record<string, SqlColumnType>>;

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
  /** A relation of objects, named `items`, with their properties as columns. One parameter, so that the statement is the same for any number of them. */
  rows(columns: Columns, objects: readonly Readonly<Record<string, Value>>[]): Sql;
}

export const sqliteDialect: SqlDialect = {
  name: "sqlite",
  forUpdate: sql``,
  monthOf: (atMs) => sql`strftime('%Y-%m', ${atMs} / 1000, 'unixepoch')`,
  dayOf: (atMs) => sql`date(${atMs} / 1000, 'unixepoch')`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  rows(columns, objects) {
    const names = Object.keys(columns);
    const arrays = JSON.stringify(objects.map((object) => names.map((name) => object[name] ?? null)));
    const items = names.map((name, index) => sql`value ->> ${integerLiteral(index)} AS ${ident(name)}`);
    return sql`(SELECT ${join(items)} FROM json_each(${arrays})) AS items`;
  },
};

const columnTypes: Readonly<Record<SqlColumnType, Sql>> = { text: sql`text`, integer: sql`bigint` };

export const postgresDialect: SqlDialect = {
  name: "postgres",
  // Weaker than FOR UPDATE: rows that refer to the locked ones can be inserted meanwhile.
  forUpdate: sql`FOR NO KEY UPDATE`,
  monthOf: (atMs) => sql`to_char(to_timestamp(${atMs} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM')`,
  dayOf: (atMs) => sql`to_char(to_timestamp(${atMs} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  rows(columns, objects) {
    const definitions = Object.entries(columns).map(([name, kind]) => sql`${ident(name)} ${columnTypes[kind]}`);
    return sql`json_to_recordset(${JSON.stringify(objects)}::json) AS items (${join(definitions)})`;
  },
};

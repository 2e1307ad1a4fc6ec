/**
 * Copies accounts between a SQLite file and a PostgreSQL database, in both directions. The copy is one transaction, and is complete when
 * its audit, its row counts and its sums agree with the original's. Never writes to existing accounts.
 */
import { existsSync } from "node:fs";
import { integerIn, type Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { connectPostgres, isPostgresUrl, withoutPassword } from "../../db/postgres.ts";
import { openSharedSqlite } from "../../db/shared-sqlite.ts";
import { all, ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { type SqlDatabase, useAndClose } from "../../db/sql-database.ts";
import { type AuditResult, audit, auditReplyMs } from "../ledger/audit.ts";
import { type AccountTable, accountTables, identityColumnOf, primaryKeyOf } from "./account-tables.ts";
import { writeAtomically } from "./backup.ts";
import { createSchema, openAccountsToRead, schemaOf } from "./open-accounts.ts";

/** How long to wait for a lock. A transaction on the copy waits for the original as long as that takes. */
const options = { busyMs: 10_000, idleMs: 0, replyMs: auditReplyMs } as const;
/** Rows of a statement: SQLite binds at most 32,766 values, PostgreSQL twice as many. */
const pageRows = 500;

/** Copies all accounts of a file or database to one without accounts. Returns the audit of the copy. Throws a UserError. */
export function copyAccounts(from: string, to: string): Promise<AuditResult> {
  return useAndClose(openAccountsToRead(from, options), (opened) =>
    opened.reading(async (source) => {
      const [fault] = (await audit(source)).faults;
      if (fault !== undefined)
        throw new UserError(`${withoutPassword(from)} fails its audit: ${fault}. Expected accounts without faults.`);
      return isPostgresUrl(to)
        ? await copyInto(connectPostgres(to, options), source, to)
        : await copyToFile(source, to);
    }),
  );
}

async function copyToFile(source: SqlDatabase, path: string): Promise<AuditResult> {
  if (existsSync(path)) throw new UserError(`File ${path} already exists: expected a new path for the copy.`);
  return writeAtomically(path, (temporary) =>
    copyInto(Promise.resolve(openSharedSqlite(temporary, options)), source, temporary),
  );
}

const copyInto = (target: Promise<SqlDatabase>, source: SqlDatabase, location: string): Promise<AuditResult> =>
  useAndClose(target, (opened) =>
    opened.transaction(async (database) => {
      if (!(await schemaOf(database).isEmpty(database)))
        throw new UserError(`${withoutPassword(location)} already has accounts: expected a database without accounts.`);
      await createSchema(database, () => copyTables(source, database));
      return requireEqual(source, database);
    }),
  );

async function copyTables(source: SqlDatabase, target: SqlDatabase): Promise<void> {
  for (const table of accountTables) {
    const columns = columnList(Object.keys(table.columns));
    for await (const rows of pagesOf(source, table)) {
      const values = rows.map((row) => sql`(${join(Object.keys(table.columns).map((name) => bind(row[name])))})`);
      await target.run(sql`INSERT INTO ${ident(table.name)} (${columns}) VALUES ${join(values)}`);
    }
    if (target.dialect.name === "postgres") await continueIdentity(target, table);
  }
}

const columnList = (names: readonly string[]): Sql => join(names.map((name) => ident(name)));

/** Yields all rows of a table in the order of its primary key. */
async function* pagesOf(source: SqlDatabase, table: AccountTable): AsyncGenerator<readonly Row[]> {
  const primaryKey = primaryKeyOf(table);
  const columns = columnList(Object.keys(table.columns));
  const keys = columnList(primaryKey);
  let last: Row | undefined;
  for (;;) {
    const after = last === undefined ? [] : [sql`(${keys}) > (${join(primaryKey.map((key) => bind(last?.[key])))})`];
    const rows = await source.all(sql`
      SELECT ${columns} FROM ${ident(table.name)} WHERE ${all(after)}
      ORDER BY ${keys} LIMIT ${integerLiteral(pageRows)}`);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = rows.at(-1);
  }
}

const bind = (value: Row[string] | undefined): Sql =>
  sql`${typeof value === "string" || typeof value === "number" ? value : null}`;

/** Lets the numbers of new rows follow those of the copied ones. */
async function continueIdentity(target: SqlDatabase, table: AccountTable): Promise<void> {
  const column = identityColumnOf(table);
  if (column === undefined) return;
  await target.run(sql`
    SELECT setval(pg_get_serial_sequence(${table.name}, ${column}), coalesce(max(${ident(column)}), 1), count(*) > 0)
    FROM   ${ident(table.name)}`);
}

/** Audits a copy. Throws a UserError if it has faults, or other counts or sums than the original. */
async function requireEqual(source: SqlDatabase, target: SqlDatabase): Promise<AuditResult> {
  const result = await audit(target);
  const [fault] = result.faults;
  if (fault !== undefined) throw new UserError(`Copy rolled back, the result fails its audit: ${fault}.`);
  for (const { name, columns } of accountTables) {
    const query = summaryOf(columns, ident(name));
    const before = summaryIn(await source.one(query));
    const after = summaryIn(await target.one(query));
    if (before !== after) throw new UserError(`Copy rolled back, table ${name} has ${after}: expected ${before}.`);
  }
  return result;
}

/** A prime number. Sums are modulo it, so that those of any number of rows are exact. */
const modulus = integerLiteral(1_000_000_007);

/** Returns a query for the number of rows of a table, and the checksum of its columns. */
export function summaryOf(columns: AccountTable["columns"], table: Sql): Sql {
  const sums = Object.entries(columns).map(([column, { type }]) => {
    const value = type === "text" ? sql`length(${ident(column)})` : sql`${ident(column)} % ${modulus}`;
    return sql`coalesce(sum(${value}), 0) % ${modulus}`;
  });
  return sql`SELECT count(*) AS row_count, ${join(sums, sql` + `)} AS checksum FROM ${table}`;
}

const summaryIn = (row: Row | undefined): string =>
  `${integerIn(row, "row_count")} rows with the checksum ${integerIn(row, "checksum")}`;

/** Opens the accounts at the location of `--accounts`: a SQLite file, or a PostgreSQL database if it is a URL. */
import { isPostgresUrl } from "../../db/postgres.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { SqliteOptions } from "../../db/sqlite.ts";
import { createAccountsFile, openAccountsFile, openReadOnly, publishPrices, rewriteHeader } from "./accounts-file.ts";
import { createPostgresAccounts, openPostgresAccounts, rewriteVersion } from "./postgres-accounts.ts";

/** Options of both; `synchronous` is SQLite's, `idleMs`, `replyMs` and `settleMs` are PostgreSQL's. */
export interface OpenAccountsOptions extends SqliteOptions {
  readonly idleMs?: number;
  readonly replyMs?: number;
  readonly settleMs?: number;
}

/** Opens existing accounts of the current schema version. Throws a UserError for any other location. */
export function openAccounts(location: string, options: OpenAccountsOptions): SqlDatabase {
  if (!isPostgresUrl(location)) return openAccountsFile(location, options);
  const database = openPostgresAccounts(location, options);
  publishPrices(database);
  return database;
}

/** Opens accounts; creates them if the file does not exist, or the database has none. */
export function createAccounts(location: string, options: OpenAccountsOptions): SqlDatabase {
  if (!isPostgresUrl(location)) return createAccountsFile(location, options);
  const database = createPostgresAccounts(location, options);
  publishPrices(database);
  return database;
}

export const openAccountsToRead = (location: string, options: OpenAccountsOptions): SqlDatabase =>
  isPostgresUrl(location) ? openPostgresAccounts(location, options) : openReadOnly(location);

/** Proves that accounts can be written, and changes nothing. */
export const assertWritable = (database: SqlDatabase): void =>
  database.dialect.name === "sqlite" ? rewriteHeader(database) : rewriteVersion(database);

/**
 * Schema of the accounts file, a SQLite database, and the functions that open it. `entries` is the ledger: append-only. Triggers derive
 * balances, monthly spending and daily usage from it, so no writer can skip one.
 */
import { UserError } from "../../base/user-error.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { createPrivateFile, SqliteDatabase, type SqliteOptions, syncFile } from "../../db/sqlite.ts";
import { accountTableStatements } from "../account-tables.ts";
import { prices, pricingVersion } from "../policy/prices.ts";
import {
  accountsVersion,
  auditLogTriggers,
  refundTrigger,
  schemaVersionOf,
  usageTrigger,
  wrongVersionError,
} from "./migrations.ts";

const applicationId = 1_668_380_020;

const triggers: readonly Sql[] = [
  sql`CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
      BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END`,
  sql`CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries
      BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END`,
  sql`CREATE TRIGGER confirmations_are_never_changed BEFORE UPDATE ON confirmations
      BEGIN SELECT RAISE(ABORT, 'confirmations are never changed'); END`,
  sql`CREATE TRIGGER confirmations_are_never_removed BEFORE DELETE ON confirmations
      BEGIN SELECT RAISE(ABORT, 'confirmations are never removed'); END`,
  sql`CREATE TRIGGER a_charge_takes_no_balance_below_zero BEFORE INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        SELECT RAISE(ABORT, 'a charge takes no balance below zero')
        FROM   accounts WHERE account_id = NEW.account_id AND balance_micros + NEW.micros < 0;
      END`,
  sql`CREATE TRIGGER a_balance_follows_from_its_entries AFTER INSERT ON entries
      BEGIN
        UPDATE accounts SET balance_micros = balance_micros + NEW.micros WHERE account_id = NEW.account_id;
      END`,
  usageTrigger,
  refundTrigger,
  ...auditLogTriggers,
];

/** Opens an existing accounts file of the current version. Throws a UserError for any other file. */
export function openAccountsFile(path: string, options: SqliteOptions): SqliteDatabase {
  const database = requireCurrentVersion(path, SqliteDatabase.open(path, options));
  publishPrices(database);
  return database;
}

/** Opens an accounts file read-only, a backup or the live one. Throws a UserError for any other file. */
export function openReadOnly(path: string): SqliteDatabase {
  return requireCurrentVersion(path, SqliteDatabase.openToRead(path));
}

export function openAnyVersion(path: string, options: SqliteOptions): SqliteDatabase {
  return requireAccountsFile(path, SqliteDatabase.open(path, options));
}

/** Returns the database, or closes it and throws a UserError if it is not an accounts file of the current version. */
function requireCurrentVersion(path: string, database: SqliteDatabase): SqliteDatabase {
  const version = schemaVersionOf(requireAccountsFile(path, database));
  if (version === accountsVersion) return database;
  database.close();
  throw wrongVersionError(path, version);
}

/** Returns the database, or closes it and throws a UserError if it is not an accounts file. */
function requireAccountsFile(path: string, database: SqliteDatabase): SqliteDatabase {
  const { application_id: application } = database.one(sql`PRAGMA application_id`) ?? {};
  if (application === applicationId) return database;
  database.close();
  throw new UserError(`${path}: Not an accounts file: expected a file created by "carquet accounts create".`);
}

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export function createSchema(database: SqliteDatabase, fill: () => void = () => undefined): void {
  database.run(sql`PRAGMA application_id = ${integerLiteral(applicationId)}`);
  database.run(sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`);
  for (const statement of accountTableStatements("sqlite")) database.run(statement);
  fill();
  for (const statement of triggers) database.run(statement);
}

/** Opens an accounts file; creates it with the current schema if it does not exist. */
export function createAccountsFile(path: string, options: SqliteOptions): SqliteDatabase {
  createPrivateFile(path);
  const database = SqliteDatabase.open(path, options);
  try {
    database.transaction(() => {
      if (database.all(sql`SELECT name FROM sqlite_schema LIMIT 1`).length > 0) return;
      createSchema(database);
    });
  } finally {
    database.close();
  }
  syncFile(path);
  return openAccountsFile(path, options);
}

/** Writes a value of the file's header again: proves that the file can be written, and changes nothing. */
export function rewriteHeader(database: SqlDatabase): void {
  database.run(sql`PRAGMA application_id = ${integerLiteral(applicationId)}`);
}

/** Inserts the price list of this release if it is missing. Earlier price lists stay, because charges refer to them. */
export function publishPrices(database: SqlDatabase): void {
  const currentPrices = database.all(sql`SELECT price FROM prices WHERE pricing_version = ${pricingVersion}`);
  if (currentPrices.length > 0) return;
  database.transaction(() => {
    for (const [usageClass, micros] of Object.entries(prices))
      database.run(sql`
        INSERT INTO prices (pricing_version, usage_class, micros) VALUES (${pricingVersion}, ${usageClass}, ${micros})
        ON CONFLICT DO NOTHING`);
  });
}

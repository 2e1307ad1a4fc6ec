/**
 * Schema of the accounts file, a SQLite database, and the functions that open it. `entries` is the ledger: append-only. Triggers derive
 * balances and daily usage from it, so no writer can skip one. `PRAGMA user_version` is the version of the schema.
 */
import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { openSharedSqlite, openSqliteToRead, type SharedSqliteOptions } from "../../db/shared-sqlite.ts";
import { integerLiteral, literal, plainIdent, type Sql, sql } from "../../db/sql.ts";
import { checked, type SqlDatabase, sqliteDialect, useAndClose } from "../../db/sql-database.ts";
import { createPrivateFile } from "../../db/sqlite.ts";
import { applyRefunds } from "../ledger/ledger.ts";
import { spentIn } from "../ledger/usage.ts";
import { accountsVersion, accountTableStatements, requireAccountsVersion } from "./account-tables.ts";

const applicationId = 1_668_380_020;

const newEntry = sql`(SELECT NEW.account_id AS account_id, NEW.kind AS kind, NEW.micros AS micros, NEW.reference AS reference)`;

const appendOnly = (table: string, rows: string): readonly Sql[] =>
  Object.entries({ changed: sql`UPDATE`, removed: sql`DELETE` }).map(([done, operation]) => {
    const name = plainIdent(`${rows.replace(" ", "_")}_are_never_${done}`);
    return sql`CREATE TRIGGER ${name} BEFORE ${operation} ON ${plainIdent(table)}
      BEGIN SELECT RAISE(ABORT, ${literal(`${rows} are never ${done}`)}); END`;
  });

const triggers: readonly Sql[] = [
  ...appendOnly("entries", "entries"),
  ...appendOnly("confirmations", "confirmations"),
  ...appendOnly("audit_log", "audit records"),
  sql`CREATE TRIGGER a_charge_is_covered BEFORE INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        SELECT CASE WHEN balance_micros + NEW.micros < 0 THEN RAISE(ABORT, 'a charge takes no balance below zero')
                    WHEN state = 'suspended' THEN RAISE(ABORT, 'a suspended account is not charged')
                    WHEN cap_micros IS NOT NULL AND ${spentIn(sqliteDialect.monthOf(sql`NEW.at_ms`))} - NEW.micros > cap_micros
                    THEN RAISE(ABORT, 'a charge stays within the spend cap') END
        FROM   accounts WHERE account_id = NEW.account_id;
      END`,
  sql`CREATE TRIGGER a_balance_follows_from_its_entries AFTER INSERT ON entries
      BEGIN
        UPDATE accounts SET balance_micros = balance_micros + NEW.micros WHERE account_id = NEW.account_id;
      END`,
  // The entries of a day's charges lie between `first_entry` and `last_entry` of its row. Unlike an index over the entries of an account, which
  // costs half as much as posting a charge, they are in a row that each charge updates anyway.
  sql`CREATE TRIGGER usage_follows_from_charges AFTER INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        INSERT INTO usage_days
        SELECT NEW.account_id, date(NEW.at_ms / 1000, 'unixepoch'), usage_class, 1, -NEW.micros, NEW.entry, NEW.entry
        FROM   prices WHERE price = NEW.price
        ON CONFLICT DO UPDATE SET requests = requests + 1, charged_micros = charged_micros + excluded.charged_micros,
                                  last_entry = excluded.last_entry;
      END`,
  // A refunded charge counts neither as spending nor as usage.
  sql`CREATE TRIGGER usage_follows_from_refunds AFTER INSERT ON entries
      WHEN NEW.kind = 'adjustment' AND NEW.reference IS NOT NULL
      BEGIN
        ${applyRefunds(sqliteDialect, newEntry)};
      END`,
];

/** Opens an existing accounts file of the current version. Throws a UserError for any other file. */
export const openAccountsFile = async (path: string, options: SharedSqliteOptions): Promise<SqlDatabase> =>
  requireCurrentVersion(path, openSharedSqlite(path, options));

/** Opens an accounts file read-only, a backup or the live one. Throws a UserError for any other file. */
export const openReadOnly = async (path: string): Promise<SqlDatabase> =>
  requireCurrentVersion(path, openSqliteToRead(path));

/** Returns the database, or closes it and throws a UserError if it is not an accounts file of the current version. */
const requireCurrentVersion = (path: string, opened: SqlDatabase): Promise<SqlDatabase> =>
  checked(opened, async (database) => {
    if (integerIn(await database.one(sql`PRAGMA application_id`), "application_id") !== applicationId)
      throw new UserError(`${path}: Not an accounts file: expected a file created by "carquet accounts create".`);
    requireAccountsVersion(path, integerIn(await database.one(sql`PRAGMA user_version`), "user_version"));
  });

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export async function createSchema(database: SqlDatabase, fill = async (): Promise<void> => undefined): Promise<void> {
  await database.run(sql`PRAGMA application_id = ${integerLiteral(applicationId)}`);
  await database.run(sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`);
  for (const statement of accountTableStatements("sqlite")) await database.run(statement);
  await fill();
  for (const statement of triggers) await database.run(statement);
}

/**
 * Opens an accounts file; creates it with the current schema if it does not exist. SQLite syncs what it writes: another descriptor of the file would
 * release, when it is closed, the locks of all connections of this process, and other processes would then delete the write-ahead log that is in use.
 */
export async function createAccountsFile(path: string, options: SharedSqliteOptions): Promise<SqlDatabase> {
  createPrivateFile(path);
  const { busyMs } = options;
  await useAndClose(Promise.resolve(openSharedSqlite(path, { busyMs })), (opened) =>
    opened.transaction(async (database) => {
      if ((await database.one(sql`SELECT name FROM sqlite_schema LIMIT 1`)) === undefined) await createSchema(database);
    }),
  );
  return openAccountsFile(path, options);
}

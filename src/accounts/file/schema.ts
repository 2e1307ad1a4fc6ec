/**
 * Schema of the accounts file, a SQLite database, and the functions that open it. `entries` is the ledger: append-only. Triggers derive
 * balances, monthly spending and daily usage from it, so no writer can skip one. Amounts are micros; times are Unix milliseconds.
 */
import { UserError } from "../../base/user-error.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { makeFile, SqliteDatabase, type SqliteOptions, syncFile } from "../../db/sqlite.ts";
import { prices, pricingVersion } from "../policy/prices.ts";
import { accountsVersion, schemaVersionOf, wrongVersion } from "./migrations.ts";
import { auditLogTriggers, signInTables, usageTrigger } from "./version-3-schema.ts";
import { oauthTables } from "./version-4-schema.ts";

/** SQLite's `application_id` of accounts files. */
const applicationId = 1_668_380_020;

const tables: readonly Sql[] = [
  sql`PRAGMA application_id = 1668380020`,
  sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`,

  sql`CREATE TABLE accounts (
        account_id     TEXT PRIMARY KEY,
        email          TEXT NOT NULL,
        created_at_ms  INTEGER NOT NULL,
        tier           INTEGER NOT NULL CHECK (tier BETWEEN 1 AND 4),
        state          TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
        balance_micros INTEGER NOT NULL DEFAULT 0 CHECK (abs(balance_micros) <= 9007199254740991),
        low_micros     INTEGER NOT NULL CHECK (low_micros >= 0),
        cap_micros     INTEGER CHECK (cap_micros >= 0),
        per_10s        INTEGER CHECK (per_10s >= 0),
        per_60s        INTEGER CHECK (per_60s >= 0),
        is_operator    INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1)),
        CHECK ((per_10s IS NULL) = (per_60s IS NULL))
      ) STRICT`,
  sql`CREATE TABLE keys (
        key_id        TEXT PRIMARY KEY,
        account_id    TEXT NOT NULL REFERENCES accounts,
        sha256        TEXT NOT NULL CHECK (length(sha256) = 64),
        scopes        TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        revoked_at_ms INTEGER,
        name          TEXT NOT NULL DEFAULT '',
        is_web        INTEGER NOT NULL DEFAULT 0 CHECK (is_web IN (0, 1)),
        client_id     TEXT
      ) STRICT`,
  sql`CREATE INDEX keys_by_account ON keys (account_id)`,
  sql`CREATE TABLE prices (
        price           INTEGER PRIMARY KEY,
        pricing_version TEXT NOT NULL,
        usage_class     TEXT NOT NULL,
        micros          INTEGER NOT NULL CHECK (micros > 0),
        UNIQUE (pricing_version, usage_class)
      ) STRICT`,
  sql`CREATE TABLE entries (
        entry      INTEGER PRIMARY KEY,
        entry_id   TEXT NOT NULL UNIQUE,
        account_id TEXT NOT NULL REFERENCES accounts,
        kind       TEXT NOT NULL,
        micros     INTEGER NOT NULL,
        at_ms      INTEGER NOT NULL,
        price      INTEGER REFERENCES prices,
        key_id     TEXT REFERENCES keys,
        credit_id  TEXT REFERENCES entries (entry_id),
        reference  TEXT UNIQUE,
        note       TEXT,
        CHECK (CASE kind WHEN 'paid'                THEN micros > 0
                         WHEN 'promotional'         THEN micros > 0
                         WHEN 'charge'              THEN micros < 0 AND price IS NOT NULL AND key_id IS NOT NULL
                         WHEN 'adjustment'          THEN micros <> 0
                         WHEN 'chargeback_reversal' THEN micros < 0 AND credit_id IS NOT NULL
                         ELSE false END)
      ) STRICT`,
  sql`CREATE INDEX entries_beside_charges ON entries (account_id, entry) WHERE kind <> 'charge'`,
  sql`CREATE UNIQUE INDEX one_reversal_of_a_credit ON entries (credit_id) WHERE kind = 'chargeback_reversal'`,
  sql`CREATE TABLE idempotency_keys (
        account_id      TEXT NOT NULL REFERENCES accounts,
        idempotency_key TEXT NOT NULL,
        sha256          TEXT NOT NULL CHECK (length(sha256) = 64),
        charge_id       TEXT NOT NULL REFERENCES entries (entry_id),
        at_ms           INTEGER NOT NULL,
        PRIMARY KEY (account_id, idempotency_key)
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX idempotency_keys_by_time ON idempotency_keys (at_ms)`,
  sql`CREATE TABLE confirmations (
        credit_id TEXT PRIMARY KEY REFERENCES entries (entry_id),
        at_ms     INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE spending (
        account_id TEXT NOT NULL REFERENCES accounts,
        month      TEXT NOT NULL,
        micros     INTEGER NOT NULL,
        PRIMARY KEY (account_id, month)
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE usage_days (
        account_id     TEXT NOT NULL REFERENCES accounts,
        day            TEXT NOT NULL,
        usage_class    TEXT NOT NULL,
        requests       INTEGER NOT NULL,
        charged_micros INTEGER NOT NULL,
        first_entry    INTEGER NOT NULL DEFAULT 0,
        last_entry     INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (account_id, day, usage_class)
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE reviews (
        review      INTEGER PRIMARY KEY,
        account_id  TEXT NOT NULL REFERENCES accounts,
        day         TEXT NOT NULL,
        from_tier   INTEGER NOT NULL,
        to_tier     INTEGER NOT NULL,
        outcome     TEXT NOT NULL CHECK (outcome IN ('automatic', 'queued', 'approved', 'declined')),
        decided_day TEXT
      ) STRICT`,
  sql`CREATE UNIQUE INDEX one_queued_review_of_an_account ON reviews (account_id) WHERE outcome = 'queued'`,
  sql`CREATE TABLE reviewed_days (day TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,
  ...signInTables,
  ...oauthTables,
];

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

/** Opens an accounts file of any version, to migrate it. */
export function openAnyVersion(path: string, options: SqliteOptions): SqliteDatabase {
  return requireAccountsFile(path, SqliteDatabase.open(path, options));
}

/** Returns the database, or closes it and throws a UserError if it is not an accounts file of the current version. */
function requireCurrentVersion(path: string, database: SqliteDatabase): SqliteDatabase {
  const version = schemaVersionOf(requireAccountsFile(path, database));
  if (version === accountsVersion) return database;
  database.close();
  throw wrongVersion(path, version);
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
  for (const statement of tables) database.run(statement);
  fill();
  for (const statement of triggers) database.run(statement);
}

/** Opens an accounts file; creates it with the current schema if it does not exist. */
export function createAccountsFile(path: string, options: SqliteOptions): SqliteDatabase {
  makeFile(path);
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

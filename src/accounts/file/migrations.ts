/**
 * Schema migrations of the accounts file. `PRAGMA user_version` is the schema version; each step leads from one version to the next.
 *
 * To change the schema: change `account-tables.ts`, which new files are created from, and append a step here that changes existing files the
 * same way. A test compares the two. Released steps are never edited.
 */

import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { sqliteDialect } from "../../db/sql-database.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { applyRefunds } from "../ledger/refunds.ts";

/** The statements that migrate a file from the previous version to version `to`. */
export interface Migration {
  readonly to: number;
  readonly statements: readonly Sql[];
}

const firstVersion = 1;

/** Added by version 3. */
const signInTables: readonly Sql[] = [
  sql`CREATE INDEX accounts_by_email ON accounts (lower(email))`,
  sql`CREATE UNIQUE INDEX one_web_key_of_an_account ON keys (account_id) WHERE is_web = 1 AND revoked_at_ms IS NULL`,
  sql`CREATE TABLE key_uses (
        key_id          TEXT PRIMARY KEY REFERENCES keys,
        last_used_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE passwords (
        account_id    TEXT PRIMARY KEY REFERENCES accounts,
        hash          TEXT NOT NULL,
        changed_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE one_time_links (
        sha256        TEXT PRIMARY KEY CHECK (length(sha256) = 64),
        account_id    TEXT NOT NULL REFERENCES accounts,
        kind          TEXT NOT NULL CHECK (kind IN ('invitation', 'sign_in')),
        expires_at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE UNIQUE INDEX one_link_of_a_kind ON one_time_links (account_id, kind)`,
  sql`CREATE TABLE sessions (
        sha256        TEXT PRIMARY KEY CHECK (length(sha256) = 64),
        account_id    TEXT NOT NULL REFERENCES accounts,
        key_id        TEXT NOT NULL REFERENCES keys,
        created_at_ms INTEGER NOT NULL,
        seen_at_ms    INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX sessions_by_account ON sessions (account_id)`,
  sql`CREATE TABLE audit_log (
        record     INTEGER PRIMARY KEY,
        at_ms      INTEGER NOT NULL,
        actor      TEXT NOT NULL,
        action     TEXT NOT NULL,
        account_id TEXT REFERENCES accounts,
        details    TEXT NOT NULL
      ) STRICT`,
  sql`CREATE INDEX audit_log_by_account ON audit_log (account_id, record)`,
];

/** Added by version 3. */
export const auditLogTriggers: readonly Sql[] = [
  sql`CREATE TRIGGER audit_records_are_never_changed BEFORE UPDATE ON audit_log
      BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END`,
  sql`CREATE TRIGGER audit_records_are_never_removed BEFORE DELETE ON audit_log
      BEGIN SELECT RAISE(ABORT, 'audit records are never removed'); END`,
];

/**
 * Added by version 3. The entries of a day's charges lie between `first_entry` and `last_entry` of its row. Unlike an index over the entries of an account,
 * which costs half as much as posting a charge, they are in a row that each charge updates anyway.
 */
export const usageTrigger: Sql = sql`CREATE TRIGGER usage_follows_from_charges AFTER INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        INSERT INTO spending VALUES (NEW.account_id, strftime('%Y-%m', NEW.at_ms / 1000, 'unixepoch'), -NEW.micros)
        ON CONFLICT DO UPDATE SET micros = micros + excluded.micros;
        INSERT INTO usage_days
        SELECT NEW.account_id, date(NEW.at_ms / 1000, 'unixepoch'), usage_class, 1, -NEW.micros, NEW.entry, NEW.entry
        FROM   prices WHERE price = NEW.price
        ON CONFLICT DO UPDATE SET requests = requests + 1, charged_micros = charged_micros + excluded.charged_micros,
                                  last_entry = excluded.last_entry;
      END`;

const newEntry = sql`(SELECT NEW.account_id AS account_id, NEW.kind AS kind, NEW.micros AS micros, NEW.reference AS reference)`;

/** Added by version 6: a refunded charge counts neither as spending nor as usage. */
export const refundTrigger: Sql = sql`CREATE TRIGGER usage_follows_from_refunds AFTER INSERT ON entries
      WHEN NEW.kind = 'adjustment' AND NEW.reference IS NOT NULL
      BEGIN
        ${join(applyRefunds(sqliteDialect, newEntry), sql`;\n        `)};
      END`;

/** Added by version 4: registered clients, authorization requests, codes and tokens. Their ids are secrets, so that only hashes of them are stored. */
const oauthTables: readonly Sql[] = [
  sql`CREATE TABLE oauth_state (
        kind           TEXT NOT NULL,
        sha256         TEXT NOT NULL CHECK (length(sha256) = 64),
        key_id         TEXT REFERENCES keys,
        expires_at_ms  INTEGER NOT NULL,
        consumed_at_ms INTEGER,
        content        TEXT NOT NULL CHECK (json_valid(content)),
        PRIMARY KEY (kind, sha256)
      ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX oauth_state_by_expiry ON oauth_state (expires_at_ms)`,
  sql`CREATE INDEX oauth_state_by_key ON oauth_state (key_id) WHERE key_id IS NOT NULL`,
];

/** Added by version 5. */
const savedSearches: readonly Sql[] = [
  sql`CREATE TABLE saved_searches (
        search_id     TEXT PRIMARY KEY,
        account_id    TEXT NOT NULL REFERENCES accounts,
        key_id        TEXT NOT NULL REFERENCES keys,
        name          TEXT NOT NULL,
        query         TEXT NOT NULL,
        url           TEXT,
        secret        TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        since         TEXT NOT NULL,
        target        TEXT,
        page_cursor   TEXT,
        stopped       TEXT,
        attempts      INTEGER NOT NULL DEFAULT 0,
        next_at_ms    INTEGER NOT NULL,
        messages      INTEGER NOT NULL DEFAULT 0,
        last_at_ms    INTEGER,
        last_outcome  TEXT
      ) STRICT`,
  sql`CREATE INDEX saved_searches_by_account ON saved_searches (account_id)`,
];

/** All migrations since the first release, in order. */
export const migrations: readonly Migration[] = [
  {
    to: 2,
    statements: [
      sql`CREATE TABLE idempotency_keys (
        account_id      TEXT NOT NULL REFERENCES accounts,
        idempotency_key TEXT NOT NULL,
        sha256          TEXT NOT NULL CHECK (length(sha256) = 64),
        charge_id       TEXT NOT NULL REFERENCES entries (entry_id),
        at_ms           INTEGER NOT NULL,
        PRIMARY KEY (account_id, idempotency_key)
      ) STRICT, WITHOUT ROWID`,
      sql`CREATE INDEX idempotency_keys_by_time ON idempotency_keys (at_ms)`,
    ],
  },
  {
    to: 3,
    statements: [
      sql`ALTER TABLE accounts ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1))`,
      sql`ALTER TABLE keys ADD COLUMN name TEXT NOT NULL DEFAULT ''`,
      sql`ALTER TABLE keys ADD COLUMN is_web INTEGER NOT NULL DEFAULT 0 CHECK (is_web IN (0, 1))`,
      sql`ALTER TABLE usage_days ADD COLUMN first_entry INTEGER NOT NULL DEFAULT 0`,
      sql`ALTER TABLE usage_days ADD COLUMN last_entry INTEGER NOT NULL DEFAULT 0`,
      sql`UPDATE usage_days SET first_entry = charges.first_entry, last_entry = charges.last_entry
          FROM (SELECT account_id, date(at_ms / 1000, 'unixepoch') AS day, usage_class, min(entry) AS first_entry,
                       max(entry) AS last_entry
                FROM   entries JOIN prices USING (price) WHERE kind = 'charge' GROUP BY 1, 2, 3) AS charges
          WHERE charges.account_id = usage_days.account_id AND charges.day = usage_days.day
                AND charges.usage_class = usage_days.usage_class`,
      sql`DROP TRIGGER usage_follows_from_charges`,
      usageTrigger,
      ...signInTables,
      ...auditLogTriggers,
    ],
  },
  { to: 4, statements: [sql`ALTER TABLE keys ADD COLUMN client_id TEXT`, ...oauthTables] },
  { to: 5, statements: savedSearches },
  { to: 6, statements: [refundTrigger, ...applyRefunds(sqliteDialect, sql`entries`)] },
];

export const versionAfter = (steps: readonly Migration[]): number => steps.at(-1)?.to ?? firstVersion;

export const accountsVersion = versionAfter(migrations);

export const schemaVersionOf = (database: SqliteDatabase): number =>
  integerIn(database.one(sql`PRAGMA user_version`), "user_version");

/**
 * Applies all steps above the version of the file, in one transaction. Runs `check` before the commit; an error rolls back. Throws a
 * UserError if no step starts from the file's version.
 */
export function applyMigrations(
  database: SqliteDatabase,
  steps: readonly Migration[] = migrations,
  check: () => void = () => {},
): void {
  database.transaction(() => {
    const version = schemaVersionOf(database);
    requireSchemaVersion(version, steps);
    for (const { to, statements } of steps.filter((step) => step.to > version)) {
      for (const statement of statements) database.run(statement);
      database.run(sql`PRAGMA user_version = ${integerLiteral(to)}`);
    }
    check();
  });
}

export const wrongVersionError = (location: string, version: number): UserError =>
  new UserError(
    version > accountsVersion
      ? `${location}: Accounts file version ${version} is too new: expected at most ${accountsVersion}. Use a newer release of carquet.`
      : `${location}: Accounts file version ${version} is too old: expected ${accountsVersion}. Run carquet migrate --accounts ${location}.`,
  );

/** Throws a UserError if a schema version is not one that the steps start from or lead to. */
export function requireSchemaVersion(version: number, steps: readonly Migration[]): void {
  const newest = versionAfter(steps);
  if (version > newest)
    throw new UserError(
      `Accounts file version ${version} is too new: expected at most ${newest}. Use a newer release of carquet.`,
    );
  if (version < firstVersion)
    throw new UserError(`Invalid accounts file version ${version}: expected ${firstVersion} to ${newest}.`);
}

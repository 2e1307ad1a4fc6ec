/**
 * What version 3 of the accounts file has added: sign-in, sessions, uses of keys, the audit log, and where an account's charges of a day
 * are. The migration creates all of it, new files the triggers; a later version copies what it changes.
 */
import { type Sql, sql } from "../../db/sql.ts";

export const signInTables: readonly Sql[] = [
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

export const auditLogTriggers: readonly Sql[] = [
  sql`CREATE TRIGGER audit_records_are_never_changed BEFORE UPDATE ON audit_log
      BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END`,
  sql`CREATE TRIGGER audit_records_are_never_removed BEFORE DELETE ON audit_log
      BEGIN SELECT RAISE(ABORT, 'audit records are never removed'); END`,
];

/**
 * The entries of a day's charges lie between `first_entry` and `last_entry` of its row. Unlike an index over the entries of an account,
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

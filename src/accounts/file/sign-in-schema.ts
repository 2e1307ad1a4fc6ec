/** Tables of the accounts file since version 3: sign-in, sessions, uses of keys, and the audit log. */
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

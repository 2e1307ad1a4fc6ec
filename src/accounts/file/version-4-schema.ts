/** What version 4 of the accounts file has added: the state of the authorization server. */
import { type Sql, sql } from "../../db/sql.ts";

/** Registered clients, authorization requests, codes and tokens. Their ids are secrets, so that only hashes of them are stored. */
export const oauthTables: readonly Sql[] = [
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

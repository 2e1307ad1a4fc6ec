/**
 * The `sessions` table: signed-in browsers. A session ends 12 hours after its last request and 30 days after its start, when its account
 * signs out or changes its password, and when its key is revoked: pages are charged to a key of the account.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { webKeyOf } from "../keys/keys.ts";

const [idleMs, absoluteMs] = [12 * 3_600_000, 30 * 86_400_000];

/** How exactly the time of a session's last request is known. */
export const seenResolutionMs = 60_000;

export interface SessionRecord {
  readonly accountId: string;
  readonly email: string;
  readonly isOperator: boolean;
  /** The key that pays for pages. */
  readonly keyId: string;
  readonly seenAtMs: number;
}

/** The condition that a session has not expired. */
const isCurrent = (atMs: number): Sql =>
  sql`seen_at_ms > ${atMs - idleMs} AND sessions.created_at_ms > ${atMs - absoluteMs}`;

/** Inserts a session of an account. Throws a UserError if the account is unknown. */
export function insertSession(
  database: SqlDatabase,
  { accountId, sha256, atMs }: { readonly accountId: string; readonly sha256: string; readonly atMs: number },
): void {
  const keyId = webKeyOf(database, accountId, atMs);
  database.run(sql`
    INSERT INTO sessions (sha256, account_id, key_id, created_at_ms, seen_at_ms)
    VALUES (${sha256}, ${accountId}, ${keyId}, ${atMs}, ${atMs})`);
}

export function findSession(database: SqlDatabase, sha256: string, atMs: number): SessionRecord | null {
  const row = database.one(sql`
    SELECT sessions.account_id, email, is_operator, key_id, seen_at_ms
    FROM   sessions JOIN accounts ON accounts.account_id = sessions.account_id JOIN keys USING (key_id)
    WHERE  sessions.sha256 = ${sha256} AND revoked_at_ms IS NULL AND ${isCurrent(atMs)}`);
  if (row === undefined) return null;
  return {
    accountId: textIn(row, "account_id"),
    email: textIn(row, "email"),
    isOperator: integerIn(row, "is_operator") === 1,
    keyId: textIn(row, "key_id"),
    seenAtMs: integerIn(row, "seen_at_ms"),
  };
}

export function touchSession(database: SqlDatabase, sha256: string, atMs: number): void {
  database.run(sql`UPDATE sessions SET seen_at_ms = ${atMs} WHERE sha256 = ${sha256} AND seen_at_ms < ${atMs}`);
}

export function endSession(database: SqlDatabase, sha256: string): void {
  database.run(sql`DELETE FROM sessions WHERE sha256 = ${sha256}`);
}

export function endSessionsOf(database: SqlDatabase, accountId: string): void {
  database.run(sql`DELETE FROM sessions WHERE account_id = ${accountId}`);
}

export function purgeSessions(database: SqlDatabase, atMs: number): void {
  database.run(sql`DELETE FROM sessions WHERE NOT (${isCurrent(atMs)})`);
  database.run(sql`DELETE FROM one_time_links WHERE expires_at_ms <= ${atMs}`);
}

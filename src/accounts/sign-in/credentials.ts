/** The `passwords` table, and the names under which account holders sign in. */
import { textIn } from "../../base/json.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { deleteLinksOf } from "./one-time-links.ts";
import { endSessionsOf } from "./session-table.ts";

export interface Credentials {
  readonly accountId: string;
  readonly hash: string;
}

/**
 * Returns the credentials of a sign-in name: an account id, or an email address that only one account with a password has. Returns null
 * for any other name.
 */
export function findCredentials(database: SqlDatabase, name: string): Credentials | null {
  const rows = database.all(sql`
    SELECT account_id, hash FROM passwords JOIN accounts USING (account_id)
    WHERE  account_id = ${name} OR lower(email) = lower(${name}) LIMIT 2`);
  const [row] = rows;
  return row === undefined || rows.length > 1
    ? null
    : { accountId: textIn(row, "account_id"), hash: textIn(row, "hash") };
}

/** Sets the password of an account, ends its sessions, and deletes its one-time links. */
export function setPassword(database: SqlDatabase, { accountId, hash }: Credentials, atMs: number): void {
  database.run(sql`
    INSERT INTO passwords (account_id, hash, changed_at_ms) VALUES (${accountId}, ${hash}, ${atMs})
    ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at_ms = excluded.changed_at_ms`);
  endSessionsOf(database, accountId);
  deleteLinksOf(database, accountId);
}

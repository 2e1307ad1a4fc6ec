/** The keys of accounts: made, listed, revoked, and looked up when one is presented. */

import { integerIn, type Row, textIn } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { sql } from "../db/sql.ts";
import type { SqliteDatabase } from "../db/sqlite.ts";
import { type Account, accountAt } from "./account.ts";
import { generateApiKey } from "./api-key.ts";

/** What a key can be for (section 5 of the specification). */
export const scopes = ["inventory.read", "dealers.read", "usage.read"] as const;
export type ApiScope = (typeof scopes)[number];

export interface ApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly scopes: readonly ApiScope[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

/** A key that is valid, what is kept of its secret, and the account that it belongs to. */
export interface PresentedKey {
  readonly key: ApiKey;
  readonly sha256: string;
  readonly account: Account;
}

/** Makes a key of an account. The secret is in the answer and nowhere else. */
export function createKey(
  database: SqliteDatabase,
  {
    accountId,
    scopes: granted,
    atMs,
  }: { readonly accountId: string; readonly scopes: readonly ApiScope[]; readonly atMs: number },
): { readonly key: string; readonly keyId: string } {
  const { key, keyId, sha256 } = generateApiKey();
  if (database.one(sql`SELECT 1 FROM accounts WHERE account_id = ${accountId}`) === undefined)
    throw new UserError(`there is no account ${accountId}.`);
  database.run(sql`
    INSERT INTO keys (key_id, account_id, sha256, scopes, created_at_ms)
    VALUES (${keyId}, ${accountId}, ${sha256}, ${granted.join()}, ${atMs})`);
  return { key, keyId };
}

/** The keys of an account, the oldest first; revoked ones too. */
export function listKeys(database: SqliteDatabase, accountId: string): readonly ApiKey[] {
  return database
    .all(sql`SELECT * FROM keys WHERE account_id = ${accountId} ORDER BY created_at_ms, key_id`)
    .map(keyOf);
}

/** Revokes a key; one that is revoked already stays so. */
export function revokeKey(database: SqliteDatabase, keyId: string, atMs: number): void {
  const changed = database.run(
    sql`UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, ${atMs}) WHERE key_id = ${keyId}`,
  );
  if (changed === 0) throw new UserError(`there is no key ${keyId}.`);
}

/** What there is under a key's id, unless it is revoked; with the account's spending of a UTC month. */
export function findPresentedKey(database: SqliteDatabase, keyId: string, month: string): PresentedKey | null {
  const row = database.one(sql`SELECT * FROM keys WHERE key_id = ${keyId} AND revoked_at_ms IS NULL`);
  if (row === undefined) return null;
  const key = keyOf(row);
  return { key, sha256: textIn(row, "sha256"), account: accountAt(database, key.accountId, month) };
}

function keyOf(row: Row): ApiKey {
  const granted = textIn(row, "scopes").split(",");
  return {
    keyId: textIn(row, "key_id"),
    accountId: textIn(row, "account_id"),
    scopes: scopes.filter((scope) => granted.includes(scope)),
    createdAtMs: integerIn(row, "created_at_ms"),
    revokedAtMs: row.revoked_at_ms === null ? null : integerIn(row, "revoked_at_ms"),
  };
}

/** The `keys` table: creates, lists, revokes and looks up API keys. It stores a hash of each secret, never the secret. */

import { integerIn, type Row, textIn } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { sql } from "../db/sql.ts";
import type { SqliteDatabase } from "../db/sqlite.ts";
import { type Account, getAccount, unknownAccount } from "./account.ts";
import { generateApiKey } from "./api-key.ts";

/** The scopes of a key that is created without any. A single export can cost as much as thousands of pages, so its scope is granted by name. */
export const defaultScopes = ["inventory.read", "dealers.read", "usage.read"] as const;
/** The scopes that a key can have. `schemas/openapi.yaml` names the scope that each operation needs. */
export const scopes = [...defaultScopes, "export.read"] as const;
export type ApiScope = (typeof scopes)[number];

export interface ApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly scopes: readonly ApiScope[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

/** A key that is not revoked, the SHA-256 of its secret in hex, and its account. */
export interface ActiveKey {
  readonly key: ApiKey;
  readonly sha256: string;
  readonly account: Account;
}

/** Creates a key. Returns it with its secret, which cannot be read again. Throws a UserError if the account is unknown. */
export function createKey(
  database: SqliteDatabase,
  {
    accountId,
    scopes: grantedScopes,
    atMs,
  }: { readonly accountId: string; readonly scopes: readonly ApiScope[]; readonly atMs: number },
): { readonly key: string; readonly keyId: string } {
  const { key, keyId, sha256 } = generateApiKey();
  if (database.one(sql`SELECT 1 FROM accounts WHERE account_id = ${accountId}`) === undefined)
    throw unknownAccount(accountId);
  database.run(sql`
    INSERT INTO keys (key_id, account_id, sha256, scopes, created_at_ms)
    VALUES (${keyId}, ${accountId}, ${sha256}, ${grantedScopes.join()}, ${atMs})`);
  return { key, keyId };
}

/** Returns the keys of an account, oldest first, including revoked ones. */
export function listKeys(database: SqliteDatabase, accountId: string): readonly ApiKey[] {
  return database
    .all(sql`SELECT * FROM keys WHERE account_id = ${accountId} ORDER BY created_at_ms, key_id`)
    .map(keyFromRow);
}

/** Revokes a key permanently. Idempotent: the first revocation time stays. Throws a UserError if the id is unknown. */
export function revokeKey(database: SqliteDatabase, keyId: string, atMs: number): void {
  const updatedRows = database.run(
    sql`UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, ${atMs}) WHERE key_id = ${keyId}`,
  );
  if (updatedRows === 0) throw new UserError(`Unknown key ${keyId}: expected a key id listed by "carquet keys list".`);
}

/** Returns an active key with its account's spending in a UTC month, or null if the key is unknown or revoked. */
export function findActiveKey(database: SqliteDatabase, keyId: string, month: string): ActiveKey | null {
  const row = database.one(sql`SELECT * FROM keys WHERE key_id = ${keyId} AND revoked_at_ms IS NULL`);
  if (row === undefined) return null;
  const key = keyFromRow(row);
  return { key, sha256: textIn(row, "sha256"), account: getAccount(database, key.accountId, month) };
}

function keyFromRow(row: Row): ApiKey {
  const grantedScopes = textIn(row, "scopes").split(",");
  return {
    keyId: textIn(row, "key_id"),
    accountId: textIn(row, "account_id"),
    scopes: scopes.filter((scope) => grantedScopes.includes(scope)),
    createdAtMs: integerIn(row, "created_at_ms"),
    revokedAtMs: row.revoked_at_ms === null ? null : integerIn(row, "revoked_at_ms"),
  };
}

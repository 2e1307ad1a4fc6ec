/** The `keys` table: creates, lists, revokes and looks up API keys. It stores a hash of each secret, never the secret. */
import { integerIn, integerOrNullIn, type Row, textIn, textOrNullIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { flagIn, insertInto, rowReader } from "../../db/row-reader.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type Account, changeAccount, createAccount, getAccount, lockAccount } from "../account.ts";
import { generateApiKey } from "./api-key.ts";

/** The scopes of a key that is created without any. A single export or SQL statement can cost as much as thousands of pages, so their scopes are granted by name. */
export const defaultScopes = ["inventory.read", "dealers.read", "usage.read"] as const;
export const scopes = [...defaultScopes, "export.read", "sql.read"] as const;
export type ApiScope = (typeof scopes)[number];

const keyColumns = {
  keyId: textIn,
  accountId: textIn,
  scopes: scopesIn,
  createdAtMs: integerIn,
  revokedAtMs: integerOrNullIn,
  /** A label from its creator; empty by default. */
  name: textIn,
  /** True for the key that pages are charged to. Its secret is not kept. */
  isWeb: flagIn,
  /** The OAuth client that uses the key by access tokens; null for all other keys. The secret of the key itself is not kept. */
  clientId: textOrNullIn,
};
const readKey = rowReader(keyColumns);
/** The time of the last use is known to a minute; null if it has never been used. */
const readUsedKey = rowReader({ ...keyColumns, lastUsedAtMs: integerOrNullIn });

export type ApiKey = ReturnType<typeof readKey>;
export type UsedKey = ReturnType<typeof readUsedKey>;

/** A key that is not revoked, the SHA-256 of its secret in hex, and its account. */
export interface ActiveKey {
  readonly key: ApiKey;
  readonly sha256: string;
  readonly account: Account;
}

export const keyLabelRule = "at most 80 characters without control characters";

export const isKeyLabel = (name: string): boolean => name.length <= 80 && !/\p{Cc}/u.test(name);

export interface NewKey {
  readonly accountId: string;
  readonly scopes: readonly ApiScope[];
  readonly name?: string;
  readonly isWeb?: boolean;
  readonly clientId?: string;
  readonly atMs: number;
  /** Whether the account may have this key beyond `accountKeysMax`; that of its pages always may. */
  readonly isUnlimited?: boolean;
}

/** The most keys of an account, those of agents and those revoked in the last day included. */
export const accountKeysMax = 100;
const dayMs = 86_400_000;

/**
 * Creates a key. Returns it with its secret, which cannot be read again. Throws a UserError if the account is unknown, or has `accountKeysMax`.
 */
export async function createKey(
  database: SqlDatabase,
  { scopes: granted, atMs, name = "", isWeb = false, isUnlimited = isWeb, ...grant }: NewKey,
): Promise<{ readonly key: string; readonly keyId: string }> {
  const { key, keyId, sha256 } = generateApiKey();
  await lockAccount(database, grant.accountId);
  const counted = await database.one(sql`
    SELECT count(*) AS n FROM keys
    WHERE  account_id = ${grant.accountId} AND is_web = 0 AND (revoked_at_ms IS NULL OR revoked_at_ms > ${atMs - dayMs})`);
  if (!isUnlimited && integerIn(counted, "n") >= accountKeysMax)
    throw new UserError(
      `Too many keys: expected at most ${accountKeysMax} of an account, agents and those revoked in the last day included.`,
    );
  const row = { ...grant, keyId, sha256, scopes: granted.join(), createdAtMs: atMs, name, isWeb };
  await database.run(insertInto("keys", row));
  return { key, keyId };
}

/** Returns the id of the key that pages of an account are charged to; creates a missing one. Throws a UserError if the account is unknown. */
export async function webKeyOf(database: SqlDatabase, accountId: string, atMs: number): Promise<string> {
  await lockAccount(database, accountId);
  const row = await database.one(
    sql`SELECT key_id FROM keys WHERE account_id = ${accountId} AND is_web = 1 AND revoked_at_ms IS NULL`,
  );
  if (row !== undefined) return textIn(row, "key_id");
  return (await createKey(database, { accountId, scopes, name: "Explorer", isWeb: true, atMs })).keyId;
}

const localEmail = "local@carquet.invalid";

/** Returns the id of the key of the local account, an operator's, to which the pages and requests of open access belong; creates what is missing. */
export const localKeyOf = (opened: SqlDatabase, atMs: number): Promise<string> =>
  opened.transaction(async (database) => {
    const found = await database.one(sql`SELECT account_id FROM accounts WHERE email = ${localEmail}`);
    if (found !== undefined) return webKeyOf(database, textIn(found, "account_id"), atMs);
    const accountId = await createAccount(database, { email: localEmail, tier: 4, atMs });
    await changeAccount(database, accountId, { isOperator: true });
    return webKeyOf(database, accountId, atMs);
  });

/** The keys of an account that are listed: all that are active, and the newest others. */
const listedKeysMax = 2 * accountKeysMax;

/** Returns the keys of an account, oldest first, including the revoked ones that were created last. */
export async function listKeys(database: SqlDatabase, accountId: string): Promise<readonly UsedKey[]> {
  const rows = await database.all(sql`
    SELECT * FROM keys LEFT JOIN key_uses USING (key_id) WHERE account_id = ${accountId}
    ORDER BY revoked_at_ms IS NULL DESC, created_at_ms DESC, key_id DESC LIMIT ${listedKeysMax}`);
  return rows
    .map(readUsedKey)
    .sort((one, other) => one.createdAtMs - other.createdAtMs || (one.keyId < other.keyId ? -1 : 1));
}

export type KeyUses = readonly (readonly [keyId: string, atMs: number])[];

export const recordKeyUses = (opened: SqlDatabase, uses: KeyUses): Promise<void> =>
  opened.transaction(async (database) => {
    for (const [keyId, atMs] of uses)
      await database.run(sql`
        INSERT INTO key_uses (key_id, last_used_at_ms) SELECT key_id, ${atMs} FROM keys WHERE key_id = ${keyId}
        ON CONFLICT (key_id) DO UPDATE SET last_used_at_ms = excluded.last_used_at_ms
        WHERE excluded.last_used_at_ms > key_uses.last_used_at_ms`);
  });

/**
 * Revokes a key permanently. Idempotent: the first revocation time stays. Returns the id of its account. Throws a UserError if the id is
 * unknown, or is not that of a key of `ofAccount`.
 */
export async function revokeKey(
  database: SqlDatabase,
  keyId: string,
  atMs: number,
  ofAccount?: string,
): Promise<string> {
  const row = await database.one(sql`
    UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, ${atMs})
    WHERE  key_id = ${keyId} AND account_id = coalesce(${ofAccount ?? null}, account_id)
    RETURNING account_id`);
  if (row === undefined) throw new UserError(`Unknown key ${keyId}: expected a key id listed by "carquet keys list".`);
  return textIn(row, "account_id");
}

/** Returns the key that an OAuth client uses; undefined if it is unknown, revoked, or a key of any other kind. */
export async function findGrant(database: SqlDatabase, keyId: string): Promise<ApiKey | undefined> {
  const row = await database.one(
    sql`SELECT * FROM keys WHERE key_id = ${keyId} AND client_id IS NOT NULL AND revoked_at_ms IS NULL`,
  );
  return row && readKey(row);
}

/** Returns an active key, with its account's spending in a UTC month; undefined if the key is unknown or revoked. */
export async function findActiveKey(
  database: SqlDatabase,
  keyId: string,
  month: string,
): Promise<ActiveKey | undefined> {
  const row = await database.one(sql`SELECT * FROM keys WHERE key_id = ${keyId} AND revoked_at_ms IS NULL`);
  if (row === undefined) return undefined;
  const key = readKey(row);
  return { key, sha256: textIn(row, "sha256"), account: await getAccount(database, key.accountId, month) };
}

function scopesIn(row: Row, column: string): readonly ApiScope[] {
  const granted = textIn(row, column).split(",");
  return scopes.filter((scope) => granted.includes(scope));
}

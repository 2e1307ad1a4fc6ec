/**
 * The `oauth_state` table: the state of the authorization server by kind and id: registered clients, authorization requests, codes and tokens. Ids
 * grant access like secrets, so only their SHA-256 is stored. Expired state is never returned; a purge removes it.
 */
import { integerIn, integerOrNullIn, isObject, textIn } from "../../base/json.ts";
import { insertInto, rowReader } from "../../db/row-reader.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";

export interface StateName {
  readonly kind: string;
  readonly sha256: string;
}

export interface OAuthState extends StateName {
  /** The id of the grant's key; null for clients and authorization requests. */
  readonly keyId: string | null;
  readonly expiresAtMs: number;
  /** JSON. */
  readonly content: string;
}

/** Saves a piece of state. Keeps the client that it belongs to at least until a time, if one is given. */
export const saveState = (
  opened: SqlDatabase,
  state: OAuthState,
  client?: StateName & { readonly untilMs: number },
): Promise<void> =>
  opened.transaction(async (database) => {
    await database.run(sql`
      ${insertInto("oauth_state", { ...state })}
      ON CONFLICT (kind, sha256) DO UPDATE SET key_id = excluded.key_id, expires_at_ms = excluded.expires_at_ms, content = excluded.content`);
    if (client === undefined) return;
    await database.run(sql`
      UPDATE oauth_state SET expires_at_ms = ${client.untilMs}
      WHERE  kind = ${client.kind} AND sha256 = ${client.sha256} AND expires_at_ms < ${client.untilMs}`);
  });

const readState = rowReader({ content: textIn, consumedAtMs: integerOrNullIn });

/** Returns the content of a piece of state, and when it was consumed, or null; undefined if it is unknown or has expired. */
export async function findState(
  database: SqlDatabase,
  { kind, sha256 }: StateName,
  atMs: number,
): Promise<ReturnType<typeof readState> | undefined> {
  const row = await database.one(sql`
    SELECT content, consumed_at_ms FROM oauth_state
    WHERE  kind = ${kind} AND sha256 = ${sha256} AND expires_at_ms > ${atMs}`);
  return row && readState(row);
}

/** Consumes a code or refresh token. Returns false if it was consumed before. */
export async function consumeState(database: SqlDatabase, { kind, sha256 }: StateName, atMs: number): Promise<boolean> {
  const consumedRows = await database.run(sql`
    UPDATE oauth_state SET consumed_at_ms = ${atMs}
    WHERE  kind = ${kind} AND sha256 = ${sha256} AND consumed_at_ms IS NULL`);
  return consumedRows === 1;
}

export async function deleteState(database: SqlDatabase, { kind, sha256 }: StateName): Promise<void> {
  await database.run(sql`DELETE FROM oauth_state WHERE kind = ${kind} AND sha256 = ${sha256}`);
}

export async function deleteStateOfGrant(database: SqlDatabase, kind: string, keyId: string): Promise<void> {
  await database.run(sql`DELETE FROM oauth_state WHERE kind = ${kind} AND key_id = ${keyId}`);
}

/** A key without state is that of a consent that is being given, if it is younger. */
const unusedGrantMs = 3_600_000;

/** Deletes expired state, and revokes the keys of agents whose codes and tokens have all expired. */
export async function purgeOAuthState(database: SqlDatabase, atMs: number): Promise<void> {
  await database.run(sql`DELETE FROM oauth_state WHERE expires_at_ms <= ${atMs}`);
  await database.run(sql`
    UPDATE keys SET revoked_at_ms = ${atMs}
    WHERE  client_id IS NOT NULL AND revoked_at_ms IS NULL AND created_at_ms < ${atMs - unusedGrantMs}
      AND  NOT EXISTS (SELECT 1 FROM oauth_state WHERE oauth_state.key_id = keys.key_id)`);
}

const accessTokenKind = "AccessToken";

export interface AccessToken {
  readonly keyId: string;
  readonly expiresAtMs: number;
  /** The URL of the resource that it is bound to. */
  readonly audience: string;
  /** Scopes, separated by spaces. */
  readonly scope: string;
}

/** Returns an access token by its hash; undefined if it has expired, is revoked or unknown. */
export async function findAccessToken(
  database: SqlDatabase,
  sha256: string,
  atMs: number,
): Promise<AccessToken | undefined> {
  const row = await database.one(sql`
    SELECT key_id, expires_at_ms, content FROM oauth_state
    WHERE  kind = ${accessTokenKind} AND sha256 = ${sha256} AND expires_at_ms > ${atMs}`);
  const content: unknown = row === undefined ? undefined : JSON.parse(textIn(row, "content"));
  if (row === undefined || !isObject(content)) return undefined;
  const { aud: audience, scope } = content;
  return {
    keyId: textIn(row, "key_id"),
    expiresAtMs: integerIn(row, "expires_at_ms"),
    audience: typeof audience === "string" ? audience : "",
    scope: typeof scope === "string" ? scope : "",
  };
}

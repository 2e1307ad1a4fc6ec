/**
 * The `oauth_state` table: what the authorization server remembers, by kind and id: registered clients, authorization requests, codes and
 * tokens. An id is a secret or as good as one, so that only its SHA-256 is stored. Expired state is not found, and removed later.
 */
import { integerIn, isObject, textIn } from "../../base/json.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";

/** Names a piece of state. */
export interface StateName {
  readonly kind: string;
  readonly sha256: string;
}

export interface OAuthState extends StateName {
  /** The grant that it belongs to, by the id of its key; null for clients and authorization requests. */
  readonly keyId: string | null;
  readonly expiresAtMs: number;
  /** JSON. */
  readonly content: string;
}

/** Content of the state, and when it was used up; null if it has not been. */
export interface StoredState {
  readonly content: string;
  readonly consumedAtMs: number | null;
}

/** Inserts or replaces a piece of state. */
export function saveState(database: SqlDatabase, { kind, sha256, keyId, expiresAtMs, content }: OAuthState): void {
  database.run(sql`
    INSERT INTO oauth_state (kind, sha256, key_id, expires_at_ms, content)
    VALUES (${kind}, ${sha256}, ${keyId}, ${expiresAtMs}, ${content})
    ON CONFLICT (kind, sha256) DO UPDATE SET key_id = excluded.key_id, expires_at_ms = excluded.expires_at_ms, content = excluded.content`);
}

/** Returns a piece of state that has not expired, or null. */
export function findState(database: SqlDatabase, { kind, sha256 }: StateName, atMs: number): StoredState | null {
  const row = database.one(sql`
    SELECT content, consumed_at_ms FROM oauth_state
    WHERE  kind = ${kind} AND sha256 = ${sha256} AND expires_at_ms > ${atMs}`);
  if (row === undefined) return null;
  const consumedAtMs = row.consumed_at_ms === null ? null : integerIn(row, "consumed_at_ms");
  return { content: textIn(row, "content"), consumedAtMs };
}

/** Keeps a piece of state at least until a time. */
export function extendState(database: SqlDatabase, { kind, sha256 }: StateName, untilMs: number): void {
  database.run(sql`
    UPDATE oauth_state SET expires_at_ms = ${untilMs}
    WHERE  kind = ${kind} AND sha256 = ${sha256} AND expires_at_ms < ${untilMs}`);
}

/** Uses a code or refresh token up. Returns false if it already was. */
export function consumeState(database: SqlDatabase, { kind, sha256 }: StateName, atMs: number): boolean {
  const consumedRows = database.run(sql`
    UPDATE oauth_state SET consumed_at_ms = ${atMs}
    WHERE  kind = ${kind} AND sha256 = ${sha256} AND consumed_at_ms IS NULL`);
  return consumedRows === 1;
}

/** Deletes a piece of state. Idempotent. */
export function deleteState(database: SqlDatabase, { kind, sha256 }: StateName): void {
  database.run(sql`DELETE FROM oauth_state WHERE kind = ${kind} AND sha256 = ${sha256}`);
}

/** Deletes the codes or tokens of a grant. */
export function deleteStateOfGrant(database: SqlDatabase, kind: string, keyId: string): void {
  database.run(sql`DELETE FROM oauth_state WHERE kind = ${kind} AND key_id = ${keyId}`);
}

/** Deletes the state that has expired. */
export function purgeOAuthState(database: SqlDatabase, atMs: number): void {
  database.run(sql`DELETE FROM oauth_state WHERE expires_at_ms <= ${atMs}`);
}

/** The kind of state that access tokens are. */
const accessTokenKind = "AccessToken";

/** What an access token is for. */
export interface AccessToken {
  readonly keyId: string;
  readonly expiresAtMs: number;
  /** The URL of the resource that it is bound to. */
  readonly audience: string;
  /** Scopes, separated by spaces. */
  readonly scope: string;
}

/** Returns an access token by its hash, or null if it has expired, is revoked or unknown. */
export function findAccessToken(database: SqlDatabase, sha256: string, atMs: number): AccessToken | null {
  const row = database.one(sql`
    SELECT key_id, expires_at_ms, content FROM oauth_state
    WHERE  kind = ${accessTokenKind} AND sha256 = ${sha256} AND expires_at_ms > ${atMs}`);
  const content: unknown = row === undefined ? undefined : JSON.parse(textIn(row, "content"));
  if (row === undefined || !isObject(content)) return null;
  const { aud: audience, scope } = content;
  return {
    keyId: textIn(row, "key_id"),
    expiresAtMs: integerIn(row, "expires_at_ms"),
    audience: typeof audience === "string" ? audience : "",
    scope: typeof scope === "string" ? scope : "",
  };
}

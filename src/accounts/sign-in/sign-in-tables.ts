/**
 * The tables of sign-in: `passwords`, `one_time_links` and `sessions` of browsers.
 *
 * An `invitation` lets its receiver set the password of an account; a `sign_in` link starts a session. A link works once and until it expires; a
 * newer one of the same kind replaces it, and a new password ends it.
 *
 * A session ends 12 hours after its last request and 30 days after its start, when its account signs out or changes its password, and when its
 * key is revoked: pages are charged to a key of the account.
 */
import { integerIn, textIn, textOrNullIn } from "../../base/json.ts";
import { newSecret, secretHash } from "../../base/random-ids.ts";
import { flagIn, insertInto, rowReader } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { foldedEmail, lockAccount } from "../account.ts";
import { webKeyOf } from "../keys/keys.ts";

const readCredentials = rowReader({ accountId: textIn, hash: textIn });

export type Credentials = ReturnType<typeof readCredentials>;

/**
 * Returns the credentials of a sign-in name: an account id, or an email address that only one account with a password has. Returns undefined
 * for any other name.
 */
export async function findCredentials(database: SqlDatabase, name: string): Promise<Credentials | undefined> {
  const rows = await database.all(sql`
    SELECT account_id, hash FROM passwords JOIN accounts USING (account_id)
    WHERE  account_id = ${name} OR lower(email) = lower(${foldedEmail(name)}) LIMIT 2`);
  return rows.length > 1 ? undefined : rows.map(readCredentials)[0];
}

/** Sets the password of an account, ends its sessions, and deletes its one-time links. */
export async function setPassword(database: SqlDatabase, credentials: Credentials, atMs: number): Promise<void> {
  const { accountId } = credentials;
  await lockAccount(database, accountId);
  await database.run(sql`
    ${insertInto("passwords", { ...credentials, changedAtMs: atMs })}
    ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at_ms = excluded.changed_at_ms`);
  await database.run(sql`DELETE FROM sessions WHERE account_id = ${accountId}`);
  await database.run(sql`DELETE FROM one_time_links WHERE account_id = ${accountId}`);
}

export type LinkKind = "invitation" | "sign_in";

const validMs: Readonly<Record<LinkKind, number>> = { invitation: 7 * 86_400_000, sign_in: 86_400_000 };

const paths: Readonly<Record<LinkKind, string>> = { invitation: "/invitation", sign_in: "/sign-in" };

/** Returns the URL of a link's page. Its parameter is named so that its value is kept out of logs. */
export const linkUrl = (serviceUrl: string, kind: LinkKind, secret: string): string =>
  `${serviceUrl.replace(/\/$/, "")}${paths[kind]}?token=${secret}`;

/** Creates a link and deletes earlier ones of the account and kind. Returns its secret. Throws a UserError if the account is unknown. */
export async function createLink(
  database: SqlDatabase,
  { accountId, kind }: { readonly accountId: string; readonly kind: LinkKind },
  atMs: number,
): Promise<string> {
  await lockAccount(database, accountId);
  const secret = newSecret();
  await database.run(sql`DELETE FROM one_time_links WHERE account_id = ${accountId} AND kind = ${kind}`);
  const link = { accountId, kind, sha256: secretHash(secret), expiresAtMs: atMs + validMs[kind] };
  await database.run(insertInto("one_time_links", link));
  return secret;
}

/** The account of a link, and the hash of its password; null if it has none. */
const readLink = rowReader({ accountId: textIn, email: textIn, hash: textOrNullIn });

export type OneTimeLink = ReturnType<typeof readLink>;

/** Returns a link that is neither used nor expired, or undefined. */
export async function findLink(
  database: SqlDatabase,
  sha256: string,
  kind: LinkKind,
  atMs: number,
): Promise<OneTimeLink | undefined> {
  const row = await database.one(sql`
    SELECT account_id, email, hash
    FROM   one_time_links JOIN accounts USING (account_id) LEFT JOIN passwords USING (account_id)
    WHERE  sha256 = ${sha256} AND kind = ${kind} AND expires_at_ms > ${atMs}`);
  return row && readLink(row);
}

/** Consumes a link. Returns it, or undefined if it is used, expired or unknown. */
export const consumeLink = (
  opened: SqlDatabase,
  sha256: string,
  kind: LinkKind,
  atMs: number,
): Promise<OneTimeLink | undefined> =>
  opened.transaction(async (database) => {
    const link = await findLink(database, sha256, kind, atMs);
    const removed = await database.run(sql`DELETE FROM one_time_links WHERE sha256 = ${sha256} AND kind = ${kind}`);
    return removed === 0 ? undefined : link;
  });

const idleMs = 12 * 3_600_000;
const absoluteMs = 30 * 86_400_000;

const readSession = rowReader({
  accountId: textIn,
  email: textIn,
  isOperator: flagIn,
  /** The key that pays for pages. */
  keyId: textIn,
  seenAtMs: integerIn,
});

export type SessionRecord = ReturnType<typeof readSession>;

/** The condition that a session has not expired. */
const isCurrent = (atMs: number): Sql =>
  sql`seen_at_ms > ${atMs - idleMs} AND sessions.created_at_ms > ${atMs - absoluteMs}`;

/** The account of a new session, and the hash of its password when the account was verified; null if it had none, undefined if nothing was verified. */
export interface SessionAccount {
  readonly accountId: string;
  readonly hash?: string | null;
}

/** Inserts a session of an account, unless its password has changed since the account was verified: returns false. Throws a UserError if the account is unknown. */
export const insertSession = (
  opened: SqlDatabase,
  { accountId, hash, sha256, atMs }: SessionAccount & { readonly sha256: string; readonly atMs: number },
): Promise<boolean> =>
  opened.transaction(async (database) => {
    const keyId = await webKeyOf(database, accountId, atMs);
    const row = await database.one(sql`SELECT hash FROM passwords WHERE account_id = ${accountId}`);
    if (hash !== undefined && hash !== (row?.hash ?? null)) return false;
    await database.run(insertInto("sessions", { sha256, accountId, keyId, createdAtMs: atMs, seenAtMs: atMs }));
    return true;
  });

export async function findSession(
  database: SqlDatabase,
  sha256: string,
  atMs: number,
): Promise<SessionRecord | undefined> {
  const row = await database.one(sql`
    SELECT sessions.account_id, email, is_operator, key_id, seen_at_ms
    FROM   sessions JOIN accounts ON accounts.account_id = sessions.account_id JOIN keys USING (key_id)
    WHERE  sessions.sha256 = ${sha256} AND revoked_at_ms IS NULL AND ${isCurrent(atMs)}`);
  return row && readSession(row);
}

export async function touchSession(database: SqlDatabase, sha256: string, atMs: number): Promise<void> {
  await database.run(sql`UPDATE sessions SET seen_at_ms = ${atMs} WHERE sha256 = ${sha256} AND seen_at_ms < ${atMs}`);
}

export async function endSession(database: SqlDatabase, sha256: string): Promise<void> {
  await database.run(sql`DELETE FROM sessions WHERE sha256 = ${sha256}`);
}

/** Deletes expired sessions and links. */
export async function purgeSessions(database: SqlDatabase, atMs: number): Promise<void> {
  await database.run(sql`DELETE FROM sessions WHERE NOT (${isCurrent(atMs)})`);
  await database.run(sql`DELETE FROM one_time_links WHERE expires_at_ms <= ${atMs}`);
}

/**
 * The `one_time_links` table. An `invitation` lets its receiver set the password of an account; a `sign_in` link starts a session. A link
 * works once and until it expires; a newer one of the same kind replaces it, and a new password ends it.
 */
import { type Row, textIn } from "../../base/json.ts";
import { newSecret, secretHash } from "../../base/random-ids.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { lockAccount } from "../account.ts";

export type LinkKind = "invitation" | "sign_in";

const validMs: Readonly<Record<LinkKind, number>> = { invitation: 7 * 86_400_000, sign_in: 86_400_000 };

const paths: Readonly<Record<LinkKind, string>> = { invitation: "/invitation", sign_in: "/sign-in" };

/** Returns the URL of a link's page. Its parameter is named so that its value is kept out of logs. */
export const linkUrl = (serviceUrl: string, kind: LinkKind, secret: string): string =>
  `${serviceUrl.replace(/\/$/, "")}${paths[kind]}?token=${secret}`;

/** Creates a link and deletes earlier ones of the account and kind. Returns its secret. Throws a UserError if the account is unknown. */
export function createLink(
  database: SqlDatabase,
  { accountId, kind, atMs }: { readonly accountId: string; readonly kind: LinkKind; readonly atMs: number },
): string {
  lockAccount(database, accountId);
  const secret = newSecret();
  database.run(sql`DELETE FROM one_time_links WHERE account_id = ${accountId} AND kind = ${kind}`);
  database.run(sql`
    INSERT INTO one_time_links (sha256, account_id, kind, expires_at_ms)
    VALUES (${secretHash(secret)}, ${accountId}, ${kind}, ${atMs + validMs[kind]})`);
  return secret;
}

export interface OneTimeLink {
  readonly accountId: string;
  readonly email: string;
}

/** Returns a link that is neither used nor expired, or null. */
export function findLink(database: SqlDatabase, sha256: string, kind: LinkKind, atMs: number): OneTimeLink | null {
  const row: Row | undefined = database.one(sql`
    SELECT account_id, email FROM one_time_links JOIN accounts USING (account_id)
    WHERE  sha256 = ${sha256} AND kind = ${kind} AND expires_at_ms > ${atMs}`);
  return row === undefined ? null : { accountId: textIn(row, "account_id"), email: textIn(row, "email") };
}

/** Consumes a link. Returns it, or null if it is used, expired or unknown. */
export function consumeLink(database: SqlDatabase, sha256: string, kind: LinkKind, atMs: number): OneTimeLink | null {
  const link = findLink(database, sha256, kind, atMs);
  database.run(sql`DELETE FROM one_time_links WHERE sha256 = ${sha256} AND kind = ${kind}`);
  return link;
}

export function deleteLinksOf(database: SqlDatabase, accountId: string): void {
  database.run(sql`DELETE FROM one_time_links WHERE account_id = ${accountId}`);
}

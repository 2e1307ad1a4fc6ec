/** A ledger with one account, to post to. */
import { join } from "node:path";
import { createAccount, getAccount } from "../../src/accounts/account.ts";
import { createAccountsFile } from "../../src/accounts/file/schema.ts";
import { createKey, scopes } from "../../src/accounts/keys.ts";
import type { ChargeEntry } from "../../src/accounts/ledger/charging.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { temporaryFolder } from "./lakes/lakes.ts";
import { atEndOf, type Scope } from "./scope.ts";

export const atMs = Date.parse("2026-11-19T12:00:00Z");
export const [dayMs, month] = [86_400_000, "2026-11"];

export interface Book {
  readonly path: string;
  readonly database: SqliteDatabase;
  readonly accountId: string;
  readonly keyId: string;
  /** What the account has. */
  balance(): number;
}

/** A file with one account that has a key and no money. */
export async function book(scope: Scope): Promise<Book> {
  const path = join(await temporaryFolder(scope), "accounts.db");
  const database = createAccountsFile(path, { busyMs: 1000 });
  atEndOf(scope, async () => database.close());
  const accountId = createAccount(database, { email: "a@b.example", tier: 1, atMs });
  const { keyId } = createKey(database, { accountId, scopes, atMs });
  return { path, database, accountId, keyId, balance: () => getAccount(database, accountId, month).balanceMicros };
}

/** A paid credit of that time. */
export const paid = { kind: "paid", atMs, isConfirmed: true } as const;

/** A listing search of the account, as a charge. */
export const chargeOf = ({ accountId, keyId }: Book, chargeId: string): ChargeEntry => ({
  ...{ accountId, keyId, chargeId, atMs },
  usageClass: "listing_search",
});

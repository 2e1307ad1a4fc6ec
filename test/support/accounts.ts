/** Accounts for a test: a file of its own, with real accounts, keys and credits in it. */
import { join } from "node:path";
import { changeAccount, createAccount } from "../../src/accounts/account.ts";
import { createAccountsFile, openAccountsFile } from "../../src/accounts/file/schema.ts";
import { createKey, type ApiScope as KeyScope, scopes } from "../../src/accounts/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { parseUsd } from "../../src/accounts/money.ts";
import type { RateLimits } from "../../src/accounts/policy/rate-limiter.ts";
import type { Tier } from "../../src/accounts/policy/tiers.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { temporaryFolder } from "./lakes/lakes.ts";
import type { Scope } from "./scope.ts";

/** An account that somebody can use, and a key of it. */
export interface Customer {
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  /** The header that a request of the customer has. */
  readonly bearer: { readonly Authorization: string };
}

export interface CustomerOptions {
  readonly tier?: Tier;
  /** Limits of its own; none that a test could reach, unless given. Null for the tier's. */
  readonly override?: RateLimits | null;
  readonly usd?: string;
  readonly scopes?: readonly KeyScope[];
}

const farAway: RateLimits = { per10s: 1_000_000, per60s: 1_000_000 };

/** An accounts file in a folder of its own. */
export async function accountsFile(scope: Scope): Promise<string> {
  const path = join(await temporaryFolder(scope), "accounts.db");
  createAccountsFile(path, { busyMs: 5000 }).close();
  return path;
}

/** Does some work on an accounts file, as another process would. */
export function onFile<T>(path: string, work: (database: SqliteDatabase) => T): T {
  const database = openAccountsFile(path, { busyMs: 10_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Makes an account with a key and paid credits. */
export function customerIn(
  path: string,
  { tier = 4, override = farAway, usd = "1000", scopes: granted = scopes }: CustomerOptions = {},
): Customer {
  return onFile(path, (database) => {
    const atMs = Date.now();
    const accountId = createAccount(database, { email: "buyer@dealers.example", tier, atMs });
    changeAccount(database, accountId, { rateLimitOverride: override });
    const micros = parseUsd(usd) ?? 0;
    if (micros > 0) addCredit(database, { accountId, kind: "paid", micros, atMs, isConfirmed: true });
    const { key, keyId } = createKey(database, { accountId, scopes: granted, atMs });
    return { accountId, key, keyId, bearer: { Authorization: `Bearer ${key}` } };
  });
}

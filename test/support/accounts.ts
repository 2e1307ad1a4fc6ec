/** Accounts files for tests, with accounts, keys and credits. */
import { join } from "node:path";
import { changeAccount, createAccount } from "../../src/accounts/account.ts";
import { createAccountsFile, openAccountsFile } from "../../src/accounts/file/schema.ts";
import { type ApiScope, createKey, scopes } from "../../src/accounts/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { parseUsd } from "../../src/accounts/money.ts";
import type { RateLimits } from "../../src/accounts/policy/rate-limiter.ts";
import type { Tier } from "../../src/accounts/policy/tiers.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { temporaryFolder } from "./lakes/lakes.ts";
import type { Scope } from "./scope.ts";

/** An account with one key. */
export interface Customer {
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  /** Header of the customer's requests. */
  readonly bearer: { readonly Authorization: string };
}

export interface CustomerOptions {
  readonly tier?: Tier;
  /** Rate limits, unreachable by default; null for those of the tier. */
  readonly override?: RateLimits | null;
  readonly usd?: string;
  readonly scopes?: readonly ApiScope[];
}

const unreachableLimits: RateLimits = { per10s: 1_000_000, per60s: 1_000_000 };

/** Creates an accounts file in a temporary folder. */
export async function temporaryAccountsFile(scope: Scope): Promise<string> {
  const path = join(await temporaryFolder(scope), "accounts.db");
  createAccountsFile(path, { busyMs: 5000 }).close();
  return path;
}

/** Runs work on an accounts file over its own connection, as another process does. */
export function inAccountsFile<T>(path: string, work: (database: SqliteDatabase) => T): T {
  const database = openAccountsFile(path, { busyMs: 10_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Creates an account with a key and paid credits. */
export function createCustomer(
  path: string,
  { tier = 4, override = unreachableLimits, usd = "1000", scopes: granted = scopes }: CustomerOptions = {},
): Customer {
  return inAccountsFile(path, (database) => {
    const atMs = Date.now();
    const accountId = createAccount(database, { email: "buyer@dealers.example", tier, atMs });
    changeAccount(database, accountId, { rateLimitOverride: override });
    const micros = parseUsd(usd) ?? 0;
    if (micros > 0) addCredit(database, { accountId, kind: "paid", micros, atMs, isConfirmed: true });
    const { key, keyId } = createKey(database, { accountId, scopes: granted, atMs });
    return { accountId, key, keyId, bearer: { Authorization: `Bearer ${key}` } };
  });
}

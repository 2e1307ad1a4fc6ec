/** Accounts for tests, in SQLite and in PostgreSQL, with keys and credits. */
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { changeAccount, createAccount } from "../../src/accounts/account.ts";
import { type ApiScope, createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { parseUsd } from "../../src/accounts/money.ts";
import type { RateLimits } from "../../src/accounts/policy/rate-limiter.ts";
import type { Tier } from "../../src/accounts/policy/tiers.ts";
import { createAccounts, openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { type SqlDatabase, useAndClose } from "../../src/db/sql-database.ts";
import { temporaryFolder } from "./lakes/lakes.ts";
import { skipWithoutPostgres, stopServerAtEnd, temporaryPostgresUrl } from "./postgres.ts";
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

/** The engines of accounts. */
export type AccountsEngine = "SQLite" | "PostgreSQL";

/** The engines that this machine has. */
export const enginesHere: readonly AccountsEngine[] =
  skipWithoutPostgres === false ? ["SQLite", "PostgreSQL"] : ["SQLite"];

interface EnginesOptions {
  /** The `skip` option in PostgreSQL: for tests of what does not depend on the engine. */
  readonly skipPostgres?: string | false;
}

/** Tests the same in SQLite and in PostgreSQL. */
export function testOnBothEngines(
  name: string,
  body: (t: TestContext, engine: AccountsEngine) => Promise<void>,
  { skipPostgres = false }: EnginesOptions = {},
): void {
  stopServerAtEnd();
  test(`${name}, in SQLite`, (t) => body(t, "SQLite"));
  test(`${name}, in PostgreSQL`, { skip: skipWithoutPostgres || skipPostgres }, (t) => body(t, "PostgreSQL"));
}

/** Returns a location without accounts: a path in a temporary folder, or a URL. */
export const unusedLocation = async (scope: Scope, engine: AccountsEngine): Promise<string> =>
  engine === "SQLite" ? join(await temporaryFolder(scope), "accounts.db") : await temporaryPostgresUrl(scope);

/** Creates accounts in a temporary location, and returns that. */
export async function temporaryAccounts(scope: Scope, engine: AccountsEngine): Promise<string> {
  const location = await unusedLocation(scope, engine);
  await useAndClose(createAccounts(location, { busyMs: 5000 }), () => undefined);
  return location;
}

export const temporaryAccountsFile = (scope: Scope): Promise<string> => temporaryAccounts(scope, "SQLite");

/** Runs work on accounts over its own connection, as another process does. */
export function inAccountsFile<T>(location: string, work: (database: SqlDatabase) => T | Promise<T>): Promise<T> {
  return useAndClose(openAccounts(location, { busyMs: 10_000 }), work);
}

/** Creates an account with a key and paid credits. */
export function createCustomer(
  path: string,
  { tier = 4, override = unreachableLimits, usd = "1000", scopes: granted = scopes }: CustomerOptions = {},
): Promise<Customer> {
  return inAccountsFile(path, async (database) => {
    const atMs = Date.now();
    const accountId = await createAccount(database, { email: "buyer@dealers.example", tier, atMs });
    await changeAccount(database, accountId, { rateLimitOverride: override });
    const micros = parseUsd(usd) ?? 0;
    if (micros > 0) await addCredit(database, { accountId, kind: "paid", micros, atMs, isConfirmed: true });
    const { key, keyId } = await createKey(database, { accountId, scopes: granted, atMs });
    return { accountId, key, keyId, bearer: { Authorization: `Bearer ${key}` } };
  });
}

/** A ledger with one account. */
import { createAccount, getAccount } from "../../src/accounts/account.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { type ChargeEntry, postCharge } from "../../src/accounts/ledger/charging.ts";
import type { Shortfall } from "../../src/accounts/policy/billing-state.ts";
import { createAccounts } from "../../src/accounts/storage/open-accounts.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { type AccountsEngine, unusedLocation } from "./accounts.ts";
import { onScopeEnd, type Scope } from "./scope.ts";

export const atMs = Date.parse("2026-11-19T12:00:00Z");
export const msPerDay = 86_400_000;
export const month = "2026-11";

export interface TestLedger {
  readonly path: string;
  readonly database: SqlDatabase;
  readonly accountId: string;
  readonly keyId: string;
  /** Returns the account's balance in micros. */
  balance(): Promise<number>;
}

/** Creates accounts: one, which has a key and no balance. */
export async function createLedger(scope: Scope, engine: AccountsEngine = "SQLite"): Promise<TestLedger> {
  const path = await unusedLocation(scope, engine);
  const database = await createAccounts(path, { busyMs: 1000 });
  onScopeEnd(scope, async () => database.close());
  const accountId = await createAccount(database, { email: "a@b.example", tier: 1, atMs });
  const { keyId } = await createKey(database, { accountId, scopes, atMs });
  return {
    path,
    database,
    accountId,
    keyId,
    balance: async () => (await getAccount(database, accountId, month)).balanceMicros,
  };
}

/** A confirmed paid credit at `atMs`. */
export const paidCredit = { kind: "paid", atMs, isConfirmed: true } as const;

/** Returns the charge for one listing search of the account. */
export const searchCharge = ({ accountId, keyId }: TestLedger, chargeId: string): ChargeEntry => ({
  accountId,
  keyId,
  chargeId,
  atMs,
  usageClass: "listing_search",
});

/** Posts one charge without an idempotency key. Returns undefined if it is in the ledger, else why the account cannot pay. */
export async function postPlainCharge(
  database: SqlDatabase,
  charge: Omit<ChargeEntry, "request">,
): Promise<Shortfall | undefined> {
  const failure = await postCharge(database, charge);
  return typeof failure === "string" ? undefined : failure;
}

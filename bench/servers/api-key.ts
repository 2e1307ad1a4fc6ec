/** Creates an account and an API key for measurements: no rate limit that a run could reach, and enough credit for all requests. */
import { changeAccount, createAccount } from "../../src/accounts/account.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { createAccounts } from "../../src/accounts/storage/open-accounts.ts";

const unreachableLimits = { per10s: 1_000_000, per60s: 1_000_000 };
const creditMicros = 999_999_000_000;

export interface BenchKey {
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
}

export const createBenchKey = (accounts: string): string =>
  createBenchKeys(accounts, 1)
    .map(({ key }) => key)
    .join();

/** Creates accounts with a number of accounts, each with one API key. */
export function createBenchKeys(accounts: string, count: number): readonly BenchKey[] {
  const database = createAccounts(accounts, { busyMs: 5000 });
  try {
    const atMs = Date.now();
    return database.transaction(() =>
      Array.from({ length: count }, (_, index) => {
        const accountId = createAccount(database, { email: `bench-${index}@dealers.example`, tier: 4, atMs });
        changeAccount(database, accountId, { rateLimitOverride: unreachableLimits });
        addCredit(database, { accountId, kind: "paid", micros: creditMicros, atMs, isConfirmed: true });
        return { ...createKey(database, { accountId, scopes, atMs }), accountId };
      }),
    );
  } finally {
    database.close();
  }
}

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

export const createBenchKey = async (accounts: string): Promise<string> =>
  (await createBenchKeys(accounts, 1)).map(({ key }) => key).join();

/** Creates accounts with a number of accounts, each with one API key. */
export async function createBenchKeys(accounts: string, count: number): Promise<readonly BenchKey[]> {
  const database = await createAccounts(accounts, { busyMs: 5000 });
  try {
    const atMs = Date.now();
    return await database.transaction(async (transaction) => {
      const keys: BenchKey[] = [];
      while (keys.length < count) {
        const email = `bench-${keys.length}@dealers.example`;
        const accountId = await createAccount(transaction, { email, tier: 4, atMs });
        await changeAccount(transaction, accountId, { rateLimitOverride: unreachableLimits });
        await addCredit(transaction, { accountId, kind: "paid", micros: creditMicros, atMs, isConfirmed: true });
        keys.push({ ...(await createKey(transaction, { accountId, scopes, atMs })), accountId });
      }
      return keys;
    });
  } finally {
    await database.close();
  }
}

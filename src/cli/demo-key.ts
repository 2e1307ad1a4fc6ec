/** The demo account of `npm start`: created once with promotional credits, with a new API key for each start. */
import { changeAccount, createAccount, getAccount, listAccounts } from "../accounts/account.ts";
import { monthOf } from "../accounts/clock.ts";
import { createKey, listKeys, revokeKey, scopes } from "../accounts/keys.ts";
import { addCredit } from "../accounts/ledger/ledger.ts";
import { withNewAccountsFile } from "./accounts-file.ts";

const email = "demo@carquet.invalid";
/** The highest tier: a newcomer who clicks around does not meet the rate limits. */
const tier = 4;
/** The initial credit, added again when the balance falls below a fifth of it. */
const creditMicros = 25_000_000;
/** Keys of earlier starts that stay valid. Secrets are not stored, so an existing key cannot be shown again. */
const earlierKeysMost = 3;

/** Returns a new API key of the demo account; creates the file, the account and its credit as needed. */
export function createDemoKey(path: string, atMs: number): string {
  return withNewAccountsFile(path, (database) => {
    const account = listAccounts(database, monthOf(atMs)).find((known) => known.email === email);
    const accountId = account?.accountId ?? createAccount(database, { email, tier, atMs });
    if (account !== undefined && account.tier !== tier) changeAccount(database, accountId, { tier });
    if (getAccount(database, accountId, monthOf(atMs)).balanceMicros < creditMicros / 5)
      addCredit(database, { accountId, kind: "promotional", micros: creditMicros, atMs, isConfirmed: false });
    const activeKeys = listKeys(database, accountId).filter(({ revokedAtMs }) => revokedAtMs === null);
    for (const { keyId } of activeKeys.slice(0, -earlierKeysMost)) revokeKey(database, keyId, atMs);
    return createKey(database, { accountId, scopes, atMs }).key;
  });
}

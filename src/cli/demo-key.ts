/** The demo account of `npm start`: created once with promotional credits, with a new API key and sign-in link for each start. */
import { changeAccount, createAccount, getAccount, listAccounts } from "../accounts/account.ts";
import { monthOf } from "../accounts/clock.ts";
import { createKey, listKeys, revokeKey, scopes } from "../accounts/keys/keys.ts";
import { addCredit } from "../accounts/ledger/ledger.ts";
import { createLink } from "../accounts/sign-in/sign-in-tables.ts";
import { withNewAccountsFile } from "./accounts-file.ts";

const email = "demo@carquet.invalid";
/** The highest tier: a newcomer who clicks around does not meet the rate limits. */
const tier = 4;
/** The initial credit, added again when the balance falls below a fifth of it. */
const creditMicros = 25_000_000;
/** The name of the keys that are printed; keys that a visitor creates in the dashboard stay. */
const keyName = "npm start";
/** Keys of earlier starts that stay valid. Secrets are not stored, so an existing key cannot be shown again. */
const earlierKeysMax = 3;

/** Access to the demo: its account, a new key, and the secret of a sign-in link. */
export interface DemoAccess {
  readonly accountId: string;
  readonly key: string;
  readonly linkSecret: string;
}

/** Returns access to the demo account; creates the file, the account and its credit as needed. */
export function createDemoAccess(path: string, atMs: number): DemoAccess {
  return withNewAccountsFile(path, (database) => {
    const account = listAccounts(database, monthOf(atMs)).find((known) => known.email === email);
    const accountId = account?.accountId ?? createAccount(database, { email, tier, atMs });
    if (account !== undefined && account.tier !== tier) changeAccount(database, accountId, { tier });
    if (getAccount(database, accountId, monthOf(atMs)).balanceMicros < creditMicros / 5)
      addCredit(database, { accountId, kind: "promotional", micros: creditMicros, atMs, isConfirmed: false });
    const printedKeys = listKeys(database, accountId).filter((key) => key.revokedAtMs === null && key.name === keyName);
    for (const { keyId } of printedKeys.slice(0, -earlierKeysMax)) revokeKey(database, keyId, atMs);
    return {
      accountId,
      key: createKey(database, { accountId, scopes, name: keyName, atMs }).key,
      linkSecret: createLink(database, { accountId, kind: "sign_in", atMs }),
    };
  });
}

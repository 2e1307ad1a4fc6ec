/** The account that `npm start` is tried with: made once, with promotional credits, and a key of it for each start. */
import { accountAt, createAccount, listAccounts } from "../accounts/account.ts";
import { monthOf } from "../accounts/clock.ts";
import { createKey, listKeys, revokeKey, scopes } from "../accounts/keys.ts";
import { addCredit } from "../accounts/ledger/ledger.ts";
import { withNewAccounts } from "./accounts-file.ts";

const email = "demo@carquet.invalid";
/** What the account has to begin with, and again when less than a fifth of it is left. */
const creditMicros = 25_000_000;
/** Keys of earlier starts that go on working. A key's secret is not kept, so that none can be shown twice. */
const keysKept = 3;

/** A key to try the service with, as of a time. */
export function demoKey(path: string, atMs: number): string {
  return withNewAccounts(path, (database) => {
    const known = listAccounts(database, monthOf(atMs)).find((account) => account.email === email);
    const accountId = known?.accountId ?? createAccount(database, { email, tier: 1, atMs });
    if (accountAt(database, accountId, monthOf(atMs)).balanceMicros < creditMicros / 5)
      addCredit(database, { accountId, kind: "promotional", micros: creditMicros, atMs, isConfirmed: false });
    const valid = listKeys(database, accountId).filter(({ revokedAtMs }) => revokedAtMs === null);
    for (const { keyId } of valid.slice(0, -keysKept)) revokeKey(database, keyId, atMs);
    return createKey(database, { accountId, scopes, atMs }).key;
  });
}

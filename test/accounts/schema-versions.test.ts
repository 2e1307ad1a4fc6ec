/** Services on accounts in PostgreSQL that another release migrates, and locks that a hanging process holds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Accounts } from "../../src/accounts/accounts.ts";
import { copyAccounts } from "../../src/accounts/copy-accounts.ts";
import { accountsVersion } from "../../src/accounts/file/migrations.ts";
import { listKeys } from "../../src/accounts/keys/keys.ts";
import { postCharge } from "../../src/accounts/ledger/charging.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { openAccounts } from "../../src/accounts/open-accounts.ts";
import { migratePostgresAccounts } from "../../src/accounts/postgres/postgres-accounts.ts";
import type { PostgresMigration } from "../../src/accounts/postgres/postgres-migrations.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { createCustomer, temporaryAccounts } from "../support/accounts.ts";
import { createLedger, paidCredit, searchCharge } from "../support/ledger.ts";
import { skipWithoutPostgres, stopServerAtEnd } from "../support/postgres.ts";
import { onScopeEnd } from "../support/scope.ts";

const additive: PostgresMigration = {
  to: accountsVersion + 1,
  isAdditive: true,
  statements: [
    sql`ALTER TABLE keys ADD COLUMN label TEXT`,
    sql`ALTER TABLE accounts ADD COLUMN region TEXT NOT NULL DEFAULT 'us'`,
    sql`ALTER TABLE entries ADD COLUMN release TEXT`,
  ],
};
const incompatible: PostgresMigration = {
  to: accountsVersion + 2,
  statements: [sql`ALTER TABLE accounts DROP COLUMN region`],
};

/** Charges one request; returns `charged` or the code of the refusal. */
async function pay(accounts: Accounts, key: string): Promise<string> {
  try {
    const identity = await accounts.identify(key, "192.0.2.1");
    await accounts.charge(identity, accounts.hold(identity, "listing_search"), crypto.randomUUID());
    return "charged";
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.code;
    throw thrown;
  }
}

stopServerAtEnd();

describe("PostgreSQL", { skip: skipWithoutPostgres }, () => {
  test("a release goes on after an additive migration, and charges nothing after an incompatible one", async (t) => {
    const location = await temporaryAccounts(t, "PostgreSQL");
    const { key, accountId } = createCustomer(location, { usd: "1" });
    const reasons: string[] = [];
    const service = await Accounts.open(location, {
      clock: systemClock,
      onAvailabilityChange: (_, reason) => reasons.push(reason),
    });
    onScopeEnd(t, () => service.close());
    const open = openAccounts(location, { busyMs: 1000 });
    onScopeEnd(t, async () => open.close());
    const setCap = (capMicros: number): Promise<unknown> =>
      service.administration.change(accountId, "accounts cap", { accountId, capMicros });
    assert.equal(await pay(service, key), "charged");
    await setCap(1_000_000);
    assert.equal(listKeys(open, accountId).length, 1);

    const [from, to] = [accountsVersion, accountsVersion + 1];
    assert.deepEqual(migratePostgresAccounts(location, [additive]), { from, to, backup: undefined });
    assert.deepEqual(migratePostgresAccounts(location), { from: to, to, backup: undefined }, "by the release before");
    assert.equal(await pay(service, key), "charged");
    assert.equal(listKeys(open, accountId).length, 1, "a prepared statement whose result has other columns");
    openAccounts(location, { busyMs: 1000 }).close();
    assert.throws(
      () => copyAccounts(location, "copy.db"),
      new RegExp(`version ${to} is too new: expected at most ${from}`),
    );

    migratePostgresAccounts(location, [additive, incompatible]);
    assert.equal(await pay(service, key), "metering_unavailable");
    await assert.rejects(setCap(0), { code: "metering_unavailable" });
    const message = new RegExp(
      `version ${to + 1} is too new for this release, which has version ${from}: expected a release with version ${to + 1}`,
    );
    assert.match(reasons.at(-1) ?? "", message);
    assert.throws(() => openAccounts(location, { busyMs: 1000 }), message);
    assert.throws(() => migratePostgresAccounts(location), new RegExp(`version ${to + 1} is too new`));
  });

  test("a transaction that hangs holds up neither charges nor a migration", async (t) => {
    const { database, path, accountId, ...ledger } = await createLedger(t, "PostgreSQL");
    addCredit(database, { ...paidCredit, accountId, micros: 100_000 });
    const hanging = openAccounts(path, { busyMs: 1000, idleMs: 300 });
    onScopeEnd(t, async () => hanging.close());
    const hang = (work: () => void): void =>
      assert.throws(() => hanging.transaction(work), /idle-in-transaction timeout|[Cc]onnection/);
    hang(() => {
      hanging.run(sql`SELECT account_id FROM accounts WHERE account_id = ${accountId} FOR UPDATE`);
      assert.equal(postCharge(database, searchCharge({ accountId, ...ledger, database, path }, "c1")), undefined);
    });
    hang(() => {
      hanging.all(sql`SELECT entry FROM entries`);
      assert.equal(migratePostgresAccounts(path, [additive]).to, additive.to);
    });
    assert.equal(hanging.one(sql`SELECT count(*) AS n FROM entries`)?.n, 2);
  });
});

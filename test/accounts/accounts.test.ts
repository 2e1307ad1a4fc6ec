/** Accounts as the service uses them: concurrent charges, holds, spend caps, and outages of the accounts file. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { changeAccount, getAccount } from "../../src/accounts/account.ts";
import { Accounts, type AccountsOptions } from "../../src/accounts/accounts.ts";
import { generateApiKey } from "../../src/accounts/keys/api-key.ts";
import { revokeKey } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { addCredit, adjustBalance } from "../../src/accounts/ledger/ledger.ts";
import { prices } from "../../src/accounts/policy/prices.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import {
  createCustomer,
  inAccountsFile,
  temporaryAccounts,
  temporaryAccountsFile,
  testOnBothEngines,
} from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { smallDisk, temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const run = promisify(execFile);

/** Opens accounts and closes them when the scope ends. */
async function openAccounts(scope: Scope, path: string, options: Partial<AccountsOptions> = {}): Promise<Accounts> {
  const accounts = await Accounts.open(path, { clock: systemClock, ...options });
  onScopeEnd(scope, () => accounts.close());
  return accounts;
}

/** Identifies, holds and charges one request, again while the service is overloaded, which costs nothing; returns `charged` or the code of the refusal. */
async function pay(accounts: Accounts, key: string, chargeId: string = randomUUID()): Promise<string> {
  try {
    const identity = await accounts.identify(key, "192.0.2.1");
    const hold = accounts.hold(identity, "listing_search");
    await sleep(Math.random() * 3);
    await accounts.charge(identity, hold, chargeId);
    return "charged";
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return thrown.code === "overloaded" ? pay(accounts, key, chargeId) : thrown.code;
  }
}

const tally = (outcomes: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

test("a charge counts at once for the holds of its account, before the account is read again", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { key } = await createCustomer(path, { usd: String((2 * prices.listing_search) / 1_000_000) });
  const accounts = await openAccounts(t, path, { clock: { ...systemClock, monotonicMs: () => 1_000_000 } });
  const identity = await accounts.identify(key, "192.0.2.1");
  await accounts.charge(identity, accounts.hold(identity, "listing_search"), randomUUID());
  accounts.hold(identity, "listing_search");
  assert.throws(() => accounts.hold(identity, "listing_search"), Refusal);
});

test("100 requests with unknown keys from one client address are looked up, and no more", async (t) => {
  const path = await temporaryAccountsFile(t);
  const accounts = await openAccounts(t, path, { clock: { ...systemClock, monotonicMs: () => 1_000_000 } });
  const identify = async () => accounts.identify(generateApiKey().key, "192.0.2.1");
  for (let count = 0; count < 100; count += 1) await assert.rejects(identify(), { code: "invalid_api_key" });
  await assert.rejects(identify(), { code: "too_many_invalid_api_keys" });
});

const balanceOf = (path: string, accountId: string): Promise<number> =>
  inAccountsFile(path, async (database) => (await getAccount(database, accountId, "2026-11")).balanceMicros);

testOnBothEngines(
  "64 concurrent clients spend a balance down to its last cent and never below zero",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { accountId, key } = await createCustomer(path, { usd: "0.201" });
    const accounts = await openAccounts(t, path);
    const clients = Array.from({ length: 64 }, async () => {
      const outcomes: string[] = [];
      for (let request = 0; request < 4; request += 1) outcomes.push(await pay(accounts, key));
      return outcomes;
    });
    assert.deepEqual(tally((await Promise.all(clients)).flat()), { charged: 100, billing_state_blocked: 156 });
    assert.equal(await balanceOf(path, accountId), 1_000);
    assert.deepEqual(await inAccountsFile(path, audit), { faults: [], accounts: 1, entries: 101, charges: 100 });
  },
);

testOnBothEngines("64 concurrent clients stop exactly at a spend cap", async (t, engine) => {
  const path = await temporaryAccounts(t, engine);
  const { accountId, key } = await createCustomer(path);
  await inAccountsFile(path, (database) => changeAccount(database, accountId, { capMicros: 41_999 }));
  const accounts = await openAccounts(t, path);
  const outcomes = await Promise.all(Array.from({ length: 64 }, () => pay(accounts, key)));
  assert.deepEqual(tally(outcomes), { charged: 20, monthly_spend_cap_exceeded: 44 });
});

testOnBothEngines(
  "services that share accounts answer exactly as many requests as their money pays for",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { accountId, key } = await createCustomer(path, { usd: "0.1" });
    const services = await Promise.all(
      Array.from({ length: engine === "SQLite" ? 2 : extentOf(2, 4) }, () => openAccounts(t, path)),
    );
    const requests = services.flatMap((accounts) => Array.from({ length: 40 }, () => pay(accounts, key)));
    assert.deepEqual(tally(await Promise.all(requests)), { charged: 50, billing_state_blocked: requests.length - 50 });
    assert.equal(await balanceOf(path, accountId), 0);
  },
);

test("a held price cannot be spent by another request until the hold is released", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { key } = await createCustomer(path, { usd: "0.005" });
  const accounts = await openAccounts(t, path);
  const identity = await accounts.identify(key, "192.0.2.1");
  const holds = [accounts.hold(identity, "listing_search"), accounts.hold(identity, "listing_search")];
  const isRefused = () =>
    assert.throws(() => accounts.hold(identity, "listing_search"), { code: "billing_state_blocked" });
  isRefused();
  holds[0]?.release();
  holds[0]?.release();
  accounts.hold(identity, "listing_search");
  isRefused();
  accounts.hold(identity, "dealer_lookup");
});

test("held prices count towards the spend cap", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { accountId, key } = await createCustomer(path);
  await inAccountsFile(path, (database) => changeAccount(database, accountId, { capMicros: 5_999 }));
  const accounts = await openAccounts(t, path);
  const identity = await accounts.identify(key, "192.0.2.1");
  const hold = () => accounts.hold(identity, "listing_search");
  const holds = [hold(), hold()];
  assert.throws(hold, { code: "monthly_spend_cap_exceeded" });
  holds[0]?.release();
  hold();
  assert.throws(hold, { code: "monthly_spend_cap_exceeded" });
});

testOnBothEngines(
  "a repeated charge id is charged once",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { accountId, key } = await createCustomer(path, { usd: "1" });
    const accounts = await openAccounts(t, path);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => pay(accounts, key, "the same")));
    assert.deepEqual(tally(outcomes), { charged: 20 });
    assert.equal(await balanceOf(path, accountId), 998_000);
  },
  { skipPostgres: skipInShortRun },
);

testOnBothEngines(
  "changes by the command line take effect in a running service within a second",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { accountId, key, keyId } = await createCustomer(path, { usd: "0" });
    const accounts = await openAccounts(t, path);
    const becomes = async (outcome: string): Promise<void> => {
      await eventually(outcome, async () => (await pay(accounts, key)) === outcome);
    };
    await becomes("billing_state_blocked");
    await inAccountsFile(path, (database) =>
      addCredit(database, { accountId, kind: "paid", micros: 1_000_000, atMs: 0, isConfirmed: true }),
    );
    await becomes("charged");
    await inAccountsFile(path, (database) => changeAccount(database, accountId, { capMicros: 0 }));
    await becomes("monthly_spend_cap_exceeded");
    await inAccountsFile(path, (database) => changeAccount(database, accountId, { capMicros: null }));
    await becomes("charged");
    await inAccountsFile(path, (database) => changeAccount(database, accountId, { state: "suspended" }));
    await becomes("billing_state_blocked");
    await inAccountsFile(path, (database) => changeAccount(database, accountId, { state: "active" }));
    await becomes("charged");
    const other = await createCustomer(path);
    assert.equal(await pay(accounts, other.key), "charged", "a new key works at once");
    await inAccountsFile(path, (database) => revokeKey(database, keyId, 1));
    await becomes("invalid_api_key");
  },
  { skipPostgres: skipInShortRun },
);

testOnBothEngines(
  "a charge is refused if the balance was spent while the request ran",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { accountId, key } = await createCustomer(path, { usd: "1" });
    const accounts = await openAccounts(t, path);
    const identity = await accounts.identify(key, "192.0.2.1");
    const hold = accounts.hold(identity, "listing_search");
    await inAccountsFile(path, (database) => adjustBalance(database, { accountId, micros: -999_999, atMs: 0 }));
    await assert.rejects(accounts.charge(identity, hold, "late"), { code: "billing_state_blocked" });
    assert.equal(await balanceOf(path, accountId), 1);
  },
  { skipPostgres: skipInShortRun },
);

const outages: readonly (readonly [what: string, break_: (path: string) => Promise<() => Promise<void>>])[] = [
  [
    "another process holds the lock",
    async (path) => {
      const { SqliteDatabase } = await import("../../src/db/sqlite.ts");
      const other = SqliteDatabase.open(path, { busyMs: 1000 });
      other.run(sql`BEGIN IMMEDIATE`);
      return async () => other.close();
    },
  ],
  [
    "its file was moved away",
    async (path) => {
      const parts = ["", "-wal", "-shm"];
      for (const part of parts) await rename(`${path}${part}`, `${path}${part}.away`);
      return async () => {
        for (const part of [...parts].reverse()) await rename(`${path}${part}.away`, `${path}${part}`);
      };
    },
  ],
  [
    "its file was overwritten",
    async (path) => {
      for (const part of ["", "-wal", "-shm"]) await rename(`${path}${part}`, `${path}${part}.away`);
      await writeFile(path, "nothing that could be opened".repeat(400));
      return async () => {
        // The log before the file, which the service opens once it exists.
        for (const part of ["-shm", "-wal", ""]) await rename(`${path}${part}.away`, `${path}${part}`);
      };
    },
  ],
];

describe("a ledger that cannot be written", { concurrency: true }, () => {
  for (const [what, disrupt] of outages) {
    test(`because ${what} charges no account, reports it, and recovers without a restart`, async (t) => {
      const path = await temporaryAccountsFile(t);
      const { accountId, key } = await createCustomer(path, { usd: "1" });
      const changes: boolean[] = [];
      const accounts = await openAccounts(t, path, { onAvailabilityChange: (isDown) => changes.push(isDown) });
      assert.equal(await pay(accounts, key), "charged");
      const repair = await disrupt(path);
      assert.deepEqual(tally(await Promise.all(Array.from({ length: 8 }, () => pay(accounts, key)))), {
        metering_unavailable: 8,
      });
      await repair();
      await eventually("charged again", async () => (await pay(accounts, key)) === "charged");
      assert.deepEqual(changes, [true, false]);
      const { faults, charges } = await inAccountsFile(path, audit);
      assert.deepEqual([faults, charges], [[], 2]);
      assert.equal(await balanceOf(path, accountId), 996_000);
    });
  }

  test("because the disk is full charges no account, and recovers when space is freed", async (t) => {
    const disk = await smallDisk(t, "600k");
    if (disk === undefined) return t.skip("mounting a tmpfs needs root");
    await fillAndRecover(join(disk, "accounts.db"), join(disk, "ballast"), () =>
      run("mount", ["-o", "remount,size=16m", disk]),
    );
  });
});

/** Charges until the disk is full, frees space, and charges again. */
async function fillAndRecover(path: string, ballast: string, freeSpace: () => Promise<unknown>): Promise<void> {
  const accounts = await Accounts.open(path, { clock: systemClock });
  try {
    const { accountId, key } = await createCustomer(path, { usd: "100" });
    assert.equal(await pay(accounts, key), "charged");
    await run("sh", ["-c", `head -c 10M /dev/zero > ${ballast} || true`]);
    const outcomes: string[] = [];
    await eventually("full", async () => {
      outcomes.push(...(await Promise.all(Array.from({ length: 64 }, () => pay(accounts, key)))));
      return outcomes.includes("metering_unavailable");
    });
    await freeSpace();
    await eventually("charged again", async () => {
      outcomes.push(await pay(accounts, key));
      return outcomes.at(-1) === "charged";
    });
    const charged = 1 + (tally(outcomes).charged ?? 0);
    const { faults, charges } = await inAccountsFile(path, audit);
    assert.deepEqual([faults, charges], [[], charged]);
    assert.equal(await balanceOf(path, accountId), 100_000_000 - charged * 2_000);
  } finally {
    await accounts.close();
  }
}

test("a file that is not a database is reported at start-up in one line", async (t) => {
  const path = join(await temporaryFolder(t), "accounts.db");
  await writeFile(path, "nothing that could be opened".repeat(400));
  await assert.rejects(
    Accounts.open(path, { clock: systemClock }),
    /accounts\.db: cannot be opened as a database: [^\n]+$/,
  );
});

testOnBothEngines(
  "closing waits for charges in flight",
  async (t, engine) => {
    const path = await temporaryAccounts(t, engine);
    const { key } = await createCustomer(path);
    const accounts = await Accounts.open(path, { clock: systemClock });
    const identity = await accounts.identify(key, "192.0.2.1");
    const charging = Array.from({ length: 100 }, () =>
      accounts.charge(identity, accounts.hold(identity, "listing_search"), randomUUID()),
    );
    await accounts.close();
    await Promise.all(charging);
    assert.equal((await inAccountsFile(path, audit)).charges, 100);
  },
  { skipPostgres: skipInShortRun },
);

/** Ledger workers that exit while charges are in flight: the answer to each request matches the disk. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { renameSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Accounts } from "../../src/accounts/accounts.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { adjustmentOf } from "../../src/accounts/ledger/charging.ts";
import { formatUsd } from "../../src/accounts/money.ts";
import { prices } from "../../src/accounts/policy/prices.ts";
import { openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { LedgerClient, LedgerUnavailable } from "../../src/accounts/worker/ledger-client.ts";
import { textIn } from "../../src/base/json.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { type ExitMoment, exitingWorker } from "../ledger/exiting-worker.ts";
import {
  type AccountsEngine,
  createCustomer,
  inAccountsFile,
  temporaryAccounts,
  testOnBothEngines,
} from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { onScopeEnd } from "../support/scope.ts";

const chargesIn = (path: string): readonly string[] =>
  inAccountsFile(path, (database) =>
    database.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`).map((row) => textIn(row, "entry_id")),
  );

const ignore = (): undefined => undefined;

/** Opens a ledger client with short limits; collects the refunds that it could not post. */
async function openClient(t: TestContext, workerModule: URL, refundMs = 400) {
  const path = await temporaryAccounts(t, "SQLite");
  const { accountId, keyId } = createCustomer(path);
  const unrefunded: object[] = [];
  const client = new LedgerClient(
    {
      location: path,
      busyMs: 1000,
      synchronous: "NORMAL",
      isReadOnly: false,
      idleMs: 0,
      replyMs: 0,
      settleMs: 0,
    },
    {
      batchMax: 8,
      waitingMax: 8,
      stalledMs: 200,
      restartMs: 50,
      refundMs,
      probe: "probeWrite",
      onBalances: ignore,
      onBatch: ignore,
      onAvailabilityChange: ignore,
      workerModule,
      onUnrefunded: (charges) => unrefunded.push(...charges.map(adjustmentOf)),
    },
  );
  await client.open();
  const charge = {
    chargeId: "c1",
    accountId,
    keyId,
    usageClass: "vehicle_detail",
    units: 2,
    atMs: Date.now(),
  } as const;
  const beRefused = (): Promise<void> => assert.rejects(client.call("charge", charge), LedgerUnavailable);
  const adjustment = { account: accountId, usd: formatUsd(2 * prices.vehicle_detail), reference: "refund_c1" };
  return { client, path, unrefunded, charge, beRefused, adjustment };
}

/** Refuses a charge that is on disk: its worker exits after the commit, and the file is away until `putBack`. */
async function refuseCommittedCharge(t: TestContext, refundMs?: number) {
  const opened = await openClient(t, exitingWorker("after-commit", 1), refundMs);
  const { path } = opened;
  const refused = opened.beRefused();
  while (chargesIn(path).length === 0) await pause(1);
  renameSync(path, `${path}.away`);
  await refused;
  return { ...opened, putBack: () => renameSync(`${path}.away`, path) };
}

/** Opens accounts with one customer, whose ledger worker exits at a moment of a transaction. */
async function openWithExitingWorker(
  t: TestContext,
  moment: ExitMoment,
  engine: AccountsEngine = "SQLite",
  transaction = 1,
) {
  const path = await temporaryAccounts(t, engine);
  const { key } = createCustomer(path);
  const changes: boolean[] = [];
  const unrefunded: string[] = [];
  const accounts = await Accounts.open(path, {
    clock: systemClock,
    onAvailabilityChange: (isDown) => changes.push(isDown),
    onUnrefunded: (charges) => unrefunded.push(...charges.map(({ chargeId }) => chargeId)),
    workerModule: exitingWorker(moment, transaction),
  });
  t.after(() => accounts.close());
  const identity = await accounts.identify(key, "192.0.2.1");
  const charge = async (): Promise<string> => {
    const id = randomUUID();
    const hold = accounts.hold(identity, "vehicle_detail");
    await accounts.charge(identity, hold, id);
    return id;
  };
  return { path, charge, changes, accounts, identity, unrefunded };
}

const isUnmetered = (thrown: unknown): boolean => thrown instanceof Refusal && thrown.code === "metering_unavailable";

testOnBothEngines("charges whose worker exited after the commit are answered, once each", async (t, engine) => {
  // The first charge is sent alone; the others form the second transaction.
  const { path, charge, changes, identity } = await openWithExitingWorker(t, "after-commit", engine, 2);
  const ids = await Promise.all(Array.from({ length: 20 }, charge));
  assert.deepEqual([...chargesIn(path)].sort(), ids.sort());
  assert.equal(identity.cached.heldMicros, 0, "every hold is released");
  assert.deepEqual(changes.slice(0, 1), [true], "the lost worker is reported; its successor may be ready already");
  assert.deepEqual(inAccountsFile(path, audit).faults, []);
});

testOnBothEngines(
  "charges whose worker exited before the commit are refused, and none of them is on the disk",
  async (t, engine) => {
    const { path, charge, identity } = await openWithExitingWorker(t, "before-commit", engine, 2);
    const [first, ...others] = await Promise.allSettled(Array.from({ length: 20 }, charge));
    for (const outcome of others) assert.ok(outcome.status === "rejected" && isUnmetered(outcome.reason));
    assert.deepEqual(chargesIn(path), first?.status === "fulfilled" ? [first.value] : []);
    assert.equal(identity.cached.heldMicros, 0, "every hold is released");
  },
);

test("charges that no worker can look up within 5 s are refused", async (t) => {
  const { path, charge, accounts, unrefunded } = await openWithExitingWorker(t, "after-commit");
  const charging = assert.rejects(charge(), isUnmetered);
  while (chargesIn(path).length === 0) await pause(5);
  const committed = chargesIn(path);
  renameSync(path, `${path}.away`);
  await charging;
  await accounts.close();
  assert.deepEqual(unrefunded, committed);
});

test("a refused charge that is on disk is refunded while the service stops", async (t) => {
  const { client, path, unrefunded, putBack } = await refuseCommittedCharge(t, 20_000);
  const closed = client.close();
  await pause(100);
  putBack();
  await closed;
  assert.deepEqual(unrefunded, []);
  const refunds = inAccountsFile(path, (database) =>
    database.all(sql`SELECT reference, micros FROM entries WHERE kind = 'adjustment'`),
  ).map((row) => [row.reference, row.micros]);
  assert.deepEqual(refunds, [["refund_c1", 2 * prices.vehicle_detail]]);
});

test("a refund that cannot be posted before the service stops is reported with its account, amount and reference", async (t) => {
  const { client, unrefunded, adjustment, putBack } = await refuseCommittedCharge(t);
  await client.close();
  putBack();
  assert.deepEqual(unrefunded, [adjustment]);
});

test("the charges of a batch that hangs while the service stops are reported, too", async (t) => {
  const { client, path, beRefused, unrefunded, adjustment } = await openClient(t, exitingWorker("after-commit", 2));
  const other = openAccounts(path, { busyMs: 1000 });
  onScopeEnd(t, async () => other.close());
  other.run(sql`BEGIN IMMEDIATE`);
  await beRefused();
  const closed = client.close();
  await eventually("the report", async () => unrefunded.length > 0);
  other.run(sql`COMMIT`);
  await closed;
  assert.deepEqual(unrefunded, [adjustment]);
});

test("a refund that is asked for after the ledger is closed is reported, and starts no worker", async (t) => {
  const { client, unrefunded, charge, beRefused, adjustment } = await openClient(t, exitingWorker("after-commit", 9));
  await client.close();
  await client.refund([charge]);
  assert.deepEqual(unrefunded, [adjustment]);
  await beRefused();
});

testOnBothEngines("close waits for charges that are being looked up", async (t, engine) => {
  const { path, charge, accounts } = await openWithExitingWorker(t, "after-commit", engine);
  const charging = charge();
  await accounts.close();
  assert.deepEqual(chargesIn(path), [await charging]);
});

const exits = [
  ["after-commit", 4],
  ["before-commit", 3],
  ["after-commit", 1],
] as const;

for (const [moment, number] of exits.slice(0, extentOf(1, exits.length)))
  test(`a service whose ledger worker exits ${moment} of transaction ${number} answers exactly the requests it charged`, async (t) => {
    const { lake } = await createLake(t);
    const client = await startService(t, lake, { ledgerThread: exitingWorker(moment, number) });
    const untilMs = performance.now() + extentOf(1500, 4000);
    const statuses = new Map([200, 503].map((status) => [status, new Set<string>()]));
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (performance.now() < untilMs) {
          const { status, headers } = await client.get("/v1/listings?limit=1&fields=id");
          statuses.get(status)?.add(headers.get("X-Request-Id") ?? "");
        }
      }),
    );
    const charged = new Set(chargesIn(client.accounts));
    const answered = statuses.get(200) ?? new Set<string>();
    const refused = statuses.get(503) ?? new Set<string>();
    assert.deepEqual(
      [...answered].filter((id) => !charged.has(id)),
      [],
      "answered and not charged",
    );
    assert.deepEqual(
      [...refused].filter((id) => charged.has(id)),
      [],
      "refused and charged",
    );
    assert.equal(charged.size, answered.size);
    assert.ok(refused.size > 0 || moment === "after-commit");
    assert.ok(answered.size > 0 || moment === "before-commit");
  });

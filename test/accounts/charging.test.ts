/** Charges: idempotency keys, refunds, spend caps and prices of several units. */
import assert from "node:assert/strict";
import { changeAccount, createAccount, getAccount } from "../../src/accounts/account.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { type ChargeEntry, postCharge } from "../../src/accounts/ledger/charging.ts";
import { addCredit, adjustBalance, refundReference } from "../../src/accounts/ledger/ledger.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { sql } from "../../src/db/sql.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, month, msPerDay, paidCredit, searchCharge, type TestLedger } from "../support/ledger.ts";

/** Posts charges, one after the other; returns `charged`, or why each was not. */
async function codesOf({ database }: TestLedger, ...charges: readonly ChargeEntry[]): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const charge of charges) {
    const failure = await postCharge(database, charge);
    codes.push(typeof failure === "object" ? failure.code : (failure ?? "charged"));
  }
  return codes;
}

const searches = (ledger: TestLedger, ...ids: readonly string[]): readonly ChargeEntry[] =>
  ids.map((id) => searchCharge(ledger, id));

const day = "2026-11-19";

/** Returns the requests and charges of the day. */
async function usageOf({ database, accountId }: TestLedger): Promise<readonly (readonly number[])[]> {
  const rows = await listUsage(database, accountId, { startDate: day, endDate: day, classes: undefined });
  return rows.map(({ requests, charged_micros }) => [requests, charged_micros]);
}

testOnBothEngines("a refunded charge counts neither as usage nor towards the spend cap", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  await addCredit(database, { ...paidCredit, accountId, micros: 20_000 });
  await changeAccount(database, accountId, { capMicros: 4_000 });
  const charged = async (...ids: readonly string[]) => codesOf(ledger, ...searches(ledger, ...ids));
  const refund = (chargeId: string, micros = 2_000) =>
    adjustBalance(database, { accountId, atMs, note: "paid twice", reference: refundReference(chargeId), micros });
  const capped = "monthly_spend_cap_exceeded";

  assert.deepEqual(await charged("c1", "c2", "c3"), ["charged", "charged", capped]);
  await refund("c1");
  assert.deepEqual(await usageOf(ledger), [[1, 2_000]]);
  await refund("c2");
  assert.deepEqual(await usageOf(ledger), []);
  await adjustBalance(database, { accountId, atMs, micros: 700, reference: "refund_of_nothing" });
  assert.deepEqual(await charged("c5", "c6", "c7"), ["charged", "charged", capped]);
  assert.deepEqual((await getAccount(database, accountId, month)).spentMicros, 4_000);
  assert.deepEqual((await audit(database)).faults, []);
});

testOnBothEngines("an adjustment whose reference names another account's charge refunds nothing", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  await addCredit(database, { ...paidCredit, accountId, micros: 20_000 });
  await codesOf(ledger, ...searches(ledger, "c1"));
  const other = await createAccount(database, { email: "other@b.example", tier: 1, atMs });
  const adjustment = { atMs, note: "paid twice", reference: refundReference("c1"), micros: 2_000 };
  await adjustBalance(database, { ...adjustment, accountId: other });
  assert.deepEqual(await usageOf(ledger), [[1, 2_000]]);
  await codesOf(ledger, ...searches(ledger, "c2"));
  const { balanceMicros, spentMicros } = await getAccount(database, accountId, month);
  assert.deepEqual([balanceMicros, spentMicros], [16_000, 4_000]);
  assert.deepEqual((await audit(database)).faults, []);
});

testOnBothEngines("an idempotency key that is used again after 24 hours is kept for 24 more", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 10_000 });
  const request = { idempotencyKey: "order-1", sha256: "0".repeat(64) };
  const steps = [
    [0, "charged"],
    [msPerDay - 1, "repeated"],
    [msPerDay, "charged"],
    [2 * msPerDay - 1, "repeated"],
    [2 * msPerDay, "charged"],
  ] as const;
  for (const [afterMs, code] of steps) {
    const charge = { ...searchCharge(ledger, `c${afterMs}`), atMs: atMs + afterMs, request };
    assert.deepEqual(await codesOf(ledger, charge), [code], String(afterMs));
  }
  const other = { ...searchCharge(ledger, "other"), request: { ...request, sha256: "1".repeat(64) } };
  assert.deepEqual(await codesOf(ledger, { ...other, atMs: atMs + 2 * msPerDay }), ["mismatched"]);
});

testOnBothEngines(
  "an account pays no more than its spend cap, no unit that its balance does not cover, and nothing while it is suspended",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    await addCredit(database, { ...paidCredit, accountId, micros: 10_999 });
    const blocked = "billing_state_blocked";
    const units = [6, 2, 4, 1].map((count) => ({ ...searchCharge(ledger, `${count} units`), units: count }));
    assert.deepEqual(await codesOf(ledger, ...units), [blocked, "charged", blocked, "charged"]);
    await changeAccount(database, accountId, { capMicros: 9_999 });
    assert.deepEqual(await codesOf(ledger, ...searches(ledger, "c1", "c2", "c1")), [
      "charged",
      "monthly_spend_cap_exceeded",
      "charged",
    ]);
    await changeAccount(database, accountId, { capMicros: null, state: "suspended" });
    assert.deepEqual(await codesOf(ledger, ...searches(ledger, "c3")), [blocked]);
    assert.equal(await ledger.balance(), 2_999);
    for (const change of [{ state: "suspended" as const }, { state: "active" as const, capMicros: 9_999 }]) {
      await changeAccount(database, accountId, change);
      const insert = sql`
        INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
        SELECT 'x', account_id, 'charge', -2000, ${atMs}, 1, key_id FROM keys`;
      await assert.rejects(database.run(insert), /suspended account|spend cap/, "the tables refuse it, too");
    }
  },
);

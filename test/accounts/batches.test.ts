/** Batches of charges: idempotency keys, refunds, spend caps and prices of several units. */
import assert from "node:assert/strict";
import { changeAccount, createAccount } from "../../src/accounts/account.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import type { ChargeEntry } from "../../src/accounts/ledger/charging.ts";
import { addCredit, adjustBalance, refundReference } from "../../src/accounts/ledger/ledger.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { commitBatch, type TaskOutcome } from "../../src/accounts/worker/group-commit.ts";
import { isObject } from "../../src/base/json.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, month, msPerDay, paidCredit, searchCharge } from "../support/ledger.ts";

/** Returns why an account could not pay a charge. */
const codeOf = (outcome: TaskOutcome): unknown =>
  "output" in outcome && isObject(outcome.output) && "code" in outcome.output ? outcome.output.code : "charged";

testOnBothEngines("a refund frees the idempotency key: the repeated request is charged again", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  addCredit(database, { ...paidCredit, accountId, micros: 10_000 });
  const request = { idempotencyKey: "order-1", sha256: "0".repeat(64) };
  const charge = (chargeId: string) =>
    ({ name: "charge", input: { ...searchCharge(ledger, chargeId), request } }) as const;
  const refund = { name: "refundCharges", input: { chargeIds: ["c1"] } } as const;
  const steps = [
    [charge("c1"), null, 8_000],
    [charge("c2"), "repeated", 8_000],
    [refund, null, 10_000],
    [refund, null, 10_000],
    [charge("c3"), null, 8_000],
    [charge("c4"), "repeated", 8_000],
  ] as const;
  for (const [index, [task, output, balance]] of steps.entries()) {
    assert.deepEqual(commitBatch(database, [task], assert.ifError).outcomes, [{ output }], `step ${index}`);
    assert.equal(ledger.balance(), balance, `step ${index}`);
  }
  assert.deepEqual(audit(database).faults, []);
});

testOnBothEngines("a refunded charge counts neither as usage nor towards the spend cap", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  addCredit(database, { ...paidCredit, accountId, micros: 20_000 });
  changeAccount(database, accountId, { capMicros: 4_000 });
  const charge = (chargeId: string) => ({ name: "charge", input: searchCharge(ledger, chargeId) }) as const;
  const refund = (...chargeIds: readonly string[]) => ({ name: "refundCharges", input: { chargeIds } }) as const;
  const commit = (...tasks: Parameters<typeof commitBatch>[1]) => commitBatch(database, tasks, assert.ifError);
  const day = "2026-11-19";
  const usage = () =>
    listUsage(database, accountId, { startDate: day, endDate: day, classes: undefined }).map((row) => [
      row.requests,
      row.charged_micros,
    ]);
  const balance = (balanceMicros: number, spentMicros: number) => ({ accountId, month, balanceMicros, spentMicros });

  assert.deepEqual(commit(charge("c1"), charge("c2")).balances, [balance(16_000, 4_000)]);
  assert.deepEqual(commit(charge("c3")).outcomes.map(codeOf), ["monthly_spend_cap_exceeded"]);
  assert.deepEqual(commit(refund("c1", "c1", "unknown")).balances, [balance(18_000, 2_000)]);
  assert.deepEqual(usage(), [[1, 2_000]]);
  assert.deepEqual(commit(refund("c2"), charge("c4"), charge("c8")).balances, [balance(16_000, 4_000)]);
  assert.deepEqual(usage(), [[2, 4_000]]);
  assert.deepEqual(commit(charge("c9")).outcomes.map(codeOf), ["monthly_spend_cap_exceeded"]);
  assert.deepEqual(commit(refund("c8", "c4")).balances, [balance(20_000, 0)]);
  assert.deepEqual(usage(), []);
  assert.deepEqual(commit(charge("c10")).balances, [balance(18_000, 2_000)]);
  assert.deepEqual(usage(), [[1, 2_000]]);
  const adjustment = { accountId, atMs, note: "paid twice", reference: refundReference("c10") };
  adjustBalance(database, { ...adjustment, micros: 2_000 });
  assert.deepEqual(usage(), []);
  adjustBalance(database, { ...adjustment, micros: 700, reference: "refund_of_nothing" });
  assert.deepEqual(commit(charge("c5"), charge("c6"), charge("c7")).outcomes.map(codeOf), [
    "charged",
    "charged",
    "monthly_spend_cap_exceeded",
  ]);
  assert.deepEqual(audit(database).faults, []);
});

testOnBothEngines("an adjustment whose reference names another account's charge refunds nothing", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  addCredit(database, { ...paidCredit, accountId, micros: 20_000 });
  const commit = (...tasks: Parameters<typeof commitBatch>[1]) => commitBatch(database, tasks, assert.ifError);
  commit({ name: "charge", input: searchCharge(ledger, "c1") });
  const other = createAccount(database, { email: "other@b.example", tier: 1, atMs });
  const adjustment = { atMs, note: "paid twice", reference: refundReference("c1"), micros: 2_000 };
  adjustBalance(database, { ...adjustment, accountId: other });
  const day = "2026-11-19";
  const usage = listUsage(database, accountId, { startDate: day, endDate: day, classes: undefined });
  assert.deepEqual(
    usage.map((row) => [row.requests, row.charged_micros]),
    [[1, 2_000]],
  );
  assert.deepEqual(commit({ name: "charge", input: searchCharge(ledger, "c2") }).balances, [
    { accountId, month, balanceMicros: 16_000, spentMicros: 4_000 },
  ]);
  assert.deepEqual(audit(database).faults, []);
});

testOnBothEngines("an idempotency key that is used again after 24 hours is kept for 24 more", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 10_000 });
  const request = { idempotencyKey: "order-1", sha256: "0".repeat(64) };
  for (const [afterMs, output] of [
    [0, null],
    [msPerDay - 1, "repeated"],
    [msPerDay, null],
    [2 * msPerDay - 1, "repeated"],
    [2 * msPerDay, null],
  ] as const) {
    const input = { ...searchCharge(ledger, `c${afterMs}`), atMs: atMs + afterMs, request };
    const { outcomes } = commitBatch(ledger.database, [{ name: "charge", input }], assert.ifError);
    assert.deepEqual(outcomes, [{ output }], String(afterMs));
  }
});

testOnBothEngines(
  "a batch charges no more than a spend cap, and no unit that the balance does not cover",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    addCredit(database, { ...paidCredit, accountId, micros: 10_999 });
    const codesOf = (charges: readonly ChargeEntry[]): readonly unknown[] =>
      commitBatch(
        database,
        charges.map((input) => ({ name: "charge", input }) as const),
        assert.ifError,
      ).outcomes.map(codeOf);
    const blocked = "billing_state_blocked";
    const capped = "monthly_spend_cap_exceeded";
    const units = [6, 2, 4, 1].map((count) => ({ ...searchCharge(ledger, `${count} units`), units: count }));
    assert.deepEqual(codesOf(units), [blocked, "charged", blocked, "charged"]);
    changeAccount(database, accountId, { capMicros: 9_999 });
    const singles = [1, 2].map((n) => searchCharge(ledger, `c${n}`));
    assert.deepEqual(codesOf(singles), ["charged", capped]);
    assert.equal(ledger.balance(), 2_999);
  },
);

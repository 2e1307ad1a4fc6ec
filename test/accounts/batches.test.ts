/** Batches of charges: idempotency keys, refunds, spend caps and prices of several units. */
import assert from "node:assert/strict";
import { changeAccount } from "../../src/accounts/account.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import type { ChargeEntry } from "../../src/accounts/ledger/charging.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { commitBatch } from "../../src/accounts/worker/group-commit.ts";
import { isObject } from "../../src/base/json.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, dayMs, paidCredit, searchCharge } from "../support/ledger.ts";

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

testOnBothEngines("an idempotency key that is used again after 24 hours is kept for 24 more", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 10_000 });
  const request = { idempotencyKey: "order-1", sha256: "0".repeat(64) };
  for (const [afterMs, output] of [
    [0, null],
    [dayMs - 1, "repeated"],
    [dayMs, null],
    [2 * dayMs - 1, "repeated"],
    [2 * dayMs, null],
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
      ).outcomes.map((outcome) =>
        "output" in outcome && isObject(outcome.output) && "code" in outcome.output ? outcome.output.code : "charged",
      );
    const [blocked, capped] = ["billing_state_blocked", "monthly_spend_cap_exceeded"];
    const units = [6, 2, 4, 1].map((count) => ({ ...searchCharge(ledger, `${count} units`), units: count }));
    assert.deepEqual(codesOf(units), [blocked, "charged", blocked, "charged"]);
    changeAccount(database, accountId, { capMicros: 9_999 });
    const singles = [1, 2].map((n) => searchCharge(ledger, `c${n}`));
    assert.deepEqual(codesOf(singles), ["charged", capped]);
    assert.equal(ledger.balance(), 2_999);
  },
);

/** The ledger: credits, charges, batches, spend caps, and reviews of tiers. */
import assert from "node:assert/strict";
import { changeAccount, createAccount, getAccount } from "../../src/accounts/account.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { listEntryPage } from "../../src/accounts/ledger/entry-pages.ts";
import {
  addCredit,
  adjustBalance,
  confirmCredit,
  listEntries,
  refundReference,
  reverseCredit,
} from "../../src/accounts/ledger/ledger.ts";
import { listRevenue, type RevenueRow, revenueDaysMax, sumRevenue } from "../../src/accounts/ledger/revenue.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { decideReview, queuedReviews, reviewAccounts } from "../../src/accounts/policy/tier-reviews.ts";
import { summaryOf } from "../../src/accounts/storage/copy-accounts.ts";
import { sql } from "../../src/db/sql.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, month, msPerDay, paidCredit, postPlainCharge, searchCharge } from "../support/ledger.ts";

testOnBothEngines("credits, charges, adjustments and reversals add up to the balance", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  const first = await addCredit(database, {
    ...paidCredit,
    accountId,
    micros: 25_000_000,
    reference: "pi_1",
    note: "card",
  });
  assert.equal(await ledger.balance(), 25_000_000);
  await addCredit(database, { ...paidCredit, kind: "promotional", accountId, micros: 1_000_000 });
  assert.equal(await postPlainCharge(database, searchCharge(ledger, "c1")), undefined);
  assert.equal(await ledger.balance(), 25_998_000);
  await adjustBalance(database, { accountId, micros: -998_000, atMs, note: "rounding" });
  assert.equal(await ledger.balance(), 25_000_000);
  await reverseCredit(database, first, atMs + msPerDay, "stolen card");
  assert.equal(await ledger.balance(), 0);
  await adjustBalance(database, { accountId, micros: -1, atMs });
  assert.equal(await ledger.balance(), -1, "an operator may take a balance below zero");
  assert.deepEqual(await postPlainCharge(database, searchCharge(ledger, "c2")), {
    code: "billing_state_blocked",
    state: "exhausted",
    why: ": the request costs 0.002 USD, the balance is -0.000001 USD",
  });
  assert.deepEqual(
    (await listEntries(database, accountId)).map(({ kind, micros, note }) => [kind, micros, note]),
    [
      ["paid", 25_000_000, "card"],
      ["promotional", 1_000_000, null],
      ["adjustment", -998_000, "rounding"],
      ["chargeback_reversal", -25_000_000, "stolen card"],
      ["adjustment", -1, null],
    ],
  );
  assert.deepEqual(await audit(database), { faults: [], accounts: 1, entries: 6, charges: 1 });
});

testOnBothEngines(
  "a charge id, a payment reference and the reversal of a credit are each posted once",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    const credit = await addCredit(database, { ...paidCredit, accountId, micros: 10_000, reference: "pi_1" });
    for (let times = 0; times < 3; times += 1)
      assert.equal(await postPlainCharge(database, searchCharge(ledger, "same")), undefined);
    assert.equal(await ledger.balance(), 8_000);
    await assert.rejects(
      () => addCredit(database, { ...paidCredit, accountId, micros: 10_000, reference: "pi_1" }),
      new RegExp(`Reference pi_1 is already posted as ${credit}: `),
    );
    await assert.rejects(
      () => adjustBalance(database, { accountId, micros: 1, atMs, reference: "pi_1" }),
      /already posted/,
    );
    await reverseCredit(database, credit, atMs);
    await assert.rejects(() => reverseCredit(database, credit, atMs), /is already reversed/);
    await assert.rejects(() => reverseCredit(database, "credit_none", atMs), /Unknown credit credit_none: /);
    await assert.rejects(() => confirmCredit(database, "same", atMs), /Unknown credit same: /);
    await assert.rejects(
      () => addCredit(database, { ...paidCredit, accountId: "acct_none", micros: 1 }),
      /Unknown account acct_none: /,
    );
    assert.equal(await ledger.balance(), -2_000);
  },
);

testOnBothEngines("the spend cap applies per UTC calendar month, whichever way the clock jumps", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 1_000_000 });
  await changeAccount(ledger.database, ledger.accountId, { capMicros: 4_000 });
  const steps: readonly (readonly [at: string, comesTo: string])[] = [
    ["2026-11-30T23:59:59.998Z", "charged"],
    ["2026-11-30T23:59:59.999Z", "charged"],
    ["2026-11-30T23:59:59.999Z", "monthly_spend_cap_exceeded"],
    ["2026-12-01T00:00:00.000Z", "charged"],
    ["2026-11-30T00:00:00.000Z", "monthly_spend_cap_exceeded"],
    ["2026-12-31T23:59:59.999Z", "charged"],
    ["2026-12-01T00:00:00.000Z", "monthly_spend_cap_exceeded"],
    ["2027-01-01T00:00:00.000Z", "charged"],
  ];
  for (const [index, [at, comesTo]] of steps.entries()) {
    const short = await postPlainCharge(ledger.database, {
      ...searchCharge(ledger, `c${index}`),
      atMs: Date.parse(at),
    });
    assert.equal(short?.code ?? "charged", comesTo, at);
  }
  const range = { startDate: "2026-11-01", endDate: "2027-01-31", classes: undefined };
  assert.deepEqual(
    (await listUsage(ledger.database, ledger.accountId, range)).map((row) => Object.values(row).join(" ")),
    [
      "2026-11-30 listing_search 2 4000",
      "2026-12-01 listing_search 1 2000",
      "2026-12-31 listing_search 1 2000",
      "2027-01-01 listing_search 1 2000",
    ],
  );
});

testOnBothEngines(
  "reviews raise an account from tier 1 to 3 automatically, and to 4 after approval",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const tier = async () => (await getAccount(database, accountId, month)).tier;
    const reviewed = async (day: string) =>
      (await reviewAccounts(database, day)).map(({ from, to, outcome }) => `${from} ${to} ${outcome}`);
    await addCredit(database, { ...paidCredit, kind: "promotional", accountId, micros: 900_000_000 });
    const credit = await addCredit(database, { ...paidCredit, accountId, micros: 500_000_000, isConfirmed: false });
    assert.deepEqual(await reviewed("2026-12-31"), [], "promotional and unconfirmed credits do not count");
    await confirmCredit(database, credit, atMs);
    await confirmCredit(database, credit, atMs + 20 * msPerDay);
    assert.deepEqual(await reviewed("2026-11-25"), []);
    assert.deepEqual(await reviewed("2026-11-26"), ["1 2 automatic"]);
    assert.deepEqual(await reviewed("2026-11-26"), []);
    assert.deepEqual(await reviewed("2026-12-03"), ["2 3 automatic"]);
    assert.deepEqual(await reviewed("2026-12-18"), []);
    assert.deepEqual(await reviewed("2026-12-19"), ["3 4 queued"]);
    assert.deepEqual(await reviewed("2026-12-20"), [], "it is queued once");
    assert.equal(await tier(), 3);
    assert.deepEqual(
      (await queuedReviews(database)).map(({ day, toTier }) => [day, toTier]),
      [["2026-12-19", 4]],
    );
    await decideReview(database, accountId, "declined", "2026-12-21");
    await assert.rejects(
      () => decideReview(database, accountId, "approved", "2026-12-21"),
      /No queued review of account /,
    );
    assert.deepEqual(await reviewed("2027-01-19"), []);
    assert.deepEqual(await reviewed("2027-01-20"), ["3 4 queued"]);
    await decideReview(database, accountId, "declined", "2027-01-21");
    assert.deepEqual(await reviewed("2027-02-19"), [], "30 days count from the last time it was declined");
    assert.deepEqual(await reviewed("2027-02-20"), ["3 4 queued"]);
    await decideReview(database, accountId, "approved", "2027-02-21");
    assert.equal(await tier(), 4);
    assert.deepEqual(await reviewed("2027-06-01"), []);
    const reviews = await database.all(sql`SELECT day, outcome, decided_day FROM reviews ORDER BY review`);
    assert.deepEqual(
      reviews.map(({ day, outcome, decided_day: decided }) => [day, outcome, decided]),
      [
        ["2026-11-26", "automatic", null],
        ["2026-12-03", "automatic", null],
        ["2026-12-19", "declined", "2026-12-21"],
        ["2027-01-20", "declined", "2027-01-21"],
        ["2027-02-20", "approved", "2027-02-21"],
      ],
      "a decision leaves earlier reviews as they were",
    );
  },
);

const ignore = async (): Promise<void> => undefined;

testOnBothEngines("automatic review runs once per UTC day, however often it is called", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  assert.deepEqual(await reviewAccounts(database, "2026-12-20", ignore), []);
  await addCredit(database, { ...paidCredit, accountId, micros: 25_000_000 });
  assert.deepEqual(await reviewAccounts(database, "2026-12-20", ignore), []);
  assert.equal((await reviewAccounts(database, "2026-12-21", ignore)).length, 1);
});

testOnBothEngines("an account whose tier is changed while it is reviewed keeps the new tier", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  await addCredit(database, { ...paidCredit, accountId, micros: 25_000_000 });
  const changing: SqlDatabase = Object.assign(Object.create(database), {
    transaction: async (work: (opened: SqlDatabase) => Promise<unknown>) => {
      await changeAccount(database, accountId, { tier: 4 });
      return database.transaction(work);
    },
  });
  assert.deepEqual(await reviewAccounts(changing, "2026-12-21", ignore), []);
  assert.equal((await getAccount(database, accountId, "2026-12")).tier, 4);
});

testOnBothEngines(
  "pages of entries hold every entry of the account once, newest first, also where days overlap",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId, keyId } = ledger;
    const other = await createAccount(database, { email: "c@d.example", tier: 1, atMs });
    const { keyId: otherKey } = await createKey(database, { accountId: other, scopes, atMs });
    for (const id of [accountId, other]) await addCredit(database, { ...paidCredit, accountId: id, micros: 1_000_000 });
    // Days 0, 1, 0, 2, 1, 3: the charges of a day lie between those of others.
    for (const [index, day] of [0, 1, 0, 2, 1, 3].entries())
      for (const [id, key] of [
        [accountId, keyId],
        [other, otherKey],
      ] as const) {
        const charge = {
          ...searchCharge(ledger, `${id} ${index}`),
          accountId: id,
          keyId: key,
          atMs: atMs + day * msPerDay,
        };
        assert.equal(await postPlainCharge(database, charge), undefined);
      }
    await adjustBalance(database, { accountId, micros: 5, atMs });
    const all = await listEntryPage(database, { accountId, before: null, limit: 100 });
    assert.deepEqual(
      all.map(({ entryId, kind }) => (kind === "charge" ? entryId : kind)),
      ["adjustment", ...[5, 4, 3, 2, 1, 0].map((index) => `${accountId} ${index}`), "paid"],
    );
    for (const limit of [1, 2, 3, 5]) {
      const paged = [];
      for (let before: number | null = null; ; ) {
        const page = await listEntryPage(database, { accountId, before, limit });
        paged.push(...page);
        before = page.at(-1)?.entry ?? null;
        if (before === null) break;
      }
      assert.deepEqual(paged, all, `pages of ${limit}`);
    }
  },
);

testOnBothEngines(
  "revenue is the charges of a period by day, class and account beside an earlier one",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    const other = await createAccount(database, { email: "c@d.example", tier: 1, atMs });
    const { keyId } = await createKey(database, { accountId: other, scopes, atMs });
    const idle = await createAccount(database, { email: "e@f.example", tier: 1, atMs });
    const monthAgo = atMs - 30 * msPerDay;
    for (const account of [accountId, other])
      await addCredit(database, { ...paidCredit, accountId: account, micros: 10_000_000, atMs: monthAgo });
    const free = { accountId: idle, kind: "promotional", micros: 5_000_000, isConfirmed: false, atMs } as const;
    await addCredit(database, free);
    const ofOther = { ...searchCharge(ledger, "o1"), accountId: other, keyId };
    const charges = [
      { ...searchCharge(ledger, "b1"), atMs: monthAgo },
      searchCharge(ledger, "c1"),
      { ...searchCharge(ledger, "c2"), usageClass: "trend_series" },
      { ...ofOther, atMs: atMs - msPerDay },
      { ...ofOther, chargeId: "o2", usageClass: "sql_statement", units: 3 },
      { ...ofOther, chargeId: "o3" },
    ] as const;
    for (const charge of charges) assert.equal(await postPlainCharge(database, charge), undefined);
    const refund = { accountId: other, micros: 2_000, atMs, reference: refundReference("o3") };
    await adjustBalance(database, refund);
    await reverseCredit(database, await addCredit(database, { ...paidCredit, accountId: other, micros: 7 }), atMs);

    const period = { startDate: "2026-11-01", endDate: "2026-11-19" };
    const before = { startDate: "2026-10-01", endDate: "2026-10-20" };
    const { accounts, ...sums } = await sumRevenue(database, period, before, 1);
    assert.deepEqual(sums, {
      total: { micros: 54_000, beforeMicros: 2_000 },
      days: [
        { date: "2026-10-20", requests: 1, micros: 2_000 },
        { date: "2026-11-18", requests: 1, micros: 2_000 },
        { date: "2026-11-19", requests: 3, micros: 52_000 },
      ],
      classes: [
        { usageClass: "sql_statement", micros: 30_000, beforeMicros: 0 },
        { usageClass: "trend_series", micros: 20_000, beforeMicros: 0 },
        { usageClass: "listing_search", micros: 4_000, beforeMicros: 2_000 },
      ],
      accountCount: 2,
      credits: [
        { date: "2026-10-20", kind: "paid", micros: 20_000_000 },
        { date: "2026-11-19", kind: "chargeback_reversal", micros: -7 },
        { date: "2026-11-19", kind: "paid", micros: 7 },
        { date: "2026-11-19", kind: "promotional", micros: 5_000_000 },
      ],
    });
    assert.deepEqual(
      accounts.map(({ account, ...charged }) => [account.email, account.isNew, charged]),
      [["c@d.example", false, { micros: 32_000, beforeMicros: 0 }]],
    );
    assert.equal((await getAccount(database, idle, month)).isNew, true);

    const rows: RevenueRow[] = [];
    for (let page: readonly RevenueRow[] = []; rows.length === 0 || page.length > 0; rows.push(...page))
      page = await listRevenue(database, period, rows.at(-1) ?? null, 2);
    assert.deepEqual(
      rows.map(({ email, date, usageClass, requests, micros }) => [email, date, usageClass, requests, micros]).sort(),
      [
        ["a@b.example", "2026-11-19", "listing_search", 1, 2_000],
        ["a@b.example", "2026-11-19", "trend_series", 1, 20_000],
        ["c@d.example", "2026-11-18", "listing_search", 1, 2_000],
        ["c@d.example", "2026-11-19", "sql_statement", 1, 30_000],
      ],
    );
    const none = { startDate: "2025-01-01", endDate: "2025-01-31" };
    const { total, accountCount } = await sumRevenue(database, none, none, 9);
    assert.deepEqual([total, accountCount], [{ micros: 0, beforeMicros: 0 }, 0]);
    for (const endDate of ["2024-12-31", "2026-02-05"])
      await assert.rejects(
        () => listRevenue(database, { ...none, endDate }, null, 1),
        new RegExp(`to ${endDate}: expected from 1 to ${revenueDaysMax} days`),
      );
  },
);

testOnBothEngines("the checksum of a copied table is exact for any number of rows", async (t, engine) => {
  const { database } = await createLedger(t, engine);
  const thousands = sql`WITH RECURSIVE thousands(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM thousands WHERE n < 3100)`;
  const rows = sql`(${thousands} SELECT 1000000006 AS micros FROM thousands AS one CROSS JOIN thousands AS other) AS many`;
  const columns = { micros: { type: "integer", constraints: sql`` } } as const;
  const summary = await database.one(summaryOf(columns, rows));
  assert.deepEqual({ ...summary }, { row_count: 9_610_000, checksum: 1_000_000_007 - 9_610_000 });
});

/** The ledger: credits, charges, batches, spend caps, and reviews of tiers. */
import assert from "node:assert/strict";
import { changeAccount, createAccount, getAccount } from "../../src/accounts/account.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { type EntryFilter, listEntryPage } from "../../src/accounts/ledger/entry-pages.ts";
import {
  addCredit,
  adjustBalance,
  confirmCredit,
  listEntries,
  refundCharge,
  reverseCredit,
} from "../../src/accounts/ledger/ledger.ts";
import { listRevenue, type RevenueRow, revenueDaysMax, sumRevenue } from "../../src/accounts/ledger/revenue.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { decideReview, queuedReviews, reviewAccounts, reviewOnce } from "../../src/accounts/policy/tier-reviews.ts";
import { commitBatch } from "../../src/accounts/worker/group-commit.ts";
import { sql } from "../../src/db/sql.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, month, msPerDay, paidCredit, postCharge, searchCharge } from "../support/ledger.ts";

testOnBothEngines("credits, charges, adjustments and reversals add up to the balance", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  const first = addCredit(database, { ...paidCredit, accountId, micros: 25_000_000, reference: "pi_1", note: "card" });
  assert.equal(ledger.balance(), 25_000_000);
  addCredit(database, { ...paidCredit, kind: "promotional", accountId, micros: 1_000_000 });
  assert.equal(postCharge(database, searchCharge(ledger, "c1")), undefined);
  assert.equal(ledger.balance(), 25_998_000);
  adjustBalance(database, { accountId, micros: -998_000, atMs, note: "rounding" });
  assert.equal(ledger.balance(), 25_000_000);
  reverseCredit(database, first, atMs + msPerDay, "stolen card");
  assert.equal(ledger.balance(), 0);
  adjustBalance(database, { accountId, micros: -1, atMs });
  assert.equal(ledger.balance(), -1, "an operator may take a balance below zero");
  assert.deepEqual(postCharge(database, searchCharge(ledger, "c2")), {
    code: "billing_state_blocked",
    state: "exhausted",
    why: ": the request costs 0.002 USD, the balance is -0.000001 USD",
  });
  assert.deepEqual(
    listEntries(database, accountId).map(({ kind, micros, note }) => [kind, micros, note]),
    [
      ["paid", 25_000_000, "card"],
      ["promotional", 1_000_000, null],
      ["adjustment", -998_000, "rounding"],
      ["chargeback_reversal", -25_000_000, "stolen card"],
      ["adjustment", -1, null],
    ],
  );
  assert.deepEqual(audit(database), { faults: [], accounts: 1, entries: 6, charges: 1 });
});

testOnBothEngines(
  "a charge id, a payment reference and the reversal of a credit are each posted once",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    const credit = addCredit(database, { ...paidCredit, accountId, micros: 10_000, reference: "pi_1" });
    for (let times = 0; times < 3; times += 1)
      assert.equal(postCharge(database, searchCharge(ledger, "same")), undefined);
    assert.equal(ledger.balance(), 8_000);
    assert.throws(
      () => addCredit(database, { ...paidCredit, accountId, micros: 10_000, reference: "pi_1" }),
      new RegExp(`Reference pi_1 is already posted as ${credit}: `),
    );
    assert.throws(() => adjustBalance(database, { accountId, micros: 1, atMs, reference: "pi_1" }), /already posted/);
    reverseCredit(database, credit, atMs);
    assert.throws(() => reverseCredit(database, credit, atMs), /is already reversed/);
    assert.throws(() => reverseCredit(database, "credit_none", atMs), /Unknown credit credit_none: /);
    assert.throws(() => confirmCredit(database, "same", atMs), /Unknown credit same: /);
    assert.throws(
      () => addCredit(database, { ...paidCredit, accountId: "acct_none", micros: 1 }),
      /Unknown account acct_none: /,
    );
    assert.equal(ledger.balance(), -2_000);
  },
);

testOnBothEngines("a batch of charges is one transaction: if one fails, none is written", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 100_000 });
  const tasks = ["c1", "c2", "c3"].map((id) => ({ name: "charge", input: searchCharge(ledger, id) }) as const);
  const broken = { name: "charge", input: { ...searchCharge(ledger, "c4"), accountId: "acct_none" } } as const;
  const thrown: unknown[] = [];
  const failed = commitBatch(ledger.database, [...tasks, broken], (error) => thrown.push(error));
  assert.equal(thrown.length, 1);
  assert.deepEqual(
    failed.outcomes,
    [...tasks, broken].map(() => ({
      error: 'Unknown account acct_none: expected an id listed by "carquet accounts list".',
    })),
  );
  assert.equal(ledger.balance(), 100_000);
  const done = commitBatch(ledger.database, tasks, (error) => thrown.push(error));
  assert.deepEqual(
    done.outcomes,
    tasks.map(() => ({ output: null })),
  );
  assert.deepEqual(
    done.balances.map(({ accountId, balanceMicros }) => [accountId, balanceMicros]),
    [[ledger.accountId, 94_000]],
  );
  assert.equal(ledger.balance(), 94_000);
});

testOnBothEngines("a change that cannot be stored fails alone in its batch", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  const { database, accountId } = ledger;
  const add = (reference: string) => {
    const input = { ...paidCredit, accountId, micros: 10_000, reference };
    const change = { name: "credits add", input, author: { actor: "test", atMs } } as const;
    return { name: "change", input: change } as const;
  };
  const charge = { name: "charge", input: searchCharge(ledger, "c1") } as const;
  const refund = { name: "refundCharges", input: { chargeIds: ["c1", "c\0"] } } as const;
  addCredit(database, { ...paidCredit, accountId, micros: 2_000 });
  const tasks = [add("first"), add("x\0"), charge, refund, add("last")];
  const { outcomes } = commitBatch(database, tasks, assert.ifError);
  assert.deepEqual(
    outcomes.map((outcome) => "error" in outcome),
    [false, true, false, true, false],
  );
  assert.equal(ledger.balance(), 20_000, "no write of the failed tasks is on disk, every write of the others");
  assert.deepEqual(audit(database).faults, []);
});

testOnBothEngines(
  "a batch on the last cent charges as many requests as the balance covers and refuses the rest",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 10_999 });
    const tasks = Array.from(
      { length: 64 },
      (_, index) => ({ name: "charge", input: searchCharge(ledger, `c${index}`) }) as const,
    );
    const { outcomes } = commitBatch(ledger.database, tasks, assert.ifError);
    assert.equal(outcomes.filter((outcome) => "output" in outcome && outcome.output === null).length, 5);
    assert.equal(ledger.balance(), 999);
    assert.deepEqual(audit(ledger.database).faults, []);
  },
);

testOnBothEngines("the spend cap applies per UTC calendar month, whichever way the clock jumps", async (t, engine) => {
  const ledger = await createLedger(t, engine);
  addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 1_000_000 });
  changeAccount(ledger.database, ledger.accountId, { capMicros: 4_000 });
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
    const short = postCharge(ledger.database, { ...searchCharge(ledger, `c${index}`), atMs: Date.parse(at) });
    assert.equal(short?.code ?? "charged", comesTo, at);
  }
  const range = { startDate: "2026-11-01", endDate: "2027-01-31", classes: undefined };
  assert.deepEqual(
    listUsage(ledger.database, ledger.accountId, range).map((row) => Object.values(row).join(" ")),
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
    const tier = () => getAccount(database, accountId, month).tier;
    const reviewed = (day: string) =>
      reviewAccounts(database, day).map(({ from, to, outcome }) => `${from} ${to} ${outcome}`);
    addCredit(database, { ...paidCredit, kind: "promotional", accountId, micros: 900_000_000 });
    const credit = addCredit(database, { ...paidCredit, accountId, micros: 500_000_000, isConfirmed: false });
    assert.deepEqual(reviewed("2026-12-31"), [], "promotional and unconfirmed credits do not count");
    confirmCredit(database, credit, atMs);
    confirmCredit(database, credit, atMs + 20 * msPerDay);
    assert.deepEqual(reviewed("2026-11-25"), []);
    assert.deepEqual(reviewed("2026-11-26"), ["1 2 automatic"]);
    assert.deepEqual(reviewed("2026-11-26"), []);
    assert.deepEqual(reviewed("2026-12-03"), ["2 3 automatic"]);
    assert.deepEqual(reviewed("2026-12-18"), []);
    assert.deepEqual(reviewed("2026-12-19"), ["3 4 queued"]);
    assert.deepEqual(reviewed("2026-12-20"), [], "it is queued once");
    assert.equal(tier(), 3);
    assert.deepEqual(
      queuedReviews(database).map(({ day, to }) => [day, to]),
      [["2026-12-19", 4]],
    );
    decideReview(database, accountId, "declined", "2026-12-21");
    assert.throws(() => decideReview(database, accountId, "approved", "2026-12-21"), /No queued review of account /);
    assert.deepEqual(reviewed("2027-01-19"), []);
    assert.deepEqual(reviewed("2027-01-20"), ["3 4 queued"]);
    decideReview(database, accountId, "declined", "2027-01-21");
    assert.deepEqual(reviewed("2027-02-19"), [], "30 days count from the last time it was declined");
    assert.deepEqual(reviewed("2027-02-20"), ["3 4 queued"]);
    decideReview(database, accountId, "approved", "2027-02-21");
    assert.equal(tier(), 4);
    assert.deepEqual(reviewed("2027-06-01"), []);
    const reviews = database.all(sql`SELECT day, outcome, decided_day FROM reviews ORDER BY review`);
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

testOnBothEngines("automatic review runs once per UTC day, however often it is called", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  assert.deepEqual(reviewOnce(database, "2026-12-20"), []);
  addCredit(database, { ...paidCredit, accountId, micros: 25_000_000 });
  assert.deepEqual(reviewOnce(database, "2026-12-20"), []);
  assert.equal(reviewOnce(database, "2026-12-21").length, 1);
});

testOnBothEngines(
  "pages of entries hold every entry of the account once, newest first, also where days overlap",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId, keyId } = ledger;
    const other = createAccount(database, { email: "c@d.example", tier: 1, atMs });
    const { keyId: otherKey } = createKey(database, { accountId: other, scopes, atMs });
    for (const id of [accountId, other]) addCredit(database, { ...paidCredit, accountId: id, micros: 1_000_000 });
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
        assert.equal(postCharge(database, charge), undefined);
      }
    adjustBalance(database, { accountId, micros: 5, atMs });
    const all = listEntryPage(database, { accountId, before: null, limit: 100 });
    assert.deepEqual(
      all.map(({ entryId, kind }) => (kind === "charge" ? entryId : kind)),
      ["adjustment", ...[5, 4, 3, 2, 1, 0].map((index) => `${accountId} ${index}`), "paid"],
    );
    for (const limit of [1, 2, 3, 5]) {
      const paged = [];
      for (let before: number | null = null; ; ) {
        const page = listEntryPage(database, { accountId, before, limit });
        paged.push(...page);
        before = page.at(-1)?.entry ?? null;
        if (before === null) break;
      }
      assert.deepEqual(paged, all, `pages of ${limit}`);
    }
    const dayOfEntry = (at: number): string => new Date(at).toISOString().slice(0, 10);
    const [first = "", second = ""] = [0, 1].map((day) => dayOfEntry(atMs + day * msPerDay));
    for (const filter of [
      { what: "credits" },
      { what: "listing_search", to: first },
      { what: "facet_counts" },
      { keyId, from: second, to: second },
      { keyId: otherKey },
      { from: first, to: second },
    ] satisfies readonly EntryFilter[]) {
      const { what, keyId: key, from = "", to = "9" }: EntryFilter = filter;
      const expected = all.filter(
        (entry) =>
          (what === undefined || what === (entry.usageClass ?? "credits")) &&
          (key === undefined || key === entry.keyId) &&
          from <= dayOfEntry(entry.atMs) &&
          dayOfEntry(entry.atMs) <= to,
      );
      const found = listEntryPage(database, { accountId, before: null, limit: 100, ...filter });
      assert.deepEqual(found, expected, JSON.stringify(filter));
    }
  },
);

testOnBothEngines(
  "revenue is the charges of a period by day, class and account beside an earlier one",
  async (t, engine) => {
    const ledger = await createLedger(t, engine);
    const { database, accountId } = ledger;
    const other = createAccount(database, { email: "c@d.example", tier: 1, atMs });
    const { keyId } = createKey(database, { accountId: other, scopes, atMs });
    const idle = createAccount(database, { email: "e@f.example", tier: 1, atMs });
    const monthAgo = atMs - 30 * msPerDay;
    for (const account of [accountId, other])
      addCredit(database, { ...paidCredit, accountId: account, micros: 10_000_000, atMs: monthAgo });
    const free = { accountId: idle, kind: "promotional", micros: 5_000_000, isConfirmed: false, atMs } as const;
    addCredit(database, free);
    const ofOther = { ...searchCharge(ledger, "o1"), accountId: other, keyId };
    const charges = [
      { ...searchCharge(ledger, "b1"), atMs: monthAgo },
      searchCharge(ledger, "c1"),
      { ...searchCharge(ledger, "c2"), usageClass: "trend_series" },
      { ...ofOther, atMs: atMs - msPerDay },
      { ...ofOther, chargeId: "o2", usageClass: "sql_statement", units: 3 },
      { ...ofOther, chargeId: "o3" },
    ] as const;
    for (const charge of charges) assert.equal(postCharge(database, charge), undefined);
    refundCharge(database, "o3");
    reverseCredit(database, addCredit(database, { ...paidCredit, accountId: other, micros: 7 }), atMs);

    const period = { startDate: "2026-11-01", endDate: "2026-11-19" };
    const before = { startDate: "2026-10-01", endDate: "2026-10-20" };
    const { accounts, ...sums } = sumRevenue(database, { period, before, accountsMax: 1 });
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
    assert.equal(getAccount(database, idle, month).isNew, true);

    const rows: RevenueRow[] = [];
    for (let page: readonly RevenueRow[] = []; rows.length === 0 || page.length > 0; rows.push(...page))
      page = listRevenue(database, { range: period, after: rows.at(-1) ?? null, limit: 2 });
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
    const { total, accountCount } = sumRevenue(database, { period: none, before: none, accountsMax: 9 });
    assert.deepEqual([total, accountCount], [{ micros: 0, beforeMicros: 0 }, 0]);
    for (const endDate of ["2024-12-31", "2026-02-05"])
      assert.throws(
        () => listRevenue(database, { range: { ...none, endDate }, after: null, limit: 1 }),
        new RegExp(`to ${endDate}: expected from 1 to ${revenueDaysMax} days`),
      );
  },
);

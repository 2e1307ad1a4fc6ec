/** Random operations on the ledger and on its model, which must agree. */
import assert from "node:assert/strict";
import { changeAccount, createAccount, listAccounts } from "../../src/accounts/account.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { postCharge } from "../../src/accounts/ledger/charging.ts";
import { addCredit, adjustBalance, confirmCredit, reverseCredit } from "../../src/accounts/ledger/ledger.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { billingState } from "../../src/accounts/policy/billing-state.ts";
import type { UsageClass } from "../../src/accounts/policy/prices.ts";
import { decideReview, reviewAccounts } from "../../src/accounts/policy/tier-reviews.ts";
import { createAccounts, openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { UserError } from "../../src/base/user-error.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import type { Chance } from "../support/chance.ts";
import { classes, LedgerModel, type ModelEntry } from "./model.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Durability is not tested here. */
const options = { busyMs: 1000 } as const;

/** The ledger and the model side by side. */
class LedgerAndModel {
  readonly model = new LedgerModel();
  readonly ids: string[] = [];
  readonly keys: string[] = [];
  atMs = Date.parse("2026-11-19T12:00:00Z");
  charges = 0;

  constructor(
    readonly chance: Chance,
    readonly location: string,
    public database: SqlDatabase,
  ) {}

  async openAccount(): Promise<void> {
    const tier = this.chance.pick([1, 2, 3, 3] as const);
    const accountId = await createAccount(this.database, { email: "a@b.example", tier, atMs: this.ids.length });
    this.ids.push(accountId);
    this.keys.push((await createKey(this.database, { accountId, scopes, atMs: 0 })).keyId);
    this.model.openAccount(tier);
  }

  randomAccount(): number {
    return this.chance.integer(0, this.ids.length - 1);
  }

  idOf(account: number): string {
    return this.ids[account] ?? "";
  }

  day(): string {
    return new Date(this.atMs).toISOString().slice(0, 10);
  }
}

/** Runs an operation that must throw if the model refuses it; returns its result. */
async function expectAgreement<T>(isRefused: boolean, act: () => Promise<T>): Promise<T | undefined> {
  if (!isRefused) return act();
  await assert.rejects(act, UserError);
  return undefined;
}

type Operation = (pair: LedgerAndModel) => Promise<void>;

const addRandomCredit: Operation = async ({ chance, model, database, ...pair }) => {
  const account = chance.integer(0, pair.ids.length - 1);
  const kind = chance.pick(["paid", "paid", "promotional"] as const);
  const micros = chance.pick([
    chance.integer(1, 60_000),
    chance.integer(1, 30) * 1_000,
    chance.integer(1, 300) * 1_000_000,
    5e8,
  ]);
  const isConfirmed = chance.happens(0.8);
  const reference = chance.happens(0.3) ? `payment ${chance.integer(1, 6)}` : undefined;
  const credit = { accountId: pair.ids[account] ?? "", kind, micros, atMs: pair.atMs, isConfirmed };
  const id = await expectAgreement(model.isKnown(reference), () =>
    addCredit(database, reference === undefined ? credit : { ...credit, reference }),
  );
  if (id === undefined) return;
  const posted: ModelEntry = { id, account, kind, micros, atMs: pair.atMs };
  model.posted.push(reference === undefined ? posted : { ...posted, reference });
  if (kind === "paid" && isConfirmed) model.confirmed.set(id, pair.atMs);
};

/** Charges, some of them repeated. */
const chargeSome: Operation = async (pair) => {
  const { chance, model, database } = pair;
  const batch = Array.from({ length: chance.integer(1, 12) }, () => {
    const account = pair.randomAccount();
    const chargeId = `charge ${chance.happens(0.1) ? chance.integer(0, pair.charges) : ++pair.charges}`;
    return { account, chargeId, usageClass: chance.pick(classes) as UsageClass };
  });
  const outcomesOfLedger: string[] = [];
  for (const { account, chargeId, usageClass } of batch) {
    const charge = { chargeId, accountId: pair.idOf(account), keyId: pair.keys[account] ?? "", usageClass };
    const short = await postCharge(database, { ...charge, atMs: pair.atMs });
    outcomesOfLedger.push(short === undefined ? "charged" : JSON.parse(JSON.stringify(short)).code);
  }
  const expected = batch.map(({ account, chargeId, usageClass }) =>
    model.charge(chargeId, account, usageClass, pair.atMs),
  );
  assert.deepEqual(outcomesOfLedger, expected);
};

const adjust: Operation = async (pair) => {
  const account = pair.randomAccount();
  const micros = pair.chance.integer(-40, 40) * 1_000 || 1;
  const id = await adjustBalance(pair.database, { accountId: pair.idOf(account), micros, atMs: pair.atMs });
  pair.model.posted.push({ id, account, kind: "adjustment", micros, atMs: pair.atMs });
};

/** Picks a credit, or in one of ten cases any entry. */
function randomCredit({ chance, model }: LedgerAndModel): ModelEntry | undefined {
  const credits = model.posted.filter(({ kind }) => kind === "paid");
  const candidates = chance.happens(0.9) ? credits : model.posted;
  return candidates.length === 0 ? undefined : chance.pick(candidates);
}

const reverse: Operation = async (pair) => {
  const credit = randomCredit(pair);
  if (credit === undefined) return;
  const { model, atMs } = pair;
  const isRefused = credit.kind !== "paid" || model.isReversed(credit.id);
  const id = await expectAgreement(isRefused, () => reverseCredit(pair.database, credit.id, atMs));
  if (id === undefined) return;
  const { account, micros } = credit;
  model.posted.push({ id, account, kind: "chargeback_reversal", micros: -micros, atMs, credit: credit.id });
};

const confirm: Operation = async (pair) => {
  const credit = randomCredit(pair);
  if (credit === undefined) return;
  await expectAgreement(credit.kind !== "paid", () => confirmCredit(pair.database, credit.id, pair.atMs));
  if (credit.kind === "paid" && !pair.model.confirmed.has(credit.id)) pair.model.confirmed.set(credit.id, pair.atMs);
};

const changeSettings: Operation = async (pair) => {
  const { chance, model, database } = pair;
  const account = pair.randomAccount();
  const modelled = model.accounts[account];
  assert.ok(modelled);
  const capMicros = chance.happens(0.5) ? null : chance.integer(0, 80) * 1_000;
  const lowBalanceMicros = chance.integer(0, 10_000_000);
  const state = chance.pick(["active", "active", "suspended"] as const);
  const change = chance.pick([{ capMicros }, { lowBalanceMicros }, { state }, { capMicros, state }]);
  await changeAccount(database, pair.idOf(account), change);
  if ("capMicros" in change) modelled.cap = capMicros;
  if ("lowBalanceMicros" in change) modelled.low = lowBalanceMicros;
  if ("state" in change) modelled.isSuspended = state === "suspended";
};

const review: Operation = async (pair) => {
  const reviewed = await reviewAccounts(pair.database, pair.day());
  const outcomes = reviewed.map(
    ({ accountId, from, to, outcome }) => `${pair.ids.indexOf(accountId)} ${from} ${to} ${outcome}`,
  );
  assert.deepEqual([...outcomes].sort(), [...pair.model.review(pair.day())].sort());
};

const decide: Operation = async (pair) => {
  const account = pair.randomAccount();
  const modelled = pair.model.accounts[account];
  assert.ok(modelled);
  const outcome = pair.chance.pick(["approved", "declined"] as const);
  await expectAgreement(!modelled.isQueued, () => decideReview(pair.database, pair.idOf(account), outcome, pair.day()));
  if (!modelled.isQueued) return;
  modelled.isQueued = false;
  if (outcome === "approved") modelled.tier = 4;
  else if (modelled.declinedOn === null || modelled.declinedOn < pair.day()) modelled.declinedOn = pair.day();
};

const passTime: Operation = async (pair) => {
  const { chance } = pair;
  const toMidnightMs = dayMs - (pair.atMs % dayMs);
  const days = chance.integer(1, 40);
  const back = chance.integer(1, 3);
  pair.atMs += chance.pick([1, minuteMs, toMidnightMs - 1, toMidnightMs, days * dayMs, days * dayMs, -back * dayMs]);
};

const reopen: Operation = async (pair) => {
  await pair.database.close();
  pair.database = await openAccounts(pair.location, options);
};

/** Operations, repeated by frequency. */
const operations: readonly Operation[] = [
  ...Array.from({ length: 8 }, () => chargeSome),
  addRandomCredit,
  addRandomCredit,
  addRandomCredit,
  passTime,
  passTime,
  adjust,
  adjust,
  reverse,
  confirm,
  changeSettings,
  changeSettings,
  review,
  review,
  review,
  decide,
  decide,
  reopen,
  async (pair) => {
    if (pair.ids.length < 5) await pair.openAccount();
  },
];

/** Fails unless the ledger and the model agree on every account. */
async function assertSameAccounts({ database, model, ids, atMs }: LedgerAndModel): Promise<void> {
  const month = new Date(atMs).toISOString().slice(0, 7);
  const accounts = await listAccounts(database, month);
  for (const [index, accountId] of ids.entries()) {
    const account = accounts.find((candidate) => candidate.accountId === accountId);
    assert.ok(account);
    assert.deepEqual(
      [account.balanceMicros, account.spentMicros, account.tier, billingState(account)],
      [model.balance(index), model.spent(index, month), model.accounts[index]?.tier, model.billing(index)],
    );
    const range = { startDate: "2000-01-01", endDate: "2100-01-01", classes: undefined };
    const usage = (await listUsage(database, accountId, range)).map((row) => Object.values(row).join(" "));
    assert.deepEqual([...usage].sort(), model.usage(index));
  }
}

/** Runs random operations on new accounts; returns the number of charges. Fails if the ledger and the model differ. */
export async function runRandomOperations(location: string, chance: Chance, length: number): Promise<number> {
  const pair = new LedgerAndModel(chance, location, await createAccounts(location, options));
  try {
    await pair.openAccount();
    for (let step = 0; step < length; step += 1) {
      await chance.pick(operations)(pair);
      if (step % 10 === 9 || step === length - 1) await assertSameAccounts(pair);
    }
    assert.deepEqual((await audit(pair.database)).faults, []);
    return pair.model.posted.filter(({ kind }) => kind === "charge").length;
  } finally {
    await pair.database.close();
  }
}

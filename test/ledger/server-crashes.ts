/** Crashes of PostgreSQL while replicas charge. Each acknowledged charge is in the ledger once, and each refused one is not, or is refunded. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Accounts } from "../../src/accounts/accounts.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../src/base/json.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/http/system-clock.ts";
import { type Customer, createCustomer, inAccountsFile } from "../support/accounts.ts";
import type { Chance } from "../support/chance.ts";
import { eventually } from "../support/command-line.ts";
import { emptySchemaOn, PostgresServer } from "../support/postgres.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

export interface ServerCrashOptions {
  readonly crashes: number;
  readonly replicas: number;
  readonly clients: number;
  readonly chance: Chance;
}

export interface ServerCrashSummary {
  readonly charged: number;
  /** Requests that were refused while the server was down. */
  readonly unavailable: number;
  /** Charges that were committed although their requests had been refused. */
  readonly refunded: number;
}

/** How many requests the money of one customer pays for. */
const paidRequests = 150;

/** Crashes a server repeatedly under load; fails unless the ledger agrees with every answer, and money for N requests gives N answers. */
export async function crashServers(
  scope: Scope,
  { crashes, replicas: count, clients, chance }: ServerCrashOptions,
): Promise<ServerCrashSummary> {
  const server = await PostgresServer.start(scope);
  const location = emptySchemaOn(server);
  const replicas: Accounts[] = [];
  for (let number = 1; number <= count; number += 1) replicas.push(await openReplica(scope, location));
  const rich = Array.from({ length: 3 }, () => createCustomer(location));
  const almostSpent = createCustomer(location, { usd: String(paidRequests * 0.002) });
  const load = new Load(replicas, [...rich, almostSpent], chance);
  const running = Array.from({ length: clients }, () => load.run());
  for (let crash = 0; crash < crashes; crash += 1) {
    await pause(chance.integer(20, 400));
    await server.crash();
    await pause(chance.integer(0, 300));
    await server.restart();
    for (const replica of replicas)
      await eventually(
        "a replica charges again",
        async () => (await load.pay(replica, chance.pick(rich))) === "charged",
        20_000,
      );
  }
  load.isOver = true;
  await Promise.all(running);
  await eventually("refunds are posted", async () => differencesIn(location, load.outcomes).length === 0);
  await spendAll(load, replicas, almostSpent);
  assert.deepEqual(differencesIn(location, load.outcomes), []);
  assert.equal(load.chargedTo(almostSpent), paidRequests, "answers of the customer with money for exactly as many");
  assert.deepEqual(inAccountsFile(location, audit).faults, []);
  return load.summary(refundsIn(location).size);
}

async function openReplica(scope: Scope, location: string): Promise<Accounts> {
  const accounts = await Accounts.open(location, { clock: systemClock });
  onScopeEnd(scope, () => accounts.close());
  return accounts;
}

/** Clients of replicas, and the outcome of each request. */
class Load {
  readonly outcomes = new Map<string, { readonly outcome: string; readonly customer: Customer }>();
  isOver = false;

  constructor(
    readonly replicas: readonly Accounts[],
    readonly customers: readonly Customer[],
    readonly chance: Chance,
  ) {}

  async run(): Promise<void> {
    while (!this.isOver) {
      const outcome = await this.pay(this.chance.pick(this.replicas), this.chance.pick(this.customers));
      if (outcome !== "charged") await pause(5);
    }
  }

  async pay(accounts: Accounts, customer: Customer): Promise<string> {
    const chargeId = randomUUID();
    const outcome = await chargeOne(accounts, customer.key, chargeId);
    this.outcomes.set(chargeId, { outcome, customer });
    return outcome;
  }

  chargedTo(customer: Customer): number {
    return [...this.outcomes.values()].filter((known) => known.customer === customer && known.outcome === "charged")
      .length;
  }

  summary(refunded: number): ServerCrashSummary {
    const outcomes = [...this.outcomes.values()].map(({ outcome }) => outcome);
    const count = (sought: string): number => outcomes.filter((outcome) => outcome === sought).length;
    return { charged: count("charged"), unavailable: count("metering_unavailable"), refunded };
  }
}

async function chargeOne(accounts: Accounts, key: string, chargeId: string): Promise<string> {
  try {
    const identity = await accounts.identify(key, "192.0.2.1");
    await accounts.charge(identity, accounts.hold(identity, "listing_search"), chargeId);
    return "charged";
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.code;
    throw thrown;
  }
}

/** Pays with every replica until each refuses, when it has read the balance again. */
async function spendAll(load: Load, replicas: readonly Accounts[], customer: Customer): Promise<void> {
  for (const replica of replicas)
    for (let refusals = 0; refusals < 2; ) {
      const outcome = await load.pay(replica, customer);
      if (outcome === "charged") continue;
      assert.equal(outcome, "billing_state_blocked");
      refusals += 1;
      await pause(1_000);
    }
}

const refundsIn = (location: string): ReadonlySet<string> =>
  inAccountsFile(location, (database) => {
    const rows = database.all(sql`SELECT reference FROM entries WHERE kind = 'adjustment'`);
    return new Set(rows.map((row) => textIn(row, "reference").replace("refund_", "")));
  });

/** Returns the requests whose outcome differs from the ledger. */
function differencesIn(location: string, outcomes: Load["outcomes"]): readonly string[] {
  const refunds = refundsIn(location);
  const charges = inAccountsFile(location, (database) =>
    database.all(sql`SELECT entry_id, count(*) AS n FROM entries WHERE kind = 'charge' GROUP BY entry_id`),
  );
  const paid = new Set(charges.map((row) => textIn(row, "entry_id")).filter((id) => !refunds.has(id)));
  for (const row of charges) assert.equal(integerIn(row, "n"), 1);
  return [...outcomes].flatMap(([id, { outcome }]) =>
    paid.has(id) === (outcome === "charged") ? [] : [`${id}: ${outcome}, ${paid.has(id) ? "charged" : "not charged"}`],
  );
}

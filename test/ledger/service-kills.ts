/** Services killed at random moments under load, and the charges of the answers that clients received completely. */
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import {
  type AccountsEngine,
  type Customer,
  createCustomer,
  inAccountsFile,
  temporaryAccounts,
} from "../support/accounts.ts";
import type { Chance } from "../support/chance.ts";
import { startServing } from "../support/command-line.ts";
import type { Scope } from "../support/scope.ts";

export interface ServiceKillOptions {
  readonly lake: string;
  readonly engine?: AccountsEngine;
  readonly kills: number;
  readonly clients: number;
  readonly chance: Chance;
}

export interface ServiceKillSummary {
  readonly kills: number;
  /** Complete 200 answers; each has its charge. */
  readonly complete: number;
  /** Charges whose answers no client received completely. */
  readonly unanswered: number;
  /** Requests refused because the balance was spent. */
  readonly refused: number;
}

/** A complete answer with a charge. */
interface PaidAnswer {
  readonly chargeId: string;
  readonly accountId: string;
  readonly micros: number;
}

const paths = [
  "/v1/listings?limit=1&fields=id",
  "/v1/listings?limit=1&fields=id&snapshot_date=2026-11-18",
  "/v1/listings?limit=1&fields=id&dealer_id=0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40",
];

/** Kills a service repeatedly under load; fails unless each complete answer was charged exactly once. */
export async function killServices(
  scope: Scope,
  { lake, engine = "SQLite", kills, clients, chance }: ServiceKillOptions,
): Promise<ServiceKillSummary> {
  const accounts = await temporaryAccounts(scope, engine);
  const customers = await Promise.all(Array.from({ length: 6 }, () => createCustomer(accounts)));
  const all: PaidAnswer[] = [];
  let refused = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const almostSpent = await createCustomer(accounts, { usd: "0.021" });
    const service = await startServing(scope, ["serve", "--port", "0", "--lake", lake], {
      env: { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "silent" },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    const paid: PaidAnswer[] = [];
    const killAfterAnswers = chance.integer(1, 150);
    const clientLoops = Array.from({ length: clients }, async (_, client) => {
      for (;;) {
        const customer = client % 8 === 0 ? almostSpent : chance.pick(customers);
        const outcome = await getAs(agent, `${service.url}${chance.pick(paths)}`, customer);
        if (outcome === undefined) return;
        if (outcome === "refused") refused += 1;
        else paid.push(outcome);
        if (paid.length === killAfterAnswers) setTimeout(() => service.kill(), chance.integer(0, 30));
      }
    });
    await Promise.all(clientLoops);
    agent.destroy();
    await service.ended;
    await assertChargedOnce(accounts, paid, `kill ${kill}`);
    all.push(...paid);
  }
  await assertChargedOnce(accounts, all, "in the end");
  return {
    kills,
    complete: all.length,
    unanswered: (await inAccountsFile(accounts, audit)).charges - all.length,
    refused,
  };
}

/** Returns the charge, `refused` on a spent balance, or undefined if the answer was incomplete. */
function getAs(agent: Agent, url: string, customer: Customer): Promise<PaidAnswer | "refused" | undefined> {
  return new Promise((answered) => {
    get(url, { agent, headers: customer.bearer }, async (response) => {
      try {
        const body = await text(response);
        const isComplete = response.complete && Buffer.byteLength(body) === Number(response.headers["content-length"]);
        if (isComplete && response.statusCode === 402) return answered("refused");
        if (!isComplete || response.statusCode !== 200) return answered(undefined);
        const chargeId = String(response.headers["x-request-id"]);
        const micros = Number(response.headers["x-usage-cost-micros"]);
        answered({ chargeId, accountId: customer.accountId, micros });
      } catch {
        answered(undefined);
      }
    }).on("error", () => answered(undefined));
  });
}

async function assertChargedOnce(accounts: string, paid: readonly PaidAnswer[], when: string): Promise<void> {
  const [faults, charges] = await inAccountsFile(accounts, async (database) => [
    (await audit(database)).faults,
    await database.all(sql`SELECT entry_id, account_id, micros FROM entries WHERE kind = 'charge'`),
  ]);
  assert.deepEqual(faults, [], when);
  const byId = new Map(charges.map((row) => [textIn(row, "entry_id"), row]));
  assert.equal(byId.size, charges.length, `${when}: charge ids are unique`);
  for (const { chargeId, accountId, micros } of paid) {
    const row = byId.get(chargeId);
    assert.ok(row, `${when}: the answer ${chargeId} is complete and was not charged`);
    assert.deepEqual([row.account_id, integerIn(row, "micros")], [accountId, -micros], `${when}: ${chargeId}`);
  }
  assert.equal(new Set(paid.map(({ chargeId }) => chargeId)).size, paid.length, when);
}

/** Services that are killed at random moments under load, and what the ledger then says of the answers that came whole. */
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import type { Chance } from "../oracle/random-market/chance.ts";
import { accountsFile, type Customer, customerIn, onFile } from "../support/accounts.ts";
import { serving } from "../support/command-line.ts";
import type { Scope } from "../support/scope.ts";

export interface ServiceKillOptions {
  readonly lake: string;
  readonly kills: number;
  readonly clients: number;
  readonly chance: Chance;
}

export interface Killed {
  readonly kills: number;
  /** Answers of 200 that clients got whole; each has its charge. */
  readonly whole: number;
  /** Charges of answers that no client got whole. */
  readonly unanswered: number;
  /** Requests that were refused because an account had no money left. */
  readonly refused: number;
}

/** An answer that was paid for and came whole. */
interface Paid {
  readonly chargeId: string;
  readonly accountId: string;
  readonly micros: number;
}

const paths = [
  "/v1/listings?limit=1&fields=id",
  "/v1/listings?limit=1&fields=id&snapshot_date=2026-11-18",
  "/v1/listings?limit=1&fields=id&dealer_id=0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40",
];

/** Kills a service so often, under load from so many clients; fails when an answer that came whole was not charged exactly once. */
export async function killServing(scope: Scope, { lake, kills, clients, chance }: ServiceKillOptions): Promise<Killed> {
  const accounts = await accountsFile(scope);
  const customers = Array.from({ length: 6 }, () => customerIn(accounts));
  const all: Paid[] = [];
  let refused = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const poor = customerIn(accounts, { usd: "0.101" });
    const service = await serving(scope, ["serve", "--port", "0", "--lake", lake], {
      env: { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "silent" },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    const paid: Paid[] = [];
    const enough = chance.integer(1, 150);
    const asking = Array.from({ length: clients }, async (_, client) => {
      for (;;) {
        const customer = client % 8 === 0 ? poor : chance.pick(customers);
        const found = await ask(agent, `${service.url}${chance.pick(paths)}`, customer);
        if (found === undefined) return;
        if (found === "refused") refused += 1;
        else paid.push(found);
        if (paid.length === enough) setTimeout(() => service.kill(), chance.integer(0, 30));
      }
    });
    await Promise.all(asking);
    agent.destroy();
    await service.ended;
    check(accounts, paid, `kill ${kill}`);
    all.push(...paid);
  }
  check(accounts, all, "in the end");
  return { kills, whole: all.length, unanswered: onFile(accounts, audit).charges - all.length, refused };
}

/** What a client gets: what it paid, that it was refused for lack of money, or nothing whole. */
function ask(agent: Agent, url: string, customer: Customer): Promise<Paid | "refused" | undefined> {
  return new Promise((answered) => {
    get(url, { agent, headers: customer.bearer }, async (response) => {
      try {
        const body = await text(response);
        const isWhole = response.complete && Buffer.byteLength(body) === Number(response.headers["content-length"]);
        if (isWhole && response.statusCode === 402) return answered("refused");
        if (!isWhole || response.statusCode !== 200) return answered(undefined);
        const chargeId = String(response.headers["x-request-id"]);
        const micros = Number(response.headers["x-usage-cost-micros"]);
        answered({ chargeId, accountId: customer.accountId, micros });
      } catch {
        answered(undefined);
      }
    }).on("error", () => answered(undefined));
  });
}

function check(accounts: string, paid: readonly Paid[], when: string): void {
  const [faults, charges] = onFile(accounts, (database) => [
    audit(database).faults,
    database.all(sql`SELECT entry_id, account_id, micros FROM entries WHERE kind = 'charge'`),
  ]);
  assert.deepEqual(faults, [], when);
  const byId = new Map(charges.map((row) => [textIn(row, "entry_id"), row]));
  assert.equal(byId.size, charges.length, `${when}: every charge has a name of its own`);
  for (const { chargeId, accountId, micros } of paid) {
    const row = byId.get(chargeId);
    assert.ok(row, `${when}: the answer ${chargeId} came whole and was not charged`);
    assert.deepEqual([row.account_id, integerIn(row, "micros")], [accountId, -micros], `${when}: ${chargeId}`);
  }
  assert.equal(new Set(paid.map(({ chargeId }) => chargeId)).size, paid.length, when);
}

/**
 * Replaces replicas behind nginx by the next release, one after the other, while clients pay for answers. Meanwhile new versions of the lake
 * are published and followed. No request fails, and each answer is charged once.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Row } from "../../../src/base/json.ts";
import { sql } from "../../../src/db/sql.ts";
import { type Customer, createCustomer, inAccountsFile } from "../accounts.ts";
import type { Chance } from "../chance.ts";
import { eventually } from "../command-line.ts";
import { nextRelease, nextVersion } from "../replicas/next-release.ts";
import { compareWithLedger, PayingClients } from "../replicas/paying-clients.ts";
import { ReplicaGroup, readiness } from "../replicas/replica-group.ts";
import type { Scope } from "../scope.ts";

export interface UpgradeOptions {
  readonly replicas: number;
  /** How many of the replicas are replaced. */
  readonly replaced: number;
  /** Whether new versions of the lake are published meanwhile. */
  readonly publishes: boolean;
  readonly clients: number;
  readonly chance: Chance;
}

export interface UpgradeSummary {
  readonly answers: number;
  /** Charges of the release before and of the next one. */
  readonly chargedByOld: number;
  readonly chargedByNext: number;
}

/** How many requests the money of one customer pays for, at the price of a search. */
const paidRequests = 25;

/** Upgrades once. Fails if a request fails, or is not charged exactly once. */
export async function upgradeInTurn(scope: Scope, options: UpgradeOptions): Promise<UpgradeSummary> {
  const { replicas, replaced, publishes, clients: count, chance } = options;
  const program = await nextRelease();
  const group = await ReplicaGroup.start(scope, replicas);
  const customers = await Promise.all(Array.from({ length: 3 }, () => createCustomer(group.accounts)));
  // Of these limits, a replica has its share, and the clients use a tenth.
  customers.push(await createCustomer(group.accounts, { override: { per10s: 4_000, per60s: 20_000 } }));
  const clients = new PayingClients({ url: group.nginx.url, clients: count, customers, chance, pauseMs: 20 });
  const poor = await createCustomer(group.accounts, { usd: String(paidRequests * 0.002) });
  try {
    if (publishes) await group.publish();
    await group.isServed();
    await pause(300);
    const publishedAfter = publishes ? chance.integer(0, replicas - 1) : undefined;
    for (const index of shuffled(replicas, chance).slice(0, replaced)) {
      // Also a replica of the old release can be restarted meanwhile.
      if (publishes && chance.happens(0.3)) await replace(group, index);
      await replace(group, index, program);
      if (index === publishedAfter) await publishWith(group, program);
      await clients.send(group.nginx.url, poor);
    }
    // nginx avoids a replica that has refused requests for a while, also when it has been replaced.
    await eventually("the next release charges", async () => (await chargedByNext(group.accounts)) > 0);
    await clients.stop();
    await spend(clients, group, poor);
    return await summarize(clients, group);
  } finally {
    await clients.stop();
  }
}

async function replace(group: ReplicaGroup, index: number, program?: string): Promise<void> {
  const service = group.service(index);
  service.terminate();
  const { code, err } = await service.ended;
  assert.equal(code, 0, err);
  await group.restart(index, program);
  await eventually("the replica is ready", async () => (await readiness(group.service(index).url)).isReady);
}

/** Publishes by the next release, and lets it follow, while replicas of both releases serve the lake. */
async function publishWith(group: ReplicaGroup, program: string): Promise<void> {
  await group.killFollower();
  group.follow(program);
  await group.publish(program);
  await group.isServed();
}

/** Spends the money of a customer: it pays for exactly as many answers. */
async function spend(clients: PayingClients, { nginx }: ReplicaGroup, poor: PayingCustomer): Promise<void> {
  for (;;) {
    const { status } = await clients.send(nginx.url, poor);
    if (status !== 200) break;
  }
  const statuses = clients.outcomes.filter(({ customer }) => customer === poor).map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(paidRequests).fill(200), 402]);
}

type PayingCustomer = Customer;

const chargesIn = (location: string): Promise<readonly Row[]> =>
  inAccountsFile(location, (database) => database.all(sql`SELECT note FROM entries WHERE kind = 'charge'`));

const chargedByNext = async (location: string): Promise<number> =>
  (await chargesIn(location)).filter(({ note }) => note === nextVersion).length;

async function summarize(clients: PayingClients, { accounts, nginx }: ReplicaGroup): Promise<UpgradeSummary> {
  const failed = clients.outcomes.filter(({ status }) => status !== 200);
  const reasons = failed.map(({ status, path, reason }) => `${path}: ${status} ${reason}`);
  const logged = (await nginx.log()).split("\n").filter((line) => / 50\d /.test(line));
  assert.equal(reasons.length, 1, [...reasons, ...logged].slice(0, 20).join("\n"));
  assert.deepEqual(await compareWithLedger(accounts, clients.outcomes), {
    differences: [],
    undecided: [],
    unanswered: 0,
  });
  const byNext = await chargedByNext(accounts);
  return {
    answers: clients.outcomes.length - 1,
    chargedByNext: byNext,
    chargedByOld: (await chargesIn(accounts)).length - byNext,
  };
}

/** Returns the numbers below `count` in random order. */
function shuffled(count: number, chance: Chance): readonly number[] {
  const left = Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: count }, () => left.splice(chance.integer(0, left.length - 1), 1)[0] ?? 0);
}

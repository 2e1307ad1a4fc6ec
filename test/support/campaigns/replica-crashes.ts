/**
 * Kills and suspends replicas, PostgreSQL and the follower at random moments, while clients pay for answers from replicas behind nginx. Each
 * complete answer is charged once, each refused request is not or is refunded, and the lake is whole.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { getAccount } from "../../../src/accounts/account.ts";
import { type Customer, createCustomer, inAccountsFile } from "../accounts.ts";
import type { Chance } from "../chance.ts";
import { eventually } from "../command-line.ts";
import { lakeFaults } from "../lakes/contents.ts";
import { compareWithLedger, PayingClients, type RequestOutcome } from "../replicas/paying-clients.ts";
import { ReplicaGroup, readiness } from "../replicas/replica-group.ts";
import type { Scope } from "../scope.ts";

export const crashKinds = [
  "replica killed",
  "PostgreSQL stopped at once",
  "PostgreSQL killed",
  "follower killed",
  "replica suspended",
  "PostgreSQL suspended",
] as const;
export type CrashKind = (typeof crashKinds)[number];

export interface CrashOptions {
  readonly crashes: readonly CrashKind[];
  readonly replicas: number;
  readonly clients: number;
  readonly chance: Chance;
}

export interface CrashSummary {
  readonly answers: number;
  /** Requests that were refused while PostgreSQL could not be reached. */
  readonly unavailable: number;
  /** Requests without an answer: those in flight on a replica that was killed. */
  readonly lost: number;
  /** Of these, the ones that had been charged, and refused requests that may be charged. */
  readonly unanswered: number;
  /** The longest time after which a replica refused a request while PostgreSQL was suspended. */
  readonly slowestRefusalMs: number;
}

/** How many requests the money of one customer pays for. */
const paidRequests = 150;
/** The deadline of requests: nothing waits longer for PostgreSQL. */
const deadlineMs = 10_000;

/** Repeats crashes of some kinds; fails unless the ledger agrees with every answer, and money for N requests pays for N charges. */
export async function crashReplicas(scope: Scope, options: CrashOptions): Promise<CrashSummary> {
  const { replicas, clients: count, chance } = options;
  const group = await ReplicaGroup.start(scope, replicas);
  const rich = await Promise.all(Array.from({ length: 3 }, () => createCustomer(group.accounts)));
  const poor = await createCustomer(group.accounts, { usd: String(paidRequests * 0.002) });
  const load = { url: group.nginx.url, chance };
  const clients = new PayingClients({ ...load, clients: count, customers: rich, pauseMs: 10 });
  const poorClients = new PayingClients({ ...load, clients: 4, customers: [poor], pauseMs: 250, onlySearches: true });
  const campaign = new Crashes(group, [clients, poorClients], rich, chance);
  try {
    for (const kind of options.crashes) await campaign.crash(kind);
    await Promise.all([clients.stop(), poorClients.stop()]);
    await campaign.spend(poor);
    await group.isServed();
    assert.deepEqual(await lakeFaults(group.lakes.copy), []);
    return await campaign.summary();
  } finally {
    await Promise.all([clients.stop(), poorClients.stop()]);
  }
}

class Crashes {
  /** Requests in flight on killed replicas. */
  private lostMax = 0;
  /** Their addresses. */
  private readonly killed = new Set<string>();
  private slowestRefusalMs = 0;

  constructor(
    private readonly group: ReplicaGroup,
    private readonly clients: readonly [PayingClients, ...PayingClients[]],
    private readonly customers: readonly Customer[],
    private readonly chance: Chance,
  ) {}

  private get outcomes(): readonly RequestOutcome[] {
    return this.clients.flatMap(({ outcomes }) => outcomes);
  }

  /** Lets something crash, and waits until every replica charges again. */
  async crash(kind: CrashKind): Promise<void> {
    const { chance } = this;
    await pause(chance.integer(20, 400));
    const before = this.group.resources;
    const index = chance.integer(0, this.group.services.length - 1);
    await this.kinds[kind](index);
    for (const { url } of this.group.services)
      await eventually(`${kind}: ${url} charges again`, async () => (await this.pay(url)).status === 200, 60_000);
    for (const [at, { files, threads }] of this.group.resources.entries()) {
      const known = before[at];
      assert.ok(
        known && files < known.files + 60 && threads < known.threads + 8,
        `${kind}: ${files} files, ${threads} threads`,
      );
    }
  }

  /** Spends the money of a customer: each charge of it has an answer, unless that was lost with a replica. */
  async spend(customer: Customer): Promise<void> {
    for (let refusals = 0; refusals < 2; ) {
      const { status } = await this.clients[0].send(this.group.nginx.url, customer);
      if (status === 402) refusals += 1;
      if (status !== 200) await pause(1_000);
    }
    const answered = this.outcomes.filter((outcome) => outcome.customer === customer && outcome.status === 200).length;
    const { balanceMicros } = await inAccountsFile(this.group.accounts, (database) =>
      getAccount(database, customer.accountId, new Date().toISOString().slice(0, 7)),
    );
    assert.equal(balanceMicros, 0);
    assert.ok(answered <= paidRequests && answered >= paidRequests - this.lostMax, `${answered} answers`);
  }

  async summary(): Promise<CrashSummary> {
    const { outcomes, lostMax, slowestRefusalMs } = this;
    const { differences, undecided, unanswered } = await compareWithLedger(this.group.accounts, outcomes);
    assert.deepEqual(differences, []);
    const count = (isCounted: (outcome: RequestOutcome) => boolean): number => outcomes.filter(isCounted).length;
    const lost = count(isLost);
    assert.ok(lost <= lostMax, `${lost} lost, at most ${lostMax}`);
    // A charge can be committed whose reply is lost with PostgreSQL; the log of its replica says how to refund it.
    assert.ok(
      unanswered <= lost + undecided.length,
      `${unanswered} charged of ${lost} lost, and ${undecided.length} refused`,
    );
    const odd = outcomes.find((outcome) => ![200, 402, 503].includes(outcome.status ?? 0) && !isLost(outcome));
    assert.equal(odd, undefined, `${odd?.status} ${odd?.reason}`);
    const failed = (await this.group.nginx.log()).split("\n").filter((line) => / 502 /.test(line));
    assert.deepEqual(
      failed.filter((line) => !this.killed.has(/replica="([^"]+)"/.exec(line)?.[1] ?? "")),
      [],
      "only requests in flight on a killed replica fail",
    );
    const answers = count(({ status }) => status === 200);
    const unavailable = count(({ status }) => status === 503);
    return { answers, unavailable, lost, unanswered, slowestRefusalMs };
  }

  private pay(url: string): Promise<RequestOutcome> {
    return this.clients[0].send(url, this.chance.pick(this.customers));
  }

  private readonly kinds: Readonly<Record<CrashKind, (index: number) => Promise<void>>> = {
    "replica killed": (index) => this.killReplica(index),
    "PostgreSQL stopped at once": () => this.crashPostgres("SIGQUIT"),
    "PostgreSQL killed": () => this.crashPostgres("SIGKILL"),
    "follower killed": async () => {
      const published = this.group.publish();
      await pause(this.chance.integer(0, 3_000));
      await this.group.killFollower();
      await published;
      this.group.follow();
      await this.group.isServed();
    },
    "replica suspended": (index) => this.suspendReplica(index),
    "PostgreSQL suspended": () => this.suspendPostgres(),
  };

  private async killReplica(index: number): Promise<void> {
    const service = this.group.service(index);
    for (const { count } of this.clients) this.lostMax += count;
    this.killed.add(new URL(service.url).host);
    service.kill();
    await pause(this.chance.integer(0, 500));
    await this.group.restart(index);
  }

  private async crashPostgres(signal: "SIGQUIT" | "SIGKILL"): Promise<void> {
    await this.group.postgres.crash(signal);
    await pause(this.chance.integer(0, 1_000));
    await this.group.postgres.restart();
  }

  /** The other replicas go on charging the same accounts, whose rows the suspended one may have locked. */
  private async suspendReplica(index: number): Promise<void> {
    const { services } = this.group;
    const { pid } = this.group.service(index);
    if (pid === undefined) throw new TypeError("The replica has no process.");
    process.kill(pid, "SIGSTOP");
    try {
      const others = services.filter((_, at) => at !== index);
      for (const customer of this.customers)
        for (const { url } of others) assert.equal((await this.clients[0].send(url, customer)).status, 200, url);
      await pause(this.chance.integer(0, 3_000));
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }

  /** Every replica refuses within the deadline, and lives. */
  private async suspendPostgres(): Promise<void> {
    const { postgres, services } = this.group;
    postgres.suspend();
    try {
      // Until the keys in memory are too old.
      await pause(this.chance.integer(1_000, 8_000));
      for (const { url } of services) {
        const startedAtMs = performance.now();
        assert.equal((await fetch(`${url}/healthz`)).status, 200);
        const { status } = await this.pay(url);
        const ms = performance.now() - startedAtMs;
        assert.ok(status === 503 && ms < deadlineMs, `${status} after ${ms} ms`);
        this.slowestRefusalMs = Math.max(this.slowestRefusalMs, ms);
        assert.equal((await readiness(url)).isReady, false);
      }
    } finally {
      postgres.resume();
    }
  }
}

/** Returns true for a request whose connection to the replica, or to nginx, was lost. */
const isLost = ({ status }: RequestOutcome): boolean => status === undefined || status === 502;

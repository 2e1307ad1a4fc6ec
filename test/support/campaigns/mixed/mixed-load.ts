/**
 * Mixed load on a `carquet serve` process at 1.5 times its capacity: well-behaved, attacking, leaving and repeating clients, while versions
 * are published, serving files are damaged and the disk of the ledger fills up. No answer may be wrong and no charge lost or doubled.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAccounts } from "../../../../src/accounts/storage/open-accounts.ts";
import { requestDeadlineMs } from "../../../../src/operations/caller.ts";
import { createCustomer } from "../../accounts.ts";
import { Chance } from "../../chance.ts";
import { eventually, parseLog, type ServeProcess, startServing } from "../../command-line.ts";
import { freePort } from "../../http/free-port.ts";
import type { Scope } from "../../scope.ts";
import { type ClientOptions, LoadClient, type Role, roles } from "./clients.ts";
import { damageServingFile, type LedgerDisk, Publisher, sleepUnless } from "./faults.ts";
import { type ClientIdentity, Journal, type LedgerSummary } from "./journal.ts";
import type { PreparedLake } from "./prepared-lake.ts";
import { ResponseTimes, type TimesSummary } from "./response-times.ts";
import type { Reply } from "./send.ts";
import { type MemorySummary, readVitalSigns, summarizeMemory, type VitalSigns } from "./vital-signs.ts";

export interface MixedLoadOptions {
  readonly prepared: PreparedLake;
  readonly disk: LedgerDisk;
  /** Length of the mixed load, and of the measurement of the capacity before it. */
  readonly seconds: number;
  readonly capacitySeconds: number;
  readonly swapSeconds: number;
  /** The longest time between two damages, and that a file stays damaged. */
  readonly damageSecondsMax: number;
  /** How long the disk stays full, twice. */
  readonly fullSeconds: number;
  /** Whether the memory of the last third is compared with that of the first. */
  readonly checksMemory: boolean;
  readonly seed: number;
  readonly onStatus: (line: string) => void;
}

export interface MixedLoadSummary {
  readonly seconds: number;
  /** Answers a second of 8 connections without a pause, and the offered load. */
  readonly capacityPerSecond: number;
  readonly offeredPerSecond: number;
  readonly responses: Journal["counts"];
  readonly rightAnswers: number;
  readonly wrongAnswers: number;
  readonly answersByVersion: Readonly<Record<string, number>>;
  readonly ledger: LedgerSummary;
  readonly memory: MemorySummary;
  readonly wellBehaved: TimesSummary;
  /** The greatest delays of the event loop that the metrics reported. */
  readonly eventLoop: { readonly p99Ms: number; readonly maxMs: number };
  /** Published versions, and the longest time until one was in service. */
  readonly published: number;
  readonly slowestSwapSeconds: number;
  readonly damages: number;
  readonly outages: number;
  readonly problemCount: number;
  /** The first problems; empty if everything is right. */
  readonly problems: readonly string[];
}

/** The customers by role. Attacking ones share the offered load. */
const customersOf: Readonly<Record<Role, number>> = { "well-behaved": 3, attacking: 3, leaving: 1, repeating: 1 };
const overload = 1.5;
const capacityConnections = 8;
/** A busy machine may send a response this much after the deadline. */
const lateMs = 5_000;
const statusSeconds = 10;
/** How long the service may take to report the ledger as available again. */
const recoveredMs = 20_000;
/** The response cache is small, so that requests are computed again. */
const responseCacheMiB = "4";

/** A running load and its observations. */
class MixedLoad {
  readonly journal: Journal;
  readonly times = new ResponseTimes();
  readonly readings: VitalSigns[] = [];
  readonly publisher: Publisher;
  readonly chance: Chance;
  startedAtMs = performance.now();
  isOver = false;
  slowestSwapSeconds = 0;
  damages = 0;
  outages = 0;

  constructor(
    readonly options: MixedLoadOptions,
    readonly service: ServeProcess,
    readonly metricsUrl: string,
    readonly accounts: string,
  ) {
    this.publisher = new Publisher(options.prepared);
    this.journal = new Journal((sentAtMs) => this.publisher.inService(sentAtMs));
    this.chance = new Chance(options.seed);
  }

  get elapsedSeconds(): number {
    return (performance.now() - this.startedAtMs) / 1000;
  }

  private readonly isFinished = (): boolean => this.isOver;

  private async clientOf(role: Role, isOver: () => boolean): Promise<LoadClient> {
    const client: ClientIdentity<Role> = { role, customer: await createCustomer(this.accounts, { usd: "100000" }) };
    const options: ClientOptions = {
      url: this.service.url,
      requests: this.options.prepared.requests,
      journal: this.journal,
      isOver,
      chance: new Chance(this.chance.integer(0, 2 ** 31)),
      onReply: (reply, from) => this.onReply(reply, from),
    };
    return new LoadClient(client, options);
  }

  private onReply({ path, status, ms }: Reply, { role }: ClientIdentity): void {
    if (ms > requestDeadlineMs + lateMs)
      this.journal.addProblem(
        `late response to the ${role} client`,
        `${path.slice(0, 120)}: ${status} after ${Math.round(ms)} ms`,
      );
    if (role !== "well-behaved") return;
    this.times.add(this.elapsedSeconds, ms);
    if (status === 429) this.journal.addProblem("well-behaved client refused with 429", path);
  }

  /** Returns the answers a second of a closed loop of the worst requests. */
  async measureCapacity(): Promise<number> {
    const startedAtMs = performance.now();
    const seconds = (): number => (performance.now() - startedAtMs) / 1000;
    const client = await this.clientOf("attacking", () => seconds() >= this.options.capacitySeconds);
    return (await client.sendClosedLoop(capacityConnections)) / seconds();
  }

  /** Runs all clients and faults until the time is over or the service has ended. */
  async run(offeredPerSecond: number): Promise<void> {
    this.startedAtMs = performance.now();
    const rate = offeredPerSecond / customersOf.attacking;
    const clients = roles.flatMap(
      async (role) =>
        await Promise.all(
          Array.from({ length: customersOf[role] }, async () => (await this.clientOf(role, this.isFinished)).run(rate)),
        ),
    );
    const others = [this.publish(), this.damage(), this.fillDisk(), this.watch()];
    await Promise.race([sleep(this.options.seconds * 1000), this.service.ended]);
    this.isOver = true;
    await Promise.all([...clients, ...others]);
  }

  private async publish(): Promise<void> {
    const interval = (): Promise<void> => sleepUnless(this.isFinished, this.options.swapSeconds * 1000);
    for (await interval(); !this.isOver; ) {
      const next = interval();
      const publishedAtSeconds = this.elapsedSeconds;
      await this.publisher.publishNext();
      let isNextDue = false;
      void next.then(() => {
        isNextDue = true;
      });
      const isInService = (): boolean => this.readings.at(-1)?.version === this.publisher.version;
      while (!isNextDue && !isInService()) await sleep(100);
      this.slowestSwapSeconds = Math.max(this.slowestSwapSeconds, this.elapsedSeconds - publishedAtSeconds);
      await next;
    }
  }

  private async damage(): Promise<void> {
    const { prepared, damageSecondsMax } = this.options;
    const pause = (): Promise<void> => sleepUnless(this.isFinished, this.chance.integer(0, damageSecondsMax * 1000));
    for (;;) {
      await pause();
      if (this.isOver) return;
      const path = await damageServingFile(prepared, this.publisher.version, this.chance, pause);
      this.damages += 1;
      this.options.onStatus(`  ${path} was damaged and restored`);
    }
  }

  /** Fills the disk of the ledger after a third and after two thirds of the time. */
  private async fillDisk(): Promise<void> {
    const { disk, seconds, fullSeconds, onStatus } = this.options;
    const pid = this.service.pid ?? 0;
    for (const share of [1 / 3, 2 / 3]) {
      await sleepUnless(this.isFinished, (share * seconds - this.elapsedSeconds) * 1000);
      if (this.isOver) return;
      await disk.fill(pid);
      onStatus("  the disk of the ledger is full");
      await sleepUnless(this.isFinished, fullSeconds * 1000);
      await disk.free(pid);
      if (this.readings.some(({ isLedgerAvailable }) => !isLedgerAvailable)) this.outages += 1;
      onStatus("  the disk of the ledger has space again");
    }
  }

  private async watch(): Promise<void> {
    for (let second = 0; !this.isOver; second += 1) {
      await sleepUnless(this.isFinished, second * 1000 - this.elapsedSeconds * 1000);
      try {
        this.readings.push(await readVitalSigns(this.metricsUrl, this.elapsedSeconds));
      } catch (thrown) {
        if (!this.isOver) this.journal.addProblem("no metrics", String(thrown));
        await sleepUnless(this.isFinished, 1000);
      }
      if (second % statusSeconds === 0) this.options.onStatus(this.statusLine());
    }
  }

  private statusLine(): string {
    const { journal, readings, publisher, damages, options } = this;
    const now = readings.at(-1);
    return (
      `${Math.round(this.elapsedSeconds)} of ${options.seconds} s: ${journal.rightAnswers} right answers, ` +
      `${journal.wrongAnswers} wrong, ${journal.problemCount} problems; version ${publisher.version}, ` +
      `${damages} damages, ${Math.round((now?.residentBytes ?? 0) / 2 ** 20)} MiB, ` +
      `event loop delay ${Math.round(now?.eventLoopP99Ms ?? 0)} ms (p99), well-behaved ${this.times.describe()}`
    );
  }

  /** Waits until the ledger has settled, stops the service and audits the accounts file. */
  async finish(): Promise<LedgerSummary> {
    const { metricsUrl, journal, service } = this;
    try {
      await eventually(
        "the ledger is available",
        async () => {
          return (await readVitalSigns(metricsUrl, this.elapsedSeconds)).isLedgerAvailable;
        },
        recoveredMs,
      );
      // Refunds are repeated every second.
      await sleep(2_000);
    } catch (thrown) {
      journal.addProblem("ledger not available", String(thrown));
    }
    service.terminate();
    const { code, err } = await service.ended;
    if (code !== 0) journal.addProblem("service exited", `code ${code}`);
    for (const line of parseLog(err))
      if (["internal error", "defect"].includes(String(line.msg)))
        journal.addProblem("defect", JSON.stringify(line).slice(0, 2000));
    return journal.auditCharges(this.accounts);
  }
}

/** Serves the lake, measures the capacity, and runs the mixed load. Returns the summary, problems included. */
export async function runMixedLoad(scope: Scope, options: MixedLoadOptions): Promise<MixedLoadSummary> {
  const accounts = join(options.disk.folder, "accounts.db");
  await (await createAccounts(accounts, { busyMs: 5000 })).close();
  const port = String(await freePort());
  const env = { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "warn", CARQUET_METRICS_PORT: port };
  const args = ["serve", "--port", "0", "--lake", options.prepared.lake, "--response-cache", responseCacheMiB];
  const service = await startServing(scope, args, { env });
  const load = new MixedLoad(options, service, `http://127.0.0.1:${port}/metrics`, accounts);
  const capacityPerSecond = await load.measureCapacity();
  const offeredPerSecond = Math.max(1, overload * capacityPerSecond);
  options.onStatus(`capacity ${capacityPerSecond.toFixed(1)}/s, offered ${offeredPerSecond.toFixed(1)}/s`);
  await load.run(offeredPerSecond);
  const ledger = await load.finish();
  const memory = summarizeMemory(load.readings);
  if (options.checksMemory && !memory.isBounded) load.journal.addProblem("memory", JSON.stringify(memory));
  const { journal, readings } = load;
  return {
    seconds: options.seconds,
    capacityPerSecond,
    offeredPerSecond,
    responses: journal.counts,
    rightAnswers: journal.rightAnswers,
    wrongAnswers: journal.wrongAnswers,
    ledger,
    memory,
    answersByVersion: Object.fromEntries(journal.answersOf),
    wellBehaved: load.times.summary(),
    eventLoop: {
      p99Ms: Math.max(0, ...readings.map(({ eventLoopP99Ms }) => eventLoopP99Ms)),
      maxMs: Math.max(0, ...readings.map(({ eventLoopMaxMs }) => eventLoopMaxMs)),
    },
    published: load.publisher.published,
    slowestSwapSeconds: load.slowestSwapSeconds,
    damages: load.damages,
    outages: load.outages,
    problemCount: journal.problemCount,
    problems: journal.problems,
  };
}

/** Runs the overload from its baseline to the audits after it, and summarizes it. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createAccounts } from "../../../../src/accounts/storage/open-accounts.ts";
import { Chance } from "../../chance.ts";
import { carquet, eventually } from "../../command-line.ts";
import type { Scope } from "../../scope.ts";
import { timeAt } from "../fairness.ts";
import { type LedgerDisk, sleepUnless } from "../mixed/faults.ts";
import { Journal, type LedgerSummary } from "../mixed/journal.ts";
import type { PreparedLake } from "../mixed/prepared-lake.ts";
import type { TimesSummary } from "../mixed/response-times.ts";
import { readVitalSigns } from "../mixed/vital-signs.ts";
import { Faults, reasonsOf } from "./faults.ts";
import { type FetchSummary, fetchFromHostileSources } from "./hostile-sources.ts";
import { KilledService } from "./killed-service.ts";
import { endAfter, OverloadLoad, sqlDeadlineSeconds } from "./overload-load.ts";
import { type LightClass, overloadRequests } from "./requests.ts";
import { messageReference, WebhookLoad } from "./webhooks.ts";

export interface RunOptions {
  readonly prepared: PreparedLake;
  readonly disk: LedgerDisk;
  readonly seconds: number;
  readonly idleSeconds: number;
  readonly capacitySeconds: number;
  readonly seed: number;
  readonly onStatus: (line: string) => void;
}

export interface LightSummary {
  readonly idle: TimesSummary;
  readonly loaded: TimesSummary;
  /** During an outage or a full disk, or soon after. */
  readonly disturbed: TimesSummary;
  /** How many times its idle p99 the p99 under load is. */
  readonly ratio: number;
}

export interface OverloadSummary {
  readonly capacityPerSecond: number;
  readonly light: Readonly<Record<LightClass, LightSummary>>;
  readonly webhooks: Readonly<Record<"rounds" | "published" | "messages" | "repeated" | "slowestSeconds", number>>;
  readonly fetching: FetchSummary;
  /** The 99th percentile of the delay of the service's event loop that its metrics reported: the median and the greatest. */
  readonly serviceDelayMs: readonly [median: number, max: number];
  /** Delay of the event loop of the clients, which is part of the times that they measure: a machine that stood still shows in its greatest. */
  readonly clientDelayMs: readonly [p99: number, max: number];
  readonly responses: Journal["counts"];
  readonly rightAnswers: number;
  readonly wrongAnswers: number;
  readonly ledger: LedgerSummary;
  /** Resident memory of the service: at the start, the greatest, and at the end. */
  readonly memoryBytes: readonly [start: number, peak: number, end: number];
  readonly faults: Readonly<Record<"kills" | "fullDisks" | "damages" | "damagesFound", number>>;
  readonly slowBytes: number;
  readonly problemCount: number;
  /** The first problems; empty if everything is right. */
  readonly problems: readonly string[];
}

/** The response cache is small, so that requests are computed again. A processor is left to Node.js, as docs/deployment.md advises for this load. */
const settings = [
  ...["--threads", String(Math.max(1, availableParallelism() - 1))],
  ...["--response-cache", "4", "--spool-size", "128MiB", "--private-webhooks"],
  ...["--sql-deadline", String(sqlDeadlineSeconds), "--export-memory", "256MiB"],
];
/** The p99 of light requests under load is at most this many times that of idle ones. */
const fairRatio = 10;
/** Processes of a stopped service end in this time. */
const endedMs = 10_000;
const statusMs = 60_000;
/** How long the service may take to be ready again after the load, and an audit by a command. */
const readyMs = 120_000;
const auditMs = 600_000;

/** Serves the lake under load and faults. Returns the summary, problems included. */
export async function runOverload(scope: Scope, options: RunOptions): Promise<OverloadSummary> {
  const { prepared, disk, seed, onStatus } = options;
  const { lake, kept } = prepared;
  const accounts = join(disk.folder, "accounts.db");
  await (await createAccounts(accounts, { busyMs: 5000 })).close();
  const requests = await overloadRequests(prepared);
  const reference = await messageReference(prepared);
  const args = [...settings, "--spool", join(disk.folder, "spool")];
  const service = await KilledService.start(scope, { lake, accounts, args });
  // While the published version cannot be opened, another one is in service: that before it, or after a restart the newest that opens.
  const onProblem = (problem: string): void => onStatus(`  problem: ${problem.slice(0, 400)}`);
  const journal = new Journal(() => kept, onProblem);
  const load = new OverloadLoad({ service, accounts, requests, kept: prepared.kept, journal, seed });
  await load.measureIdle(options.idleSeconds);
  onStatus(`idle: light ${load.times.light.idle.describe()}; kept ${load.times.kept.idle.describe()}`);
  const capacityPerSecond = await load.measureCapacity(options.capacitySeconds);
  assert.ok(capacityPerSecond > 0, JSON.stringify(journal.counts));
  onStatus(`capacity ${capacityPerSecond.toFixed(1)}/s`);
  const isOver = endAfter(options.seconds);
  const clientDelay = monitorEventLoopDelay({ resolution: 10 });
  clientDelay.enable();
  const onEvent = (line: string): void => onStatus(`  ${line}`);
  const chance = new Chance(seed + 1);
  const faults = new Faults({ service, lake, disk, journal, chance, isOver, onEvent });
  const webhooks = await WebhookLoad.create({ service, accounts, prepared, journal, isOver, onEvent }, reference);
  const status = (): void => onStatus(statusOf(load, journal));
  const [fetching] = await Promise.all([
    fetchFromHostileSources(scope, journal, isOver),
    load.run(capacityPerSecond, isOver),
    webhooks.run(scope),
    faults.run(),
    reportEachMinute(status, isOver),
  ]);
  clientDelay.disable();
  const light = checkFairness(load, journal);
  await settle(service, load, journal);
  const code = await service.stop();
  if (code !== 0) journal.addProblem("service exited", `code ${code}`);
  await checkProcesses(lake, journal);
  for (const defect of service.defects) journal.addProblem("defect", defect);
  const ledger = await journal.auditCharges(accounts);
  await audit(journal, ["ledger", "verify", "--accounts", accounts]);
  await audit(journal, ["verify", "--lake", lake]);
  const delays = load.readings.map(({ eventLoopP99Ms }) => eventLoopP99Ms).sort((a, b) => a - b);
  const memory = load.readings.map(({ residentBytes }) => residentBytes);
  return {
    capacityPerSecond,
    light,
    webhooks,
    fetching,
    serviceDelayMs: [timeAt(delays, 0.5), timeAt(delays, 1)],
    clientDelayMs: [clientDelay.percentile(99) / 1e6, clientDelay.max / 1e6],
    responses: journal.counts,
    rightAnswers: journal.rightAnswers,
    wrongAnswers: journal.wrongAnswers,
    ledger,
    memoryBytes: [memory[0] ?? 0, Math.max(0, ...memory), memory.at(-1) ?? 0],
    faults: {
      kills: service.outages.length,
      fullDisks: service.fullDisks.length,
      damages: faults.damages,
      damagesFound: faults.found,
    },
    slowBytes: load.slowBytes,
    problemCount: journal.problemCount,
    problems: journal.problems,
  };
}

async function reportEachMinute(report: () => void, isOver: () => boolean): Promise<void> {
  for (;;) {
    await sleepUnless(isOver, statusMs);
    if (isOver()) return;
    report();
  }
}

function statusOf(load: OverloadLoad, journal: Journal): string {
  const resident = load.readings.at(-1)?.residentBytes ?? 0;
  return (
    `${Math.round(load.elapsedSeconds)} s: ${journal.rightAnswers} right answers, ${journal.wrongAnswers} wrong, ` +
    `${journal.problemCount} problems; ${Math.round(resident / 2 ** 20)} MiB; light ${load.times.light.loaded.describe()}; kept ${load.times.kept.loaded.describe()}`
  );
}

/** Summarizes the times of light requests, and reports those of a class as unfair. */
function checkFairness({ times }: OverloadLoad, journal: Journal): Readonly<Record<LightClass, LightSummary>> {
  const summaryOf = (of: LightClass): LightSummary => {
    const [idle, loaded, disturbed] = [times[of].idle, times[of].loaded, times[of].disturbed].map((one) =>
      one.summary(),
    );
    assert.ok(idle !== undefined && loaded !== undefined && disturbed !== undefined);
    const ratio = loaded.p99Ms / idle.p99Ms;
    if (!(ratio <= fairRatio))
      journal.addProblem("unfair", `${of}: p99 ${loaded.p99Ms.toFixed(1)} ms, ${ratio.toFixed(1)} times the idle one`);
    return { idle, loaded, disturbed, ratio };
  };
  return { light: summaryOf("light"), kept: summaryOf("kept") };
}

/** Reports processes of the service, such as those of statements, that have not ended with it. */
async function checkProcesses(lake: string, journal: Journal): Promise<void> {
  const running = async (): Promise<readonly string[]> => {
    const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return lines.filter((line) => line.includes(lake)).map((line) => line.replaceAll("\0", " "));
  };
  try {
    await eventually("its processes have ended", async () => (await running()).length === 0, endedMs);
  } catch {
    journal.addProblem("processes left", (await running()).join("; ").slice(0, 2000));
  }
}

/** Waits until the service has recovered from all faults, and asks everything once more. */
async function settle(service: KilledService, load: OverloadLoad, journal: Journal): Promise<void> {
  try {
    const isSettled = async (): Promise<boolean> => {
      const { isLedgerAvailable } = await readVitalSigns(service.metricsUrl, load.elapsedSeconds);
      return isLedgerAvailable && (await reasonsOf(service.url))?.length === 0;
    };
    await eventually("the service is ready", isSettled, readyMs);
  } catch (thrown) {
    journal.addProblem("not ready", `${String(thrown)}: ${(await reasonsOf(service.url))?.join(", ")}`);
  }
  await load.askEverything();
}

/** Runs a command that audits; it prints what it finds. */
async function audit(journal: Journal, args: readonly string[]): Promise<void> {
  const { code, out, err } = await carquet(args, { withinMs: auditMs });
  if (code !== 0) journal.addProblem(args.join(" "), `${out} ${err}`.slice(0, 2000));
}

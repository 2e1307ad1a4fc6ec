/**
 * The bench suite (`npm run bench -- --help`): builds or reuses a dataset, checks that Carquet and its peers answer the same queries
 * alike, measures them in turn, and prints the results.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../src/base/user-error.ts";
import { type BenchCase, casesOf } from "./cases.ts";
import { type Dataset, type Log, openDataset, writePeerRows } from "./dataset/dataset.ts";
import { loadSampleValues, type SampleValues } from "./dataset/sample-values.ts";
import { firstRequestCases } from "./history-cases.ts";
import { compareCommits } from "./measure/compare-commits.ts";
import { measureFdatasync } from "./measure/disk.ts";
import { measureWithExports } from "./measure/export-load.ts";
import { type LifecycleOptions, measureFirstRequest, measureLifecycle } from "./measure/lifecycle.ts";
import { describeRun } from "./measure/machine.ts";
import { mixSize, queryMix } from "./measure/mix.ts";
import { holdsToday, runCases } from "./measure/run-cases.ts";
import { measureThroughput } from "./measure/throughput.ts";
import type { BenchQuery } from "./queries/query.ts";
import { requireBudgets } from "./report/budgets.ts";
import { reportResults } from "./report/report.ts";
import { type Measurement, measured, type Results } from "./report/results.ts";
import { type Acquire, withResources } from "./resources.ts";
import { createBenchKey } from "./servers/api-key.ts";
import {
  type InProcess,
  openInProcess,
  type ScriptServer,
  serveLake,
  startScript,
  withoutResponseCache,
} from "./servers/carquet.ts";
import { serveCommit } from "./servers/commit.ts";
import { openServer } from "./servers/open.ts";
import { exactServer, type Server } from "./servers/server.ts";
import { type PeerName, parseSettings, type Settings, usage } from "./settings.ts";

const log: Log = (line) => process.stderr.write(`${line}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  await main(parseSettings(process.argv.slice(2)));
} catch (thrown) {
  const message = thrown instanceof UserError || !(thrown instanceof Error) ? messageOf(thrown) : thrown.stack;
  process.stderr.write(`bench: ${message}\n`);
  process.exitCode = 1;
}

async function main(settings: Settings): Promise<void> {
  if (settings.action === "help") return void process.stdout.write(`${usage}\n`);
  const dataset = await openDataset(settings.shape, settings.data, log);
  const sampleValues = await loadSampleValues(dataset);
  const isSelected = (name: string): boolean =>
    settings.cases.length === 0 || settings.cases.some((prefix) => name.startsWith(prefix));
  const cases = casesOf(sampleValues).filter(({ name }) => isSelected(name));
  const names = [
    ...cases.map(({ name }) => name),
    ...[...Object.keys(firstRequestCases), "life", "throughput", "exports"].filter(isSelected),
  ];
  if (settings.action === "list") return void process.stdout.write(`${names.join("\n")}\n`);
  const run = { settings, dataset, sampleValues, cases, isSelected };
  const { against, json } = settings;
  const results = await withResources((acquire) =>
    against === undefined ? measureAll(run, acquire) : compareWith(against, run, acquire),
  );
  await reportResults(results, json);
  requireBudgets(results);
}

interface BenchRun {
  readonly settings: Settings;
  readonly dataset: Dataset;
  readonly sampleValues: SampleValues;
  readonly cases: readonly BenchCase[];
  readonly isSelected: (name: string) => boolean;
}

async function measureAll(run: BenchRun, acquire: Acquire): Promise<Results> {
  const { dataset, sampleValues, isSelected } = run;
  const carquet = await startCarquet(run, acquire);
  const lifecycle = isSelected("life") ? await measureLifecycle(carquet.lifecycle) : [];
  const firstRequests = await measureFirstRequests(run, carquet.lifecycle);
  const mix = queryMix(sampleValues, dataset.shape.seed, mixSize);
  const uncached = await measureUncached(run, carquet, mix);
  const cachedThroughput = isSelected("throughput") ? await measureCached(run, carquet, mix) : [];
  const besideExports = isSelected("exports")
    ? await measureWithExports(carquet.uncached, carquet.lifecycle.key, mix, run.settings.isQuick)
    : [];
  const peakMib = carquet.cached.peakMib();
  return {
    ...uncached.run,
    measurements: [
      ...[...uncached.cases, ...firstRequests, ...lifecycle, ...uncached.throughput],
      ...cachedThroughput,
      ...besideExports,
      ...measured("memory of the service after start", "carquet", { MiB: carquet.restMib }),
      ...measured("peak memory of the service", "carquet", { MiB: peakMib }),
      ...(await measureFdatasync(carquet.lifecycle.scratch)),
    ],
  };
}

/** Compares the working tree with a commit over the selected cases. */
async function compareWith(
  commit: string,
  { settings, dataset, sampleValues, cases }: BenchRun,
  acquire: Acquire,
): Promise<Results> {
  const { data, isQuick } = settings;
  const folder = await acquire(mkdtemp(join(data, "run-")), (path) => rm(path, { recursive: true }));
  const now = await serveLake(acquire, dataset.lake);
  const before = await serveCommit(acquire, { commit, lake: dataset.lake, folder, log });
  const measurements = await compareCommits(cases, {
    now: exactServer("carquet", "", now),
    before: exactServer("before", commit, before),
    warmUpQueries: queryMix(sampleValues, dataset.shape.seed, mixSize),
    isQuick,
    log,
  });
  return { ...(await describeRun(dataset, [], isQuick)), title: `Working tree and ${commit}`, measurements };
}

/** Measures the selected cases of `firstRequestCases`. */
async function measureFirstRequests(
  { sampleValues, isSelected }: BenchRun,
  options: LifecycleOptions,
): Promise<readonly Measurement[]> {
  const queriesByCase = new Map(casesOf(sampleValues).map(({ name, queries }) => [name, queries]));
  const results: Measurement[] = [];
  for (const [name, sources] of Object.entries(firstRequestCases).filter(([one]) => isSelected(one))) {
    const [first, ...others] =
      sources.map((source) => queriesByCase.get(source)).find((queries) => queries !== undefined) ?? [];
    if (first !== undefined) results.push(...(await measureFirstRequest(name, [first, ...others], options)));
  }
  return results;
}

/** Carquet in this process, and as two services over HTTP: one without, one with a response cache. */
interface CarquetServers {
  readonly inProcess: InProcess;
  readonly uncached: ScriptServer;
  readonly cached: ScriptServer;
  /** Memory of the uncached service after its start. */
  readonly restMib: number;
  readonly lifecycle: LifecycleOptions;
}

async function startCarquet(run: BenchRun, acquire: Acquire): Promise<CarquetServers> {
  const { settings, dataset } = run;
  const scratch = await acquire(mkdtemp(join(settings.data, "run-")), (folder) => rm(folder, { recursive: true }));
  const accounts = join(scratch, "accounts.db");
  const key = await createBenchKey(accounts);
  const serve = (...options: readonly string[]): Promise<ScriptServer> => {
    const args = ["serve", "--lake", dataset.lake, "--accounts", accounts, "--port", "0", ...options];
    return acquire(startScript("bin/carquet.cjs", args, key), (server) => server.stop());
  };
  const inProcess = await acquire(openInProcess(dataset.lake), (opened) => opened.close());
  const uncached = await serve(...withoutResponseCache);
  const restMib = uncached.memoryMib();
  // Started early: it has loaded its serving files long before it is under load.
  const cached = await serve();
  const lifecycle = { dataset, accounts, key, scratch, repetitions: settings.isQuick ? 1 : 7 };
  return { inProcess, uncached, cached, restMib, lifecycle };
}

interface UncachedResults {
  readonly run: Omit<Results, "measurements">;
  readonly cases: readonly Measurement[];
  readonly throughput: readonly Measurement[];
}

/** Measures the cases and the throughput of servers without a response cache. */
function measureUncached(run: BenchRun, servers: CarquetServers, mix: readonly BenchQuery[]): Promise<UncachedResults> {
  return withResources(async (acquire) => {
    const { settings, dataset, cases, isSelected } = run;
    const { isQuick } = settings;
    const peers = await openPeers(settings.peers, run, { isCached: false, acquire });
    const carquet = exactServer("carquet", "", servers.uncached);
    const { inProcess } = servers;
    const measuredCases = await runCases(cases, { inProcess, carquet, peers, warmUpQueries: mix, isQuick, log });
    const throughput = isSelected("throughput")
      ? await measureThroughput({
          carquet,
          peers: peers.filter(({ name }) => holdsToday(name)),
          queries: mix,
          answers: "uncached",
          isQuick,
          log,
        })
      : [];
    return { run: await describeRun(dataset, peers, isQuick), cases: measuredCases, throughput };
  });
}

/** Measures the throughput of Carquet, and of the peers that have a response cache, with their caches on. */
function measureCached(
  run: BenchRun,
  servers: CarquetServers,
  mix: readonly BenchQuery[],
): Promise<readonly Measurement[]> {
  return withResources(async (acquire) => {
    const { isQuick, peers: names } = run.settings;
    const cachingPeers = names.filter((name) => name === "solr");
    const peers = await openPeers(cachingPeers, run, { isCached: true, acquire });
    const carquet = exactServer("carquet", "", servers.cached);
    return await measureThroughput({ carquet, peers, queries: mix, answers: "cached", isQuick, log });
  });
}

/** Starts the servers of peers, one after another. Omits those that are unavailable on this machine. */
async function openPeers(
  names: readonly PeerName[],
  { settings: { solrHeapMib: heapMib }, dataset }: BenchRun,
  { isCached, acquire }: { readonly isCached: boolean; readonly acquire: Acquire },
): Promise<readonly Server[]> {
  const servers: Server[] = [];
  if (names.length > 0) await writePeerRows(dataset, log);
  for (const name of names) {
    const opening = openServer(name, { dataset, solr: { heapMib, isCached }, log });
    const server = await acquire(opening, (opened) => opened?.stop());
    if (server !== undefined) servers.push(server);
  }
  return servers;
}

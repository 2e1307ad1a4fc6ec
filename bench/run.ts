/**
 * The bench suite: builds or reuses a market, lets Carquet and its peers answer the same questions in turn, and says who took how long.
 * `npm run bench -- --help`.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../src/base/user-error.ts";
import { type Case, casesOf } from "./cases.ts";
import { type Dataset, datasetOf, type Say } from "./dataset/dataset.ts";
import { questionWords, type Words } from "./dataset/words.ts";
import { calibration, syncTiming } from "./measure/calibration.ts";
import { runCases } from "./measure/compete.ts";
import { type MeasuredService, type Published, publishToServed, startUp } from "./measure/lifetimes.ts";
import { describe } from "./measure/machine.ts";
import { mixLength, mixOf } from "./measure/mix.ts";
import { throughputOf } from "./measure/throughput.ts";
import { changes } from "./report/compare.ts";
import { printed, printedChanges } from "./report/report.ts";
import type { Results } from "./report/results.ts";
import { keepingNoAnswers, keyIn, openInProcess, start } from "./servers/carquet.ts";
import { openServer } from "./servers/open.ts";
import { type Server, serverOf } from "./servers/server.ts";
import { type PeerName, type Settings, settingsOf, usage } from "./settings.ts";

const say: Say = (line) => process.stderr.write(`${line}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  await main(settingsOf(process.argv.slice(2)));
} catch (thrown) {
  const told = thrown instanceof UserError || !(thrown instanceof Error) ? messageOf(thrown) : thrown.stack;
  process.stderr.write(`bench: ${told}\n`);
  process.exitCode = 1;
}

async function main(settings: Settings): Promise<void> {
  if (settings.asks === "help") return void process.stdout.write(`${usage}\n`);
  const before = settings.compare === undefined ? undefined : await readResults(settings.compare);
  const dataset = await datasetOf(settings.shape, settings.data, say);
  const words = await questionWords(dataset);
  const isChosen = (name: string): boolean =>
    settings.cases.length === 0 || settings.cases.some((start) => name.startsWith(start));
  const cases = casesOf(words).filter(({ name }) => isChosen(name));
  const names = [...cases.map(({ name }) => name), ...["life", "throughput"].filter(isChosen)];
  if (settings.asks === "list") return void process.stdout.write(`${names.join("\n")}\n`);
  const results = await whileOpen((open) => measured(settings, { dataset, words, cases, isChosen, open }));
  process.stdout.write(`${printed(results)}\n`);
  if (settings.json !== undefined) await writeFile(settings.json, `${JSON.stringify(results, null, 2)}\n`);
  if (before === undefined) return;
  const changed = changes(before, results, settings.threshold);
  process.stdout.write(`\n${printedChanges(changed)}\n`);
  if (changed.some(({ isSlower }) => isSlower)) process.exitCode = 1;
}

interface Work {
  readonly dataset: Dataset;
  readonly words: Words;
  readonly cases: readonly Case[];
  readonly isChosen: (name: string) => boolean;
  readonly open: Open;
}

async function measured(settings: Settings, { dataset, words, cases, isChosen, open }: Work): Promise<Results> {
  const { isQuick } = settings;
  const scratch = await open(mkdtemp(join(settings.data, "run-")), (folder) => rm(folder, { recursive: true }));
  const accounts = join(scratch, "accounts.db");
  const key = keyIn(accounts);
  const serve = async (...more: readonly string[]) => {
    const args = ["serve", "--lake", dataset.lake, "--accounts", accounts, "--port", "0", ...more];
    const running = await open(start("src/main.ts", args, key), (started) => started.stop());
    return { running, carquet: serverOf("carquet", "", running) };
  };
  const inProcess = await open(openInProcess(dataset.lake), (opened) => opened.close());
  const uncached = await serve(...keepingNoAnswers);
  const { nowMib } = uncached.running.memory();
  // Started now, it has taken its copies long before it is under load.
  const cached = await serve();
  const serving = { dataset, accounts, key, scratch, times: isQuick ? 1 : 7 };
  const lives = isChosen("life") ? await livesOf(serving) : { cases: [], peakMib: 0 };
  const mix = mixOf(words, dataset.shape.seed, mixLength);
  const load = { questions: mix, isQuick, say };

  const about = await whileOpen(async (open) => {
    const peers = await serversOf(settings.peers, settings, { dataset, isCached: false, open });
    const field = { inProcess, carquet: uncached.carquet, peers, rehearsal: mix, isQuick, say };
    const competed = await whileOpen(async (open) => {
      const steady = await open(calibration(), (opened) => opened.close());
      return await runCases(cases, { ...field, steady });
    });
    const throughput = isChosen("throughput") ? await throughputOf({ ...load, ...field, answers: "uncached" }) : [];
    return { ...(await describe(dataset, peers)), cases: competed, throughput };
  });
  const kept = await whileOpen(async (open) => {
    if (!isChosen("throughput")) return [];
    const cachingPeers = settings.peers.filter((name) => name === "solr");
    const peers = await serversOf(cachingPeers, settings, { dataset, isCached: true, open });
    return await throughputOf({ ...load, carquet: cached.carquet, peers, answers: "cached" });
  });
  const { peakMib } = cached.running.memory();
  return {
    ...{ asked: "over HTTP", ...about, cases: [...about.cases, ...lives.cases] },
    throughput: [...about.throughput, ...kept],
    ...{ memory: { rest_mib: nowMib, peak_mib: Math.max(peakMib, lives.peakMib) }, fdatasync: syncTiming(scratch) },
  };
}

interface Peers {
  readonly dataset: Dataset;
  /** Whether answers may be kept, by a peer that can. */
  readonly isCached: boolean;
  readonly open: Open;
}

/** The servers of peers; without those that cannot be had. */
async function serversOf(
  names: readonly PeerName[],
  { solrHeapMib: heapMib }: Settings,
  { dataset, isCached, open }: Peers,
): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const name of names) {
    const opening = openServer(name, { dataset, solr: { heapMib, isCached }, say });
    const server = await open(opening, (opened) => opened?.stop());
    if (server !== undefined) servers.push(server);
  }
  return servers;
}

async function livesOf(serving: MeasuredService): Promise<Published> {
  const started = await startUp(serving);
  const { cases, peakMib } = await publishToServed(serving);
  return { cases: [started, ...cases], peakMib };
}

async function readResults(path: string): Promise<Results> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (thrown) {
    throw new UserError(`--compare ${path}: cannot be read: ${messageOf(thrown)}.`);
  }
}

type Open = <T>(opening: Promise<T>, close: (opened: T) => Promise<void> | void) => Promise<T>;

/** Does some work, and closes all that it opened, the last first, whether it ends well or not. */
async function whileOpen<T>(work: (open: Open) => Promise<T>): Promise<T> {
  const closings: (() => Promise<void> | void)[] = [];
  try {
    return await work(async (opening, close) => {
      const opened = await opening;
      closings.unshift(() => close(opened));
      return opened;
    });
  } finally {
    for (const close of closings) await close();
  }
}

/** Runs the cases: compares every server's answers with Carquet's first, then times all servers in turn over HTTP. */
import type { BenchCase } from "../cases.ts";
import type { Log } from "../dataset/dataset.ts";
import { at, type BenchQuery } from "../queries/query.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
import type { InProcess } from "../servers/carquet.ts";
import type { Server, ServerName } from "../servers/server.ts";
import { warmUp, warmUpMs } from "../servers/warm-up.ts";
import { dayPeerNames } from "../settings.ts";
import { assertSameAnswer } from "./assert-same-answer.ts";
import { type TimingLimits, timeInterleaved } from "./timing.ts";

export interface CaseOptions {
  /** Carquet in this process, without HTTP, key and ledger. */
  readonly inProcess: Pick<InProcess, "fetch">;
  readonly carquet: Server<"carquet">;
  readonly peers: readonly Server[];
  /** Sent before the first case to the servers that hold the listings of the published day; the others are sent their cases. */
  readonly warmUpQueries: readonly BenchQuery[];
  readonly isQuick: boolean;
  readonly log: Log;
}

interface Effort extends TimingLimits {
  readonly comparedQueries: number;
  /** Processor time to spend before it is divided by the requests. Linux counts it in steps of 10 ms. */
  readonly processorMs: number;
}

const fullEffort: Effort = {
  roundsMax: 31,
  budgetMs: 6000,
  slowMs: 10_000,
  comparedQueries: 10,
  processorMs: 1000,
};
const quickEffort: Effort = {
  roundsMax: 9,
  budgetMs: 400,
  slowMs: 800,
  comparedQueries: 2,
  processorMs: 150,
};

/** Returns the measurements of all cases. Throws a `UserError` if a server's answer differs from Carquet's. */
export async function runCases(cases: readonly BenchCase[], options: CaseOptions): Promise<readonly Measurement[]> {
  const results: Measurement[] = [];
  const { carquet, peers, warmUpQueries, isQuick, log } = options;
  for (const server of cases.length === 0 ? [] : [carquet, ...peers]) {
    const ownCases = cases.filter((benchCase) => benchCase.peers.some((peer) => peer === server.name));
    const queries = holdsToday(server.name) ? warmUpQueries : ownCases.flatMap(({ queries }) => queries);
    await warmUp([server], queries, { durationMs: warmUpMs(isQuick), requestsMin: 0 });
  }
  for (const benchCase of cases) {
    const casePeers = peers.filter(({ name }) => benchCase.peers.some((peer) => peer === name));
    results.push(...(await runCase(benchCase, { ...options, peers: casePeers })));
    log(`${benchCase.name}: done`);
  }
  return results;
}

/** Returns whether a server holds the listings of the published day. */
export const holdsToday = (name: ServerName): boolean => name === "carquet" || dayPeerNames.includes(name);

async function runCase({ name, queries }: BenchCase, options: CaseOptions): Promise<readonly Measurement[]> {
  const { inProcess, carquet, peers, isQuick } = options;
  const effort = isQuick ? quickEffort : fullEffort;
  const [firstQuery] = queries;
  if (firstQuery === undefined) throw new Error(`Case "${name}" is empty: expected at least one query.`);
  const { rows, deviation } = await compareAnswers(queries.slice(0, effort.comparedQueries), options);
  if (firstQuery.spec.kind === "trends") await sendEach(queries, options);
  const queryOf = (round: number): BenchQuery =>
    queries[(effort.comparedQueries + round) % queries.length] ?? firstQuery;
  const servers = [carquet, ...peers];
  const times = await timeInterleaved(
    [
      ...servers.map(({ name: server, send }) => ({ name: server, run: (round: number) => send(queryOf(round)) })),
      { name: "in process", run: (round) => inProcess.fetch(queryOf(round).path) },
    ],
    effort,
  );
  const measurements = [...measured(name, "carquet", { listings: rows })];
  for (const server of servers) {
    const share = deviation.get(server.name);
    measurements.push(timed(name, server.name, times.get(server.name)));
    measurements.push(
      ...measured(name, server.name, {
        "processor ms": await processorMsPerRequest(server, queryOf, effort.processorMs),
        "deviation %": share === undefined ? undefined : 100 * share,
      }),
    );
  }
  return [...measurements, timed(name, "in process", times.get("in process"))];
}

/** Sends every query once to every server: Carquet hashes the files of past days at their first use. */
async function sendEach(queries: readonly BenchQuery[], { inProcess, carquet, peers }: CaseOptions): Promise<void> {
  for (const query of queries) {
    await inProcess.fetch(query.path);
    for (const { send } of [carquet, ...peers]) await send(query);
  }
}

/** Stops after this multiple of the processor time to spend, because a server on a busy machine may spend most of it waiting. */
const wallTimeFactor = 5;

/** Returns a server's processor time per request. Sends requests to it alone, at least three, until it has spent `spendMs`. */
async function processorMsPerRequest(
  { send, processorMs }: Server<ServerName>,
  queryOf: (round: number) => BenchQuery,
  spendMs: number,
): Promise<number> {
  const before = processorMs();
  const endAtMs = performance.now() + wallTimeFactor * spendMs;
  let requests = 0;
  const spent = (): number => processorMs() - before;
  while (requests < 3 || (spent() < spendMs && performance.now() < endAtMs)) {
    await send(queryOf(requests));
    requests += 1;
  }
  return spent() / requests;
}

const dataAndPagination = (body: unknown) => ({ data: at(body, "data"), pagination: at(body, "pagination") });

interface Comparison {
  /** Listings that match the first query. */
  readonly rows: number;
  /** The largest relative deviation of percentiles, by approximate peer. */
  readonly deviation: ReadonlyMap<string, number>;
}

/** Compares the answers of all servers with those of Carquet in process. */
async function compareAnswers(
  queries: readonly BenchQuery[],
  { inProcess, carquet, peers }: CaseOptions,
): Promise<Comparison> {
  const rows: number[] = [];
  const deviation = new Map<string, number>();
  for (const query of queries) {
    const { path } = query;
    // Fills the page cache: reading from a cold disk may exceed the deadline of a request.
    await inProcess.fetch(path).catch(() => {});
    const ours = JSON.parse(await inProcess.fetch(path));
    const overHttp = (await carquet.send(query))();
    assertSameAnswer(path, dataAndPagination(ours), "Carquet over HTTP", dataAndPagination(overHttp));
    for (const peer of peers) {
      const share = query.compare(ours, (await peer.send(query))(), peer);
      if (share > 0 && peer.tolerance > 0) deviation.set(peer.name, Math.max(share, deviation.get(peer.name) ?? 0));
    }
    rows.push(query.matchCount(ours));
  }
  return { rows: rows[0] ?? 0, deviation };
}

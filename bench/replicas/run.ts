/**
 * Measures replicas: `node --import tsx/esm bench/replicas/run.ts [--listings 250000] [--days 2] [--data DIR] [--rounds 3]
 * [--seconds 8] [--json FILE]`.
 *
 * Four services share a lake and accounts in a PostgreSQL server that this starts. The query mix of the suite is sent to the first one, two and
 * four of them in turn, without and with response caches. Prints processor time per request: replicas on one machine divide its processors,
 * so requests a second cannot grow, but a request must not cost more.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { openDataset } from "../dataset/dataset.ts";
import { loadSampleValues } from "../dataset/sample-values.ts";
import { describeMachine } from "../measure/machine.ts";
import { mixSize, queryMix } from "../measure/mix.ts";
import { quantile, roundToThousandths, timingOf } from "../measure/timing.ts";
import type { BenchQuery } from "../queries/query.ts";
import type { ReplicaLoad, ReplicaMix } from "../report/separate-results.ts";
import { type Acquire, withResources } from "../resources.ts";
import { createBenchKeys } from "../servers/api-key.ts";
import { startScript, withoutResponseCache } from "../servers/carquet.ts";
import { type HttpClient, httpClient } from "../servers/http.ts";
import { type PostgresProcess, startPostgres } from "../servers/postgres.ts";
import type { ServerProcess } from "../servers/process.ts";
import { parseSettings } from "../settings.ts";

const { values } = parseArgs({
  options: {
    listings: { type: "string", default: "250000" },
    days: { type: "string", default: "2" },
    data: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    json: { type: "string" },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const replicaCounts = [1, 2, 4] as const;
const replicasMost = Math.max(...replicaCounts);
const log = (line: string): boolean => process.stderr.write(`${line}\n`);

/** How many queries have been sent; each load goes on with the next one. */
let sent = 0;

/** What is sent: with response caches, few queries are repeated by many clients, so that charges are most of the work. */
const workloads = [
  { answers: "uncached", clients: 8, queries: mixSize, warmUpSeconds: 10 },
  { answers: "cached", clients: 64, queries: 200, warmUpSeconds: 5 },
] as const;
type Workload = (typeof workloads)[number];

interface Replica {
  readonly process: ServerProcess;
  /** One for each account; the accounts are used in turn. */
  readonly clients: readonly HttpClient[];
}

interface Servers {
  readonly postgres: PostgresProcess;
  readonly replicas: readonly Replica[];
}

await withResources(async (acquire) => {
  const data = values.data === undefined ? [] : ["--data", values.data];
  const { shape, data: folder } = parseSettings(["--listings", values.listings, "--days", values.days, ...data]);
  const dataset = await openDataset(shape, folder, log);
  const mix = queryMix(await loadSampleValues(dataset), shape.seed, mixSize);
  const postgres = await acquire(startPostgres(), (server) => server.stop());
  const keys = createBenchKeys(postgres.url, 64).map(({ key }) => key);
  const loads: ReplicaLoad[] = [];
  for (const workload of workloads)
    await withResources(async (acquireReplica) => {
      const options = workload.answers === "cached" ? [] : withoutResponseCache;
      const args = ["--lake", dataset.lake, "--accounts", postgres.url, "--port", "0", ...options];
      const replicas = await startReplicas(acquireReplica, args, keys);
      loads.push(...(await measureWorkload(workload, { postgres, replicas }, mix.slice(0, workload.queries))));
    });
  const environment = await describeMachine({ postgres: postgres.version });
  const results: ReplicaMix = { kind: "replicas", environment, listings: shape.listings, loads };
  for (const load of loads) process.stdout.write(`${JSON.stringify(load)}\n`);
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
});

async function startReplicas(
  acquire: Acquire,
  args: readonly string[],
  keys: readonly string[],
): Promise<readonly Replica[]> {
  const replicas: Replica[] = [];
  while (replicas.length < replicasMost) {
    const number = `${replicas.length + 1}/${replicasMost}`;
    // The limits of an account are divided; none is to be reached.
    const limits = ["--replica", number, "--account-requests", "1000", "--memory", "2GiB"];
    const server = await acquire(startScript("bin/carquet.cjs", ["serve", ...args, ...limits]), (one) => one.stop());
    const clients = keys.map((key) => httpClient(server.url, { Authorization: `Bearer ${key}` }));
    // One after the other: many keys of one address that are looked up at once count as failed.
    for (const client of clients) await client.send("/v1/usage");
    replicas.push({ process: server, clients });
  }
  return replicas;
}

/** Measures a workload on the first one, two and four replicas, in rounds. Returns the median of each by processor time. */
async function measureWorkload(
  workload: Workload,
  servers: Servers,
  queries: readonly BenchQuery[],
): Promise<readonly ReplicaLoad[]> {
  for (const replica of servers.replicas)
    await sendFor(workload.warmUpSeconds, workload, { ...servers, replicas: [replica] }, queries);
  const measured = new Map<number, ReplicaLoad[]>(replicaCounts.map((count) => [count, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [count, loads] of measured) {
      const load = await sendFor(
        seconds,
        workload,
        { ...servers, replicas: servers.replicas.slice(0, count) },
        queries,
      );
      loads.push(load);
      log(JSON.stringify(load));
    }
  return [...measured.values()].map(medianOf);
}

/** Sends queries to the replicas in turn, each client the next one when it has the answer to its last one. */
async function sendFor(
  forSeconds: number,
  { answers, clients }: Workload,
  { postgres, replicas }: Servers,
  queries: readonly BenchQuery[],
): Promise<ReplicaLoad> {
  const serviceMs = (): number => replicas.reduce((sum, replica) => sum + replica.process.threadMs().process, 0);
  const before = { service: serviceMs(), postgres: postgres.processorMs(), client: process.cpuUsage() };
  const startedAtMs = performance.now();
  const times: number[] = [];
  const sendQueries = async (client: number): Promise<void> => {
    while (performance.now() < startedAtMs + forSeconds * 1000) {
      const [query, replica] = [queries[sent % queries.length], replicas[sent % replicas.length]];
      sent += 1;
      const sentAtMs = performance.now();
      await replica?.clients[client]?.send(query?.path ?? "");
      times.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => sendQueries(client)));
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(before.client);
  const perRequest = (ms: number): number => roundToThousandths(ms / times.length);
  return {
    ...{ answers, clients, replicas: replicas.length },
    requests_per_second: roundToThousandths((1000 * times.length) / elapsedMs),
    ...timingOf(times),
    processor_ms: perRequest(serviceMs() - before.service),
    postgres_ms: perRequest(postgres.processorMs() - before.postgres),
    client_ms: perRequest((user + system) / 1000),
  };
}

function medianOf(loads: readonly ReplicaLoad[]): ReplicaLoad {
  const times = loads.map(({ processor_ms }) => processor_ms);
  const median = loads[times.indexOf(quantile(times, 0.5))];
  if (median === undefined) throw new Error("No measurements: expected --rounds of at least 1.");
  return median;
}

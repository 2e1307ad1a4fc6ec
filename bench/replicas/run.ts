/**
 * Measures replicas: `node --import tsx/esm bench/replicas/run.ts [--listings 250000] [--days 2] [--data DIR] [--answers uncached,cached]
 * [--accounts 8] [--rounds 3] [--seconds 8] [--json FILE]`.
 *
 * Four services share a lake and accounts in a PostgreSQL server that this starts. The query mix of the suite is sent to the first one, two and
 * four of them in turn, without and with response caches. Prints processor time per request: replicas on one machine divide its processors,
 * so requests a second cannot grow, but a request should not cost more. Four services with an accounts file each are the control: they share
 * nothing but the processors.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDataset } from "../dataset/dataset.ts";
import { loadSampleValues } from "../dataset/sample-values.ts";
import { mixSize, queryMix } from "../measure/mix.ts";
import { medianBy } from "../measure/timing.ts";
import type { BenchQuery } from "../queries/query.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
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
    answers: { type: "string", default: "uncached,cached" },
    accounts: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    json: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const replicasMax = 4;
/** As many clients for all replicas together, and as many for each. */
const scales = [
  { replicas: 1, clientsTimes: 1 },
  { replicas: 2, clientsTimes: 1 },
  { replicas: 4, clientsTimes: 1 },
  { replicas: 2, clientsTimes: 2 },
  { replicas: 4, clientsTimes: 4 },
] as const;
const log = (line: string): boolean => process.stderr.write(`${line}\n`);

/** How many queries have been sent; each load goes on with the next one. */
let sent = 0;

/** The requests: with response caches, few queries are repeated by many clients, so that charges are most of the work. */
const workloads = [
  { answers: "uncached", clients: 8, queries: mixSize, warmUpSeconds: 10 },
  { answers: "cached", clients: 64, queries: 200, warmUpSeconds: 5 },
] as const;
type Workload = (typeof workloads)[number];

/** Keys by the location of their accounts. */
const keysAt = new Map<string, readonly string[]>();

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
  const { shape, data: datasets } = parseSettings(["--listings", values.listings, "--days", values.days, ...data]);
  const dataset = await openDataset(shape, datasets, log);
  const mix = queryMix(await loadSampleValues(dataset), shape.seed, mixSize);
  const scratch = await acquire(mkdtemp(join(tmpdir(), "carquet-replicas-")), (path) => rm(path, { recursive: true }));
  const postgres = await acquire(startPostgres(), (server) => server.stop());
  const isSelected = ({ answers }: Workload): boolean => values.answers.split(",").includes(answers);
  const measurements: Measurement[] = [];
  for (const workload of workloads.filter(isSelected))
    for (const accounts of ["PostgreSQL", "SQLite"] as const)
      await withResources(async (acquireReplica) => {
        const cache = workload.answers === "cached" ? [] : withoutResponseCache;
        const folder = await mkdtemp(join(scratch, "accounts-"));
        const locationOf = (number: number): string =>
          accounts === "PostgreSQL" ? postgres.url : join(folder, `${number}.db`);
        const replicas = await startReplicas(acquireReplica, ["--lake", dataset.lake, ...cache], locationOf);
        const loads = await measureWorkload(workload, { postgres, replicas }, mix.slice(0, workload.queries));
        const store = accounts === "SQLite" ? "a file each" : accounts;
        for (const { clients, replicas: count, ...load } of loads)
          measurements.push(
            ...measurementsOf(
              `${workload.answers}, ${clients} clients, ${store}, ${count} ${count === 1 ? "replica" : "replicas"}`,
              load,
            ),
          );
      });
  const notes = [
    `The query mix at ${shape.listings.toLocaleString("en")} listings, sent in turn to 1, 2 and 4 services on one machine, with PostgreSQL and the clients on the same processors; processor time per request. The replicas share accounts in PostgreSQL; the control has a SQLite file for each service, so that they share nothing but the processors. Latency says nothing about replicas on separate machines.`,
  ];
  await reportMeasurements(
    { title: "Replicas", notes, programs: { postgres: postgres.version } },
    measurements,
    values.json,
  );
});

async function startReplicas(
  acquire: Acquire,
  args: readonly string[],
  locationOf: (number: number) => string,
): Promise<readonly Replica[]> {
  const replicas: Replica[] = [];
  while (replicas.length < replicasMax) {
    const number = replicas.length + 1;
    const location = locationOf(number);
    const keys =
      keysAt.get(location) ?? (await createBenchKeys(location, Number(values.accounts))).map(({ key }) => key);
    keysAt.set(location, keys);
    // No limit of an account is to be reached.
    const limits = ["--account-requests", "1000", "--memory", "2GiB"];
    const options = ["serve", ...args, "--accounts", location, "--port", "0", ...limits];
    const server = await acquire(startScript("bin/carquet.cjs", options), (one) => one.stop());
    const clients = keys.map((key) => httpClient(server.url, { Authorization: `Bearer ${key}` }));
    // One after the other: many keys of one address that are looked up at once count as failed.
    for (const client of clients) await client.send("/v1/usage");
    replicas.push({ process: server, clients });
  }
  return replicas;
}

interface ReplicaLoad {
  readonly clients: number;
  readonly replicas: number;
  readonly requestsPerSecond: number;
  readonly times: readonly number[];
  /** Processor time per request: of all replicas, of PostgreSQL, and of the clients, which send and receive. */
  readonly serviceMs: number;
  readonly postgresMs: number;
  readonly clientMs: number;
}

function measurementsOf(
  name: string,
  { requestsPerSecond, times, serviceMs, postgresMs, clientMs }: Omit<ReplicaLoad, "clients" | "replicas">,
): readonly Measurement[] {
  return [
    ...measured(name, "services", { "requests/s": requestsPerSecond }),
    timed(name, "services", times),
    ...measured(name, "services", { "processor ms": serviceMs }),
    ...measured(name, "PostgreSQL", { "processor ms": postgresMs }),
    ...measured(name, "clients", { "processor ms": clientMs }),
  ];
}

/** Measures a workload on some of the replicas, in rounds. Returns the median of each scale by processor time. */
async function measureWorkload(
  { clients, warmUpSeconds }: Workload,
  { postgres, replicas }: Servers,
  queries: readonly BenchQuery[],
): Promise<readonly ReplicaLoad[]> {
  for (const replica of replicas) await sendFor(warmUpSeconds, clients, { postgres, replicas: [replica] }, queries);
  const loads: ReplicaLoad[][] = scales.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, { replicas: count, clientsTimes }] of scales.entries()) {
      const servers = { postgres, replicas: replicas.slice(0, count) };
      loads[index]?.push(await sendFor(seconds, clients * clientsTimes, servers, queries));
      log(`round ${round + 1}, ${count} replicas: done`);
    }
  return loads.map((rounds) => medianBy(rounds, ({ serviceMs }) => serviceMs));
}

/** Sends queries to the replicas in turn, each client the next one when it has the answer to its last one. */
async function sendFor(
  forSeconds: number,
  clients: number,
  { postgres, replicas }: Servers,
  queries: readonly BenchQuery[],
): Promise<ReplicaLoad> {
  const serviceMs = (): number => replicas.reduce((sum, replica) => sum + replica.process.threadMs().process, 0);
  const before = { service: serviceMs(), postgres: postgres.processorMs(), client: process.cpuUsage() };
  const startedAtMs = performance.now();
  const times: number[] = [];
  const sendQueries = async (client: number): Promise<void> => {
    while (performance.now() < startedAtMs + forSeconds * 1000) {
      const query = queries[sent % queries.length];
      const replica = replicas[sent % replicas.length];
      sent += 1;
      const sentAtMs = performance.now();
      await replica?.clients[client % replica.clients.length]?.send(query?.path ?? "");
      times.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => sendQueries(client)));
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(before.client);
  const perRequest = (ms: number): number => ms / times.length;
  return {
    clients,
    replicas: replicas.length,
    times,
    requestsPerSecond: (1000 * times.length) / elapsedMs,
    serviceMs: perRequest(serviceMs() - before.service),
    postgresMs: perRequest(postgres.processorMs() - before.postgres),
    clientMs: perRequest((user + system) / 1000),
  };
}

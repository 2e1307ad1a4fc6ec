/**
 * Measures how many charges a second a ledger takes: `node --import tsx/esm bench/accounts/charges.ts [--seconds 4] [--rounds 3] [--in-flight 256]
 * [--json FILE]`.
 *
 * One, two and four processes charge as replicas do, on a thousand accounts and on a single one, in a PostgreSQL server that
 * this starts with its default durability. In turn with them, one process charges in a SQLite file, and pgbench commits one charge for each
 * transaction. Prints processor time per charge and the waits of the connections.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureFdatasync } from "../measure/disk.ts";
import { medianBy } from "../measure/timing.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured } from "../report/results.ts";
import { type Acquire, withResources } from "../resources.ts";
import { createBenchKeys } from "../servers/api-key.ts";
import { type ScriptServer, startScript } from "../servers/carquet.ts";
import { type PostgresProcess, startPostgres } from "../servers/postgres.ts";
import type { Charged } from "./charge-server.ts";
import { fillBenchKeys, runPgbench } from "./pgbench.ts";
import { WaitSampler } from "./wait-sampler.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
    "in-flight": { type: "string", default: "256" },
    json: { type: "string" },
  },
});
const [seconds, rounds, inFlight] = [values.seconds, values.rounds, values["in-flight"]].map(Number) as [
  number,
  number,
  number,
];
const chargesWriters = ["PostgreSQL", "SQLite", "pgbench"] as const;
type ChargesWriter = (typeof chargesWriters)[number];

interface ChargesLoad {
  readonly chargesPerSecond: number;
  /** Processor time per charge: of the replicas or of pgbench, and of PostgreSQL. */
  readonly writerMicros: number;
  readonly postgresMicros: number;
  /** PostgreSQL's write-ahead log. */
  readonly logBytes?: number;
  /** What connections in use did, as shares of samples. */
  readonly activities?: Readonly<Record<string, number>>;
}

const manyAccounts = 1000;
const replicaCounts = [1, 2, 4] as const;
/** Alone, pgbench waits for the disk after every charge; with 16 connections, commits share writes of the log. */
const pgbenchClients: Readonly<Record<number, readonly number[]>> = { 1: [16], [manyAccounts]: [1, 16, 64] };

interface Variant {
  readonly writer: ChargesWriter;
  readonly clients: number;
  readonly accounts: number;
}

const clientsOf = (writer: ChargesWriter, accounts: number): readonly number[] =>
  ({ PostgreSQL: replicaCounts, SQLite: [1], pgbench: pgbenchClients[accounts] ?? [] })[writer];

const variants: readonly Variant[] = [manyAccounts, 1].flatMap((accounts) =>
  chargesWriters.flatMap((writer) => clientsOf(writer, accounts).map((clients) => ({ writer, clients, accounts }))),
);

interface Fixtures {
  readonly postgres: PostgresProcess;
  readonly replicas: readonly ScriptServer[];
  readonly file: ScriptServer;
  readonly sampler: WaitSampler;
}

await withResources(async (acquire) => {
  const scratch = await acquire(mkdtemp(join(tmpdir(), "carquet-charges-")), (path) => rm(path, { recursive: true }));
  const fixtures = await createFixtures(acquire, scratch);
  const loads = new Map<Variant, ChargesLoad[]>(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const variant of variants) loads.get(variant)?.push(await measure(variant, fixtures));
  const cores = availableParallelism();
  const measurements = variants.flatMap((variant) => {
    const load = medianBy(loads.get(variant) ?? [], ({ chargesPerSecond }) => chargesPerSecond);
    return measurementsOf(variant, load, cores);
  });
  const notes = [
    `As many charges as possible, ${inFlight} in flight, each in a statement, whose log is flushed every 100 ms; pgbench waits for the disk at each commit. Processor time and log are per charge. The last columns are what connections in use did, as shares of samples; *busy* is the share of the machine's processors that all took together.`,
  ];
  const about = { title: "Charges a second", notes, programs: { postgres: fixtures.postgres.version } };
  await reportMeasurements(about, [...measurements, ...(await measureFdatasync(scratch))], values.json);
});

async function createFixtures(acquire: Acquire, scratch: string): Promise<Fixtures> {
  const postgres = await acquire(startPostgres(), (server) => server.stop());
  const startCharging = async (location: string, name: string): Promise<ScriptServer> => {
    const keysFile = join(scratch, `${name}.json`);
    return acquire(startScript("bench/accounts/charge-server.ts", [location, keysFile]), (server) => server.stop());
  };
  const accountsFile = join(scratch, "accounts.db");
  const keys = await createBenchKeys(postgres.url, manyAccounts);
  await writeFile(join(scratch, "postgres.json"), JSON.stringify(keys));
  await writeFile(join(scratch, "file.json"), JSON.stringify(await createBenchKeys(accountsFile, manyAccounts)));
  await fillBenchKeys(postgres.url, keys);
  const replicas: ScriptServer[] = [];
  while (replicas.length < Math.max(...replicaCounts)) replicas.push(await startCharging(postgres.url, "postgres"));
  const sampler = await acquire(WaitSampler.open(postgres.url), (opened) => opened.close());
  return { postgres, replicas, file: await startCharging(accountsFile, "file"), sampler };
}

/** Warms a variant up for a second, then measures it. */
async function measure(variant: Variant, fixtures: Fixtures): Promise<ChargesLoad> {
  await charge(variant, fixtures, 1);
  const { postgres, sampler } = fixtures;
  const startedAtMs = performance.now();
  const postgresMs = postgres.processorMs();
  const walBytes = await sampler.walBytes();
  sampler.start();
  const { charges, clientMs } = await charge(variant, fixtures, seconds);
  const activities = sampler.stop();
  const perCharge = (total: number): number => total / charges;
  return {
    chargesPerSecond: Math.round((1000 * charges) / (performance.now() - startedAtMs)),
    writerMicros: perCharge(1000 * clientMs),
    postgresMicros: variant.writer === "SQLite" ? 0 : perCharge(1000 * (postgres.processorMs() - postgresMs)),
    ...(variant.writer !== "SQLite" && {
      logBytes: Math.round(((await sampler.walBytes()) - walBytes) / charges),
      activities,
    }),
  };
}

function measurementsOf(
  { writer, clients, accounts }: Variant,
  load: ChargesLoad,
  cores: number,
): readonly Measurement[] {
  const { chargesPerSecond, writerMicros, postgresMicros, logBytes, activities = {} } = load;
  const counted = (count: number, noun: string): string =>
    `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const by = {
    PostgreSQL: counted(clients, "replica"),
    SQLite: "1 service, SQLite",
    pgbench: `pgbench, ${counted(clients, "connection")}`,
  }[writer];
  const name = `${counted(accounts, "account")}, ${by}`;
  const percent = (share: number | undefined): number | undefined =>
    share === undefined ? undefined : Math.round(100 * share);
  return [
    ...measured(name, "writer", { "charges/s": chargesPerSecond }),
    ...measured(name, "writer", { "processor µs": writerMicros }),
    ...measured(name, "PostgreSQL", { "processor µs": postgresMicros, "log bytes": logBytes }),
    ...measured(name, "machine", {
      "busy %": percent((chargesPerSecond * (writerMicros + postgresMicros)) / 1e6 / cores),
    }),
    ...measured(name, "connections", {
      "compute %": percent(activities.computes),
      "wait for a lock %": percent(activities.lock),
      "wait for the disk %": percent(activities.disk),
      "wait for the writer %": percent(activities.client),
    }),
  ];
}

interface Work extends Charged {
  /** Processor time of the processes that charged. */
  readonly clientMs: number;
}

async function charge({ writer, clients, accounts }: Variant, fixtures: Fixtures, forSeconds: number): Promise<Work> {
  if (writer === "pgbench") {
    const { charges, processorMs } = await runPgbench(fixtures.postgres, { clients, accounts, seconds: forSeconds });
    return { charges, clientMs: processorMs };
  }
  const servers = writer === "SQLite" ? [fixtures.file] : fixtures.replicas.slice(0, clients);
  const processorMs = (): number => servers.reduce((sum, server) => sum + server.threadMs().process, 0);
  const before = processorMs();
  const path = `/?accounts=${accounts}&inFlight=${inFlight / servers.length}&seconds=${forSeconds}`;
  const charged = (await Promise.all(servers.map((server) => server.fetchJson(path)))) as readonly Charged[];
  const charges = charged.reduce((sum, one) => sum + one.charges, 0);
  return { charges, clientMs: processorMs() - before };
}

/**
 * Measures the cost of accounts: `node --import tsx/esm bench/accounts/run.ts [--seconds 5] [--rounds 3] [--connections 32]
 * [--accounts 32] [--json FILE]`.
 *
 * Serves a page of 50 listings from memory, in turn without the account middleware, with accounts in a SQLite file, and with accounts in a
 * PostgreSQL server that this starts: identify the key, check scope and rate limit, hold the price, and commit the charge before the
 * answer. Prints requests per second, latencies and processor time. The connections use the accounts in turn.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { runCarquet } from "../dataset/dataset.ts";
import { medianBy } from "../measure/timing.ts";
import { reportMeasurements } from "../report/report.ts";
import { measured, timed } from "../report/results.ts";
import { type Acquire, withResources } from "../resources.ts";
import { createBenchKeys } from "../servers/api-key.ts";
import { openInProcess, startScript } from "../servers/carquet.ts";
import { type PostgresProcess, startPostgres } from "../servers/postgres.ts";
import { generateLoad } from "./load.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
    accounts: { type: "string", default: "32" },
    json: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const warmUpSeconds = 2;
const path = "/v1/listings?make=toyota,honda&max_price=30000&sort=price";

const accountsVariants = ["none", "SQLite", "PostgreSQL"] as const;
type AccountsVariant = (typeof accountsVariants)[number];

interface AccountsLoad {
  readonly requestsPerSecond: number;
  readonly times: readonly number[];
  /** Processor time per request in microseconds: of the service, of its main thread, and of PostgreSQL. */
  readonly service: number;
  readonly mainThread: number;
  readonly postgres: number;
}

interface AccountsStore {
  /** The accounts file, or the URL of the database. */
  readonly location: string;
  readonly keys: readonly string[];
}

/** The parameters of all measurements. */
interface Fixtures {
  readonly postgres: PostgresProcess;
  readonly stores: Readonly<Record<AccountsVariant, AccountsStore>>;
  readonly pageFile: string;
  readonly pageBytes: number;
}

await withResources(async (acquire) => {
  const fixtures = await createFixtures(acquire);
  const { postgres, stores, pageBytes } = fixtures;
  const loads: Record<AccountsVariant, AccountsLoad[]> = { none: [], SQLite: [], PostgreSQL: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const variant of accountsVariants) {
      loads[variant].push(await measure(variant, fixtures));
      process.stderr.write(`round ${round + 1}, ${variant}: done\n`);
    }
  const medians = accountsVariants.map((variant) => medianBy(loads[variant], ({ service }) => service));
  const measurements = medians.flatMap(
    ({ requestsPerSecond, times, service, mainThread, postgres: database }, index) => {
      const name = accountsVariants[index] ?? "";
      return [
        ...measured(name, "service", { "requests/s": requestsPerSecond }),
        timed(name, "service", times),
        ...measured(name, "service", { "processor µs": service }),
        ...measured(name, "main thread", { "processor µs": mainThread }),
        ...measured(name, "PostgreSQL", { "processor µs": database }),
      ];
    },
  );
  for (const variant of ["SQLite", "PostgreSQL"] as const) await printAudit(variant, stores[variant].location);
  const [none = 0, inFile = 0, inPostgres = 0] = medians.map(({ service }) => service);
  const notes = [
    `A page of ${Math.round(pageBytes / 1000)} kB from memory over ${connections} connections, each with its own account; processor time per request. Identifying, limiting and charging a request takes ${inFile - none} µs of the service with SQLite, and ${inPostgres - none} µs with PostgreSQL.`,
  ];
  const about = { title: "Accounts in SQLite and in PostgreSQL", notes, programs: { postgres: postgres.version } };
  await reportMeasurements(about, measurements, values.json);
});

/** Ingests the sample delivery into a temporary lake, saves a page of it, and creates accounts in both engines. */
async function createFixtures(acquire: Acquire): Promise<Fixtures> {
  const folder = await acquire(mkdtemp(join(tmpdir(), "carquet-accounts-")), (path) => rm(path, { recursive: true }));
  const postgres = await acquire(startPostgres(), (server) => server.stop());
  const lake = join(folder, "lake");
  await runCarquet(["ingest", "data/sample", "--lake", lake], () => {});
  const carquet = await openInProcess(lake);
  const page = await carquet.fetch(`${path}&limit=50`);
  await carquet.close();
  const pageFile = join(folder, "page.json");
  await writeFile(pageFile, page);
  const storeAt = async (location: string): Promise<AccountsStore> => ({
    location,
    keys: (await createBenchKeys(location, Number(values.accounts))).map(({ key }) => key),
  });
  const file = await storeAt(join(folder, "accounts.db"));
  const stores = { none: file, SQLite: file, PostgreSQL: await storeAt(postgres.url) };
  return { postgres, stores, pageFile, pageBytes: Buffer.byteLength(page) };
}

/** Measures one variant in its own process. */
async function measure(variant: AccountsVariant, { postgres, stores, pageFile }: Fixtures): Promise<AccountsLoad> {
  const { location, keys } = stores[variant];
  const middleware = variant === "none" ? "without" : "with";
  const server = await startScript("bench/accounts/server.ts", [middleware, location, pageFile]);
  try {
    const load = { port: Number(new URL(server.url).port), connections, path, keys };
    await generateLoad({ ...load, seconds: warmUpSeconds });
    const before = server.threadMs();
    const postgresMs = postgres.processorMs();
    const times = await generateLoad({ ...load, seconds });
    const after = server.threadMs();
    const microsPerRequest = (ms: number): number => Math.round((ms * 1000) / times.length);
    return {
      requestsPerSecond: times.length / seconds,
      times: [...times],
      service: microsPerRequest(after.process - before.process),
      mainThread: microsPerRequest(after.main - before.main),
      postgres: microsPerRequest(postgres.processorMs() - postgresMs),
    };
  } finally {
    await server.stop();
  }
}

/** Audits the ledger: every charge that was answered is in it. */
async function printAudit(variant: AccountsVariant, location: string): Promise<void> {
  const database = await openAccounts(location, { busyMs: 10_000 });
  try {
    const { faults, charges } = await audit(database);
    process.stdout.write(`${variant}: ${charges} charges in the ledger, ${faults.length} faults\n`);
  } finally {
    await database.close();
  }
}

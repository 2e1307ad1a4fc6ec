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
import { openAccounts } from "../../src/accounts/open-accounts.ts";
import { runCarquet } from "../dataset/dataset.ts";
import { describeMachine } from "../measure/machine.ts";
import { quantile, roundToThousandths, timingOf } from "../measure/timing.ts";
import {
  type AccountsCost,
  type AccountsLoad,
  type AccountsVariant,
  accountsVariants,
} from "../report/separate-results.ts";
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

interface AccountsPlace {
  /** The accounts file, or the URL of the database. */
  readonly location: string;
  readonly keys: readonly string[];
}

/** What all measurements share. */
interface Fixtures {
  readonly postgres: PostgresProcess;
  readonly places: Readonly<Record<AccountsVariant, AccountsPlace>>;
  readonly pageFile: string;
  readonly pageBytes: number;
}

await withResources(async (acquire) => {
  const fixtures = await createFixtures(acquire);
  const { postgres, places, pageBytes } = fixtures;
  const measured: Record<AccountsVariant, AccountsLoad[]> = { without: [], SQLite: [], PostgreSQL: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const variant of accountsVariants) {
      const load = await measure(variant, fixtures);
      measured[variant].push(load);
      print(variant, load);
    }
  const loads = {
    without: medianOf(measured.without),
    SQLite: medianOf(measured.SQLite),
    PostgreSQL: medianOf(measured.PostgreSQL),
  };
  for (const variant of accountsVariants) print(`median ${variant}`, loads[variant]);
  process.stdout.write(`page of ${pageBytes} bytes\n`);
  for (const variant of ["SQLite", "PostgreSQL"] as const) printAudit(variant, places[variant].location);
  const environment = await describeMachine({ postgres: postgres.version });
  const results: AccountsCost = { kind: "accounts", environment, connections, page_bytes: pageBytes, loads };
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
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
  const placeAt = (location: string): AccountsPlace => ({
    location,
    keys: createBenchKeys(location, Number(values.accounts)).map(({ key }) => key),
  });
  const file = placeAt(join(folder, "accounts.db"));
  const places = { without: file, SQLite: file, PostgreSQL: placeAt(postgres.url) };
  return { postgres, places, pageFile, pageBytes: Buffer.byteLength(page) };
}

/** Measures one variant in its own process. */
async function measure(variant: AccountsVariant, { postgres, places, pageFile }: Fixtures): Promise<AccountsLoad> {
  const { location, keys } = places[variant];
  const middleware = variant === "without" ? "without" : "with";
  const server = await startScript("bench/accounts/server.ts", [middleware, location, pageFile]);
  try {
    const load = { port: Number(new URL(server.url).port), connections, path, keys };
    await generateLoad({ ...load, seconds: warmUpSeconds });
    const [before, postgresMs] = [server.threadMs(), postgres.processorMs()];
    const times = await generateLoad({ ...load, seconds });
    const after = server.threadMs();
    const microsPerRequest = (ms: number): number => Math.round((ms * 1000) / times.length);
    return {
      requests_per_second: roundToThousandths(times.length / seconds),
      ...timingOf([...times]),
      service_micros: microsPerRequest(after.process - before.process),
      main_thread_micros: microsPerRequest(after.main - before.main),
      postgres_micros: microsPerRequest(postgres.processorMs() - postgresMs),
    };
  } finally {
    await server.stop();
  }
}

/** Returns the measurement with the median processor time, which depends little on other load of the machine. */
function medianOf(loads: readonly AccountsLoad[]): AccountsLoad {
  const times = loads.map(({ service_micros }) => service_micros);
  const median = loads[times.indexOf(quantile(times, 0.5))];
  if (median === undefined) throw new Error("No measurements: expected --rounds of at least 1.");
  return median;
}

function print(label: string, load: AccountsLoad): void {
  const { requests_per_second, p50_ms, p99_ms, service_micros, main_thread_micros, postgres_micros } = load;
  process.stdout.write(
    `${label}: ${Math.round(requests_per_second)} requests/s, p50 ${p50_ms} ms, p99 ${p99_ms} ms, processor ${service_micros} µs per request, of which main thread ${main_thread_micros} µs, PostgreSQL ${postgres_micros} µs\n`,
  );
}

/** Audits the ledger: every charge that was answered is in it. */
function printAudit(variant: AccountsVariant, location: string): void {
  const database = openAccounts(location, { busyMs: 10_000 });
  try {
    const { faults, charges } = audit(database);
    process.stdout.write(`${variant}: ${charges} charges in the ledger, ${faults.length} faults\n`);
  } finally {
    database.close();
  }
}

/**
 * Measures the cost of accounts: `node --import tsx/esm bench/accounts/run.ts [--seconds 5] [--rounds 3] [--connections 32] [--accounts URL]`.
 *
 * Serves a page of 50 listings from memory, in turn with and without the account middleware: identify the key, check scope and rate limit,
 * hold the price, and commit the charge before the answer. Prints requests per second, latencies and processor time. `--accounts` names a
 * PostgreSQL database; by default, accounts are in a file.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { openAccounts } from "../../src/accounts/open-accounts.ts";
import { runCarquet } from "../dataset/dataset.ts";
import { type Acquire, withResources } from "../resources.ts";
import { createBenchKey } from "../servers/api-key.ts";
import { openInProcess, startScript } from "../servers/carquet.ts";
import { generateLoad } from "./load.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
    accounts: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const warmUpSeconds = 2;
const path = "/v1/listings?make=toyota,honda&max_price=30000&sort=price";

const variants = ["without", "with"] as const;
type Variant = (typeof variants)[number];

interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time per request, of all threads and of the main thread. Depends little on other load of the machine. */
  readonly processMicros: number;
  readonly mainThreadMicros: number;
}

/** The files that all measurements share. */
interface Fixtures {
  readonly accounts: string;
  readonly key: string;
  readonly pageFile: string;
  readonly pageBytes: number;
}

await withResources(async (acquire) => {
  const fixtures = await createFixtures(acquire);
  const measurements: Record<Variant, Measurement[]> = { without: [], with: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const variant of variants) {
      const measurement = await measure(variant, fixtures);
      measurements[variant].push(measurement);
      print(variant.padEnd(8), measurement);
    }
  const medians = { without: medianOf(measurements.without), with: medianOf(measurements.with) };
  for (const variant of variants) print(`median ${variant}`, medians[variant]);
  const loss = 1 - medians.with.requestsPerSecond / medians.without.requestsPerSecond;
  process.stdout.write(
    `accounts cost ${(loss * 100).toFixed(1)} % of the throughput; page of ${fixtures.pageBytes} bytes\n`,
  );
  printAudit(fixtures.accounts);
});

/** Ingests the sample delivery into a temporary lake, saves a page of it, and creates an account. */
async function createFixtures(acquire: Acquire): Promise<Fixtures> {
  const folder = await acquire(mkdtemp(join(tmpdir(), "carquet-accounts-")), (path) => rm(path, { recursive: true }));
  const lake = join(folder, "lake");
  await runCarquet(["ingest", "data/sample", "--lake", lake], () => {});
  const carquet = await openInProcess(lake);
  const page = await carquet.fetch(`${path}&limit=50`);
  await carquet.close();
  const [accounts, pageFile] = [values.accounts ?? join(folder, "accounts.db"), join(folder, "page.json")];
  await writeFile(pageFile, page);
  return { accounts, key: createBenchKey(accounts), pageFile, pageBytes: Buffer.byteLength(page) };
}

/** Measures one variant in its own process. */
async function measure(variant: Variant, { accounts, key, pageFile }: Fixtures): Promise<Measurement> {
  const server = await startScript("bench/accounts/server.ts", [variant, accounts, pageFile]);
  try {
    const load = { port: Number(new URL(server.url).port), connections, path };
    const headers = { Authorization: `Bearer ${key}` };
    await generateLoad({ ...load, headers, seconds: warmUpSeconds });
    const before = server.threadMs();
    const times = await generateLoad({ ...load, headers, seconds });
    const after = server.threadMs();
    const quantileMs = (fraction: number): number => times[Math.floor(times.length * fraction)] ?? Number.NaN;
    return {
      requestsPerSecond: times.length / seconds,
      p50Ms: quantileMs(0.5),
      p99Ms: quantileMs(0.99),
      processMicros: ((after.process - before.process) * 1000) / times.length,
      mainThreadMicros: ((after.main - before.main) * 1000) / times.length,
    };
  } finally {
    await server.stop();
  }
}

/** Returns the measurement with the median throughput. */
function medianOf(measurements: readonly Measurement[]): Measurement {
  const sorted = [...measurements].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) throw new Error("No measurements: expected --rounds of at least 1.");
  return median;
}

function print(label: string, measurement: Measurement): void {
  const { requestsPerSecond, p50Ms, p99Ms, processMicros, mainThreadMicros } = measurement;
  process.stdout.write(
    `${label}: ${Math.round(requestsPerSecond)} requests/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, processor ${Math.round(processMicros)} µs per request, main thread ${Math.round(mainThreadMicros)} µs\n`,
  );
}

/** Audits the ledger: every charge that was answered is in the file. */
function printAudit(accounts: string): void {
  const database = openAccounts(accounts, { busyMs: 10_000 });
  try {
    const { faults, charges } = audit(database);
    process.stdout.write(`${charges} charges in the ledger, ${faults.length} faults\n`);
  } finally {
    database.close();
  }
}

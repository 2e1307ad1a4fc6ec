/**
 * What accounts cost: `node --import tsx bench/accounts/run.ts [--seconds 5] [--rounds 3] [--connections 32]`.
 *
 * A page of 50 listings that is at hand is served over and over, by turns with the whole account pipeline (identify, permit, limit,
 * hold, charge, on the disk before the answer) and without it. Prints requests a second and how long they took.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { createCustomer, temporaryAccountsFile, withAccountsFile } from "../../test/support/accounts.ts";
import { startService } from "../../test/support/http/service.ts";
import { createLake, temporaryFolder } from "../../test/support/lakes/lakes.ts";
import { withScope } from "../../test/support/scope.ts";
import { load } from "./load.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
  },
});
const [seconds, rounds, connections] = [values.seconds, values.rounds, values.connections].map(Number);
const path = "/v1/listings?make=toyota,honda&max_price=30000&sort=price";

const ways = ["without", "with"] as const;
type Way = (typeof ways)[number];

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time for a request, of all threads of the service and of its main one; depends little on who else uses the machine. */
  readonly cpuMicros: number;
  readonly mainMicros: number;
}

/** The processor time that a process has used, in milliseconds. Linux counts it in hundredths of a second. */
function cpuMsOf(stat: string): number {
  const fields = readFileSync(stat, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Measures one way of serving in a process of its own. */
async function measure(way: Way, accounts: string, page: string, headers: Record<string, string>): Promise<Measured> {
  const server = spawn(
    process.execPath,
    ["--import", "tsx", projectPath("bench/accounts/server.ts"), way, accounts, page],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const [line] = await once(createInterface({ input: server.stdout }), "line");
    const asked = { port: Number(line), connections: connections ?? 1, path, headers };
    await load({ ...asked, seconds: 2 });
    const stats = [`/proc/${server.pid}/stat`, `/proc/${server.pid}/task/${server.pid}/stat`] as const;
    const before = stats.map(cpuMsOf);
    const taken = await load({ ...asked, seconds: seconds ?? 1 });
    const [cpuMicros = 0, mainMicros = 0] = stats.map(
      (stat, index) => ((cpuMsOf(stat) - (before[index] ?? 0)) * 1000) / taken.length,
    );
    const at = (part: number): number => taken[Math.floor(taken.length * part)] ?? Number.NaN;
    return { perSecond: taken.length / (seconds ?? 1), p50Ms: at(0.5), p99Ms: at(0.99), cpuMicros, mainMicros };
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

await withScope(async (scope) => {
  const { lake } = await createLake(scope);
  const client = await startService(scope, lake);
  const { body } = await client.get(`${path}&limit=50`);
  const page = join(await temporaryFolder(scope), "page.json");
  writeFileSync(page, JSON.stringify(body));
  const accounts = await temporaryAccountsFile(scope);
  const { bearer } = createCustomer(accounts, { usd: "900000" });
  const measured: Record<Way, Measured[]> = { without: [], with: [] };
  for (let round = 0; round < (rounds ?? 1); round += 1)
    for (const way of ways) {
      const one = await measure(way, accounts, page, { ...bearer });
      measured[way].push(one);
      print(way.padEnd(8), one);
    }
  const middle = (way: Way): Measured => {
    const sorted = [...measured[way]].sort((one, other) => one.perSecond - other.perSecond);
    return sorted[Math.floor(sorted.length / 2)] ?? { perSecond: 0, p50Ms: 0, p99Ms: 0, cpuMicros: 0, mainMicros: 0 };
  };
  for (const way of ways) print(`median ${way}`, middle(way));
  const loss = 1 - middle("with").perSecond / middle("without").perSecond;
  process.stdout.write(
    `accounts cost ${(loss * 100).toFixed(1)} % of the requests a second; page of ${JSON.stringify(body).length} bytes\n`,
  );
  const { faults, charges } = withAccountsFile(accounts, audit);
  process.stdout.write(`${charges} charges on the disk, ${faults.length} faults\n`);
});

function print(what: string, { perSecond, p50Ms, p99Ms, cpuMicros, mainMicros }: Measured): void {
  process.stdout.write(
    `${what}: ${Math.round(perSecond)} requests/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${Math.round(cpuMicros)} µs of processor time each, ${Math.round(mainMicros)} of them on the main thread\n`,
  );
}

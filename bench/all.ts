/**
 * Measures everything that is published (`npm run bench:all -- [--data DIR] [--quick] [--max-listings N] [--plan]`), unattended: runs the suite
 * for each size, with the peers that a size is compared with, and for one size on one, two and more processors. Replaces the files of `bench/results`
 * and writes the pages of `bench:publish`. A run that fails, or that the machine has no room for, is reported at the end; the others go on.
 *
 * `--plan` prints the runs without measuring.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectPath } from "../src/base/project-files.ts";
import { typescriptOptions } from "./servers/carquet.ts";

interface SuiteRun {
  readonly listings: number;
  readonly days: number;
  readonly peers: string;
  readonly cases?: string;
  /** All by default. */
  readonly processors?: number;
}

/** PostgreSQL takes seconds for a facet request of 250,000 listings, so it is not measured with more. */
const fastPeers = "duckdb,clickhouse,solr";
const comparedOnProcessors = { listings: 250_000, days: 8 } as const;

const { values } = parseArgs({
  options: {
    data: { type: "string", default: projectPath(join("bench", ".data")) },
    quick: { type: "boolean", default: false },
    plan: { type: "boolean", default: false },
    "max-listings": { type: "string", default: String(30_000_000) },
  },
});

const sizes: readonly SuiteRun[] = [
  { listings: 10_000, days: 365, peers: "clickhouse", cases: "trends,past days" },
  { ...comparedOnProcessors, peers: `${fastPeers},postgres` },
  { listings: 1_000_000, days: 4, peers: fastPeers },
  { listings: 4_000_000, days: 2, peers: fastPeers },
  { listings: 10_000_000, days: 1, peers: "none" },
  { listings: 30_000_000, days: 1, peers: "none" },
];
const available = availableParallelism();
const processorCounts = [...[1, 2, 4, 8, 16].filter((count) => count < available), available];
const runs: readonly SuiteRun[] = [
  ...sizes,
  ...processorCounts.map((processors) => ({ ...comparedOnProcessors, peers: "none", processors })),
].filter(({ listings }) => listings <= Number(values["max-listings"]));

/** What a listing of a dataset takes beside the databases of peers: in memory and on disk together while it is built, and on disk afterwards. */
const listingBytes = { building: 2700, built: 1000 } as const;
/** The share of the memory that an ingest fills before it writes to disk. */
const ingestShare = 0.75;

const nameOf = ({ listings, days, processors }: SuiteRun): string =>
  [listings, `${days}-days`, ...(processors === undefined ? [] : [`${processors}-processors`])].join("-");

if (values.plan) for (const run of runs) process.stdout.write(`${nameOf(run)}: ${commandOf(run).join(" ")}\n`);
else await measureAll();

async function measureAll(): Promise<void> {
  const results = projectPath(join("bench", "results"));
  await mkdir(values.data, { recursive: true });
  await execute(["npm", "ci", "--prefix", "bench"]);
  const startedAtMs = Date.now();
  const outcomes: string[] = [];
  for (const run of runs) {
    const beganAtMs = performance.now();
    const problem = (await lackOfRoom(run)) ?? (await execute(commandOf(run)));
    const minutes = ((performance.now() - beganAtMs) / 60_000).toFixed(1);
    outcomes.push(`${nameOf(run)}: ${problem ?? "measured"}, ${minutes} min`);
    if (problem !== undefined) process.exitCode = 1;
  }
  await removeOlder(results, startedAtMs);
  const unpublished = await execute([
    process.execPath,
    ...typescriptOptions,
    projectPath(join("bench", "report", "publish.ts")),
  ]);
  outcomes.push(`pages: ${unpublished ?? "written"}`);
  if (unpublished !== undefined) process.exitCode = 1;
  process.stderr.write(`${outcomes.join("\n")}\n`);
}

/** Removes the results of earlier runs, which may be those of another machine, unless nothing was measured since. */
async function removeOlder(folder: string, startedAtMs: number): Promise<void> {
  const paths = (await readdir(folder)).filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
  const isOlder = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs < startedAtMs));
  if (!isOlder.includes(false)) return;
  for (const path of paths.filter((_, index) => isOlder[index])) await rm(path);
}

/** Returns the program and arguments of a run. `taskset` restricts the suite with all its servers to some processors. */
function commandOf(run: SuiteRun): readonly string[] {
  const { listings, days, peers, cases, processors } = run;
  return [
    ...(processors === undefined ? [] : ["taskset", "--cpu-list", `0-${processors - 1}`]),
    ...[process.execPath, ...typescriptOptions, projectPath(join("bench", "run.ts"))],
    ...["--listings", String(listings), "--days", String(days), "--peers", peers, "--data", values.data],
    ...(cases === undefined ? [] : ["--cases", cases]),
    ...(values.quick ? ["--quick"] : []),
    ...["--json", projectPath(join("bench", "results", `${nameOf(run)}.json`))],
  ];
}

async function lackOfRoom({ listings, days }: SuiteRun): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(values.data);
  const rows = listings * Math.max(1, days / 30);
  const spilled = rows * listingBytes.building - ingestShare * totalmem();
  const free = bavail * bsize;
  const needed = Math.max(spilled, rows * listingBytes.built);
  const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(0)} GiB`;
  return free < needed ? `not measured: ${gib(free)} are free in ${values.data}, expected ${gib(needed)}` : undefined;
}

/** Runs a program. Returns why it failed; undefined if it did not. */
async function execute([program = "", ...args]: readonly string[]): Promise<string | undefined> {
  const child = spawn(program, args, { cwd: projectPath("."), stdio: "inherit" });
  const [code] = await once(child, "close").catch((thrown: unknown) => [String(thrown)]);
  return code === 0 ? undefined : `failed (${code})`;
}

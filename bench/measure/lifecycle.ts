/** Measures a service's lifecycle: its start, its switch to a newly published version, and the build of serving files. */
import { copyFile, link, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { currentPath, currentVersion, readManifest } from "../../src/lake/manifest.ts";
import { type Dataset, runCarquet } from "../dataset/dataset.ts";
import { at, type BenchQuery } from "../queries/query.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
import { type ScriptServer, startScript } from "../servers/carquet.ts";

export interface LifecycleOptions {
  readonly dataset: Dataset;
  /** The accounts file, and an API key in it. */
  readonly accounts: string;
  readonly key: string;
  /** A temporary folder on the file system of the dataset, which is linked into it. */
  readonly scratch: string;
  readonly repetitions: number;
}

const probe = "/v1/listings?limit=1";

/** Returns the cases named `life: …`, and a peak of memory. Those of publishing are omitted if the lake has only one version. */
export const measureLifecycle = async (options: LifecycleOptions): Promise<readonly Measurement[]> => [
  ...(await measureStartUp(options)),
  ...(await measurePublish(options)),
];

/** Measures the first request of a service that has just started, with the queries in rotation. The page cache has its files. */
export async function measureFirstRequest(
  name: string,
  queries: readonly [BenchQuery, ...BenchQuery[]],
  { dataset, accounts, key, repetitions }: LifecycleOptions,
): Promise<readonly Measurement[]> {
  const times: number[] = [];
  let rows = 0;
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const { path, matchCount } = queries[repetition % queries.length] ?? queries[0];
    const service = await serve(dataset.lake, accounts, key);
    try {
      const startedAtMs = performance.now();
      rows = matchCount(await service.fetchJson(path));
      times.push(performance.now() - startedAtMs);
    } finally {
      await service.stop();
    }
  }
  return caseOf(name, rows, times);
}

/** Measures the time from the start of the process to its first answer. */
async function measureStartUp({
  dataset,
  accounts,
  key,
  repetitions,
}: LifecycleOptions): Promise<readonly Measurement[]> {
  const times: number[] = [];
  let rows = 0;
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const startedAtMs = performance.now();
    const service = await serve(dataset.lake, accounts, key);
    try {
      rows = totalOf(await service.fetchJson(probe));
      times.push(performance.now() - startedAtMs);
    } finally {
      await service.stop();
    }
  }
  return caseOf("life: start-up to the first answer", rows, times);
}

/**
 * Publishes the newest version of a lake and its predecessor in turn while a service runs, and measures the time from the rename of
 * CURRENT to the first answer from that version. Then measures how long a publisher takes to build all serving files of the newest version.
 */
async function measurePublish(options: LifecycleOptions): Promise<readonly Measurement[]> {
  const { dataset, accounts, key, scratch, repetitions } = options;
  const lake = join(scratch, "lake");
  await linkLake(dataset.lake, lake);
  const newest = await currentVersion(dataset.lake);
  const { previous } = await readManifest(dataset.lake, newest ?? "");
  if (newest === undefined || previous === null) return [];
  const service = await serve(lake, accounts, key);
  const times: number[] = [];
  let rows = 0;
  try {
    for (let publication = 0; publication < repetitions * 2; publication += 1) {
      const version: string = publication % 2 === 0 ? previous : newest;
      await setCurrentVersion(lake, version);
      const publishedAtMs = performance.now();
      rows = await awaitVersion(service, version);
      if (version === newest) times.push(performance.now() - publishedAtMs);
    }
    const peakMib = service.peakMib();
    const buildTime = await measureServingFilesBuild(lake);
    return [
      ...caseOf("life: publish to the first answer", rows, times),
      ...caseOf("life: build the serving files", rows, [buildTime]),
      // The older version has no serving files: an ingest of several days builds those of the last.
      ...measured("peak memory while an index is built in memory", "carquet", { MiB: peakMib || undefined }),
    ];
  } finally {
    await service.stop();
  }
}

const caseOf = (name: string, rows: number, times: readonly number[]): readonly Measurement[] => [
  ...measured(name, "carquet", { listings: rows }),
  timed(name, "carquet", times),
];

/** Removes the serving files of a lake, rebuilds those of its published version, and returns the time in milliseconds. */
async function measureServingFilesBuild(lake: string): Promise<number> {
  await rm(join(lake, "serving"), { recursive: true });
  const startedAtMs = performance.now();
  await runCarquet(["index", "--lake", lake], () => {});
  return performance.now() - startedAtMs;
}

const serve = (lake: string, accounts: string, key: string): Promise<ScriptServer> =>
  startScript("bin/carquet.cjs", ["serve", "--lake", lake, "--accounts", accounts, "--port", "0"], key);

const totalOf = (body: unknown): number => Number(at(body, "pagination", "total"));

async function setCurrentVersion(lake: string, version: string): Promise<void> {
  await writeFile(`${currentPath(lake)}.next`, `${version}\n`);
  await rename(`${currentPath(lake)}.next`, currentPath(lake));
}

/** Polls until an answer is of a version. Returns the total of that answer. */
async function awaitVersion(service: ScriptServer, version: string): Promise<number> {
  for (;;) {
    const body = await service.fetchJson(probe);
    if (at(body, "meta", "data_version") === version) return totalOf(body);
    await sleep(5);
  }
}

/** Clones a lake with hard links. CURRENT is copied, so that the clone can publish on its own. */
async function linkLake(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await linkLake(source, target);
    else if (entry.name === "CURRENT") await copyFile(source, target);
    else if (entry.isFile()) await link(source, target);
  }
}

/**
 * The dataset of a run, built once and reused: generated feeds, a lake ingested from them, and, where peers are measured, the lake's listings as flat
 * Parquet rows that peers are filled from. A dataset is a folder named by its parameters. Each step writes to a temporary folder and renames it, so
 * an interrupted step starts over.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import type { DatasetShape, PeerName } from "../settings.ts";
import { writeFlatRows } from "./flat-rows.ts";
import { writeHistoryRows } from "./history-rows.ts";

export interface Dataset {
  readonly shape: DatasetShape;
  readonly folder: string;
  readonly lake: string;
  /** Folder of the flat rows: `active.parquet`, `snapshot.parquet`, `sold.parquet`. */
  readonly flat: string;
  /** Folder of the flat rows of the past: `history.parquet`, `intervals.parquet`, `events.parquet`, `past.parquet`. */
  readonly history: string;
}

/** Reports progress as one line. */
export type Log = (line: string) => void;

/** Returns the dataset of a shape in the folder `data`. Builds its lake if it does not exist yet. */
export async function openDataset(shape: DatasetShape, data: string, log: Log): Promise<Dataset> {
  const folder = folderOf(shape, data);
  const lake = await openLake(shape, data, log);
  return { shape, folder, lake, flat: join(folder, "flat"), history: join(folder, "history") };
}

/** Writes the flat rows that peers are filled from, unless they exist. */
export async function writePeerRows({ lake, flat, history }: Dataset, log: Log): Promise<void> {
  await buildFolder(flat, log, (path) => writeFlatRows(lake, path));
  await buildFolder(history, log, (path) => writeHistoryRows(lake, path));
}

const folderOf = ({ listings, days, end, seed, options }: DatasetShape, data: string): string =>
  join(data, `${listings}-${days}d-${end}-${options}-seed${seed}`);

async function openLake(shape: DatasetShape, data: string, log: Log): Promise<string> {
  const folder = folderOf(shape, data);
  const lake = join(folder, "lake");
  const feeds = join(folder, "feeds");
  await mkdir(folder, { recursive: true });
  await buildFolder(lake, log, async (unfinished) => {
    await buildFolder(feeds, log, (path) => generateFeeds(path, shape, log));
    await runCarquet(["ingest", feeds, "--lake", unfinished], log);
    await rm(feeds, { recursive: true });
  });
  // A lake of an earlier commit may have an index of another format, instead of which a service would build one in memory.
  await runCarquet(["index", "--lake", lake], log);
  return lake;
}

/** Returns the folder of a peer's database in a dataset. Calls `fill` with a temporary folder if it does not exist yet. */
export async function peerFolder(
  { folder }: Dataset,
  peer: PeerName,
  log: Log,
  fill: (path: string) => Promise<void>,
): Promise<string> {
  const path = join(folder, peer);
  await buildFolder(path, log, fill);
  return path;
}

/** Builds a folder under a temporary name and renames it. Does nothing if it exists. */
async function buildFolder(path: string, log: Log, build: (path: string) => Promise<void>): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined) return;
  const unfinished = `${path}.unfinished`;
  const startedAtMs = performance.now();
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await build(unfinished);
  await rename(unfinished, path);
  log(`${path} built in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
}

async function generateFeeds(out: string, shape: DatasetShape, log: Log): Promise<void> {
  const { listings, days, end, seed, options } = shape;
  const flags = Object.entries({ listings, days, end, seed, options }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  await runCarquet(["generate", "--out", out, "--format", "parquet", ...flags], log);
}

/** Runs a Carquet command in a child process, so that its memory does not count as the suite's. Throws unless it exits with 0. */
export async function runCarquet(args: readonly string[], log: Log): Promise<void> {
  const command = spawn(process.execPath, [programPath, ...args], {
    cwd: projectPath("."),
    env: { ...process.env, CARQUET_LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  command.stdout.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n").filter((one) => / rows /.test(one))) log(line);
  });
  const code = await new Promise((resolve) => command.once("close", resolve));
  if (code !== 0) throw new UserError(`carquet ${args[0]} exited with ${code}: expected 0.`);
}

/** Returns the size in bytes of all files in a folder; 0 if it does not exist. Files that are removed meanwhile count as 0. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

/** Returns the abbreviated hash of the current commit; undefined outside of a Git repository. */
export async function currentCommit(): Promise<string | undefined> {
  try {
    return (
      await promisify(execFile)("git", ["rev-parse", "--short", "HEAD"], { cwd: projectPath(".") })
    ).stdout.trim();
  } catch {
    return undefined;
  }
}

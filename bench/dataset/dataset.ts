/**
 * The market that everything is measured on, built once and kept: feeds, Carquet's lake of them, and the lake's listings as flat
 * rows, which the peers are filled from. A dataset is a folder named by what it was made from; a step that was broken off is done
 * again from its beginning.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { UserError } from "../../src/base/user-error.ts";
import type { DatasetShape, PeerName } from "../settings.ts";
import { writeFlat } from "./flat-rows.ts";

export interface Dataset {
  readonly shape: DatasetShape;
  readonly folder: string;
  readonly lake: string;
  /** Flat rows: `active.parquet`, `snapshot.parquet`, `sold.parquet`. */
  readonly flat: string;
}

/** Says what is being done, as a line. */
export type Say = (line: string) => void;

/** The dataset of a market's shape; builds what of it is missing. */
export async function datasetOf(shape: DatasetShape, data: string, say: Say): Promise<Dataset> {
  const { listings, days, end, seed, options } = shape;
  const folder = join(data, `${listings}-${days}d-${end}-${options}-seed${seed}`);
  const [feeds, lake, flat] = ["feeds", "lake", "flat"].map((part) => join(folder, part)) as [string, string, string];
  await mkdir(folder, { recursive: true });
  await built(lake, say, async (unfinished) => {
    await built(feeds, say, (path) => generate(path, shape, say));
    await runCarquet(["ingest", feeds, "--lake", unfinished], say);
    await rm(feeds, { recursive: true });
  });
  await built(flat, say, (path) => writeFlat(lake, path));
  return { shape, folder, lake, flat };
}

/** The database of a peer, in the dataset's folder; filled when it is not there. */
export async function peerFolder(
  { folder }: Dataset,
  peer: PeerName,
  say: Say,
  fill: (path: string) => Promise<void>,
): Promise<string> {
  const path = join(folder, peer);
  await built(path, say, fill);
  return path;
}

/** Makes a folder by way of an unfinished one, unless it is there. */
async function built(path: string, say: Say, build: (path: string) => Promise<void>): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined) return;
  const unfinished = `${path}.unfinished`;
  const startedAtMs = performance.now();
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await build(unfinished);
  await rename(unfinished, path);
  say(`${path} built in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
}

async function generate(out: string, { listings, days, end, seed, options }: DatasetShape, say: Say): Promise<void> {
  const shape = Object.entries({ listings, days, end, seed, options }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  await runCarquet(["generate", "--out", out, "--format", "parquet", ...shape], say);
}

/** Runs a command of Carquet in a process of its own, so that its memory is its own too. */
export async function runCarquet(args: readonly string[], say: Say): Promise<void> {
  const command = spawn(process.execPath, [...nodeOptions(), projectPath("src/main.ts"), ...args], {
    cwd: projectPath("."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  command.stdout.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n").filter((one) => / rows /.test(one))) say(line);
  });
  const code = await new Promise((ended) => command.once("close", ended));
  if (code !== 0) throw new UserError(`carquet ${args[0]} ended with ${code}.`);
}

/** What a folder holds on disk, in bytes, without files that go at that moment; nothing where there is none. */
export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

/** The commit that is measured, where there is one. */
export async function commit(): Promise<string | undefined> {
  try {
    return (
      await promisify(execFile)("git", ["rev-parse", "--short", "HEAD"], { cwd: projectPath(".") })
    ).stdout.trim();
  } catch {
    return undefined;
  }
}

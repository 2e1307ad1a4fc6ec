/** Faults and events during the mixed load: versions are published, serving files are damaged, the disk of the ledger fills up. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { replaceFile } from "../../../../src/base/files.ts";
import { currentPath } from "../../../../src/lake/manifest.ts";
import type { Chance } from "../../chance.ts";
import { temporaryFolder } from "../../lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../../scope.ts";
import { damageFile } from "../damage.ts";
import type { PreparedLake } from "./prepared-lake.ts";

const run = promisify(execFile);

/** Sleeps until a time has passed or `isOver`. */
export async function sleepUnless(isOver: () => boolean, ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (!isOver() && performance.now() < untilMs) await sleep(Math.max(1, Math.min(100, untilMs - performance.now())));
}

/** How long a replaced version may still answer: the next one opens while it still answers, and requests in flight finish on it. */
const replacedMs = 90_000;

/** Publishes the versions of a prepared lake in turn. */
export class Publisher {
  /** Published versions with their times; the first one from the start. */
  private readonly history: { readonly version: string; readonly atMs: number }[];

  constructor(private readonly prepared: PreparedLake) {
    this.history = [{ version: prepared.versions.at(-1) ?? "", atMs: 0 }];
  }

  /** The published version. */
  get version(): string {
    return this.history.at(-1)?.version ?? "";
  }

  get published(): number {
    return this.history.length - 1;
  }

  /** Returns the versions that may have answered a request that was sent at a time. */
  inService(sentAtMs: number): readonly string[] {
    const replaced = this.history.findIndex(
      (_, index) => (this.history[index + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= sentAtMs - replacedMs,
    );
    return [...new Set(this.history.slice(Math.max(0, replaced)).map(({ version }) => version))].reverse();
  }

  async publishNext(): Promise<void> {
    const { lake, versions } = this.prepared;
    const version = versions[(versions.indexOf(this.version) + 1) % versions.length] ?? "";
    // Before the rename, because the service may answer at once.
    this.history.push({ version, atMs: Date.now() });
    await replaceFile(currentPath(lake), `${version}\n`);
  }
}

/** Damages a file until `hold` resolves; then a copy replaces it, as an operator restores one. */
export async function damageUntil(path: string, chance: Chance, hold: () => Promise<void>): Promise<void> {
  const restored = `${path}.restored`;
  await cp(path, restored);
  await damageFile(path, chance);
  await hold();
  await rename(restored, path);
}

/** Damages a serving file, mostly of the published version, for a random time. Returns its path. */
export async function damageServingFile(
  { lake, servingFiles, versions }: PreparedLake,
  published: string,
  chance: Chance,
  hold: () => Promise<void>,
): Promise<string> {
  const version = chance.happens(0.7) ? published : chance.pick(versions);
  const path = chance.pick(servingFiles.get(version) ?? []);
  await damageUntil(join(lake, path), chance, hold);
  return path;
}

/** The disk of the accounts file, and of anything else that is put there. */
export interface LedgerDisk {
  readonly folder: string;
  /** Leaves no space for the process with an id. */
  fill(pid: number): Promise<void>;
  free(pid: number): Promise<void>;
}

/** Returns a disk without space limit: the size of files that the service may write is limited instead. */
export async function limitedDisk(scope: Scope): Promise<LedgerDisk> {
  const limit = async (pid: number, bytes: string): Promise<void> =>
    void (await run("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]));
  return {
    folder: await temporaryFolder(scope),
    fill: (pid) => limit(pid, "4096"),
    // A process that was killed has no limit any more.
    free: async (pid) => (existsSync(`/proc/${pid}`) ? limit(pid, "unlimited") : undefined),
  };
}

/** Enough for the charges of some hours. */
const diskMiB = 512;

/** Mounts a disk in memory until the scope ends; undefined if this machine or user cannot. */
export async function mountedDisk(scope: Scope): Promise<LedgerDisk | undefined> {
  const folder = join(await temporaryFolder(scope), "disk");
  await mkdir(folder);
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${diskMiB}m`, "tmpfs", folder]);
  } catch {
    return undefined;
  }
  // At once, also while a killed process still has files of it open: the problems that the campaign found are to be printed.
  onScopeEnd(scope, async () => void (await run("umount", ["--lazy", folder])));
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill: async () => void (await run("sh", ["-c", `head -c ${diskMiB}M /dev/zero > ${ballast} || true`])),
    free: () => rm(ballast),
  };
}

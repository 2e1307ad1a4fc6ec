/** Runs a server as a child process and reads its processor time and memory from Linux's `/proc`. On other systems both are unknown. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";

export interface LaunchOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder in which it runs; the project's by default. */
  readonly cwd?: string;
  /** File descriptor for standard error; that of this process by default. */
  readonly stderr?: number;
}

export interface ServerProcess {
  readonly url: string;
  /** See `memoryMibOf` and `peakMibOf`. */
  readonly memoryMib: () => number;
  readonly peakMib: () => number;
  /** User and system time so far, of the process and its descendants; NaN if unknown. */
  readonly processorMs: () => number;
  /** Processor time so far by thread. Throws if unknown. */
  readonly threadMs: () => ThreadTimes;
  stop(): Promise<void>;
}

/** Processor time in milliseconds. */
export interface ThreadTimes {
  /** Time of the main thread, which runs the event loop. */
  readonly main: number;
  /** Time of all living threads. */
  readonly process: number;
}

/** Starts a program and resolves when it has printed `listening on URL`. It is killed when this process exits. */
export async function launch({
  command,
  args,
  env = {},
  cwd = projectPath("."),
  stderr,
}: LaunchOptions): Promise<ServerProcess> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", stderr ?? "inherit"],
  });
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  const url = await awaitUrl(child, command);
  const pid = child.pid ?? 0;
  return {
    url,
    memoryMib: () => memoryMibOf(pid),
    peakMib: () => peakMibOf(pid),
    processorMs: () => processorMsOf(pid),
    threadMs: () => threadTimesOf(pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

function awaitUrl(child: ChildProcess, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      reject(new UserError(`${command} exited with ${code}: expected it to print "listening on URL".`)),
    );
    if (child.stdout === null) return;
    createInterface(child.stdout).on("line", (line) => {
      const [, url] = /^listening on (.+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}

/** `/proc/PID/stat` counts in ticks; Linux has 100 per second on every current architecture. */
const msPerTick = 10;

/** Returns user and system time in milliseconds of a process and its descendants, including those that ended; NaN without `/proc`. */
export function processorMsOf(pid: number): number {
  const stat = procFile(pid, "stat");
  if (stat === undefined) return Number.NaN;
  // The second field is the name in parentheses, which may contain any character; fields 14 to 17 are utime, stime, cutime and cstime.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + (processorMsOf(child) || 0), ticks * msPerTick);
}

/** Reads `schedstat`, which has nanosecond resolution; its first field is the time on a processor. */
function threadTimesOf(pid: number): ThreadTimes {
  const timeOf = (task: string): number => Number.parseInt(procFile(pid, `task/${task}/schedstat`) ?? "0", 10) / 1e6;
  const tasks = readdirSync(`/proc/${pid}/task`);
  return { main: timeOf(String(pid)), process: tasks.reduce((sum, task) => sum + timeOf(task), 0) };
}

/** Returns the memory of a process and its descendants in MiB; NaN if unknown. Pages that they share, such as those of the program, are counted once. */
export const memoryMibOf = (pid: number): number => mibOf(pid, "smaps_rollup", "Pss");

/** Returns what a process and its descendants had at most in MiB, each for itself; NaN if unknown. */
export const peakMibOf = (pid: number): number => mibOf(pid, "status", "VmHWM");

/** Returns a size that a file in `/proc` names, of a process and its descendants. */
function mibOf(pid: number, file: string, name: string): number {
  const [, size] = new RegExp(`${name}:\\s+(\\d+) kB`).exec(procFile(pid, file) ?? "") ?? [];
  const own = Math.round(Number(size ?? Number.NaN) / 1024);
  return childrenOf(pid).reduce((sum, child) => sum + (mibOf(child, file, name) || 0), own);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      (procFile(pid, `task/${task}/children`) ?? "")
        .split(" ")
        .filter((child) => child.trim() !== "")
        .map(Number),
    );
  } catch {
    return [];
  }
}

/** Returns a file of a process in `/proc`; undefined if the process has ended or there is no `/proc`. */
function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

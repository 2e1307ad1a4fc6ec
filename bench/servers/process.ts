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
  readonly memory: () => ProcessMemory;
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

/** Memory of a process and its descendants in MiB; NaN if unknown. */
export interface ProcessMemory {
  /** Pages that several processes share, such as those of the program, are counted once. */
  readonly nowMib: number;
  /** The sum of what each had at most, resident. */
  readonly peakMib: number;
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
    memory: () => memoryOf(pid),
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

/** Returns the memory of a process and its descendants; NaN if unknown. */
export function memoryOf(pid: number): ProcessMemory {
  const status = procFile(pid, "status");
  if (status === undefined) return { nowMib: Number.NaN, peakMib: Number.NaN };
  // A process may end, or not have begun, between two reads.
  const own = { nowMib: mibIn(procFile(pid, "smaps_rollup"), "Pss") || 0, peakMib: mibIn(status, "VmHWM") };
  return childrenOf(pid)
    .map(memoryOf)
    .filter(({ peakMib }) => !Number.isNaN(peakMib))
    .reduce((sum, { nowMib, peakMib }) => ({ nowMib: sum.nowMib + nowMib, peakMib: sum.peakMib + peakMib }), own);
}

/** Returns a size in a file of `/proc` that lists them by name. */
const mibIn = (list: string | undefined, name: string): number =>
  Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(list ?? "")?.[1] ?? Number.NaN) / 1024);

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

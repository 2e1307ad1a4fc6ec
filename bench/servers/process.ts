/** A server in a process of its own, and what Linux says about it in /proc. Elsewhere processor time and memory are unknown. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A file descriptor for standard error; this process's own by default. */
  readonly errors?: number;
}

export interface ServerProcess {
  readonly url: string;
  /** From the start to the line that says it listens. */
  readonly startedInMs: number;
  readonly memory: () => Memory;
  /** User and system time so far, of the process and its children; NaN where it is unknown. */
  readonly processorMs: () => number;
  /** Processor time so far by thread; fails where it is unknown. */
  readonly threadMs: () => ThreadTimes;
  stop(): Promise<void>;
}

/** Processor time in milliseconds. */
export interface ThreadTimes {
  /** The thread that runs the event loop. */
  readonly main: number;
  /** All threads that are alive. */
  readonly process: number;
}

/** Resident memory of a process and its children, in MiB; NaN where it is unknown. */
export interface Memory {
  readonly nowMib: number;
  readonly peakMib: number;
}

/** Starts a program that prints `listening on URL`; resolves when it has. Killed when this process ends. */
export async function launch({ command, args, env = {}, errors }: Launch): Promise<ServerProcess> {
  const startedAtMs = performance.now();
  const child = spawn(command, args, {
    cwd: projectPath("."),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", errors ?? "inherit"],
  });
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  const url = await listening(child, command);
  const startedInMs = performance.now() - startedAtMs;
  const pid = child.pid ?? 0;
  return {
    url,
    startedInMs,
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

function listening(child: ChildProcess, command: string): Promise<string> {
  return new Promise((started, failed) => {
    child.once("error", failed);
    child.once("close", (code) => failed(new UserError(`${command} ended with ${code} before it listened.`)));
    if (child.stdout === null) return;
    createInterface(child.stdout).on("line", (line) => {
      const [, url] = /^listening on (.+)$/.exec(line) ?? [];
      if (url !== undefined) started(url);
    });
  });
}

/** What `/proc` counts processor time in; 100 a second on every Linux of today. */
const msPerTick = 10;

/** User and system time of a process and its descendants, those that have ended included; NaN where there is no /proc. */
export function processorMsOf(pid: number): number {
  const stat = procFile(pid, "stat");
  if (stat === undefined) return Number.NaN;
  // The second field is the name in parentheses, which may hold anything; utime is the 14th, cstime the 17th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + (processorMsOf(child) || 0), ticks * msPerTick);
}

/** Linux counts in nanoseconds, the time on a processor first. */
function threadTimesOf(pid: number): ThreadTimes {
  const timeOf = (task: string): number => Number.parseInt(procFile(pid, `task/${task}/schedstat`) ?? "0", 10) / 1e6;
  const tasks = readdirSync(`/proc/${pid}/task`);
  return { main: timeOf(String(pid)), process: tasks.reduce((sum, task) => sum + timeOf(task), 0) };
}

/** Resident memory of a process and its descendants. */
export function memoryOf(pid: number): Memory {
  const status = procFile(pid, "status");
  if (status === undefined) return { nowMib: Number.NaN, peakMib: Number.NaN };
  const mib = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024);
  return childrenOf(pid)
    .map(memoryOf)
    .filter(({ nowMib }) => !Number.isNaN(nowMib))
    .reduce((sum, { nowMib, peakMib }) => ({ nowMib: sum.nowMib + nowMib, peakMib: sum.peakMib + peakMib }), {
      nowMib: mib("VmRSS"),
      peakMib: mib("VmHWM"),
    });
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

/** A file of a process in /proc; undefined when the process has ended, or there is no /proc. */
function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

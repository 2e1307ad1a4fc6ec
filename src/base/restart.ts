/** Starts this program again with Node.js options that take effect only before it starts: the size of the thread pool. */
import { spawn } from "node:child_process";
import { projectPath } from "./project-files.ts";

const threadPool = projectPath("src/base/thread-pool.cjs");

/** Node.js options for a process that runs a module of this project: the thread pool's size, then TypeScript. */
export const nodeOptions = (): readonly string[] => [
  ...["--require", threadPool],
  ...["--import", import.meta.resolve("tsx")],
];

/** Returns false if the thread pool has libuv's default size of 4, because the process was started without those options. */
export const hasThreadPool = (): boolean => process.env.UV_THREADPOOL_SIZE !== undefined;

/**
 * Runs this command again with the thread pool's size. Replaces this process where Node.js can (from 22.15 on); elsewhere runs a
 * child, passes signals on to it, and ends as it ends.
 */
export function restart(): void {
  const args = ["--require", threadPool, ...process.execArgv, ...process.argv.slice(1)];
  const execve: unknown = Reflect.get(process, "execve");
  if (typeof execve === "function" && process.platform !== "win32")
    Reflect.apply(execve, process, [process.execPath, [process.execPath, ...args], process.env]);
  else runChild(args);
}

/** Runs Node.js as a child in its own process group, so that a Ctrl-C of the terminal reaches it once, by way of this process. */
function runChild(args: readonly string[]): void {
  const child = spawn(process.execPath, ["--require", projectPath("src/base/end-with-parent.cjs"), ...args], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    detached: true,
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    throw error;
  });
  child.once("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

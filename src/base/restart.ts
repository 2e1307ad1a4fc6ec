/** Restarts this program with the size of libuv's thread pool, which takes effect only if it is set before Node.js starts. */
import { spawn } from "node:child_process";
import { projectPath } from "./project-files.ts";

const threadPool = projectPath("src/base/thread-pool.cjs");

/** Returns the Node.js options to run a module of this project: the thread pool's size and the TypeScript loader. */
export const nodeOptions = (): readonly string[] => [
  ...["--require", threadPool],
  ...["--import", import.meta.resolve("tsx/esm")],
];

/** Returns false if the thread pool has libuv's default size of 4, because the process was started without those options. */
export const hasThreadPool = (): boolean => process.env.UV_THREADPOOL_SIZE !== undefined;

/**
 * Restarts the current command with the thread pool's size. Replaces this process if Node.js has `execve` (22.15 and later); otherwise
 * runs a child, forwards signals to it, and exits with its code or signal.
 */
export function restart(): void {
  const args = ["--require", threadPool, ...process.execArgv, ...process.argv.slice(1)];
  const execve: unknown = Reflect.get(process, "execve");
  if (typeof execve === "function" && process.platform !== "win32")
    Reflect.apply(execve, process, [process.execPath, [process.execPath, ...args], process.env]);
  else runChild(args);
}

/** Runs Node.js as a child in its own process group, so that Ctrl-C reaches the child once, forwarded by this process. */
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

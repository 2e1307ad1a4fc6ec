/** Starts worker threads and processes that run modules of this project, and the program itself. */
import { type ChildProcess, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import { programPath } from "./project-files.ts";

/** Starts a worker with `settings` as its `workerData`. Registers the loader for a TypeScript module, which workers do not inherit. */
export function startWorker(module: URL, settings: unknown): Worker {
  const isCompiled = module.pathname.endsWith(".js");
  // Node.js drops the query of a worker's URL, but not that of an imported one.
  if (isCompiled && module.search === "") return new Worker(module, { workerData: settings, execArgv: [] });
  const registration = isCompiled ? "" : tsxRegistration();
  const code = `${registration}await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: settings,
    execArgv: [],
  });
}

const lowestPriority = 19;

/** The most characters that are kept of the output of a process, up to the end of a chunk. */
const outputCharactersMax = 65_536;

interface ProgramResult {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  /** The beginning of its standard output, as of its errors. */
  readonly output: string;
  readonly errors: string;
}

interface ProgramOptions {
  readonly signal: AbortSignal;
  /** Environment variables that differ from those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Runs `carquet` in a separate process at the lowest priority, until it ends or the signal kills it. Rejects with the reason of the signal when it
 * aborts. Passes the messages of the process to `onMessage`.
 */
export async function runProgram(
  args: readonly string[],
  { signal, environment }: ProgramOptions,
  onMessage: (message: unknown) => void = () => undefined,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const child = fork(programPath, args, {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [],
    env: { ...process.env, ...environment },
  });
  if (child.pid !== undefined) yieldResources(child.pid);
  child.on("message", onMessage);
  const kill = (): boolean => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const [code, output, errors] = await Promise.all([ended(child), textOf(child.stdout), textOf(child.stderr)]);
    signal.throwIfAborted();
    return { code, output, errors };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/** Sets the lowest priority for a process and its threads, and lets the kernel end it first when memory is short. A sandbox may forbid both. */
export function yieldResources(pid: number): void {
  const ignore = (work: () => void): void => {
    try {
      work();
    } catch {}
  };
  ignore(() => setPriority(pid, lowestPriority));
  ignore(() => writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"));
}

/** Reads a stream to its end; returns the beginning of its text. */
async function textOf(stream: Readable | null): Promise<string> {
  let text = "";
  for await (const chunk of stream?.setEncoding("utf8") ?? []) if (text.length < outputCharactersMax) text += chunk;
  return text;
}

/** Resolves with the exit code of a process, after all of its messages; null if a signal ended it. */
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });

const tsxRegistration = (): string =>
  `import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))}; register(); `;

/** Starts worker threads and processes that run modules of this project. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

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

/**
 * Starts a process that runs a module with one argument. Its standard input stays open for as long as this process lives; its standard
 * error can be read.
 */
export function startProcess(module: URL, argument: string): ChildProcess {
  const loader = module.pathname.endsWith(".js") ? [] : ["--import", import.meta.resolve("tsx/esm")];
  return spawn(process.execPath, [...loader, fileURLToPath(module), argument], { stdio: ["pipe", "ignore", "pipe"] });
}

const tsxRegistration = (): string =>
  `import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))}; register(); `;

/** Starts worker threads that run TypeScript modules of this project. */
import { Worker } from "node:worker_threads";

/** Starts a worker with `settings` as its `workerData`. Workers do not inherit the TypeScript loader, so this registers it first. */
export function startWorker(module: URL, settings: unknown): Worker {
  const loader = import.meta.resolve("tsx/esm/api");
  const code = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: settings,
    execArgv: [],
  });
}

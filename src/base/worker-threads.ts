/** Starts worker threads that run modules of this project. */
import { Worker } from "node:worker_threads";

/** Starts a worker with `settings` as its `workerData`. Registers the loader for a TypeScript module, which workers do not inherit. */
export function startWorker(module: URL, settings: unknown): Worker {
  if (module.pathname.endsWith(".js")) return new Worker(module, { workerData: settings, execArgv: [] });
  const loader = import.meta.resolve("tsx/esm/api");
  const code = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: settings,
    execArgv: [],
  });
}

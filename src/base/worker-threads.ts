/** Threads of this program, for work that would hold up the answers. */
import { Worker } from "node:worker_threads";

/** Starts a module in a thread. A thread does not take over the loader of TypeScript from the one that starts it, so it is told. */
export function startWorker(module: URL, settings: unknown): Worker {
  const loader = import.meta.resolve("tsx/esm/api");
  const code = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: settings,
    execArgv: [],
  });
}

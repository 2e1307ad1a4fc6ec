/** Starts worker threads that run modules of this project. */
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

const tsxRegistration = (): string =>
  `import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))}; register(); `;

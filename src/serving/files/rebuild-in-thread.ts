/** Rebuilds serving files in a worker thread, so that the event loop stays free. */
import { once } from "node:events";
import { startWorker } from "../../base/worker-threads.ts";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import type { RebuildOrder } from "./serving-parts.ts";

export interface RebuildTask {
  readonly order: RebuildOrder;
  readonly options: DatabaseOptions;
}

/** Rejects with the reason of the signal when it aborts, or with what the thread reports. */
export async function rebuildInThread(
  order: RebuildOrder,
  { threads, memoryLimit }: DatabaseOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const options = {
    ...(threads === undefined ? {} : { threads }),
    ...(memoryLimit === undefined ? {} : { memoryLimit }),
  };
  const worker = startWorker(new URL("./rebuild-worker.ts", import.meta.url), { order, options } satisfies RebuildTask);
  let fault: unknown = "the thread has ended";
  worker.once("message", (reported: unknown) => {
    fault = reported;
  });
  const end = (): void => worker.postMessage("end");
  signal.addEventListener("abort", end, { once: true });
  try {
    // A thread that is terminated in a call of the engine ends the process: this waits for its end. Rejects with an error of the thread.
    await once(worker, "exit");
    signal.throwIfAborted();
    if (fault !== undefined) throw new Error(`Serving files cannot be rebuilt: ${String(fault)}`);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** The worker thread that rebuilds serving files: see `rebuildInThread`. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../base/user-error.ts";
import { rebuildServingFiles } from "./build-serving-files.ts";
import type { RebuildTask } from "./rebuild-in-thread.ts";

const { order, options }: RebuildTask = workerData;
const ending = new AbortController();
parentPort?.once("message", () => ending.abort());
await rebuildServingFiles(order, options, ending.signal).then(
  () => parentPort?.postMessage(undefined),
  (thrown: unknown) => parentPort?.postMessage(messageOf(thrown)),
);
parentPort?.close();

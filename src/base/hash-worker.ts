/** The thread that hashes files for `hash-thread.ts`. Reads several files at once, chunk by chunk in turn. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { sha256Of } from "./files.ts";

/** A file to hash, and where its SHA-256 is sent. The port closes without a message if the file cannot be read. */
export interface HashRequest {
  readonly path: string;
  readonly reply: MessagePort;
}

parentPort?.on("message", ({ path, reply }: HashRequest) => {
  sha256Of(path)
    .then((sha256) => reply.postMessage(sha256))
    .catch(() => undefined)
    .finally(() => reply.close());
});

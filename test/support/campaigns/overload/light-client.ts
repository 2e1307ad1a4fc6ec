/** A light client has its own thread: its response times include nothing of what the other clients do meanwhile. */
import { once } from "node:events";
import { startWorker } from "../../../../src/base/worker-threads.ts";
import { sleepUnless } from "../mixed/faults.ts";
import type { Reply } from "../mixed/send.ts";

export interface LightClient {
  readonly url: string;
  /** Each request has one of them, at random, with another nonce. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
  readonly connections: number;
  readonly seed: number;
}

/** A reply to a request with the path of an index. */
export interface LightReply {
  readonly index: number;
  readonly reply: Reply;
}

/** Sends requests at a rate until `isOver`, and waits for the last reply. */
export async function sendLight(
  client: LightClient,
  isOver: () => boolean,
  onReply: (reply: LightReply) => void,
): Promise<void> {
  const worker = startWorker(new URL("./light-worker.ts", import.meta.url), client);
  worker.on("message", onReply);
  const ended = once(worker, "exit");
  await Promise.race([ended, sleepUnless(isOver, Number.POSITIVE_INFINITY)]);
  worker.postMessage("end");
  await ended;
}

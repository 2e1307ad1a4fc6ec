/** The thread of a light client: sends requests at a rate until it gets a message, and posts their replies. See `sendLight`. */
import { Agent } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { Chance } from "../../chance.ts";
import { raisePriority } from "../../raise-priority.ts";
import { nonces, withNonce } from "../mixed/nonce.ts";
import { atRate, sendRequest } from "../mixed/send.ts";
import type { LightClient, LightReply } from "./light-client.ts";

const { url, paths, headers, perSecond, connections, seed }: LightClient = workerData;
// What is timed is the service, not a wait for a processor beside the other clients, which share it here.
raisePriority(0, -10);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const chance = new Chance(seed);
let isOver = false;
parentPort?.once("message", () => {
  isOver = true;
});
await atRate(
  perSecond,
  () => isOver,
  async () => {
    const index = chance.integer(0, paths.length - 1);
    const path = withNonce(paths[index] ?? "", chance.integer(0, nonces));
    const reply = await sendRequest(url, path, { agent, headers });
    parentPort?.postMessage({ index, reply } satisfies LightReply);
  },
);
agent.destroy();

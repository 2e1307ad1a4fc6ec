/** Measures how long a service's event loop is held by the largest requests of each operation, beside the light requests of another account. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { projectPath } from "../../../src/base/project-files.ts";
import type { OperationId } from "../../../src/contract/types.ts";
import { compareVersions, versionsIn } from "../../../src/lake/manifest.ts";
import { type Customer, createCustomer, temporaryAccountsFile } from "../accounts.ts";
import { startServing } from "../command-line.ts";
import { temporaryFolder } from "../lakes/lakes.ts";
import type { Scope } from "../scope.ts";
import { timeAt } from "./fairness.ts";
import { type LargestContext, type LargestRequest, largestOperations, largestRequests } from "./largest-requests.ts";

/** The longest hold of each repetition of a request. */
export interface LoopHold {
  readonly operation: OperationId;
  readonly what: string;
  readonly status: number;
  readonly bytes: number;
  /** The most processor time that a repetition takes without a turn for others: their median. */
  readonly heldMs: number;
  /** The longest time without a turn, of all repetitions: on a machine that does nothing else, little more. */
  readonly elapsedMs: number;
  /** The slowest light request beside it. */
  readonly lightMs: number;
}

interface Probed {
  readonly heldMs: number;
  readonly elapsedMs: number;
}

/** Returns the longest hold since the last call. */
async function readProbe(path: string): Promise<Probed> {
  const socket = connect(path);
  await once(socket, "connect");
  return JSON.parse(await text(socket));
}

interface Measuring {
  readonly url: string;
  readonly probe: string;
  readonly heavy: Customer;
  readonly light: Customer;
}

async function send({ url, heavy }: Measuring, { path, body, method }: LargestRequest) {
  const headers = { ...heavy.bearer, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const sent = { headers, method: method ?? (body === undefined ? "GET" : "POST") };
  const response = await fetch(`${url}${path}`, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
  return { status: response.status, content: Buffer.from(await response.arrayBuffer()) };
}

const lightPauseMs = 20;

/** Sends look-ups of the light account until `isOver`. Returns the longest time. */
async function sendLight({ url, light }: Measuring, { listings }: LargestContext, isOver: () => boolean) {
  let slowestMs = 0;
  for (let sent = 0; !isOver(); sent += 1) {
    const startedAtMs = performance.now();
    const response = await fetch(`${url}/v1/vins/${listings[sent % listings.length]?.vin}`, { headers: light.bearer });
    await response.arrayBuffer();
    assert.equal(response.status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    await sleep(lightPauseMs);
  }
  return slowestMs;
}

/** Sends a request `repetitions` times after a first one, each alone but for the light requests. */
async function measure(
  measuring: Measuring,
  repetitions: number,
  contextAt: (repetition: number) => LargestContext,
  [operation, index]: readonly [operation: OperationId, index: number],
): Promise<LoopHold> {
  const held: Probed[] = [];
  let answer = { status: 0, content: Buffer.alloc(0) };
  let isOver = false;
  const requestAt = (repetition: number): LargestRequest =>
    largestRequests(operation, contextAt(repetition))[index] ?? assert.fail(operation);
  await send(measuring, requestAt(0));
  const light = sendLight(measuring, contextAt(0), () => isOver);
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    await readProbe(measuring.probe);
    answer = await send(measuring, requestAt(repetition));
    held.push(await readProbe(measuring.probe));
  }
  isOver = true;
  const sorted = (key: keyof Probed): readonly number[] => held.map((one) => one[key]).sort((a, b) => a - b);
  assert.equal(answer.status, 200, `${requestAt(0).path}: ${answer.content.toString().slice(0, 400)}`);
  return {
    operation,
    what: requestAt(0).what,
    status: answer.status,
    bytes: answer.content.length,
    heldMs: timeAt(sorted("heldMs"), 0.5),
    elapsedMs: timeAt(sorted("elapsedMs"), 1),
    lightMs: await light,
  };
}

/** Serves a lake and measures each of the largest requests. `onHold` is called after each. */
export async function measureHolds(
  scope: Scope,
  lake: string,
  repetitions: number,
  onHold: (hold: LoopHold) => void,
): Promise<readonly LoopHold[]> {
  const accounts = await temporaryAccountsFile(scope);
  const probe = join(await temporaryFolder(scope), "probe");
  const preload = projectPath("test/support/campaigns/event-loop-probe.cjs");
  const env = {
    CARQUET_ACCOUNTS: accounts,
    CARQUET_LOG_LEVEL: "silent",
    EVENT_LOOP_PROBE: probe,
    NODE_OPTIONS: `--require ${preload}`,
  };
  const { url, customer } = await startServing(
    scope,
    ["serve", "--port", "0", "--sql-deadline", "10", "--lake", lake],
    { env },
  );
  const measuring = { url, probe, heavy: customer, light: await createCustomer(accounts) };
  const read = async (path: string) => JSON.parse((await send(measuring, { what: "", path })).content.toString());
  const { data: listings } = await read(
    "/v1/listings?limit=100&fields=id,vin,dealer_id&make=Ford&model=F-150&year=2022",
  );
  for (let count = 0; count < 60; count += 1)
    await send(measuring, { what: "", path: "/v1/searches", body: { name: `saved ${count}`, query: "make=Ford" } });
  const searches = (await read("/v1/searches")).data.map(({ search_id }: { readonly search_id: string }) => search_id);
  const [since = ""] = [...(await versionsIn(lake))].sort(compareVersions);
  const known = { listings, searches, since, pastDay: since.slice(0, "YYYY-MM-DD".length) };
  let nonce = 0;
  const holds: LoopHold[] = [];
  for (const operation of largestOperations)
    for (const index of largestRequests(operation, { ...known, nonce }).keys()) {
      const start = nonce;
      nonce += repetitions + 1;
      const contextAt = (repetition: number): LargestContext => ({ ...known, nonce: start + repetition });
      const hold = await measure(measuring, repetitions, contextAt, [operation, index]);
      onHold(hold);
      holds.push(hold);
    }
  return holds;
}

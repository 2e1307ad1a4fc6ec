/**
 * Restarts two instances in turn behind a reverse proxy, which sends requests only to instances that are ready, never repeats one, and keeps
 * its connections open.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, get, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryAccountsFile } from "../accounts.ts";
import { eventually, type ServeProcess, startServing } from "../command-line.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

export interface RestartOptions {
  readonly lake: string;
  readonly clients: number;
  readonly restarts: number;
}

export interface RestartSummary {
  readonly restarts: number;
  readonly answers: number;
}

/** Delay of a stopping instance, long enough for a busy machine, and how often the proxy asks whether it is ready. */
const drainDelaySeconds = "2";
const healthCheckMs = 50;

interface Instance {
  service: ServeProcess;
  isReady: boolean;
  readonly agent: Agent;
}

interface ProxiedAnswer {
  readonly status: number | undefined;
  readonly body: string;
}

function getOver(agent: Agent, url: string, headers = {}): Promise<ProxiedAnswer> {
  return new Promise((answered, failed) => {
    get(url, { agent, headers }, (response) => {
      text(response).then((body) => answered({ status: response.statusCode, body }), failed);
    }).once("error", failed);
  });
}

async function checkHealth(instance: Instance, isStopped: () => boolean): Promise<void> {
  const agent = new Agent();
  while (!isStopped()) {
    const answer = await getOver(agent, `${instance.service.url}/readyz`).catch(() => undefined);
    instance.isReady = answer?.status === 200;
    await sleep(healthCheckMs);
  }
}

/** Starts the proxy; returns its URL. */
async function startProxy(scope: Scope, instances: readonly Instance[]): Promise<string> {
  let turn = 0;
  const proxy = createServer((received, response) => {
    turn += 1;
    const ready = instances.filter(({ isReady }) => isReady);
    const target = ready[turn % ready.length];
    if (target === undefined) return void response.writeHead(502).end("no instance is ready");
    const { agent, service } = target;
    const { authorization } = received.headers;
    request(`${service.url}${received.url}`, { agent, headers: { authorization } }, (answer) => {
      const { connection: _, ...headers } = answer.headers;
      answer.pipe(response.writeHead(answer.statusCode ?? 502, headers));
    })
      .once("error", (error) => response.writeHead(502).end(error.message))
      .end();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onScopeEnd(scope, async () => void proxy.close().closeAllConnections());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Restarts instances while clients search; fails if a request fails. */
export async function restartInTurn(scope: Scope, options: RestartOptions): Promise<RestartSummary> {
  const env = { CARQUET_ACCOUNTS: await temporaryAccountsFile(scope), CARQUET_DRAIN_DELAY: drainDelaySeconds };
  const start = (port = "0"): Promise<ServeProcess> =>
    startServing(scope, ["serve", "--port", port, "--lake", options.lake], { env });
  const instances: readonly Instance[] = await Promise.all(
    [start(), start()].map(async (service) => ({
      service: await service,
      isReady: true,
      agent: new Agent({ keepAlive: true }),
    })),
  );
  let isStopped = false;
  let answers = 0;
  const url = `${await startProxy(scope, instances)}/v1/listings?limit=1`;
  const search = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (; !isStopped; answers += 1) {
      const { status, body } = await getOver(agent, url, instances[0]?.service.customer.bearer);
      assert.equal(status, 200, body);
      await sleep(5);
    }
    agent.destroy();
  };
  const restart = async (): Promise<void> => {
    for (let count = 0; count < options.restarts && !isStopped; count += 1) {
      const instance = instances[count % instances.length];
      assert.ok(instance);
      instance.service.terminate();
      assert.equal((await instance.service.ended).code, 0);
      instance.service = await start(new URL(instance.service.url).port);
      await eventually("ready", async () => instance.isReady, 10_000);
    }
    isStopped = true;
  };
  const checks = instances.map((instance) => checkHealth(instance, () => isStopped));
  try {
    await Promise.all([restart(), ...Array.from({ length: options.clients }, search)]);
  } finally {
    isStopped = true;
    await Promise.all(checks);
    for (const { agent } of instances) agent.destroy();
  }
  return { restarts: options.restarts, answers };
}

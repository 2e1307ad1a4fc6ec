/** The end of a service on SIGTERM, and its log. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { drainTimeoutMs } from "../../src/http/limits.ts";
import { inAccountsFile, temporaryAccountsFile } from "../support/accounts.ts";
import { restartInTurn } from "../support/campaigns/rolling-restarts.ts";
import { Chance } from "../support/chance.ts";
import { carquet, eventually, parseLog, type ServeProcess, startServing } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { requestWithKey } from "../support/http/request-with-key.ts";
import { createSlowLake, slowRequest } from "../support/http/slow-request.ts";
import { fileScope } from "../support/scope.ts";

const lake = await createSlowLake(fileScope);

const serve = ["serve", "--port", "0", "--lake", lake];

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** Sends a GET over an agent's connections. `onArrival` is called when the service has begun with it, if the headers have `Expect: 100-continue`. */
function getOver(
  agent: Agent,
  url: string,
  headers: Record<string, string> = {},
  onArrival = (): void => undefined,
): Promise<Answer> {
  return new Promise((answered, failed) => {
    get(url, { agent, headers }, async (response) => {
      const { statusCode: status, headers: received } = response;
      answered({ status, headers: received, body: await text(response), atMs: performance.now() });
    })
      .on("continue", onArrival)
      .on("error", failed);
  });
}

/** The service answers this with `100 Continue` when it begins with a request. */
const expectArrival = { Expect: "100-continue" };

/** Returns whether a connection can be opened. */
function connects(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((known) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("connect", () => known(true)).once("error", () => known(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** Half of the time that a service waits for connections. A busy machine needs seconds. */
const soonMs = drainTimeoutMs / 2;

const inFlight = 8;
test("on SIGTERM requests in flight are answered, new ones are refused, and the process exits with 0 soon after", async () => {
  const service = await startServing(fileScope, serve);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  await Promise.all(Array.from({ length: inFlight }, () => getOver(agent, `${service.url}/healthz`)));

  let arrived = 0;
  const headers = { ...service.customer.bearer, ...expectArrival };
  const pending = Array.from({ length: inFlight }, () =>
    getOver(agent, `${service.url}${slowRequest}`, headers, () => {
      arrived += 1;
    }),
  );
  await eventually("all are in flight", async () => arrived === inFlight);
  const terminatedAtMs = performance.now();
  service.terminate();
  await eventually("new connections refused", async () => !(await connects(service.url)));

  const answers = await Promise.all(pending);
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  const late = answers.filter(({ atMs }) => atMs > terminatedAtMs);
  assert.ok(late.length > 0, "some were in flight when the signal came");
  const { code, out, err } = await service.ended;
  const endedMs = performance.now() - Math.max(...answers.map(({ atMs }) => atMs));
  agent.destroy();
  assert.equal(code, 0);
  assert.match(out, /^listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  assert.equal(parseLog(err).at(-1)?.msg, "stopped");
  assert.ok(endedMs < soonMs, `ended ${Math.round(endedMs)} ms after the last answer`);
});

test("exports whose clients have left do not keep a stopping process running", { skip: skipInShortRun }, async () => {
  const service = await startServing(fileScope, serve);
  const { hostname, port } = new URL(service.url);
  const request = `GET /v1/exports HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.customer.bearer.Authorization}\r\n\r\n`;
  const leaving = Array.from({ length: 40 }, async (_, number) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(request);
    await sleep(number / 4);
    socket.destroy();
  });
  await Promise.all(leaving);
  await sleep(500);
  service.terminate();
  const code = await Promise.race([service.ended.then((ended) => ended.code), sleep(10_000, "still running")]);
  assert.equal(code, 0);
});

test("keep-alive clients learn that the service stops, and no request fails", async () => {
  const service = await startServing(fileScope, serve);
  const answers = Array<number>(40).fill(0);
  const search = async (_: number, client: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let isOpen = true; isOpen; answers[client] = (answers[client] ?? 0) + 1) {
      const { status, headers } = await getOver(agent, `${service.url}/v1/listings?limit=1`, service.customer.bearer);
      assert.equal(status, 200);
      isOpen = headers.connection !== "close";
      await sleep(20);
    }
  };
  const clients = Promise.all(answers.map(search));
  await eventually("all connections are in use", async () => Math.min(...answers) > 1);
  service.terminate();
  await clients;
  assert.equal((await service.ended).code, 0);
});

test("no connection that has been opened is reset when busy clients, with a new one for each request, are still there", async () => {
  const service = await startServing(fileScope, [...serve, "--drain-delay", "0.1"]);
  const clients = 16;
  let answered = 0;
  const failures: string[] = [];
  const send = async (): Promise<void> => {
    for (;;) {
      try {
        await getOver(new Agent(), `${service.url}/v1/listings?limit=1&make=kia`, service.customer.bearer);
        answered += 1;
      } catch (thrown) {
        const code = String(Object(thrown).code);
        if (code !== "ECONNREFUSED") failures.push(code);
        return;
      }
    }
  };
  const all = Promise.all(Array.from({ length: clients }, send));
  await eventually("all clients are busy", async () => answered > 10 * clients);
  service.terminate();
  await all;
  assert.deepEqual(failures, []);
  assert.equal((await service.ended).code, 0);
});

/** Several sockets listen on one port from this version of Node.js on, where the system divides connections among them. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const sharesPorts = process.platform === "linux" && (major > 22 || (major === 22 && minor >= 12));

test("as many sockets listen on the port as accept a burst of connections, and a second service is refused the port; SIGTERM closes them together, at once if the service is idle, with clients still connected, one of them without a request", async () => {
  const service = await startServing(fileScope, serve);
  const { url } = service;
  const port = Number(new URL(url).port);
  assert.equal(await listenersOf(port), sharesPorts ? 8 : 1);
  const statuses = await Promise.all(
    Array.from({ length: 64 }, async () => (await getOver(new Agent(), `${url}/healthz`)).status),
  );
  assert.deepEqual(new Set(statuses), new Set([200]));
  const second = await carquet(["serve", "--port", String(port), "--lake", lake]);
  assert.equal(second.code, 1);
  assert.match(second.err, new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is in use`));
  const socket = connect({ host: "127.0.0.1", port }).on("error", () => undefined);
  await once(socket, "connect");
  const agent = new Agent({ keepAlive: true });
  await getOver(agent, `${url}/healthz`);
  const terminatedAtMs = performance.now();
  service.terminate();
  const { code } = await service.ended;
  agent.destroy();
  assert.equal(code, 0);
  assert.ok(performance.now() - terminatedAtMs < soonMs);
  assert.equal(await listenersOf(port), 0);
});

/** Returns how many sockets listen on a port of this machine, on Linux; elsewhere 1 if one does. */
async function listenersOf(port: number): Promise<number> {
  if (process.platform !== "linux") return Number(await connects(`http://127.0.0.1:${port}`));
  const rows = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((row) => row.trim().split(/\s+/));
  const address = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows.filter(([, local, , state]) => local?.endsWith(address) && state === "0A").length;
}

test("two instances behind a proxy are restarted in turn without a failed request", {
  skip: skipInShortRun,
}, async (context) => {
  const { restarts, answers } = await restartInTurn(context, { lake, clients: 8, restarts: extentOf(2, 20) });
  assert.ok(restarts >= 2 && answers > 100, `${answers} answers`);
});

test("behind a proxy, a stopping service refuses requests without doing them before it closes its port", {
  skip: skipInShortRun,
}, async () => {
  const accounts = await temporaryAccountsFile(fileScope);
  const args = [...serve, "--trust-proxy", "--drain-delay", "0.2"];
  const service = await startServing(fileScope, args, { env: { CARQUET_ACCOUNTS: accounts } });
  const { bearer } = service.customer;
  service.terminate();
  const answers: Answer[] = [];
  for (;;) {
    const answer = await getOver(new Agent(), `${service.url}/v1/listings?limit=1`, bearer).catch(() => undefined);
    if (answer === undefined) break;
    answers.push(answer);
  }
  const statuses = answers.map(({ status }) => status);
  const firstRefused = statuses.indexOf(502);
  assert.ok(firstRefused >= 0 && statuses.slice(firstRefused).every((status) => status === 502), statuses.join());
  assert.ok(answers.every(({ headers }) => headers.connection === "close"));
  assert.equal((await service.ended).code, 0);
  const charged = (await inAccountsFile(accounts, audit)).charges;
  assert.equal(charged, statuses.filter((status) => status === 200).length);
});

const secret = "cq_live_secret_0123456789abcdef";

test("the log has one line of JSON per request, and no key in any form; a client that disconnects before its answer is logged as aborted, and the service continues", async () => {
  const service = await startServing(fileScope, serve);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const requests: readonly (readonly [path: string, status: number, logged: Readonly<Record<string, unknown>>])[] = [
    ["/v1/listings?limit=1&make=kia", 200, { path: "/v1/listings", query: "limit=1&make=kia" }],
    ["/healthz", 200, { path: "/healthz" }],
    ["/v1/listings?limit=0", 400, { path: "/v1/listings", query: "limit=0", code: "invalid_parameter_value" }],
    ["/v1/nowhere", 404, { path: "/v1/nowhere", code: "not_found" }],
    ...["api_key", "apiKey", "KEY", "access_token", "api%5Fkey", "%6bey", "%61ccess%5Ftoken"].map(
      (name) =>
        [
          `/v1/listings?limit=1&${name}=${secret}&make=kia`,
          400,
          { path: "/v1/listings", query: `limit=1&${name}=[key]&make=kia`, code: "query_string_api_key_rejected" },
        ] as const,
    ),
    [`/v1/openapi.json?key=${secret}`, 400, { path: "/v1/openapi.json", query: "key=[key]" }],
    ["/v1/listings?limit=2", 401, { path: "/v1/listings", code: "invalid_api_key" }],
    [`/v1/nowhere?key=${secret}`, 404, { path: "/v1/nowhere", query: "key=[key]" }],
    [`/v1/listings?key=${secret}%zz`, 400, { query: "key=[key]" }],
    [`/v1/listings?ke%zzy=${secret}`, 400, { query: "ke%zzy=[key]" }],
  ];
  for (const [path, status] of requests) {
    const headers = { ...service.customer.bearer, Cookie: `key=${secret}`, "X-Api-Key": secret };
    const answer = await getOver(agent, `${service.url}${path}`, status === 401 ? { Authorization: secret } : headers);
    assert.equal(answer.status, status, path);
    assert.ok(!answer.body.includes(secret) && !answer.body.includes(service.customer.key), path);
  }
  const leaving = get(`${service.url}${slowRequest}`, { headers: { ...service.customer.bearer, ...expectArrival } });
  leaving.on("error", () => undefined);
  await once(leaving, "continue");
  leaving.destroy();
  const search = `${service.url}/v1/listings?limit=1`;
  assert.equal((await getOver(new Agent(), search, service.customer.bearer)).status, 200);
  agent.destroy();
  service.terminate();
  const { code, err, out } = await service.ended;
  assert.equal(code, 0);
  assert.deepEqual(
    parseLog(err).filter(({ level }) => Number(level) >= 50),
    [],
  );
  assert.ok(!`${err}${out}`.includes("secret"), err);
  assert.ok(!`${err}${out}`.includes(service.customer.key.slice(-43)), err);

  const lines = [...parseLog(err).filter(({ msg }) => msg === "request")];
  const later = lines.splice(requests.length);
  assert.deepEqual(later.map(({ aborted }) => aborted ?? false).sort(), [false, true]);
  for (const [index, [path, status, expected]] of requests.entries()) {
    const line = lines[index] ?? {};
    assert.deepEqual([line.method, line.status], ["GET", status], path);
    assert.match(String(line.requestId), /^[\w-]{16,}$/);
    assert.equal(typeof line.ms, "number");
    for (const [key, value] of Object.entries(expected)) assert.equal(line[key], value, `${path}: ${key}`);
  }
  assert.equal(new Set(lines.map(({ requestId }) => requestId)).size, lines.length);
});

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

/** Values of the header `traceparent`, and whether they are valid. */
const traceparents: readonly (readonly [value: string, isValid: boolean])[] = [
  [`00-${traceId}-${parentId}-01`, true],
  [`cc-${traceId}-${parentId}-00-later`, true],
  ["", false],
  [`00-${traceId}-${parentId}-01-later`, false],
  [`00-${traceId.toUpperCase()}-${parentId}-01`, false],
  [`00-${"0".repeat(32)}-${parentId}-01`, false],
  [`00-${traceId}-${"0".repeat(16)}-01`, false],
  [`ff-${traceId}-${parentId}-01`, false],
  [`00-${traceId}-${parentId}`, false],
  [`00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`, false],
];

/** Replaces percent-encoded characters until none are left. */
function decoded(text: string): string {
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return once === text ? text.toLowerCase() : decoded(once);
}

/** Sends ids of requests, which are answered if they are taken; returns those that the log has. */
async function sendRequestIds(agent: Agent, service: ServeProcess): Promise<readonly (string | undefined)[]> {
  const isTaken = async (id: string): Promise<boolean> => {
    const { headers } = await getOver(agent, `${service.url}/healthz`, { "X-Request-Id": id });
    return headers["x-request-id"] === id;
  };
  const taken = ["a", "trace-1:2/3", "01JCZ8Q4T6W3M5N7P9R1S2V4X8", "x".repeat(128)];
  const refused = ["", "x".repeat(129), "a b", "a,b", "<b>", "ü", service.customer.key];
  for (const id of taken) assert.ok(await isTaken(id), id);
  for (const id of refused) assert.ok(!(await isTaken(id)), id);
  return [...taken, ...refused.map(() => undefined)];
}

test("an API key in any part of a request reaches neither the log nor an answer; ids of requests and trace contexts are logged", async () => {
  const service = await startServing(fileScope, [...serve, "--trust-proxy"]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ids = await sendRequestIds(agent, service);
  const chance = new Chance(20261122);
  for (let draw = 0; draw < extentOf(80, 5000); draw += 1) {
    const { path, headers } = requestWithKey(chance, service.customer.key);
    const answer = await getOver(agent, `${service.url}${path}`, { ...service.customer.bearer, ...headers });
    const received = decoded(`${JSON.stringify(answer.headers)}${answer.body}`);
    assert.ok(!received.includes(service.customer.key.slice(-43).toLowerCase()), path);
  }
  await getOver(agent, `${service.url}/feeds/search_1.signature`, {});
  for (const [traceparent] of traceparents) await getOver(agent, `${service.url}/healthz`, { traceparent });
  agent.destroy();
  service.terminate();
  const { out, err } = await service.ended;
  assert.ok(!decoded(`${out}${err}`).includes(service.customer.key.slice(-43).toLowerCase()));
  assert.ok(parseLog(err).some(({ path }) => path === "/feeds/search_1.[key]"));
  const logged = parseLog(err).filter(({ path }) => path === "/healthz");
  assert.deepEqual(
    logged.slice(0, ids.length).map(({ clientRequestId }) => clientRequestId),
    ids,
  );
  assert.equal(new Set(logged.map(({ requestId }) => requestId)).size, logged.length);
  for (const [index, line] of logged.slice(-traceparents.length).entries()) {
    const [value, isValid] = traceparents[index] ?? [];
    assert.deepEqual([line.traceId, line.parentId], isValid ? [traceId, parentId] : [undefined, undefined], value);
  }
});

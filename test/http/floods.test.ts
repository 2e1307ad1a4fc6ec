/** Floods by clients that do not pay: unknown API keys, idle connections, and responses that are never read. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { generateApiKey } from "../../src/accounts/keys/api-key.ts";
import { Connections, connectionsWithin, descriptorLimit } from "../../src/http/service/connections.ts";
import { bodyPartsMax } from "../../src/http/service/http-server.ts";
import { eventually, startServing } from "../support/command-line.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const serve = ["serve", "--port", "0", "--lake", lake];

/** Loopback addresses of the clients. The service sees two client addresses. */
const paying = "127.0.0.1";
const hostile = "127.0.0.2";

test("an address has at most half of the connections, and a closed one makes room", () => {
  const connections = new Connections({ connectionsMax: 5, perAddressMax: 1_000, healthMax: 4 });
  let port = 0;
  const open = (remoteAddress: string): Socket => {
    port += 1;
    const socket = Object.assign(new EventEmitter(), { remoteAddress, remotePort: port }) as unknown as Socket;
    connections.add(socket);
    return socket;
  };
  const sockets = [hostile, hostile, hostile, hostile, paying, paying, paying].map(open);
  assert.deepEqual(
    sockets.map((socket) => connections.isExcess(socket)),
    [false, false, false, true, false, false, true],
  );
  sockets[0]?.emit("close");
  assert.deepEqual([connections.isExcess(open(hostile)), connections.count], [false, 5]);
});

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Sends a GET over a new connection from a local address. */
function getFrom(localAddress: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
  return new Promise((received, failed) => {
    get(url, { agent: false, localAddress, headers }, async (response) => {
      received({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) });
    }).on("error", failed);
  });
}

/** Opens a connection from a local address; it is closed when the test ends. */
function connectFrom(t: TestContext, localAddress: string, { url }: { readonly url: string }): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on("error", () => undefined);
  t.after(() => socket.destroy());
  return socket;
}

/** The most connections that the system accepts for a program. */
const systemBacklog = (): number => Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));

test("a service that is busy for a moment keeps 800 new connections, as after a restart", async (t) => {
  if (systemBacklog() < 2048) return t.skip("the system accepts fewer connections");
  const env = { CARQUET_LOG_LEVEL: "silent", CARQUET_CONNECTIONS_PER_ADDRESS: "0" };
  const service = await startServing(t, serve, { env });
  process.kill(service.pid ?? 0, "SIGSTOP");
  const sockets = Array.from({ length: 800 }, () => connectFrom(t, paying, service));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  process.kill(service.pid ?? 0, "SIGCONT");
  const answers = sockets.map(async (socket) => {
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    return (await text(socket)).slice(0, 15);
  });
  assert.deepEqual(new Set(await Promise.all(answers)), new Set(["HTTP/1.1 200 OK"]));
});

test("requests with unknown API keys, pipelined over 40 connections, fail no paid request", async (t) => {
  const service = await startServing(t, serve, { env: { CARQUET_LOG_LEVEL: "silent" } });
  const requests = Array.from(
    { length: 100 },
    () => `GET /v1/listings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${generateApiKey().key}\r\n\r\n`,
  ).join("");
  const flood = { isOver: false };
  const attackers = Array.from({ length: 40 }, async () => {
    while (!flood.isOver) {
      const socket = connectFrom(t, hostile, service);
      socket.write(requests);
      socket.resume();
      await Promise.race([new Promise((closed) => socket.once("close", closed)), sleep(500)]);
      socket.destroy();
      await sleep(1000);
    }
  });
  const guess = () => getFrom(hostile, `${service.url}/v1/usage`, { Authorization: `Bearer ${generateApiKey().key}` });
  await eventually("guesses are refused", async () => (await guess()).status === 429);
  const refused = await guess();
  const { error } = JSON.parse(refused.body);
  assert.deepEqual([refused.status, error.code], [429, "too_many_invalid_api_keys"]);
  assert.equal(refused.headers["retry-after"], String(error.retryAfter));
  assert.ok(error.retryAfter >= 1 && error.retryAfter <= 60);
  assert.equal(refused.headers.connection, "close");
  const pipelined = connectFrom(t, hostile, service);
  pipelined.write(requests);
  assert.equal((await text(pipelined)).match(/^HTTP\/1\.1 429/gm)?.length, 1, "the requests behind it do not begin");
  const statuses: number[] = [];
  for (let request = 0; request < 18; request += 1) {
    const { status } = await getFrom(paying, `${service.url}/v1/listings?limit=1`, service.customer.bearer);
    statuses.push(status);
  }
  flood.isOver = true;
  await Promise.all(attackers);
  assert.deepEqual(statuses, Array(18).fill(200));
  const fromThere = await getFrom(hostile, `${service.url}/v1/usage`, service.customer.bearer);
  assert.equal(fromThere.status, 200, "a key in use passes, also from the address of the flood");
});

test("behind a trusted proxy, invalid API keys count against the client that the proxy names", async (t) => {
  const client = await startService(t, lake, { trustedProxies: 1 });
  const get = async (forwardedFor: string): Promise<number> => {
    const sent = { Authorization: `Bearer ${generateApiKey().key}`, "X-Forwarded-For": forwardedFor };
    const { status, headers } = await fetch(`${client.url}/v1/usage`, { headers: sent });
    assert.equal(headers.get("Connection"), "keep-alive", "the connection is the proxy's");
    return status;
  };
  const first = await Promise.all(Array.from({ length: 110 }, () => get("203.0.113.7, 198.51.100.1")));
  assert.deepEqual(
    [401, 429].map((status) => first.filter((found) => found === status).length),
    [100, 10],
  );
  assert.equal(await get("198.51.100.1, 203.0.113.7"), 401);
  assert.equal(await get("2001:db8::1"), 401);
});

/** Returns the status that a path answers over a new connection, or undefined if the connection is closed without an answer. */
const statusFrom = async (localAddress: string, url: string): Promise<number | undefined> =>
  getFrom(localAddress, url).then(
    ({ status }) => status,
    () => undefined,
  );

test("idle connections of one address leave room for others and for health checks", async (t) => {
  const service = await startServing(t, [...serve, "--connections-per-address", "20"]);
  for (let count = 0; count < 60; count += 1) connectFrom(t, hostile, service);
  await eventually("the limit is reached", async () => (await statusFrom(hostile, `${service.url}/docs`)) === 503);
  for (const path of ["/healthz", "/readyz"]) assert.equal(await statusFrom(hostile, service.url + path), 200, path);
  const answer = await getFrom(hostile, `${service.url}/v1/usage`, service.customer.bearer);
  assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [503, "overloaded"]);
  assert.equal(answer.headers.connection, "close");
  assert.equal((await getFrom(paying, `${service.url}/v1/usage`, service.customer.bearer)).status, 200);
});

test("health checks are answered while the total limit of connections is reached, others when connections close", async (t) => {
  const client = await startService(t, lake, { connectionsMax: 8, connectionsPerAddress: 0 });
  const idle = Array.from({ length: 30 }, (_, index) => connectFrom(t, `127.0.1.${index + 1}`, client));
  await eventually("the limit is reached", async () => (await statusFrom(paying, `${client.url}/docs`)) === 503);
  assert.equal(await statusFrom(paying, `${client.url}/readyz`), 200);
  for (const socket of idle) socket.destroy();
  await eventually("connections are free", async () => (await statusFrom(paying, `${client.url}/docs`)) === 200);
});

test("behind a trusted proxy, connections are limited in total only", async (t) => {
  const client = await startService(t, lake, { trustedProxies: 1, connectionsPerAddress: 2 });
  for (let count = 0; count < 10; count += 1) connectFrom(t, paying, client);
  await sleep(50);
  assert.equal(await statusFrom(paying, `${client.url}/docs`), 200);
});

test("a connection is closed when its client does not read the responses", async (t) => {
  const client = await startService(t, lake, { responseTimeoutMs: 300 });
  const { Authorization } = client.customer.bearer;
  const socket = connectFrom(t, paying, client);
  const closed = once(socket, "close");
  const request = `GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\n\r\n`;
  socket.write(request.repeat(200));
  await sleep(1500);
  // Reads at last: what the sockets buffered arrives, and then the end.
  socket.resume();
  await closed;
  assert.ok(socket.bytesRead < 200 * 100_000, `${socket.bytesRead} bytes arrived`);
});

test("a connection is closed when the body of a request arrives in many small parts", async (t) => {
  const client = await startService(t, lake);
  const bearer = `Authorization: ${client.customer.bearer.Authorization}\r\nTransfer-Encoding: chunked\r\n`;
  const answerTo = (part: string, parts: number): Promise<string> => {
    const socket = connectFrom(t, hostile, client);
    const chunk = `${part.length.toString(16)}\r\n${part}\r\n`;
    socket.write(`POST /v1/searches HTTP/1.1\r\nHost: x\r\n${bearer}\r\n${chunk.repeat(parts)}0\r\n\r\n`);
    return text(socket).catch(() => "");
  };
  assert.match(await answerTo(" ", bodyPartsMax), /^HTTP\/1.1 400 /);
  assert.match(await answerTo(" ".repeat(512), 4 * bodyPartsMax), /^HTTP\/1.1 413 /);
  assert.equal(await answerTo(" ", bodyPartsMax + 2), "");
});

test("the total limit of connections leaves a quarter of the file descriptors to files", () => {
  assert.deepEqual([undefined, 1_000_000, 1024, 100].map(connectionsWithin), [10_000, 10_000, 640, 16]);
  assert.ok((descriptorLimit() ?? 0) > 0 || process.platform !== "linux");
});

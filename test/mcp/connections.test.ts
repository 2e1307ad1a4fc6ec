/** Connections of agents: hosts, origins and sizes, and the cleanup of calls that are cancelled or whose client vanishes. */
import assert from "node:assert/strict";
import { request as sendRequest } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { Identity } from "../../src/accounts/accounts.ts";
import { inTurnOf, turnLater } from "../../src/base/turns.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { trackCall } from "../../src/mcp/respond-to-agent.ts";
import { createCustomer } from "../support/accounts.ts";
import { connectAgent } from "../support/agents.ts";
import { type Client, startService } from "../support/http/service.ts";
import { createSlowLake, slowParameters, slowRequest, untilBusy, untilInFlight } from "../support/http/slow-request.ts";
import { fileScope } from "../support/scope.ts";

const lake = await createSlowLake(fileScope);
const service = await startService(fileScope, lake, {
  mountSite: mountAgents,
  publicUrl: "https://cars.example",
  sessions: 1,
  responseCacheBytes: 0,
  metricsPort: 0,
  // On a busy machine, the usual deadline ends calls before they are cancelled.
  deadlineMs: 60_000,
});

const protocolHeaders = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** Sends a request to the agent server; returns the status. */
const send = (headers: Record<string, string>, body = list, method = "POST"): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { method, headers: { ...service.customer.bearer, ...protocolHeaders, ...headers } };
    const sent = sendRequest(`${service.url}/mcp`, options, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject).end(method === "GET" ? undefined : body);
  });

test("only the host of the service is accepted, and pages of this host", async () => {
  const accepted = [{}, { Host: "cars.example" }, { Host: "localhost:1" }, { Host: "10.1.2.3:80" }, { Host: "[::1]" }];
  for (const headers of accepted) assert.equal(await send(headers), 200, JSON.stringify(headers));
  assert.equal(await send({ Origin: "https://cars.example" }), 200);
  const refused = [{ Host: "evil.example" }, { Host: "cars.example.evil.example" }, { Origin: "https://evil.example" }];
  for (const headers of [...refused, { Origin: "null" }])
    assert.equal(await send(headers), 403, JSON.stringify(headers));
});

test("malformed and too large requests are refused", async () => {
  assert.equal(await send({}, "{"), 400);
  assert.equal(await send({}, JSON.stringify({ ...JSON.parse(list), params: { padding: "x".repeat(70_000) } })), 413);
  assert.equal(await send({ "Content-Type": "text/plain" }), 415);
  assert.equal(await send({}, "", "GET"), 405);
  const nested = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`;
  const deep = list.replace("}", `,"params":{"name":"find_values","arguments":{"facets":${nested}}}}`);
  assert.equal(await send({}, deep), 400);
  // The message, its parameters and their object are above the arrays.
  const nestedBy = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
  const within = (levels: number): string => list.replace("}", `,"params":{"_meta":{"a":${nestedBy(levels)}}}}`);
  assert.deepEqual([await send({}, within(29)), await send({}, within(30))], [200, 400]);
  const batch = (messages: number): string => `[${Array.from({ length: messages }, () => list).join()}]`;
  assert.deepEqual([await send({}, batch(8)), await send({}, batch(9)), await send({}, batch(100))], [200, 400, 400]);
});

test("a response has a type that the client accepts, and a 406 if there is none", async () => {
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const bodies = [list, initialize, `[${list},${list.replace('"id":1', '"id":2')}]`];
  const both = /^(application\/json|text\/event-stream)\b/;
  const json = /^application\/json\b/;
  const events = /^text\/event-stream\b/;
  const accepted: readonly (readonly [accept: string | undefined, type: RegExp])[] = [
    [undefined, both],
    ["", both],
    ["*/*", both],
    ["application/json, text/event-stream", both],
    ["text/html, */*;q=0.1", both],
    ["application/json", json],
    ["application/*", json],
    ["application/json; charset=utf-8", json],
    ["Application/JSON;q=0.1", json],
    ["*/*, text/event-stream;q=0", json],
    ["text/event-stream", events],
    ["text/*", events],
    ["text/event-stream, application/json;q=0", events],
  ];
  const post = (body: string, accept?: string): Promise<Response> => {
    const headers = { ...service.customer.bearer, "Content-Type": "application/json" };
    // Without a value, `fetch` sends one.
    return new Promise((resolve, reject) => {
      const sent = sendRequest(
        `${service.url}/mcp`,
        { method: "POST", headers: { ...headers, ...(accept === undefined ? {} : { Accept: accept }) } },
        async (response) => {
          const { statusCode: status = 0, headers: received } = response;
          resolve(
            new Response(await text(response), { status, headers: { "Content-Type": received["content-type"] ?? "" } }),
          );
        },
      );
      sent.once("error", reject).end(body);
    });
  };
  for (const body of bodies)
    for (const [accept, type] of accepted) {
      const response = await post(body, accept);
      const content = await response.text();
      assert.equal(response.status, 200, `${accept}: ${content}`);
      const found = response.headers.get("Content-Type") ?? "";
      assert.match(found, type, accept);
      const texts = json.test(found) ? [content] : [...content.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);
      const messages = texts.flatMap((one): unknown[] => [JSON.parse(one)].flat());
      assert.equal(messages.length, body.startsWith("[") ? 2 : 1, accept);
      for (const message of messages) assert.ok(Object(message).result !== undefined, content);
    }
  for (const accept of ["text/html", "application/xml, text/plain", "*/*;q=0", "application/json;q=0", "image/*"]) {
    const response = await post(list, accept);
    assert.equal(response.status, 406, accept);
    assert.match(Object(await response.json()).error.message, /expected application\/json or text\/event-stream/);
  }
});

/** The arguments of a call that keeps the engine busy. */
const slowArguments = { ...slowParameters, metric: slowParameters.metric.split(",") };
const slowCall = {
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "trends", arguments: slowArguments },
};

/** Returns how many requests an account has been charged for. */
async function chargedRequests({ get }: Client, bearer: Record<string, string>): Promise<number> {
  const { body } = await get("/v1/usage", bearer);
  return (body as { readonly totals: { readonly requests: number } }).totals.requests;
}

for (const era of ["auto", "legacy"] as const)
  test(`a cancelled call is not charged and stops, with the protocol of ${era === "auto" ? "2026" : "2025"}`, async (t) => {
    const { bearer } = await createCustomer(service.accounts);
    const agent = await connectAgent(t, service.url, bearer, { era });
    const staying = Array.from({ length: 3 }, () => agent.call("trends", slowArguments));
    await untilBusy(service);
    const abort = new AbortController();
    const leaving = Array.from({ length: 4 }, () => assert.rejects(agent.call("trends", slowArguments, abort.signal)));
    // Until then, the service may not know the calls that a notification cancels.
    await untilInFlight(service, staying.length + leaving.length);
    abort.abort();
    await Promise.all(leaving);
    for (const { isError, text: answer } of await Promise.all(staying)) assert.equal(isError, false, answer);
    assert.equal((await agent.call("search_dealers")).isError, false);
    assert.equal(await chargedRequests(service, bearer), staying.length + 1);
  });

test("a cancellation ends no call of another account, nor of another session", async () => {
  const headers = { ...protocolHeaders, "Mcp-Session-Id": "session" };
  const post = (more: Record<string, string>, message: object): Promise<Response> =>
    fetch(`${service.url}/mcp`, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(message) });
  const ids = [7, 8];
  const { bearer } = await createCustomer(service.accounts);
  const calls = ids.map((id) => post(bearer, { ...slowCall, id }));
  await untilBusy(service);
  const other = await createCustomer(service.accounts);
  for (const sender of [other.bearer, { ...bearer, "Mcp-Session-Id": "another" }])
    for (const requestId of ids)
      await post(sender, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  for (const call of calls) assert.match(await (await call).text(), /"structuredContent"/);
});

test("a call is forgotten when it ends, and not another that has its id by then", () => {
  const calls = new Map<string, AbortController>();
  const context = { get: () => "session", set: () => undefined, state: {} } as unknown as Parameters<
    typeof trackCall
  >[0];
  const identity = { key: { keyId: "key" } } as Identity;
  const track = (call: AbortController) =>
    trackCall(context, { method: "tools/call", id: 1 }, { call, identity, calls });
  const endFirst = track(new AbortController());
  const endSecond = track(new AbortController());
  endFirst();
  assert.equal(calls.size, 1);
  endSecond();
  assert.equal(calls.size, 0);
});

test("a call whose client vanishes is not charged and stops", async () => {
  const { bearer } = await createCustomer(service.accounts);
  const headers = { ...bearer, ...protocolHeaders };
  const staying = Array.from({ length: 3 }, () => service.get(slowRequest, bearer));
  await untilBusy(service);
  const abort = new AbortController();
  const { signal } = abort;
  const calls = Array.from({ length: 4 }, () => {
    const answer = fetch(`${service.url}/mcp`, { method: "POST", headers, body: JSON.stringify(slowCall), signal });
    return assert.rejects(answer.then((response) => response.text()));
  });
  await untilInFlight(service, staying.length + calls.length);
  abort.abort();
  await Promise.all(calls);
  for (const { status } of await Promise.all(staying)) assert.equal(status, 200);
  assert.equal((await service.get("/v1/dealers?limit=1", bearer)).status, 200);
  assert.equal(await chargedRequests(service, bearer), staying.length + 1);
});

test("a message waits for its turn while its account has held the event loop for longer than others", async () => {
  const { accountId, bearer } = await createCustomer(service.accounts);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const hold = (ms: number): void => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };
  let held = 0;
  await inTurnOf(accountId, async () => hold(800));
  const work = inTurnOf("other", async () => {
    for (; held < 100; held += 1) {
      hold(5);
      await turnLater();
    }
  });
  await fetch(`${service.url}/mcp`, { method: "POST", headers: { ...bearer, ...protocolHeaders }, body });
  assert.ok(held > 40, `${held} pieces of work of another account came first`);
  await work;
});

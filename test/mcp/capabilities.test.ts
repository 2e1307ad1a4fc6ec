/** What the agent server offers only to clients that declare a capability: questions to the user, tasks and charts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { type Customer, createCustomer } from "../support/accounts.ts";
import { connectAgent } from "../support/agents.ts";
import { eventually } from "../support/command-line.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, { mountSite: mountAgents });

const chargedTo = async (): Promise<number> => {
  const { body } = await service.get("/v1/usage", service.customer.bearer);
  assert.ok(isObject(body) && isObject(body.totals));
  return Number(body.totals.charged_micros);
};

describe("an expensive call is confirmed by the user of a client that can ask", () => {
  const capabilities = { elicitation: { form: {} } };
  const enriched = { include: ["price_history"], limit: 1 };

  test("an accepted price is charged once", async (t) => {
    const questions: string[] = [];
    const answer = (message: string) => {
      questions.push(message);
      return "accept" as const;
    };
    const agent = await connectAgent(t, service.url, service.customer.bearer, { capabilities, answer });
    const before = await chargedTo();
    const { isError, usage, text } = await agent.call("search_listings", enriched);
    assert.equal(isError, false, text);
    assert.deepEqual(questions, ["This call of search_listings costs $0.040. Accept to pay for it."]);
    assert.deepEqual([usage?.charged_micros, (await chargedTo()) - before], [40_000, 40_000]);
    assert.equal((await agent.call("trends", { metric: ["count"] })).isError, false);
    assert.match((await agent.call("search_listings", { ...enriched, limit: 101 })).text, /^invalid_parameter_value/);
    assert.equal(questions.length, 1);
  });

  for (const action of ["decline", "cancel"] as const)
    test(`${action} charges nothing`, async (t) => {
      const options = { capabilities, answer: () => action };
      const agent = await connectAgent(t, service.url, service.customer.bearer, options);
      const before = await chargedTo();
      const { isError, text } = await agent.call("search_listings", enriched);
      assert.equal(isError, true);
      assert.equal(text, "Not called: the price of $0.040 was not accepted. Nothing was charged.");
      assert.equal(await chargedTo(), before);
    });

  const unable = [
    { era: "legacy", capabilities },
    { capabilities: {} },
    { capabilities: { elicitation: { url: {} } } },
  ] as const;
  for (const options of unable)
    test(`a client with ${JSON.stringify(options)} is not asked`, async (t) => {
      const agent = await connectAgent(t, service.url, service.customer.bearer, options);
      assert.equal((await agent.call("search_listings", enriched)).usage?.charged_micros, 40_000);
    });

  test("questions count against the rate limits", async (t) => {
    const { bearer } = await createCustomer(service.accounts, { override: { per10s: 12, per60s: 12 } });
    const agent = await connectAgent(t, service.url, bearer, { capabilities, answer: () => "decline" });
    let declined = 0;
    while (declined < 20 && /^Not called/.test((await agent.call("search_listings", enriched)).text)) declined += 1;
    assert.ok(declined >= 2 && declined < 6, `${declined} declined calls`);
  });
});

describe("an export", () => {
  const query = { make: ["Toyota"], fields: ["vin", "price"] };
  const path = "/v1/exports?format=csv&make=Toyota&fields=vin,price";
  const download = async (customer: Customer, uri: string) => {
    const response = await fetch(uri, { headers: customer.bearer });
    return { micros: response.headers.get("X-Usage-Cost-Micros"), text: await response.text() };
  };

  test("is a link for a client without tasks, whose download is charged", async (t) => {
    const customer = await createCustomer(service.accounts);
    const agent = await connectAgent(t, service.url, customer.bearer);
    const { content } = await agent.client.callTool({ name: "export_listings", arguments: query });
    const [text, link] = content;
    assert.ok(text?.type === "text" && link?.type === "resource_link");
    const rows = Number(/^(\d+) rows; the download costs \$0\.010\./.exec(text.text)?.[1]);
    assert.equal(link.uri, service.url + path);
    const { micros, text: csv } = await download(customer, link.uri);
    assert.equal(micros, "10000");
    assert.match(csv, /^id,vin,price/);
    assert.equal(csv.trimEnd().split("\n").length, rows + 1);
  });

  test("is a task for a client with tasks, which charges for the file and links to it", async () => {
    const customer = await createCustomer(service.accounts);
    const created = await request(customer, "tools/call", { name: "export_listings", arguments: query });
    assert.deepEqual([created.result.resultType, created.result.status], ["task", "working"]);
    assert.equal(
      created.result.ttlMs,
      (0.5 + 1) * 3_600_000,
      "it may take half an hour, and its file is kept for one more",
    );
    const taskId = String(created.result.taskId);
    const stateOf = async () => (await request(customer, "tasks/get", { taskId })).result;
    await eventually("the export is written", async () => (await stateOf()).status === "completed");
    const { result } = await stateOf();
    assert.ok(isObject(result) && Array.isArray(result.content) && isObject(result._meta));
    const usage = result._meta["carquet/usage"];
    assert.deepEqual(isObject(usage) && [usage.charged_micros, usage.usage_class], [10_000, "listing_export"]);
    const [{ text }, { uri }] = result.content;
    const { micros, text: csv } = await download(customer, uri);
    assert.equal(micros, "0");
    assert.ok(text.startsWith(`Wrote ${csv.trimEnd().split("\n").length - 1} rows in ${csv.length} bytes.`), text);

    const other = await createCustomer(service.accounts);
    for (const method of ["tasks/get", "tasks/cancel"])
      assert.equal((await request(other, method, { taskId })).error.code, -32_602, method);
    assert.deepEqual((await request(customer, "tasks/get", { taskId }, [])).error.code, -32_021);
    assert.equal((await request(customer, "tasks/cancel", { taskId })).result.resultType, "complete");
    assert.equal((await stateOf()).status, "completed");
  });

  test("is refused before a task begins, and asks for a high price", async () => {
    const customer = await createCustomer(service.accounts);
    const call = async (args: object, more = {}) => {
      const { result } = await request(customer, "tools/call", { name: "export_listings", arguments: args, ...more }, [
        "tasks",
        "elicitation",
      ]);
      return result;
    };
    assert.match(JSON.stringify(await call({ format: "xls" })), /invalid_parameter_value: .*format/);
    const enriched = { ...query, include: ["options"] };
    const asked = await call(enriched);
    assert.equal(asked.resultType, "input_required");
    const [key = "", question] = Object.entries(Object(asked.inputRequests))[0] ?? [];
    assert.match(JSON.stringify(question), /export_listings costs \$0\.200/);
    const declined = await call(enriched, { inputResponses: { [key]: { action: "decline" } } });
    assert.equal(declined.isError, true);
    const accepted = await call(enriched, { inputResponses: { [key]: { action: "accept", content: {} } } });
    assert.equal(accepted.resultType, "task");
    const taskId = String(accepted.taskId);
    await request(customer, "tasks/cancel", { taskId });
    const stateOf = async () => (await request(customer, "tasks/get", { taskId })).result.status;
    await eventually("the task is cancelled", async () => (await stateOf()) === "cancelled");
  });

  test("ends with the service", async (t) => {
    const stopped = await startService(t, lake, { mountSite: mountAgents });
    const params = { name: "export_listings", arguments: query };
    const { result } = await request(stopped.customer, "tools/call", params, ["tasks"], stopped.url);
    assert.equal(result.status, "working");
    await stopped.stop();
  });

  test("needs the scope of exports", async () => {
    const scopeless = await createCustomer(service.accounts, { scopes: ["inventory.read"] });
    const refused = await request(scopeless, "tools/call", { name: "export_listings", arguments: query });
    assert.match(JSON.stringify(refused.result), /missing_scope: .*export\.read/);
  });
});

interface JsonRpcAnswer {
  readonly result: Record<string, unknown>;
  readonly error: Record<string, unknown>;
}

/** Sends a request of the protocol of 2026: the SDK's client refuses tasks. */
async function request(
  customer: Customer,
  method: string,
  params: Record<string, unknown>,
  capabilities: readonly string[] = ["tasks"],
  url = service.url,
): Promise<JsonRpcAnswer> {
  const version = "2026-07-28";
  const clientCapabilities = {
    ...(capabilities.includes("elicitation") ? { elicitation: {} } : {}),
    extensions: capabilities.includes("tasks") ? { "io.modelcontextprotocol/tasks": {} } : {},
  };
  const envelope = { protocolVersion: version, clientInfo: { name: "test", version: "1" }, clientCapabilities };
  const members = Object.entries(envelope).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]);
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...customer.bearer,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": version,
      "Mcp-Method": method,
      "Mcp-Name": String(params.name ?? params.taskId),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: Object.fromEntries(members) } }),
  });
  const { result = {}, error = {} } = await response.json();
  return { result, error };
}

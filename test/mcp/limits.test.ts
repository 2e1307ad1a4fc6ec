/** What limits an agent: its key, its account, and the length of answers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import { isObject } from "../../src/base/json.ts";
import { vocabulary } from "../../src/contract/document.ts";
import { confirmPrice } from "../../src/mcp/call-request.ts";
import { compactText } from "../../src/mcp/compact-text.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { resultOfAnswer } from "../../src/mcp/tool-results.ts";
import { createCustomer } from "../support/accounts.ts";
import { type Agent, connectAgent, spawnAgent } from "../support/agents.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, { mountSite: mountAgents });
const local = await spawnAgent(fileScope, lake);

const dealer = "41e7ac92-0f5b-4d38-8c6e-b92d70f1a584";
const vin = "2HKRW2H88NH060064";

describe("accounts", () => {
  const customerAgent = async (t: Scope, options: Parameters<typeof createCustomer>[1]): Promise<Agent> =>
    connectAgent(t, service.url, (await createCustomer(service.accounts, options)).bearer);

  test("a request without a valid key is refused as the API refuses it", async () => {
    const send = (headers: Record<string, string>, query = ""): Promise<Response> =>
      fetch(`${service.url}/mcp${query}`, { method: "POST", headers, body: "{}" });
    const codeOf = async (answer: Response) => [answer.status, (await answer.json()).error.code];
    const missing = await send({});
    assert.match(missing.headers.get("WWW-Authenticate") ?? "", /^Bearer scope=".+", resource_metadata=".+"$/);
    assert.deepEqual(await codeOf(missing), [401, "missing_api_key"]);
    assert.deepEqual(await codeOf(await send({ Authorization: "Bearer nonsense" })), [401, "invalid_api_key"]);
    assert.deepEqual(await codeOf(await send({}, "?api_key=1")), [400, "query_string_api_key_rejected"]);
  });

  test("a key without the scope of a tool is refused that tool", async (t) => {
    const client = await customerAgent(t, { scopes: ["dealers.read"] });
    assert.equal((await client.call("search_dealers")).isError, false);
    assert.match((await client.call("search_listings")).text, /^missing_scope: .* inventory\.read/);
  });

  test("an exhausted account is refused paid tools only", async (t) => {
    const client = await customerAgent(t, { usd: "0.003" });
    assert.equal((await client.call("look_up_vin", { vin })).isError, false);
    assert.match((await client.call("look_up_vin", { vin })).text, /^billing_state_blocked: /);
    assert.equal((await client.call("get_usage")).isError, false);
  });

  test("calls and other requests count against the rate limits", async (t) => {
    const { bearer } = await createCustomer(service.accounts, { override: { per10s: 12, per60s: 12 } });
    const client = await connectAgent(t, service.url, bearer);
    let called = 0;
    while (called < 20 && !(await client.call("get_usage")).isError) called += 1;
    assert.ok(called >= 8 && called < 12, `${called} calls`);
    assert.match((await client.call("get_usage")).text, /^rate_limit_exceeded: .* Retry in \d+ seconds\.$/);
    assert.match((await client.call("search_listings", { limit: 0 })).text, /^rate_limit_exceeded: /);
    assert.match(
      (await client.call("export_listings", { make: "Kia", filters: "make=Kia" })).text,
      /^rate_limit_exceeded: /,
    );
    const headers = { ...bearer, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const refusal = await fetch(`${service.url}/mcp`, { method: "POST", headers, body: list });
    assert.equal(refusal.status, 429);
    assert.ok(Number(refusal.headers.get("Retry-After")) > 0);
  });
});

describe("the largest answers", () => {
  const everyField = {
    fields: vocabulary("searchListings", "fields"),
    include: ["price_history", "options"],
    limit: 100,
  };
  const every = vocabulary("getFacets", "facets");
  const categorical = vocabulary("getTrends", "facet");
  const largest: readonly (readonly [string, Record<string, unknown>])[] = [
    ["search_listings", everyField],
    ["dealer_inventory", { dealer_id: dealer, ...everyField }],
    ["count_facets", { facets: every, facet_value_limit: 100, interval: ["price:1000"] }],
    ["find_values", { facets: every, facet_value_limit: 100 }],
    [
      "trends",
      {
        metric: ["count", "sold", "price.mean", "miles.p5", "price_drops"],
        interval: "day",
        facet: categorical.slice(0, 3),
        facet_limit: 50,
      },
    ],
    ["search_dealers", { limit: 100 }],
    ["search_listings", { make: Array.from({ length: 100 }, (_, index) => `${index}`.repeat(100)) }],
  ];
  for (const [tool, args] of largest)
    test(`${tool} stays below the limit and is complete or says how to go on`, async () => {
      for (const [detail, max] of [[undefined, 20_000] as const, ["full", 40_000] as const]) {
        const { body, text, characters, isError } = await local.call(tool, { ...args, detail });
        assert.equal(isError, false, text);
        assert.ok(characters < max, `${characters} characters`);
        if (body.note === undefined) continue;
        assert.ok(text.startsWith(String(body.note)));
        assert.match(String(body.note), /Continue with offset=\d+|Narrow the request/);
        assert.equal(/set detail to full, which allows 40000\.$/.test(String(body.note)), detail === undefined);
      }
    });

  test("the pages of a shortened search hold every listing once", async () => {
    const seen: unknown[] = [];
    let offset: unknown = 0;
    let total: unknown = 0;
    while (offset !== null) {
      const { body } = await local.call("search_listings", { ...everyField, offset });
      assert.ok(Array.isArray(body.data) && isObject(body.pagination));
      seen.push(...body.data.map(({ id }) => id));
      offset = body.pagination.next_offset;
      total = body.pagination.total;
    }
    assert.deepEqual([seen.length, new Set(seen).size], [total, total]);
  });
});

test("a call that costs up to 25,000 micros is not confirmed, one that costs more is", () => {
  const envelope = { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} } };
  const context = { mcpReq: { envelope } } as unknown as ServerContext;
  assert.equal(confirmPrice("export_listings", 25_000, context), undefined);
  assert.match(JSON.stringify(confirmPrice("export_listings", 25_001, context)), /costs \$0\.025001\. Accept/);
});

test("an item that alone is too long has shorter lists", () => {
  const item = { id: "a", features: Array.from({ length: 3_000 }, (_, index) => `feature ${index}`) };
  const body = { data: [item, item], pagination: { limit: 2, offset: 0, total: 2 } };
  const options = { id: "searchListings", isFull: false, usage: undefined, link: undefined } as const;
  const { data, note } = Object(resultOfAnswer(body, options).structuredContent);
  assert.deepEqual([data.length, data[0].id], [1, "a"]);
  assert.match(note, /^Shortened to the first 1 of 2 items, .* Lists are shortened to their first (\d+) entries, /);
  assert.ok(data[0].features.length > 100 && data[0].features.length < 3_000, note);
});

test("compact text names the first and the last item of a page", () => {
  const data = [{ name: "a" }, { name: "b" }];
  const text = compactText("searchDealers", { data, pagination: { limit: 2, offset: 4, total: 9, next_offset: 6 } });
  assert.equal(text.split("\n")[0], "9 matches; items 5 to 6. Next page: offset=6.");
});

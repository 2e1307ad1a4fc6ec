/** The tool `query` of an agent on the machine of the lake. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { sql } from "../../src/db/sql.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { type Agent, connectAgent, spawnAgent } from "../support/agents.ts";
import { skipInShortRun } from "../support/extent.ts";
import { sampleService, startService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";

const { lake, client: service } = await sampleService();
const local = await spawnAgent(fileScope, lake);

const query = (sql: string, params?: object) =>
  local.call("query", { sql, ...(params === undefined ? {} : { params }) });

test("the published views are queried with SQL and parameters", async () => {
  const { body, text, isError } = await query(
    "SELECT make, count(*) AS listings FROM active WHERE make = $make GROUP BY make",
    {
      make: "Toyota",
    },
  );
  assert.equal(isError, false, text);
  const { pagination, meta } = (await service.getBody("searchListings", "/v1/listings?make=Toyota&limit=1")) ?? {};
  assert.deepEqual(body, {
    data: [{ make: "Toyota", listings: pagination.total }],
    meta: { data_version: meta.data_version, as_of: meta.as_of },
  });
  assert.match(text, /^make,listings\nToyota,\d+/);
  assert.match((await query("DESCRIBE active")).text, /days_on_market,INTEGER/);
});

test("a result has as many rows as it holds, and a note", async () => {
  const { text, characters } = await query("SELECT range AS n, repeat('x', 100) AS t FROM range(1000)");
  assert.ok(characters < 20_000);
  assert.match(text, /^Shortened to the first \d+ of 1000 items/);
  const wide = await query("SELECT range AS n, repeat('x', 9000) AS t FROM range(1000)");
  assert.match(wide.text, /^Shortened to the first 1 of 1000 items/);
  assert.equal(Object(wide.body.meta).rows, 1000);
  const widest = await query("SELECT repeat('x', 500000) AS t");
  assert.match(widest.text, /^Lists are shortened to their first 0 entries/);
  assert.equal(Object(widest.body.meta).rows, 1);
});

test("a number that a message rounds is refused by name", async () => {
  for (const id of [2 ** 53 + 2, -(2 ** 60), 1e300]) {
    const { text, isError } = await query("SELECT $id AS id", { id });
    assert.equal(isError, true);
    assert.match(text, /^invalid_parameter_value: Invalid value .* for params\.id: expected a number below 2\^53/);
  }
  const largest = Number.MAX_SAFE_INTEGER;
  assert.deepEqual((await query("SELECT $id::BIGINT AS id", { id: largest })).body.data, [{ id: largest }]);
  assert.deepEqual((await query("SELECT $id::BIGINT AS id", { id: "9007199254740993" })).body.data, [
    { id: 9007199254740992 },
  ]);
});

test("a statement that is invalid, or reads another file, is refused with what was expected", {
  skip: skipInShortRun,
}, async () => {
  const refusals: readonly (readonly [sql: unknown, message: RegExp])[] = [
    ["SELECT pirce FROM active", /^invalid_statement: Invalid SQL: Binder Error: .*"pirce" not found/],
    ["SELECT $make AS make", /Missing parameter \$make/],
    ["FROM read_text('/etc/passwd')", /Permission Error/],
    ["COPY (SELECT 1) TO 'a.csv'", /Permission Error/],
    [7, /^invalid_parameter_value: Invalid value 7 for sql/],
    [undefined, /^missing_parameter: Missing parameter sql/],
  ];
  for (const [sql, message] of refusals) {
    const { text, isError } = await local.call("query", { sql });
    assert.equal(isError, true, text);
    assert.match(text, message);
  }
});

test("a key with the scope sql.read queries over HTTP, and is charged as for the operation", async (t) => {
  const served = await startService(t, lake, { mountSite: mountAgents, exports: { sqlDeadlineMs: 30_000 } });
  const agent = await connectAgent(t, served.url, served.customer.bearer);
  const listed = async ({ client }: Agent) => (await client.listTools()).tools.map(({ name }) => name);
  assert.ok((await listed(agent)).includes("query"));
  const { tools } = await agent.client.listTools();
  assert.match(
    tools.find(({ name }) => name === "query")?.description ?? "",
    / Costs \$0\.010 per started second of processor time\.$/,
  );
  await assert.rejects(agent.call("sql"), /Unknown tool "sql": expected one of .*, query, describe_parameters\./);
  const sql = "SELECT make, count(*) AS listings FROM active WHERE make = $make GROUP BY make";
  const { body, text, isError, usage } = await agent.call("query", { sql, params: { make: "Toyota" } });
  assert.equal(isError, false, text);
  assert.deepEqual(body, (await query(sql, { make: "Toyota" })).body);
  const balance = await (await fetch(`${served.url}/v1/usage`, { headers: served.customer.bearer })).json();
  assert.deepEqual([usage?.usage_class, usage?.charged_micros], ["sql_statement", balance.totals.charged_micros]);
  const long = await agent.call("query", { sql: "SELECT range AS n, repeat('x', 100) AS t FROM range(100000)" });
  assert.ok(long.characters < 20_000);
  assert.equal(Object(long.body.meta).rows, 100_000);
  assert.match(long.text, /^Shortened to the first \d+ of 100000 items/);
  assert.match((await agent.call("query", { sql: "SELECT pirce FROM active" })).text, /^invalid_statement: .*"pirce"/);
  assert.match((await agent.call("query", { sql: "SELECT $id", params: { id: 2 ** 60 } })).text, /for params\.id/);

  const { bearer } = await createCustomer(served.accounts, { scopes: ["inventory.read"] });
  const other = await connectAgent(t, served.url, bearer);
  assert.equal((await listed(other)).includes("query"), false);
  assert.match((await other.call("query", { sql: "SELECT 1" })).text, /^missing_scope: .*sql\.read/);
});

test("calls that are refused before their operation, and requests without a message, count against the rate limits", async (t) => {
  const served = await startService(t, lake, { mountSite: mountAgents, exports: { sqlDeadlineMs: 30_000 } });
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const call = (name: string, values: object) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: values },
  });
  for (const [body, granted] of [
    [[], ["inventory.read"]],
    [[call("query", { sql: "SELECT 1" })], ["inventory.read"]],
    [[call("search_dealers", {})], ["inventory.read"]],
    [[call("query", { sql: "SELECT $id", params: { id: 2 ** 60 } })], ["sql.read"]],
  ] as const) {
    const override = { per10s: 3, per60s: 3 };
    const { bearer } = await createCustomer(served.accounts, { scopes: [...granted], override });
    const statuses: string[] = [];
    for (let times = 0; times < 4; times += 1) {
      const sent = { method: "POST", headers: { ...bearer, ...headers }, body: JSON.stringify(body) };
      const answer = await fetch(`${served.url}/mcp`, sent);
      statuses.push(`${answer.status} ${(await answer.text()).includes("rate_limit_exceeded")}`);
    }
    assert.deepEqual(
      statuses.map((status) => /true|429/.test(status)),
      [false, false, false, true],
      JSON.stringify(body),
    );
  }
});

test("calls that are sent at once have the request id and the amount of their charges in the ledger", async (t) => {
  const served = await startService(t, lake, { mountSite: mountAgents, exports: { sqlDeadlineMs: 30_000 } });
  const counts = [5, 6, 7];
  const calls = counts.map((count) => {
    const params = { name: "query", arguments: { sql: `FROM range(${count})` } };
    return { jsonrpc: "2.0", id: count, method: "tools/call", params };
  });
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const sent = { method: "POST", headers: { ...served.customer.bearer, ...headers }, body: JSON.stringify(calls) };
  const text = await (await fetch(`${served.url}/mcp`, sent)).text();
  const answers = text.startsWith("[") ? [text] : [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);
  const results: readonly CallToolResult[] = answers.flatMap((one) => JSON.parse(one)).map(({ result }) => result);
  const read = results.map(({ structuredContent }) => Object(structuredContent).data.length);
  assert.deepEqual(read.sort(), counts);
  const charges = await inAccountsFile(served.accounts, (database) =>
    database.all(sql`
      SELECT entry_id AS request_id, -micros AS charged_micros FROM entries WHERE kind = 'charge' ORDER BY 1`),
  );
  const usages = results.map(({ _meta: meta }) => Object(meta)["carquet/usage"]);
  assert.deepEqual(
    usages.map(({ request_id, charged_micros }) => `${request_id} ${charged_micros}`).sort(),
    charges.map(({ request_id, charged_micros }) => `${request_id} ${charged_micros}`),
  );
});

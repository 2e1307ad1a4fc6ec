/** A service with `--auth=off`: every request is answered without a key, nothing is charged, and pages of other sites reach nothing. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { getAccount, listAccounts } from "../../src/accounts/account.ts";
import { listEntries } from "../../src/accounts/ledger/ledger.ts";
import { createAjv } from "../../src/contract/build/compile.ts";
import { operationsIn, type ResponseObject, resolveIn } from "../../src/contract/operations.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { mountSite } from "../../src/web/site.ts";
import { inAccountsFile } from "../support/accounts.ts";
import { minimalRequest } from "../support/examples.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const { url, accounts } = await startService(fileScope, lake, {
  isOpen: true,
  exports: { sqlDeadlineMs: 60_000 },
  mountSite: (app, services) => {
    mountAgents(app, services);
    mountSite(app, services);
  },
});

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Response {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends a request whose `Host` header can be any, unlike one of `fetch`. */
const send = (path: string, { body, ...options }: Sent = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode: status, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", reject).end(body);
  });

const json = { "Content-Type": "application/json" };

test("operations, pages and agents need no key, and no response speaks of money or limits", async () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const query = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "query", arguments: { sql: "SELECT 1" } },
  };
  const agentRequest = (message: object): readonly [string, Sent] => [
    "/mcp",
    {
      method: "POST",
      headers: { ...json, Accept: "application/json, text/event-stream" },
      body: JSON.stringify(message),
    },
  ];
  const requests: readonly (readonly [path: string, sent?: Sent])[] = [
    ["/v1/listings?limit=1"],
    ["/v1/listings?limit=1", { headers: { Authorization: "Bearer anything", "Idempotency-Key": "a" } }],
    ["/v1/facets?facets=make"],
    ["/v1/usage"],
    ["/v1/exports?format=csv&make=toyota"],
    ["/v1/searches"],
    ["/v1/sql", { method: "POST", body: JSON.stringify({ sql: "SELECT count(*) FROM active" }) }],
    ["/v1/searches", { method: "POST", body: JSON.stringify({ name: "all" }) }],
    agentRequest(initialize),
    agentRequest(query),
    ["/"],
    ["/account"],
    ["/operate"],
    ["/operate/service"],
    ["/operate/log"],
  ];
  for (const [path, sent] of requests) {
    const { status, headers, text } = await send(path, sent);
    assert.equal(status, 200, `${path}: ${text.slice(0, 200)}`);
    assert.deepEqual(
      Object.keys(headers).filter((name) => /usage|pricing|ratelimit|replayed/.test(name)),
      [],
      path,
    );
    assert.doesNotMatch(text, /carquet\/usage|charged_micros":[1-9]/, path);
  }
  assert.match((await send("/docs/search-listings")).text, /Free; no key needed\./);
  const { text } = await send("/?make=toyota");
  assert.ok(!/Sign out|Balance|This view|\$0\.0/.test(text), "no account in the head of a page");
  for (const path of ["/oauth/register", "/oauth/token", "/oauth/revoke"]) {
    const body = JSON.stringify({ redirect_uris: ["http://127.0.0.1/callback"] });
    assert.equal((await send(path, { method: "POST", headers: json, body })).status, 404, path);
  }
  for (const path of ["/oauth/authorize", "/.well-known/oauth-authorization-server"])
    assert.equal((await send(path)).status, 404, path);
  for (const path of [
    "/operate/accounts",
    "/operate/revenue",
    "/operate/revenue.csv",
    "/account/charges.csv",
    "/sign-in",
  ])
    assert.equal((await send(path)).status, 404, path);
  await inAccountsFile(accounts, async (database) => {
    const local = (await listAccounts(database, "2026-11")).find(({ email }) => email === "local@carquet.invalid");
    assert.ok(local);
    assert.deepEqual(await listEntries(database, local.accountId), []);
    assert.equal((await getAccount(database, local.accountId, "2026-11")).balanceMicros, 0);
  });
});

test("a page of another site reads nothing by another host name, and changes nothing", async () => {
  const host = new URL(url).host;
  for (const Host of ["evil.example", `evil.example:${new URL(url).port}`, "127.0.0.1.evil.example"])
    assert.equal((await send("/v1/listings?limit=1", { headers: { Host } })).status, 404, Host);
  for (const Host of [host, host.replace("127.0.0.1", "localhost")])
    assert.equal((await send("/v1/listings?limit=1", { headers: { Host } })).status, 200, Host);
  const body = JSON.stringify({ name: "stolen", webhook_url: "https://evil.example/" });
  for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }])
    assert.equal(
      (await send("/v1/searches", { method: "POST", headers: { ...headers }, body })).status,
      405,
      JSON.stringify(headers),
    );
  assert.ok(!(await send("/v1/searches")).text.includes("stolen"));
});

test("a service without keys does not listen on all addresses, nor serve pages of all origins", async (t) => {
  for (const [options, message] of [
    [{ host: "0.0.0.0" }, /Invalid host 0\.0\.0\.0 for --auth=off: expected one address/],
    ...["::", "::0", "0:0:0:0:0:0:0:0", "0", "0x0", "::ffff:0.0.0.0"].map(
      (host) => [{ host }, /expected one address/] as const,
    ),
    [{ corsOrigins: ["*"] }, /Invalid --cors-origin \* for --auth=off/],
  ] as const)
    await assert.rejects(startService(t, lake, { isOpen: true, ...options }), message);
});

test("the served document says what a service without keys does", async () => {
  const served: unknown = JSON.parse((await send("/v1/openapi.json")).text);
  const id = "https://carquet.invalid/open.json";
  const schemas = createAjv().addSchema(Object(served), id);
  const description = JSON.stringify(served);
  assert.doesNotMatch(description, /"(security|securitySchemes|X-RateLimit-[^"]*|X-Usage-[^"]*|X-Pricing-Version)":/);
  assert.doesNotMatch(description, /"description":"(?:[^"\\]|\\.)*\b(billed as|is charged|charged once|## Billing)/i);
  for (const operation of operationsIn(Object(served)).values()) {
    const { path: template, method, responses } = operation;
    assert.ok(!operation.statuses.some((status) => [401, 402, 403].includes(status)), operation.id);
    if (method !== "get") continue;
    const sample = operation.id === "listChanges" ? "/v1/changes?since=2026-11-18.1" : minimalRequest(operation);
    for (const path of [sample, `${sample.split("?")[0]}?nothing=1`]) {
      const { status, headers, text } = await send(path);
      const place = ["paths", template, method, "responses", String(status)];
      const response = resolveIn<ResponseObject>(Object(served), Object(responses[String(status)]));
      assert.ok(operation.statuses.includes(status ?? 0), `${path}: ${status}`);
      for (const [name, header] of Object.entries(response.headers ?? {})) {
        const { required = false, schema } = Object(resolveIn<object>(Object(served), header));
        const value = headers[name.toLowerCase()];
        assert.ok(value !== undefined || !required, `${path}: ${name}`);
        if (typeof value === "string" && schema.type === "string")
          assert.ok(schemas.validate({ ...schema, $id: `${id}/${path}/${name}` }, value), `${path}: ${name}: ${value}`);
      }
      const undocumented = Object.keys(headers).filter((name) =>
        /^(x-(?!request-id|content|frame)|etag|carquet)/.test(name),
      );
      const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
      assert.deepEqual(
        undocumented.filter((name) => !documented.includes(name)),
        [],
        path,
      );
      if (!String(headers["content-type"]).startsWith("application/json")) continue;
      const reference = Object(responses[String(status)]).$ref?.slice("#/".length).split("/") ?? place;
      const pointer = [...reference, "content", "application/json", "schema"].map((step: string) =>
        encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")),
      );
      const validate = schemas.compile({ $ref: `${id}#/${pointer.join("/")}` });
      assert.ok(validate(JSON.parse(text)), `${path}: ${JSON.stringify(validate.errors)}`);
    }
  }
});

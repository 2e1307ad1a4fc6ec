/** CORS: which paths the pages of which origins may call, and what a preflight request costs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServeOptions } from "../../../src/http/service/service-state.ts";
import { mountAgents } from "../../../src/mcp/mount-agents.ts";
import { mountSite } from "../../../src/web/site.ts";
import { sampleService, startService } from "../../support/http/service.ts";
import { fileScope } from "../../support/scope.ts";

const { client: closed, lake } = await sampleService();
const origin = "https://app.example";
const mountPages: NonNullable<ServeOptions["mountSite"]> = (app, services) => {
  mountAgents(app, services);
  mountSite(app, services);
};
const named = await startService(fileScope, lake, {
  mountSite: mountPages,
  corsOrigins: [origin, "http://localhost:3000"],
});
const any = await startService(fileScope, lake, { mountSite: mountPages, corsOrigins: ["*"] });

const preflightOf = (from = origin) => ({
  Origin: from,
  "Access-Control-Request-Method": "GET",
  "Access-Control-Request-Headers": "authorization,idempotency-key",
});

const send = (url: string, method: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method, headers, redirect: "manual" });

const allowed = ({ headers }: Response): string | null => headers.get("Access-Control-Allow-Origin");

const pages = ["/", "/account", "/sign-in", "/docs", "/oauth/authorize", "/oauth/token", "/healthz", "/readyz"];

test("pages of a named origin may call the API and the agent server, and no others may", async () => {
  for (const path of ["/v1/listings", "/v1/usage", "/v1/openapi.json", "/v1/nowhere", "/mcp"]) {
    const url = `${named.url}${path}`;
    for (const headers of [{ Origin: origin }, { Origin: origin, ...named.customer.bearer }]) {
      const answer = await send(url, path === "/mcp" ? "POST" : "GET", headers);
      assert.deepEqual([allowed(answer), answer.headers.get("Access-Control-Allow-Credentials")], [origin, null], path);
      assert.match(answer.headers.get("Vary") ?? "", /\bOrigin\b/);
    }
    for (const from of ["https://evil.example", "https://app.example.evil.example", "http://app.example", "null", "*"])
      assert.equal(allowed(await send(url, "GET", { Origin: from })), null, `${path} ${from}`);
    assert.equal(allowed(await send(url, "OPTIONS", preflightOf("https://evil.example"))), null);
  }
  for (const path of pages)
    for (const method of ["GET", "OPTIONS"])
      for (const { url } of [named, any])
        assert.equal(allowed(await send(`${url}${path}`, method, preflightOf())), null, path);
});

test("without the setting, no answer names an origin", async () => {
  for (const method of ["GET", "OPTIONS"]) {
    const answer = await send(`${closed.url}/v1/listings`, method, { ...preflightOf(), ...closed.customer.bearer });
    const names = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"));
    assert.deepEqual(names, []);
  }
});

test("any origin may call what needs an API key, and nothing else", async () => {
  const from = { Origin: "https://anyone.example" };
  for (const [path, expected] of [
    ["/v1/listings", "*"],
    ["/v1/usage", "*"],
    ["/v1/openapi.json", null],
  ] as const) {
    const answer = await send(`${any.url}${path}`, "GET", { ...from, ...any.customer.bearer });
    assert.deepEqual([allowed(answer), answer.headers.get("Access-Control-Allow-Credentials")], [expected, null], path);
  }
});

test("a preflight request needs no key, costs nothing and names what pages can read", async () => {
  const before = await named.getBody("getUsage", "/v1/usage");
  for (let times = 0; times < 120; times += 1) {
    const answer = await send(`${named.url}/v1/listings?limit=1&api_key=x`, "OPTIONS", preflightOf());
    assert.deepEqual([answer.status, allowed(answer)], [204, origin]);
    assert.equal(answer.headers.get("Access-Control-Allow-Headers"), "authorization,idempotency-key");
    assert.equal(answer.headers.get("Access-Control-Max-Age"), "7200");
    assert.equal(answer.headers.get("Access-Control-Allow-Methods"), "HEAD,GET,POST,DELETE");
  }
  assert.deepEqual((await named.getBody("getUsage", "/v1/usage")).totals, before.totals);
  const invalid = await send(`${named.url}/v1/listings`, "GET", { Origin: origin, Authorization: "Bearer none" });
  assert.deepEqual([invalid.status, allowed(invalid)], [401, origin]);
  const exposed = invalid.headers.get("Access-Control-Expose-Headers")?.toLowerCase().split(",") ?? [];
  for (const name of [
    "x-ratelimit-tier",
    "x-usage-class",
    "carquet-version",
    "etag",
    "link",
    "retry-after",
    "x-request-id",
  ])
    assert.ok(exposed.includes(name), name);
  const unchanged = await send(`${named.url}/v1/listings`, "GET", { Origin: origin, ...named.customer.bearer });
  const tag = unchanged.headers.get("ETag") ?? "";
  const again = await send(`${named.url}/v1/listings`, "GET", {
    Origin: origin,
    "If-None-Match": tag,
    ...named.customer.bearer,
  });
  assert.deepEqual([again.status, allowed(again)], [304, origin]);
});

test("agents in pages of the named origins are answered", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Origin: origin,
  };
  for (const { url, customer } of [named, any]) {
    const answer = await fetch(`${url}/mcp`, { method: "POST", headers: { ...headers, ...customer.bearer }, body });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("Access-Control-Expose-Headers") ?? "", /Mcp-Session-Id/);
  }
});

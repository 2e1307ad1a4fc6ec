/** Methods as RFC 9110 defines them: HEAD wherever GET is, OPTIONS on every path, and 405 with the methods of the path. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { mountAgents } from "../../../src/mcp/mount-agents.ts";
import { mountSite } from "../../../src/web/site.ts";
import { createCustomer } from "../../support/accounts.ts";
import { getOperations, minimalRequest } from "../../support/examples.ts";
import { sampleService, startService } from "../../support/http/service.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await sampleService();
const client = await startService(fileScope, lake, {
  mountSite: (app, services) => {
    mountAgents(app, services);
    mountSite(app, services);
  },
});
const exporter = await createCustomer(client.accounts, {
  scopes: ["inventory.read", "export.read", "dealers.read", "usage.read"],
});
const cookie = `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`;

interface Response {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Sends a request with all headers that select a response; undici would hide the length and the coding of a body. */
const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${client.url}${path}`,
      { method, headers: { ...exporter.bearer, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("latin1"),
          }),
        );
      },
    );
    sent.on("error", reject).end();
  });

/** Pages show the balance: their length changes, too. */
const changing = new Set([
  "content-length",
  "x-request-id",
  "date",
  "x-ratelimit-remaining-10s",
  "x-ratelimit-remaining-60s",
]);

const lasting = ({ headers }: Response): object =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.has(name)));

const paths = [...getOperations.map(minimalRequest), "/healthz", "/readyz", "/docs", "/docs/icon.png"];

for (const coding of ["identity", "gzip"])
  test(`HEAD answers as GET does, without the body (${coding})`, async () => {
    const headers = { "Accept-Encoding": coding };
    for (const path of [...paths, "/v1/listings?limit=100", "/v1/listings?nothing=1", "/v1/nothing", "/v1/vins/none"]) {
      // An export is charged once for both.
      if (path.startsWith("/v1/exports")) continue;
      const got = await send("GET", path, headers);
      const head = await send("HEAD", path, headers);
      assert.deepEqual([head.status, lasting(head), head.body], [got.status, lasting(got), ""], path);
      assert.equal(Number(head.headers["content-length"]), got.body.length, path);
    }
  });

test("HEAD is charged like GET, and a 304 is free", async () => {
  const customer = await createCustomer(client.accounts);
  const usage = async (): Promise<unknown> => JSON.parse((await send("GET", "/v1/usage", customer.bearer)).body).totals;
  const { headers } = await send("HEAD", "/v1/listings?limit=2", customer.bearer);
  assert.deepEqual(await usage(), { requests: 1, charged_micros: 2000 });
  const known = { ...customer.bearer, "If-None-Match": String(headers.etag) };
  const unchanged = await send("HEAD", "/v1/listings?limit=2", known);
  assert.deepEqual([unchanged.status, unchanged.headers["x-usage-cost-micros"]], [304, undefined]);
  const repeated = { ...customer.bearer, "Idempotency-Key": "head" };
  const costs = [];
  for (const method of ["HEAD", "GET"])
    costs.push((await send(method, "/v1/facets?facets=make", repeated)).headers["x-usage-cost-micros"]);
  assert.deepEqual([costs, await usage()], [["3000", "0"], { requests: 2, charged_micros: 5000 }]);
  assert.equal((await send("HEAD", "/v1/listings", { Authorization: "" })).status, 401);
});

test("HEAD of an export names its size, ignores ranges, and pays for the GET that follows", async () => {
  const path = "/v1/exports?format=csv&make=honda";
  const head = await send("HEAD", path, { Range: "bytes=5-" });
  assert.deepEqual([head.status, head.body, head.headers["content-range"]], [200, "", undefined]);
  const got = await send("GET", path);
  assert.equal(Number(head.headers["content-length"]), got.body.length);
  assert.equal(head.headers.etag, got.headers.etag);
  assert.deepEqual([got.headers["x-usage-cost-micros"], got.headers["idempotent-replayed"]], ["0", "true"]);
  assert.ok(Number(head.headers["x-usage-cost-micros"]) > 0);
});

const get = "GET, HEAD, OPTIONS";
const allowed: readonly (readonly [path: string, allow: string])[] = [
  ...paths.map((path) => [path, path === "/v1/searches" ? `${get}, POST` : get] as const),
  ["/v1/listings?api_key=1", get],
  ["/mcp", "OPTIONS, POST"],
  ["/", get],
  ["/sign-in", "GET, HEAD, OPTIONS, POST"],
  ["/sign-out", "OPTIONS, POST"],
  ["/account/cap", "OPTIONS, POST"],
  ["/oauth/authorize", get],
  ["/oauth/token", "OPTIONS, POST"],
  ["/.well-known/oauth-authorization-server", get],
];

test("OPTIONS names the methods of a path without a key, and so does the refusal of others", async () => {
  for (const [path, allow] of allowed) {
    const options = await send("OPTIONS", path, { Authorization: "" });
    assert.deepEqual([options.status, options.headers.allow, options.body], [204, allow, ""], path);
    const refused = await send("PUT", path);
    assert.deepEqual([refused.status, refused.headers.allow], [405, allow], path);
    assert.equal(JSON.parse(refused.body).error.message, `Method PUT is not allowed: expected one of ${allow}.`);
  }
  for (const path of [
    "/v1/nothing",
    "/v1/listings/",
    "/nothing",
    "/docs/nothing",
    "/assets/nothing.js",
    "/v1/listings/a/b",
  ])
    for (const method of ["OPTIONS", "PUT", "GET", "HEAD"]) {
      const answer = await send(method, path);
      assert.deepEqual([answer.status, answer.headers.allow], [404, undefined], `${method} ${path}`);
    }
});

test("HEAD of a page has its headers, unless another site embeds it", async () => {
  for (const path of ["/", "/account", "/sign-in"]) {
    const got = await send("GET", path, { Cookie: cookie });
    const head = await send("HEAD", path, { Cookie: cookie });
    assert.deepEqual([head.status, head.body, lasting(head)], [200, "", lasting(got)], path);
    assert.equal((await send("HEAD", path, { Cookie: cookie, "Sec-Fetch-Site": "cross-site" })).status, 403);
  }
});

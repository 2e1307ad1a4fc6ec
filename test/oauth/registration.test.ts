/** How agents find the authorization server, and how clients are registered, over HTTP. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { sql } from "../../src/db/sql.ts";
import { registrationBytesMax, registrationLimits } from "../../src/http/oauth/authorization-server.ts";
import { unusedClientMs } from "../../src/http/oauth/state-adapter.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { inAccountsFile } from "../support/accounts.ts";
import {
  callAgentServer,
  connectClient,
  mountAll,
  OAuthClient,
  redirectUri,
  registerClient,
} from "../support/http/oauth.ts";
import { exchangeRaw } from "../support/http/raw-http.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

/** Client ID metadata documents by URL. */
const documents = new Map<string, object>();
const fetchDocument: typeof fetch = async (input) => {
  const found = documents.get(String(input));
  return found === undefined ? new Response("", { status: 404 }) : Response.json(found);
};

let aheadMs = 0;
const clock = { ...systemClock, wallMs: () => Date.now() + aheadMs };
const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, { mountSite: mountAll, fetchDocument, clock });
const { url, accounts, customer } = service;

const connectAs = (name: string) => connectClient(service, name);
const statusOf = async (token?: string): Promise<number> => (await callAgentServer(url, token)).status;

describe("metadata", () => {
  test("a refusal of the agent server leads to the metadata of the resource and of its authorization server", async () => {
    const refused = await callAgentServer(url);
    assert.equal(refused.status, 401);
    const challenge = refused.headers.get("WWW-Authenticate") ?? "";
    assert.equal(
      challenge,
      `Bearer scope="inventory.read dealers.read usage.read", resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`,
    );
    for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
      const resource = (await (await fetch(`${url}${path}`)).json()) as Record<string, unknown>;
      assert.deepEqual([resource.resource, resource.authorization_servers], [`${url}/mcp`, [url]]);
    }
    const server = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      unknown
    >;
    assert.equal(server.issuer, url);
    assert.deepEqual(server.code_challenge_methods_supported, ["S256"]);
    assert.equal(server.client_id_metadata_document_supported, true);
    for (const endpoint of ["authorization", "token", "registration", "revocation"])
      assert.ok(String(server[`${endpoint}_endpoint`]).startsWith(`${url}/oauth/`), endpoint);
  });

  test("an invalid token is refused with its error, and a key still works", async () => {
    for (const token of ["nonsense", `cq_oauth_${"a".repeat(16)}_${"b".repeat(43)}`]) {
      const refused = await callAgentServer(url, token);
      assert.equal(refused.status, 401);
      assert.match(
        refused.headers.get("WWW-Authenticate") ?? "",
        /^Bearer error="invalid_token", .*resource_metadata=/,
      );
    }
    assert.notEqual(await statusOf(customer.key), 401);
  });

  test("the public URL is the issuer and the resource", async (t) => {
    const publicUrl = "https://cars.example/";
    const other = await startService(t, lake, { mountSite: mountAll, publicUrl, accounts });
    const server = await (await fetch(`${other.url}/.well-known/oauth-authorization-server`)).json();
    assert.equal((server as { issuer: string }).issuer, "https://cars.example");
    const { tokens } = await connectAs("Elsewhere");
    const refused = await callAgentServer(other.url, tokens.access_token);
    assert.equal(refused.status, 401, "a token of another audience");
    assert.match(refused.headers.get("WWW-Authenticate") ?? "", /invalid_token.*https:\/\/cars\.example\/\.well-known/);
  });
});

describe("registration", () => {
  test("a client redirects to https, to this computer, or to a private-use scheme", async () => {
    for (const [uri, status] of [
      ["https://agent.example/callback", 201],
      ["http://localhost:1234/callback", 201],
      ["http://[::1]/callback", 201],
      ["http://127.0.0.1:33418/", 201],
      ["cursor://anysphere.cursor-retrieval/oauth/callback", 201],
      ["com.example.agent:/callback", 201],
      ["agent://callback", 400],
      ["data:text/html,hello", 400],
      ["file:///etc/passwd", 400],
      ["https://user:secret@agent.example/callback", 400],
      ["https://agent.example@evil.example/callback", 400],
      ["http://127.0.0.1.evil.example/callback", 400],
      ["http://agent.example/callback", 400],
      ["javascript:alert(1)", 400],
      ["https://agent.example/#fragment", 400],
      ["nonsense", 400],
    ] as const)
      for (const application_type of [undefined, "native", "web"] as const)
        if (application_type !== "web" || uri.startsWith("http://agent"))
          assert.equal((await registerClient(url, { redirect_uris: [uri], application_type })).status, status, uri);
  });

  test("a client without an authentication method is public; a secret is stored as a hash only", async () => {
    const open = await registerClient(url);
    assert.deepEqual([open.token_endpoint_auth_method, open.client_secret], ["none", undefined]);
    const closed = await registerClient(url, { token_endpoint_auth_method: "client_secret_post" });
    const secret = String(closed.client_secret);
    const stored = await inAccountsFile(accounts, async (database) =>
      JSON.stringify(await database.all(sql`SELECT * FROM oauth_state`)),
    );
    assert.ok(secret.length > 40 && !stored.includes(secret));
    const client = new OAuthClient(service);
    const id = String(closed.client_id);
    const { searchParams } = await client.authorize({ clientId: id });
    const code = searchParams.get("code") ?? "";
    assert.equal((await client.redeem(id, code)).error, "invalid_client");
    assert.equal((await client.redeem(id, code, { client_secret: "wrong" })).error, "invalid_client");
    assert.equal((await client.redeem(id, code, { client_secret: secret })).status, 200);
  });

  test("a registration with a name twice is refused; one with two redirects has both", async () => {
    const register = (text: string): Promise<Response> =>
      fetch(`${url}/oauth/register`, { method: "POST", headers: { "Content-Type": "application/json" }, body: text });
    const first = "https://agent.example/1";
    const second = "https://agent.example/2";
    const twice = await register(`{"redirect_uris":["${first}"],"redirect_uris":["${second}"]}`);
    assert.equal(twice.status, 400);
    assert.deepEqual(await twice.json(), {
      error: "invalid_client_metadata",
      error_description: "redirect_uris twice in the registration: expected each name once.",
    });
    assert.equal((await register(`{"redirect_uris":["${first}"`)).status, 400);
    const { status, redirect_uris } = await registerClient(url, { redirect_uris: [first, second] });
    assert.deepEqual([status, redirect_uris], [201, [first, second]]);
  });

  test("a registration that arrives in parts is answered, and one that does not arrive holds up no other", async (t) => {
    const body = JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: "none" });
    const head = `POST /oauth/register HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const partly = connect(Number(new URL(url).port), "127.0.0.1");
    onScopeEnd(t, async () => void partly.destroy());
    partly.write(`${head}{`);
    await once(partly, "ready");
    assert.match(await exchangeRaw(url, head, body.slice(0, 1), body.slice(1, 9), body.slice(9)), /^HTTP\/1\.1 201 /);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    partly.write(body.slice(1));
    assert.match(String(await once(partly, "data")), /^HTTP\/1\.1 201 /);
  });

  test("registrations are limited in size and per address", async (t) => {
    assert.equal((await registerClient(url, { client_name: "x".repeat(registrationBytesMax) })).status, 413);
    const other = await startService(t, lake, { mountSite: mountAll, accounts });
    const { failuresMax } = registrationLimits;
    for (let n = 0; n < failuresMax; n += 1)
      assert.equal((await registerClient(other.url, { redirect_uris: [] })).status, 400);
    assert.equal((await registerClient(other.url)).status, 429);
  });

  test("a client that is never used is forgotten after a day; one that has tokens, 90 days after the last", async () => {
    const { client_id: unused } = await registerClient(url);
    const { id: used } = await connectAs("Lasting");
    aheadMs = unusedClientMs + 1000;
    const client = new OAuthClient(service);
    const forgotten = await client.request({ clientId: String(unused) });
    const kept = await client.request({ clientId: used });
    aheadMs = 90 * unusedClientMs - 120_000;
    const keptLong = await client.request({ clientId: used });
    aheadMs = 90 * unusedClientMs + 1000;
    const gone = await client.request({ clientId: used });
    aheadMs = 0;
    assert.deepEqual([forgotten.status, kept.status, keptLong.status, gone.status], [400, 303, 303, 400]);
    assert.match(await forgotten.text(), /The agent cannot be connected/);
  });

  test("a client ID metadata document stands for a registration", async () => {
    const id = "https://agent.example/client.json";
    documents.set(id, { client_id: id, client_name: "Published agent", redirect_uris: [redirectUri] });
    const client = new OAuthClient(service);
    const page = await client.openConsent(await client.request({ clientId: id }));
    assert.ok(page.includes("Published agent") && page.includes("agent.example"));
    const { access_token: token } = await new OAuthClient(service).connect({ clientId: id });
    assert.notEqual(await statusOf(token), 401);
    documents.set("https://agent.example/other.json", { client_id: id, redirect_uris: [redirectUri] });
    for (const wrong of ["https://agent.example/other.json", "https://agent.example/none.json"])
      assert.equal((await client.request({ clientId: wrong })).status, 400, wrong);
  });
});

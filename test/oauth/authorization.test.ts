/** Authorization requests, codes and tokens over HTTP: consent, expiry, reuse and revocation. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Accounts } from "../../src/accounts/accounts.ts";
import { listAuditRecords } from "../../src/accounts/administration/audit-log.ts";
import { listKeys } from "../../src/accounts/keys/keys.ts";
import { AccessTokens } from "../../src/accounts/oauth/access-tokens.ts";
import { deleteStateOfGrant } from "../../src/accounts/oauth/oauth-state.ts";
import { sql } from "../../src/db/sql.ts";
import { refreshLimits } from "../../src/http/oauth/authorization-server.ts";
import { accessTokenSeconds, refreshTokenSeconds } from "../../src/http/oauth/provider.ts";
import { stateAdapter } from "../../src/http/oauth/state-adapter.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import {
  callAgentServer,
  connectClient,
  mountAll,
  OAuthClient,
  redirectUri,
  registerClient,
} from "../support/http/oauth.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

let aheadMs = 0;
/** The monotonic time while a test holds it still: a whole number, so that differences are exact. */
let heldMs: number | undefined;
const clock = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => heldMs ?? systemClock.monotonicMs() };
const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, { mountSite: mountAll, clock });
const { url, accounts, customer } = service;
const clientId = String((await registerClient(url)).client_id);

const connectAs = (name: string, parameters = {}) => connectClient(service, name, parameters);
const statusOf = async (token?: string): Promise<number> => (await callAgentServer(url, token)).status;
const isRefused = async (token: string): Promise<boolean> => (await statusOf(token)) === 401;
/** Whether a token is refused once a time has passed, which may be cached until then: on the service's clock, so that a busy machine does not matter. */
async function isRefusedAfter(ms: number, token: string): Promise<boolean> {
  heldMs = Math.ceil(systemClock.monotonicMs()) + ms;
  const refused = await isRefused(token);
  heldMs = undefined;
  return refused;
}
const grantOf = (name: string) =>
  inAccountsFile(accounts, async (database) =>
    (await listKeys(database, customer.accountId)).findLast((key) => key.name === `${name} (OAuth)`),
  );

describe("authorization requests", () => {
  test("the consent page names the client, its redirect, its scopes with their prices, and who pays", async () => {
    const { client_id: id } = await registerClient(url, { client_name: "<b>Bold\u202e agent</b>" });
    const client = new OAuthClient(service);
    const page = await client.openConsent(
      await client.request({ clientId: String(id), parameters: { scope: "inventory.read usage.read unknown" } }),
    );
    for (const text of ["&lt;b>Bold agent&lt;/b>", "not verified", "127.0.0.1:7777", "buyer@dealers.example"])
      assert.ok(page.includes(text), text);
    assert.match(page, /Search listings.*\$0\.0001 to \$0\.04 a request.*Read the usage of the account.*free/s);
    assert.ok(!page.includes("Look up dealers"));
  });

  test("a faulty request is answered by a page: no browser is sent to an address that any client can register", async () => {
    for (const [parameters, message] of [
      [{ code_challenge: "", code_challenge_method: "" }, /PKCE/],
      [{ code_challenge_method: "plain" }, /code_challenge_method/],
      [{ code_challenge_method: "" }, /code_challenge_method/],
      [{ resource: "https://elsewhere.example/mcp" }, /expected the resource/],
      [{ response_type: "token" }, /response_type/],
      [{ prompt: "none" }, /consent|sign/i],
      [{ prompt: "none login" }, /prompt/],
      [{ response_mode: "form_post" }, /Invalid response_mode form_post: expected query/],
      [{ response_mode: "fragment", prompt: "none" }, /Invalid response_mode fragment/],
    ] as const) {
      const response = await new OAuthClient(service).request({ clientId, parameters });
      const page = await response.text();
      assert.deepEqual([response.status, response.headers.get("Location")], [400, null], JSON.stringify(parameters));
      assert.match(page, /<h1>The agent cannot be connected<\/h1><p>[^<]+\. Start again from the agent\./);
      assert.match(page, message);
      assert.ok(!page.includes(redirectUri), "no link to the client");
    }
  });

  test("a request of an unknown client, or with another redirect, is answered by a page", async () => {
    for (const authorization of [
      { clientId: "unknown" },
      { clientId, parameters: { redirect_uri: "https://evil.example/callback" } },
      { clientId, parameters: { redirect_uri: "http://127.0.0.1:7777/other" } },
    ]) {
      const response = await new OAuthClient(service).request(authorization);
      assert.deepEqual([response.status, response.headers.get("Location")], [400, null]);
      assert.match(await response.text(), /<h1>The agent cannot be connected/);
    }
  });

  test("a signed-out browser signs in first; a request belongs to its browser, and its form carries a token", async () => {
    const client = new OAuthClient(service);
    const path = (await client.request({ clientId })).headers.get("Location") ?? "";
    const anonymous = await fetch(`${url}${path}`);
    assert.equal(anonymous.status, 401);
    assert.ok((await anonymous.text()).includes(`name="next" value="${path}"`));
    const cookie = `carquet-session=${await service.sessions.create({ accountId: customer.accountId })}`;
    const stranger = await fetch(`${url}${path}`, { headers: { Cookie: cookie } });
    assert.deepEqual([stranger.status, (await stranger.text()).includes("another browser")], [400, true]);
    const forged = await sendForm(url, path, { answer: "allow" }, { cookie });
    assert.equal(forged.status, 403);
    const token = csrfTokenIn(await (await fetch(`${url}/account`, { headers: { Cookie: cookie } })).text());
    assert.equal((await sendForm(url, path, { csrf_token: token, answer: "allow" }, { cookie })).status, 400);
  });

  test("the cookie of a request opens no page of another one", async () => {
    const client = new OAuthClient(service);
    const first = await client.request({ clientId });
    const second = await new OAuthClient(service).request({ clientId });
    await client.openConsent(first);
    const moved = new Response(null, { status: 303, headers: { Location: second.headers.get("Location") ?? "" } });
    assert.doesNotMatch(await client.openConsent(moved), /name="answer"/);
  });

  test("a long name of a client is cut to 60 characters, on the page and in the name of its key", async () => {
    const { client_id: id } = await registerClient(url, { client_name: "n".repeat(200) });
    const client = new OAuthClient(service);
    const page = await client.openConsent(await client.request({ clientId: String(id) }));
    assert.ok(page.includes("n".repeat(60)) && !page.includes("n".repeat(61)));
  });

  test("consent that is sent twice at once creates one grant, and both answers lead on", async () => {
    const { accountId } = await createCustomer(service.accounts);
    const client = new OAuthClient(service);
    const request = await client.request({ clientId });
    const page = await client.openConsent(request, accountId);
    const keys = () => inAccountsFile(service.accounts, (database) => listKeys(database, accountId));
    const before = (await keys()).length;
    const answers = await Promise.all([1, 2].map(() => client.answer(request, page, "allow")));
    assert.match(answers[0]?.headers.get("Refresh") ?? "", /^0; url=/);
    assert.equal(answers[1]?.headers.get("Refresh"), answers[0]?.headers.get("Refresh"));
    assert.equal((await keys()).length, before + 1);
    assert.equal((await client.answer(request, page, "allow")).status, 400);
  });

  test("an account holder who declines sends the client an error", async () => {
    const { searchParams } = await new OAuthClient(service).authorize({ clientId, answer: "decline" });
    assert.deepEqual([searchParams.get("error"), searchParams.get("code")], ["access_denied", null]);
    assert.equal(searchParams.get("iss"), url);
  });

  test("a request is answered once: a form that is sent again connects no second agent", async () => {
    const { client_id: id } = await registerClient(url, { client_name: "Twice" });
    const client = new OAuthClient(service);
    const request = await client.request({ clientId: String(id) });
    const page = await client.openConsent(request);
    const statuses = [];
    for (const answer of ["allow", "allow", "decline"] as const)
      statuses.push((await client.answer(request, page, answer)).status);
    assert.deepEqual(statuses, [200, 400, 400]);
    const keys = await inAccountsFile(accounts, (database) => listKeys(database, customer.accountId));
    assert.equal(keys.filter(({ name }) => name === "Twice (OAuth)").length, 1);
  });
});

describe("tokens", () => {
  test("a grant is a key of the account, with the requested scopes, in the audit log", async () => {
    const { tokens } = await connectAs("Claude", { scope: "dealers.read" });
    assert.deepEqual([tokens.status, tokens.scope, tokens.expires_in], [200, "dealers.read", accessTokenSeconds]);
    assert.match(tokens.access_token, /^cq_oauth_/);
    assert.notEqual(await statusOf(tokens.access_token), 401);
    const grant = await grantOf("Claude");
    assert.deepEqual(grant?.scopes, ["dealers.read"]);
    await eventually("its use is recorded", async () => (await grantOf("Claude"))?.lastUsedAtMs !== null);
    const [record] = await inAccountsFile(accounts, (database) =>
      listAuditRecords(database, { before: null, limit: 1 }),
    );
    assert.deepEqual([record?.action, record?.actor], ["agents connect", customer.accountId]);
    const stored = await inAccountsFile(accounts, async (database) =>
      JSON.stringify(await database.all(sql`SELECT * FROM oauth_state`)),
    );
    for (const secret of [tokens.access_token, tokens.refresh_token]) assert.ok(!stored.includes(secret.slice(-43)));
    const api = await fetch(`${url}/v1/usage`, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
    assert.equal(api.status, 401, "the audience is the agent server alone");
  });

  test("a request without a scope or a resource is one for all scopes of the agent server", async () => {
    const { tokens } = await connectAs("Earlier client", { scope: "", resource: "" });
    assert.equal(tokens.scope, "inventory.read dealers.read usage.read");
    assert.notEqual(await statusOf(tokens.access_token), 401);
  });

  test("a call that needs a scope which the token lacks is refused with the scopes to ask for", async () => {
    const { tokens } = await connectAs("Narrow", { scope: "dealers.read" });
    assert.notEqual((await callAgentServer(url, tokens.access_token, "search_dealers")).status, 403);
    const refused = await callAgentServer(url, tokens.access_token, "search_listings");
    assert.equal(refused.status, 403);
    assert.match(
      refused.headers.get("WWW-Authenticate") ?? "",
      /^Bearer error="insufficient_scope", scope="dealers\.read inventory\.read", resource_metadata="/,
    );
  });

  test("a code works once, with its verifier and redirect; used again, it revokes the grant", async () => {
    const client = new OAuthClient(service);
    const { client_id: id } = await registerClient(url, { client_name: "Twice" });
    const { searchParams } = await client.authorize({ clientId: String(id) });
    const code = searchParams.get("code") ?? "";
    for (const fields of [
      { code_verifier: "x".repeat(43) },
      { code_verifier: "" },
      { redirect_uri: "http://127.0.0.1:7777/other" },
    ])
      assert.equal((await client.redeem(String(id), code, fields)).error, "invalid_grant", JSON.stringify(fields));
    assert.equal((await client.redeem(clientId, code)).error, "invalid_grant", "another client");
    const tokens = await client.redeem(String(id), code);
    assert.equal(tokens.status, 200);
    assert.equal((await client.redeem(String(id), code)).error, "invalid_grant");
    assert.ok(await isRefusedAfter(2000, tokens.access_token));
    assert.notEqual((await grantOf("Twice"))?.revokedAtMs, null);
    assert.equal((await client.refresh(String(id), tokens.refresh_token)).error, "invalid_grant");
  });

  test("of concurrent requests with a code, one succeeds", async () => {
    const client = new OAuthClient(service);
    const { searchParams } = await client.authorize({ clientId });
    const code = searchParams.get("code") ?? "";
    const answers = await Promise.all([1, 2, 3].map(() => client.redeem(clientId, code)));
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
  });

  test("a refresh token is replaced with each use; used again, it revokes the grant", async () => {
    const { client, id, tokens } = await connectAs("Rotating", { scope: "inventory.read dealers.read" });
    const renewed = await client.refresh(id, tokens.refresh_token, { scope: "dealers.read" });
    assert.deepEqual([renewed.status, renewed.scope], [200, "dealers.read"]);
    assert.notEqual(renewed.refresh_token, tokens.refresh_token);
    assert.equal(
      (await callAgentServer(url, renewed.access_token, "search_listings")).status,
      403,
      "the scope is less",
    );
    assert.equal((await client.refresh(clientId, renewed.refresh_token)).error, "invalid_grant", "another client");
    assert.notEqual(await statusOf(renewed.access_token), 401);
    assert.equal((await client.refresh(id, tokens.refresh_token)).error, "invalid_grant");
    assert.ok(await isRefusedAfter(2000, renewed.access_token));
    assert.equal((await client.refresh(id, renewed.refresh_token)).error, "invalid_grant");
  });

  test("the tokens of a grant are refreshed at most 30 times in an hour, which holds up no other grant", async () => {
    const { client, id, tokens } = await connectAs("Eager");
    let token = tokens.refresh_token;
    for (let count = 0; count < refreshLimits.failuresMax; count += 1)
      token = (await client.refresh(id, token)).refresh_token;
    const { status, error } = await client.refresh(id, token);
    assert.deepEqual([status, error], [400, "temporarily_unavailable"]);
    const other = await connectAs("Patient");
    assert.equal((await other.client.refresh(other.id, other.tokens.refresh_token)).status, 200);
  });

  test("a refresh token is consumed by one of two requests that have both found it", async (t) => {
    const opened = await Accounts.open(accounts, { clock });
    onScopeEnd(t, () => opened.close());
    const adapter = stateAdapter("RefreshToken", opened.administration, "https://cars.example/mcp");
    await adapter.upsert("found twice", { clientId: "a" }, 60);
    await adapter.consume("found twice");
    await assert.rejects(adapter.consume("found twice"), { error: "invalid_grant" });
  });

  test("tokens expire", async () => {
    const { client, id, tokens } = await connectAs("Expiring");
    aheadMs = (accessTokenSeconds + 1) * 1000;
    assert.ok(await isRefused(tokens.access_token));
    const renewed = await client.refresh(id, tokens.refresh_token);
    assert.equal(renewed.status, 200);
    aheadMs += (refreshTokenSeconds + 1) * 1000;
    assert.equal((await client.refresh(id, renewed.refresh_token)).error, "invalid_grant");
    aheadMs = 0;
  });

  test("a cached token expires too", async () => {
    const { tokens } = await connectAs("Expiring while cached");
    heldMs = Math.ceil(systemClock.monotonicMs());
    assert.ok(!(await isRefused(tokens.access_token)));
    aheadMs = (accessTokenSeconds + 1) * 1000;
    assert.ok(await isRefused(tokens.access_token));
    aheadMs = 0;
    heldMs = undefined;
  });

  test("a token that another process deletes is refused after 0.9 s, when its cache entry is too old", async () => {
    const { tokens } = await connectAs("Deleted");
    heldMs = Math.ceil(systemClock.monotonicMs());
    assert.ok(!(await isRefused(tokens.access_token)));
    const keyId = (await grantOf("Deleted"))?.keyId ?? "";
    await inAccountsFile(accounts, (database) => deleteStateOfGrant(database, "AccessToken", keyId));
    heldMs += 900;
    assert.ok(!(await isRefused(tokens.access_token)));
    heldMs += 1;
    assert.ok(await isRefused(tokens.access_token));
    heldMs = undefined;
  });

  test("concurrent requests with a new token pass, and one with a token in use where too many others have failed", async (t) => {
    const { tokens } = await connectAs("Busy");
    const opened = await Accounts.open(accounts, { clock });
    t.after(() => opened.close());
    heldMs = Math.ceil(systemClock.monotonicMs());
    t.after(() => {
      heldMs = undefined;
    });
    const identifier = new AccessTokens(opened, clock);
    const identify = (token = tokens.access_token) => identifier.identify(token, `${url}/mcp`, "192.0.2.1");
    await Promise.all(Array.from({ length: 101 }, () => identify()));
    for (let attempt = 0; attempt < 100; attempt += 1)
      await assert.rejects(() => identify("cq_oauth_unknown"), { code: "invalid_api_key" });
    await assert.rejects(() => identify("cq_oauth_unknown"), { code: "too_many_invalid_api_keys" });
    heldMs += 901;
    await identify();
  });

  test("a client that revokes one of its tokens is disconnected", async () => {
    for (const name of ["access_token", "refresh_token"] as const) {
      const { client, id, tokens } = await connectAs("Leaving");
      const revoke = (token: string): Promise<Response> =>
        fetch(`${url}/oauth/revoke`, { method: "POST", body: new URLSearchParams({ token, client_id: id }) });
      assert.equal((await revoke("unknown")).status, 200);
      assert.notEqual(await statusOf(tokens.access_token), 401);
      assert.equal((await revoke(tokens[name])).status, 200);
      assert.ok(await isRefusedAfter(2000, tokens.access_token));
      assert.equal((await client.refresh(id, tokens.refresh_token)).error, "invalid_grant");
      assert.notEqual((await grantOf("Leaving"))?.revokedAtMs, null);
    }
  });

  test("a disconnected agent is refused within a second, and only its account can disconnect it", async () => {
    const { client, id, tokens } = await connectAs("Disconnected");
    const keyId = (await grantOf("Disconnected"))?.keyId ?? "";
    const sessionOf = async (accountId: string): Promise<string> =>
      `carquet-session=${await service.sessions.create({ accountId })}`;
    const cookie = await sessionOf(customer.accountId);
    const page = await (await fetch(`${url}/account`, { headers: { Cookie: cookie } })).text();
    const path = `/account/keys/${keyId}/revoke`;
    assert.ok(
      page.includes("Disconnected (OAuth)") &&
        page.includes("<summary>Disconnect</summary>") &&
        page.includes(`action="${path}"`),
    );
    assert.notEqual(await statusOf(tokens.access_token), 401);
    const form = { csrf_token: csrfTokenIn(page) };
    const other = await sessionOf((await createCustomer(service.accounts)).accountId);
    const otherForm = {
      csrf_token: csrfTokenIn(await (await fetch(`${url}/account`, { headers: { Cookie: other } })).text()),
    };
    assert.equal((await sendForm(url, path, otherForm, { cookie: other })).status, 404);
    const sent = await sendForm(url, path, form, { cookie });
    assert.equal(sent.headers.get("Location"), "/account#keys");
    assert.ok(await isRefusedAfter(1500, tokens.access_token));
    assert.equal((await client.refresh(id, tokens.refresh_token)).error, "invalid_grant");
  });
});

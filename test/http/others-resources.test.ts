/** Resources with an id, asked for by another account: they are not found, on every surface. A route with an id that has no row here fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSearch } from "../../src/accounts/administration/saved-searches.ts";
import { isObject } from "../../src/base/json.ts";
import { operations } from "../../src/contract/document.ts";
import { tools } from "../../src/mcp/tools.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { callAgentServer, connectClient, mountAll, OAuthClient, registerClient } from "../support/http/oauth.ts";
import { type MountedRoute, routesOf } from "../support/http/routes.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
let pages: readonly MountedRoute[] = [];
const client = await startService(fileScope, lake, {
  mountSite: (app, services) => {
    mountAll(app, services);
    pages = routesOf(app);
  },
});
const { url, accounts, customer: owner } = client;
const other = await createCustomer(accounts);

/** A route with an id: a method, and a path with `:name`. */
const routes = [
  ...pages.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)),
  ...[...operations.values()].map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
  ),
].filter((route) => route.includes("/:") && !route.startsWith("HEAD "));

/**
 * What everybody may read: vehicles, dealers, the values and days of the market, and where former addresses lead. Any account can choose any dealer as
 * its lot.
 */
const isPublic = (route: string): boolean =>
  route === "POST /dealers/:dealer_id" ||
  route.startsWith("GET /operator/") ||
  /^GET \/(v1\/)?(listings|vins|dealers|values)\/:(listing_id|vin|dealer_id|facet)(\/(comparables|evidence|dealer-fit|fit|listings))?$/.test(
    route,
  );

async function browserOf(accountId: string) {
  const cookie = `carquet-session=${await client.sessions.create({ accountId })}`;
  const open = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { Cookie: cookie }, redirect: "manual" });
  const csrf_token = csrfTokenIn(await (await open("/account")).text());
  const send = (path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> =>
    sendForm(url, path, { csrf_token, ...fields }, { cookie });
  return { open, send };
}

const own = await browserOf(owner.accountId);
const foreign = await browserOf(other.accountId);

const callApi = (method: string, path: string, { bearer }: typeof owner, body?: object): Promise<Response> =>
  fetch(`${url}${path}`, { method, headers: bearer, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

interface Saved {
  readonly search_id: string;
  readonly feed_url: string;
}

async function save(customer: typeof owner): Promise<Saved> {
  const answer: unknown = await (await callApi("POST", "/v1/searches", customer, { name: "all" })).json();
  assert.ok(isObject(answer) && isObject(answer.data), JSON.stringify(answer));
  return { search_id: String(answer.data.search_id), feed_url: String(answer.data.feed_url) };
}

const saved = await save(owner);
const savedByOther = await save(other);
const agent = await connectClient(client, "Agent");
const waitingClient = new OAuthClient(client);
const waiting = await waitingClient.request({ clientId: String((await registerClient(url)).client_id) });

const consentId = waiting.headers.get("Location")?.split("/").at(-1) ?? "";
const [signature = ""] = savedByOther.feed_url.split(".").slice(-1);

/** The id of the owner's resource, by route. */
const resources: Readonly<Record<string, string>> = {
  "DELETE /v1/searches/:search_id": saved.search_id,
  "POST /v1/searches/:search_id/resume": saved.search_id,
  "POST /v1/searches/:search_id/rotate": saved.search_id,
  "POST /account/searches/:searchId/delete": saved.search_id,
  "POST /account/searches/:searchId/resume": saved.search_id,
  // The address of a feed is its key: that of one search opens no other.
  "GET /feeds/:feed": `${saved.search_id}.${signature}`,
  "POST /account/keys/:keyId/revoke": owner.keyId,
  "GET /oauth/consent/:id": consentId,
  "POST /oauth/consent/:id": consentId,
  "GET /oauth/authorize/:id": consentId,
};

test("another account finds no resource, on any route with an id", async () => {
  for (const id of Object.values(resources)) assert.match(id, /^[\w.-]{8,}$/);
  for (const route of routes.filter((one) => !isPublic(one))) {
    const [method = "", template = ""] = route.split(" ");
    const isOperators = template.startsWith("/operate/");
    const id = isOperators ? owner.accountId : resources[route];
    assert.ok(id !== undefined, `${route}: expected a row, or that everybody may read it`);
    const path = template.replaceAll(/:\w+/g, id);
    const isApi = path.startsWith("/v1/");
    const sent = isApi ? callApi(method, path, other) : method === "GET" ? foreign.open(path) : foreign.send(path);
    const { status } = await sent;
    assert.ok(status === 404 || (template.startsWith("/oauth/") && status === 400), `${route}: ${status}`);
  }
});

test("no parameter of an operation or a tool names a resource of an account", () => {
  const parameters = [...operations.values()].flatMap((operation) => operation.parameters.map(({ name }) => name));
  const named = new Set(
    [...parameters, ...tools.flatMap((tool) => tool.parameters)].filter((name) => /_?id$/.test(name)),
  );
  assert.deepEqual([...named].sort(), ["dealer_id", "listing_id", "search_id"]);
});

test("the owner finds all of them afterwards, unchanged", async () => {
  const gets = Object.entries(resources).filter(
    ([route]) => route.startsWith("GET ") && !/\/(oauth|feeds)\//.test(route),
  );
  for (const [route, id] of gets) {
    const path = route.slice("GET ".length).replaceAll(/:\w+/g, id);
    assert.equal((await own.open(path)).status, 200, route);
  }
  assert.equal((await fetch(`${url}${saved.feed_url}`)).status, 200);
  assert.match(await waitingClient.openConsent(waiting), /Test agent/);
  assert.equal((await callAgentServer(url, agent.tokens.access_token)).status, 200);
  assert.equal((await callApi("POST", `/v1/searches/${saved.search_id}/resume`, owner)).status, 200);
  assert.equal((await callApi("DELETE", `/v1/searches/${saved.search_id}`, owner)).status, 200);
});

test("an idempotency key of another account stands for nothing", async () => {
  const send = ({ bearer }: typeof owner) =>
    fetch(`${url}/v1/listings?limit=1`, { headers: { ...bearer, "Idempotency-Key": "order-1" } });
  for (const [customer, replayed] of [
    [owner, null],
    [other, null],
    [owner, "true"],
  ] as const)
    assert.equal((await send(customer)).headers.get("Idempotent-Replayed"), replayed);
});

test("an account has at most 100 saved searches, over HTTP and on pages", async () => {
  const customer = await createCustomer(accounts);
  const { accountId, keyId } = customer;
  const search = { accountId, keyId, name: "all", query: "", url: null, since: "2026-11-19.1" };
  await inAccountsFile(accounts, async (database) => {
    for (let n = 0; n < 99; n += 1) await createSearch(database, search, Date.now());
  });
  const post = () => callApi("POST", "/v1/searches", customer, { name: "all" });
  assert.equal((await post()).status, 200, "the 100th");
  const refused = await post();
  assert.equal(refused.status, 400, "the 101st");
  assert.match(await refused.text(), /at most 100 saved searches of an account/);
  const browser = await browserOf(accountId);
  const form = await browser.send("/account/searches", { name: "all", query: "" });
  assert.match(await form.text(), /100 saved searches/);
  assert.equal(form.status, 400);
});

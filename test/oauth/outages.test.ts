/** Outages of the accounts during the authorization requests of agents. */
import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import Koa from "koa";
import { Accounts } from "../../src/accounts/accounts.ts";
import { Refusal } from "../../src/contract/errors.ts";
import type { RequestContext } from "../../src/http/context.ts";
import { AuthorizationServer } from "../../src/http/oauth/authorization-server.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const baseUrl = "http://127.0.0.1:8080";
const id = "an-id-of-a-request";

/** Serves what `consentRequest` finds for a browser with a request; returns a function that asks for it. */
async function consentRequests(scope: Scope, authorization: AuthorizationServer): Promise<() => Promise<string>> {
  const app = new Koa();
  app.use(async (context) => {
    // The authorization server reads nothing that the pipeline of the service adds.
    const found = authorization.consentRequest(context as unknown as RequestContext, id);
    context.body = await found.then(
      (request) => (request === undefined ? "expired" : "found"),
      (thrown) => (thrown instanceof Refusal ? thrown.code : String(thrown)),
    );
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onScopeEnd(scope, async () => void server.close());
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const headers = { Cookie: `carquet-oauth-request=${id}` };
  return async () => (await fetch(`http://127.0.0.1:${address.port}/`, { headers })).text();
}

async function openAuthorization(scope: Scope, url: () => string) {
  const path = await temporaryAccountsFile(scope);
  const accounts = await Accounts.open(path, { clock: systemClock });
  onScopeEnd(scope, () => accounts.close());
  const authorization = new AuthorizationServer({ accounts, clock: systemClock, baseUrl: url });
  return { path, ask: await consentRequests(scope, authorization) };
}

test("an outage of the accounts is not reported as an expired request", async (scope) => {
  const { path, ask } = await openAuthorization(scope, () => baseUrl);
  assert.equal(await ask(), "expired");
  const parts = ["", "-wal", "-shm"];
  for (const part of parts) await rename(`${path}${part}`, `${path}${part}.away`);
  assert.equal(await ask(), "metering_unavailable");
  for (const part of parts) await rename(`${path}${part}.away`, `${path}${part}`);
  assert.equal(await ask(), "expired");
});

test("a provider that could not be created is created at the next request", async (scope) => {
  let url: string | undefined;
  const { ask } = await openAuthorization(scope, () => url ?? assert.fail("not listening"));
  assert.match(await ask(), /not listening/);
  url = baseUrl;
  assert.equal(await ask(), "expired");
});

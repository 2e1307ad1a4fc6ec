/** A new key in the dashboard: shown once, with a request that works; and the warning before the spend cap. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { changeAccount } from "../../src/accounts/account.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/eventually.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();
const { accountId, bearer } = createCustomer(client.accounts);
const session = `carquet-session=${await client.sessions.create(accountId)}`;
const open = async (path: string, cookie = session) => {
  const response = await fetch(`${client.url}${path}`, { headers: { Cookie: cookie } });
  return { response, page: await response.text() };
};

test("a new key is shown once, and its first request can be pasted", async () => {
  const { page: form } = await open("/dashboard/keys");
  const checked = [...form.matchAll(/<input(?=[^>]* checked)[^>]* value="([\w.]+)"/g)].map(([, scope = ""]) => scope);
  assert.ok(checked.includes("inventory.read"));
  const fields = { csrf_token: csrfTokenIn(form), name: "first", scope: "inventory.read" };
  const created = await sendForm(client.url, "/dashboard/keys", fields, { cookie: session });
  assert.deepEqual([created.status, created.headers.get("Location")], [303, "/dashboard/keys"]);
  const [handedOver = ""] = created.headers.getSetCookie();
  assert.match(handedOver, /httponly/i);
  const { response, page } = await open("/dashboard/keys", `${session}; ${handedOver.split(";")[0]}`);
  assert.match(
    response.headers.getSetCookie()[0] ?? "",
    /carquet-created-key=; .*1970/i,
    "the page deletes the cookie",
  );
  const [curl = ""] = /curl -H [^<]+/.exec(page) ?? [];
  const pasted = curl.replaceAll("&#39;", "'").replaceAll("&amp;", "&");
  const { stdout } = await promisify(execFile)("sh", ["-c", `${pasted} -s`]);
  assert.equal(JSON.parse(stdout).data.length, 1);
  const { page: reloaded } = await open("/dashboard/keys");
  assert.doesNotMatch(reloaded, /cq_live_/);
  assert.equal(reloaded.split("<td>first</td>").length - 1, 1, "reloading creates no second key");
});

test("the dashboard warns from 90 % of the spend cap, and says when it is reached", async () => {
  const cap = (capMicros: number) =>
    inAccountsFile(client.accounts, (database) => changeAccount(database, accountId, { capMicros }));
  // The request of the test before costs as much.
  await fetch(`${client.url}/v1/listings?limit=1`, { headers: bearer });
  for (const [capMicros, says] of [
    [4_600, undefined],
    [4_400, /\$0\.0004 are left of the spend cap/],
    [4_000, /The spend cap of \$0\.004 is reached/],
  ] as const) {
    cap(capMicros);
    const { page } = await open("/dashboard");
    if (says === undefined) assert.doesNotMatch(page, /Raise the cap/);
    else assert.match(page, says);
  }
  let refused = await open("/dashboard");
  const isKnown = async () => {
    refused = await open("/?make=toyota");
    return refused.page.includes("spend cap of 0.004 USD");
  };
  await eventually("a service knows of a changed account within a second", isKnown);
  assert.equal(refused.response.status, 402);
  assert.match(refused.page, /href="\/dashboard#cap">Raise the cap/);
});

/** Sign-in over HTTP: cookies, invitations, equal answers, limits, forged forms, and other accounts' ids. */
import assert from "node:assert/strict";
import { randomBytes, scryptSync } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { failedSignInLimits } from "../../src/accounts/policy/failed-authentications.ts";
import { setPassword } from "../../src/accounts/sign-in/sign-in-tables.ts";
import { sql } from "../../src/db/sql.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { extentOf } from "../support/extent.ts";
import { cookieOf, createLinkSecret, csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake);
const { url, accounts } = client;
const password = "correct horse battery";

const get = (path: string, cookie?: string): Promise<Response> =>
  fetch(`${url}${path}`, { redirect: "manual", headers: cookie === undefined ? {} : { Cookie: cookie } });
const status = async (path: string, cookie?: string): Promise<number> => (await get(path, cookie)).status;
const signIn = (name: string, secret: string, headers?: Record<string, string>): Promise<Response> =>
  sendForm(url, "/sign-in", { name, password: secret, next: "/account" }, headers && { headers });
const startSession = async (accountId: string): Promise<string> =>
  `carquet-session=${await client.sessions.create({ accountId })}`;

/** Creates an account and sets its password by an invitation. Returns its id and a session cookie. */
async function createHolder(): Promise<{ readonly accountId: string; readonly cookie: string }> {
  const { accountId } = await createCustomer(accounts);
  const token = await createLinkSecret(accounts, accountId, "invitation");
  const response = await sendForm(url, "/invitation", { token, password, repeated: password });
  assert.equal(response.status, 303);
  return { accountId, cookie: cookieOf(response).cookie };
}

/** Replaces the hash of the holder's password by one of little cost, as a hash names its parameters. */
async function cheapen(accountId: string): Promise<void> {
  const salt = randomBytes(16);
  const cost = { N: 2 ** 10, r: 8, p: 1 };
  const [saltText, hash] = [salt, scryptSync(password, salt, 32, cost)].map((bytes) =>
    bytes.toString("base64").replaceAll("=", ""),
  );
  await inAccountsFile(accounts, (database) =>
    database.run(
      sql`UPDATE passwords SET hash = ${`$scrypt$ln=10,r=8,p=1$${saltText}$${hash}`} WHERE account_id = ${accountId}`,
    ),
  );
}

const holder = await createHolder();
await cheapen(holder.accountId);

test("an invitation sets a password once, and only an acceptable one", async () => {
  const { accountId } = await createCustomer(accounts);
  const replaced = await createLinkSecret(accounts, accountId, "invitation");
  const token = await createLinkSecret(accounts, accountId, "invitation");
  assert.equal(await status(`/invitation?token=${replaced}`), 404);
  const page = await (await get(`/invitation?token=${token}`)).text();
  assert.ok(page.includes(accountId) && page.includes(`value="${token}"`));
  const accept = (chosen: string, repeated = chosen): Promise<Response> =>
    sendForm(url, "/invitation", { token, password: chosen, repeated });
  for (const [chosen, repeated, says] of [
    ["elevenchars", "elevenchars", "expected 12 to 256 characters"],
    [password, `${password}!`, "The two passwords differ"],
  ] as const) {
    const refused = await accept(chosen, repeated);
    assert.equal(refused.status, 422);
    assert.ok((await refused.text()).includes(says), says);
  }
  assert.equal((await accept(password)).headers.get("Location"), "/account");
  assert.equal((await accept(password)).status, 404);
  assert.equal(await status(`/sign-in?token=${token}`), 404);
});

test("signing in sets a new cookie with all flags, and ends the session that the browser had", async () => {
  const response = await signIn(holder.accountId, password);
  const { cookie, attributes } = cookieOf(response);
  assert.deepEqual([response.status, response.headers.get("Location")], [303, "/account"]);
  assert.match(cookie, /^carquet-session=[\w-]{43}$/);
  assert.deepEqual(attributes.filter((attribute) => !attribute.startsWith("expires")).sort(), [
    "httponly",
    "path=/",
    "samesite=lax",
  ]);
  const again = await sendForm(url, "/sign-in", { name: holder.accountId, password }, { cookie });
  assert.notEqual(cookieOf(again).cookie, cookie);
  assert.deepEqual([await status("/account", cookie), await status("/account", cookieOf(again).cookie)], [401, 200]);
  const stored = await inAccountsFile(accounts, async (database) =>
    JSON.stringify(await database.all(sql`SELECT * FROM sessions`)),
  );
  assert.ok(!stored.includes(cookieOf(again).cookie.slice(16)), "only a hash is stored");
});

test("over HTTPS the cookie belongs to this host alone", async (t) => {
  const behindProxy = await startService(t, lake, { trustedProxies: 1, accounts });
  const headers = { Origin: behindProxy.url.replace("http:", "https:"), "X-Forwarded-Proto": "https" };
  const form = { name: holder.accountId, password };
  const { cookie, attributes } = cookieOf(await sendForm(behindProxy.url, "/sign-in", form, { headers }));
  assert.match(cookie, /^__Host-carquet-session=/);
  assert.ok(attributes.includes("secure") && attributes.includes("path=/"));
});

test("signing out and a new password end sessions", async () => {
  const { accountId, cookie } = await createHolder();
  const other = await startSession(accountId);
  const third = await startSession(accountId);
  const token = csrfTokenIn(await (await get("/account", cookie)).text());
  const form = { csrf_token: token, password: `${password} 2`, repeated: `${password} 2` };
  const wrong = await sendForm(url, "/account/password", { ...form, current: "not the password" }, { cookie });
  assert.equal(wrong.status, 422);
  assert.equal(await status("/account", other), 200);
  const changed = await sendForm(url, "/account/password", { ...form, current: password }, { cookie });
  assert.equal(changed.status, 303);
  for (const ended of [cookie, other, third]) assert.equal(await status("/account", ended), 401);
  const { cookie: renewed } = cookieOf(changed);
  const renewedToken = csrfTokenIn(await (await get("/account", renewed)).text());
  assert.equal((await sendForm(url, "/sign-out", { csrf_token: renewedToken }, { cookie: renewed })).status, 303);
  assert.equal(await status("/account", renewed), 401);
});

test("an unknown account, one without a password and a wrong password have the same answer", async () => {
  const { accountId: unset } = await createCustomer(accounts);
  const answers = [];
  for (const name of [holder.accountId, unset, "acct_none", "buyer@dealers.example"]) {
    const response = await signIn(name, "wrong password");
    const { "x-request-id": _, date: __, ...headers } = Object.fromEntries(response.headers);
    answers.push({ status: response.status, headers, body: (await response.text()).replaceAll(name, "NAME") });
  }
  const [first] = answers;
  assert.equal(first?.status, 401);
  // The names differ in length.
  const ofLength = { "content-length": "", "content-encoding": "" };
  for (const answer of answers)
    assert.deepEqual(
      { ...answer, headers: { ...answer.headers, ...ofLength } },
      { ...first, headers: { ...first?.headers, ...ofLength } },
    );
});

test("attempts are limited per account and address; its holder signs in from elsewhere, and changes the password", async (t) => {
  const service = await startService(t, lake, { trustedProxies: 1, accounts });
  const send = (path: string, from: string, fields: Record<string, string>, cookie?: string): Promise<Response> =>
    sendForm(service.url, path, fields, { cookie, headers: { Origin: service.url, "X-Forwarded-For": from } });
  const statusOf = async (name: string, secret: string, from = "192.0.2.1"): Promise<number> =>
    (await send("/sign-in", from, { name, password: secret })).status;
  const { accountId, cookie } = await createHolder();
  await cheapen(accountId);
  const email = "only@dealers.example";
  await inAccountsFile(accounts, (database) =>
    database.run(sql`UPDATE accounts SET email = ${email} WHERE account_id = ${accountId}`),
  );
  const { failuresMax } = failedSignInLimits;
  for (const name of extentOf([accountId], [accountId, "acct_nobody"])) {
    const answers = await Promise.all(
      Array.from({ length: failuresMax + 1 }, () => send("/sign-in", "192.0.2.1", { name, password: "wrong" })),
    );
    const limited = answers.filter((answer) => answer.status === 429);
    assert.deepEqual([limited.length, answers.filter(({ status: found }) => found === 401).length], [1, failuresMax]);
    assert.match(limited[0]?.headers.get("Retry-After") ?? "", /^\d+$/);
  }
  assert.equal(await statusOf(email, password), 429, "the names of an account count together");
  assert.equal(await statusOf(holder.accountId, password), 303, "other accounts sign in");
  assert.equal(await statusOf(email, password, "192.0.2.2"), 303, "the holder signs in from elsewhere");
  const token = csrfTokenIn(await (await get("/account", cookie)).text());
  const form = { csrf_token: token, current: password, password: `${password} 2`, repeated: `${password} 2` };
  assert.equal((await send("/account/password", "192.0.2.1", form, cookie)).status, 303);
});

test("a form of another site, or without the session's token, changes nothing", async () => {
  const cookie = await startSession(holder.accountId);
  const token = csrfTokenIn(await (await get("/account", cookie)).text());
  const otherToken = csrfTokenIn(await (await get("/account", await startSession(holder.accountId))).text());
  const send = async (csrf_token: string, headers?: Record<string, string>): Promise<number> =>
    (await sendForm(url, "/account/cap", { csrf_token, cap: "7" }, { cookie, ...(headers && { headers }) })).status;
  const capMicros = async (): Promise<unknown> =>
    (
      await inAccountsFile(accounts, (database) =>
        database.one(sql`SELECT cap_micros FROM accounts WHERE account_id = ${holder.accountId}`),
      )
    )?.cap_micros;
  for (const [sent, headers] of [
    ["", undefined],
    [otherToken, undefined],
    [token, { Origin: "https://evil.example" }],
    [token, { Origin: "null" }],
    [token, {}],
    [token, { Origin: url, "Sec-Fetch-Site": "cross-site" }],
    [token, { Origin: url, "Sec-Fetch-Site": "same-site" }],
  ] as const)
    assert.equal(await send(sent, headers), 403, JSON.stringify(headers));
  assert.equal(await capMicros(), null);
  assert.equal((await signIn(holder.accountId, password, { Origin: "https://evil.example" })).status, 403);
  assert.equal(await send(token, { "Sec-Fetch-Site": "same-origin" }), 303);
  assert.equal(await capMicros(), 7_000_000);
  assert.equal(await status("/sign-out"), 405, "a GET changes nothing");
});

test("a sign-in link is used by its button, once, and opens the explorer", async () => {
  const { accountId } = await createCustomer(accounts);
  const token = await createLinkSecret(accounts, accountId, "sign_in");
  assert.equal(await status(`/invitation?token=${token}`), 404, "it sets no password");
  const before = await startSession(holder.accountId);
  for (const method of ["HEAD", "GET"]) {
    const headers = { Cookie: before };
    const opened = await fetch(`${url}/sign-in?token=${token}`, { method, headers, redirect: "manual" });
    assert.deepEqual([opened.status, opened.headers.getSetCookie()], [200, []], method);
    if (method === "GET")
      assert.match(await opened.text(), new RegExp(`${accountId}[^]*name="token" value="${token}"`));
  }
  const use = (headers = { Origin: url }): Promise<Response> =>
    sendForm(url, "/sign-in/link", { token }, { cookie: before, headers });
  assert.equal((await use({ Origin: "https://evil.example" })).status, 403);
  assert.equal(await status("/account", before), 200, "the browser is still signed in");
  const used = await use();
  assert.deepEqual([used.status, used.headers.get("Location")], [303, "/"]);
  const opened = await (await get("/account", cookieOf(used).cookie)).text();
  assert.ok(opened.includes(accountId));
  assert.deepEqual([(await use()).status, await status(`/sign-in?token=${token}`)], [404, 404]);
});

test("the page after a sign-in is one of this service", async () => {
  for (const [next, target] of [
    ["/listings/1?x=2", "/listings/1?x=2"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example/", "/"],
    ["javascript:alert(1)", "/"],
  ] as const) {
    const response = await sendForm(url, "/sign-in", { name: holder.accountId, password, next });
    assert.equal(response.headers.get("Location"), target, next);
  }
});

test("a password that is replaced while it is verified starts no session", async () => {
  const { accountId } = await createHolder();
  const signing = signIn(accountId, password);
  await sleep(100);
  await inAccountsFile(accounts, (database) => setPassword(database, { accountId, hash: "x" }, Date.now()));
  const { status: refused, headers } = await signing;
  assert.deepEqual([refused, headers.getSetCookie()], [401, []]);
});

test("a session ends when its key is revoked, and pages need one", async () => {
  const { accountId, keyId } = await createCustomer(accounts);
  const cookie = await startSession(accountId);
  const stranger = await createCustomer(accounts);
  const own = await (await get("/account", cookie)).text();
  assert.ok(own.includes(keyId) && !own.includes(stranger.keyId));
  const token = csrfTokenIn(own);
  const revoke = (id: string): Promise<Response> =>
    sendForm(url, `/account/keys/${id}/revoke`, { csrf_token: token }, { cookie });
  assert.equal((await revoke(stranger.keyId)).status, 404);
  const [pages] = (await inAccountsFile(accounts, (database) =>
    database.all(sql`SELECT key_id FROM keys WHERE account_id = ${accountId} AND is_web = 1`),
  )) as readonly { readonly key_id: string }[];
  assert.equal((await revoke(pages?.key_id ?? "")).status, 404, "the key of the pages is no key of the account");
  const answer = await fetch(`${url}/v1/usage`, { headers: stranger.bearer });
  assert.equal(answer.status, 200, "the key of another account still works");
  await inAccountsFile(accounts, (database) =>
    database.run(sql`UPDATE keys SET revoked_at_ms = 1 WHERE account_id = ${accountId} AND is_web = 1`),
  );
  assert.equal(await status("/account", cookie), 401);
  for (const path of ["/account", "/account/charges.csv", "/operate"]) assert.equal(await status(path), 401, path);
});

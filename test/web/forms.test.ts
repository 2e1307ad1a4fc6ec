/** Forms as no browser sends them: too long, abandoned, malformed, repeated, from another origin, and with control characters. */
import assert from "node:assert/strict";
import { request as sendRequest } from "node:http";
import { test } from "node:test";
import pino from "pino";
import { getAccount } from "../../src/accounts/account.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { sql } from "../../src/db/sql.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { createLinkSecret, csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { exchangeRaw } from "../support/http/raw-http.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const log: Readonly<Record<string, unknown>>[] = [];
const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake, { logger });
const { url, accounts } = client;
const { accountId } = client.customer;
await inAccountsFile(accounts, (database) =>
  applyChange(database, "accounts operator", { accountId, isOperator: true }, { actor: "test", atMs: Date.now() }),
);
const cookie = `carquet-session=${await client.sessions.create({ accountId })}`;

const get = (path: string): Promise<Response> => fetch(`${url}${path}`, { headers: { Cookie: cookie } });

/** Sends a form of the signed-in operator. */
const send = async (path: string, fields: Record<string, string>): Promise<Response> => {
  const csrf_token = csrfTokenIn(await (await get("/account")).text());
  return sendForm(url, path, { csrf_token, ...fields }, { cookie });
};

/** Sends a form of a size in bytes; in chunks, without its length, if `isChunked`. */
const sendLong = (bytes: number, cookies: Record<string, string>, isChunked: boolean): Promise<Response> => {
  const body = `a=${"1".repeat(bytes)}`;
  const headers = { ...cookies, Origin: url, "Content-Type": "application/x-www-form-urlencoded" };
  const path = cookies.Cookie === undefined ? "/sign-in" : "/account/cap";
  return fetch(`${url}${path}`, {
    method: "POST",
    headers,
    ...(isChunked ? { body: new Blob([body]).stream(), duplex: "half" } : { body }),
  });
};

test("a form that is too long is refused, and the service lives", async () => {
  for (const bytes of [70_000, 200_000, 5_000_000])
    for (const cookies of [{}, { Cookie: cookie }])
      for (const isChunked of [false, true]) {
        const answer = await sendLong(bytes, cookies, isChunked);
        assert.deepEqual([answer.status, answer.headers.get("Connection")], [413, "close"], `${bytes} ${isChunked}`);
        assert.match(await answer.text(), /expected at most 65536 bytes/);
      }
  await sendLong(50_000_000, {}, false).catch(() => undefined);
  assert.equal((await fetch(`${url}/sign-in`)).status, 200);
  assert.ok(log.every(({ msg, ip }) => msg !== "request" || ip === "127.0.0.1"));
});

test("a form whose client vanishes is logged as aborted, and one with a malformed body is ended at once", async () => {
  const leaving = sendRequest(`${url}/sign-in`, {
    method: "POST",
    headers: {
      Origin: url,
      "Content-Type": "application/x-www-form-urlencoded",
      "Content-Length": 100,
      Expect: "100-continue",
    },
  });
  leaving.on("error", () => undefined);
  leaving.write("a=1");
  leaving.once("continue", () => leaving.destroy());
  await eventually("the request is logged as aborted", async () => log.some(({ aborted }) => aborted === true));
  const head = `POST /sign-in HTTP/1.1\r\nHost: ${new URL(url).host}\r\nOrigin: ${url}\r\n`;
  const chunked = `${head}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (const parts of [[`${chunked}zz\r\n`], [chunked, "3\r\na=1\r\nzz\r\n"]]) await exchangeRaw(url, ...parts);
  assert.equal((await sendForm(url, "/sign-in", {})).status, 401);
  assert.ok(log.every(({ level }) => Number(level) < 50));
});

test("control characters in fields, queries and paths are refused", async () => {
  const account = `/operate/accounts/${accountId}`;
  const forms: readonly (() => Promise<Response>)[] = [
    () => sendForm(url, "/sign-in", { name: "a\0b", password: "x" }),
    () => send(`${account}/credits-add`, { micros: "1", kind: "promotional", reference: "x\0" }),
    () => send(`${account}/credits-adjust`, { micros: "1", reference: "x", note: "two\r\nlines" }),
    () => send("/operate/accounts/%00/accounts-cap", { capMicros: "1" }),
    ...["/operate/accounts?q=%00", "/operate/accounts/%00", "/find?q=%01", "/listings/a%00"].map(
      (path) => () => get(path),
    ),
  ];
  for (const form of forms) {
    const answer = await form();
    assert.equal(answer.status, 400, answer.url);
    assert.match(
      await answer.text(),
      /Invalid value \(\d+ characters\) for \w+: expected text without control characters\./,
    );
  }
  for (const before of ["1e308", "-1", "x"])
    assert.equal((await get(`/operate/log?before=${before}`)).status, 400, before);
  assert.equal((await get("/operate/log?before=99999999999")).status, 200);
  assert.equal((await get("/operate/accounts?q=%09")).status, 200, "a tab is pasted with text");
});

/** Returns the balance of an account in micros. */
const balanceOf = (id: string): Promise<number> =>
  inAccountsFile(accounts, async (database) => (await getAccount(database, id, "2026-11")).balanceMicros);

test("an operator confirms and reverses only credits of the account in the path", async () => {
  const owner = await createCustomer(accounts, { usd: "0" });
  const other = await createCustomer(accounts, { usd: "0" });
  const credit = await inAccountsFile(accounts, (database) =>
    addCredit(database, { accountId: owner.accountId, kind: "paid", micros: 1, atMs: 1, isConfirmed: false }),
  );
  const changed = async (id: string, form: string): Promise<number> =>
    (await send(`/operate/accounts/${id}/${form}`, { creditId: credit })).status;
  for (const form of ["credits-confirm", "credits-reverse"]) {
    for (const id of [other.accountId, "acct_none"]) assert.equal(await changed(id, form), 422, form);
    assert.equal(await changed(owner.accountId, form), 303, form);
  }
  assert.equal(await balanceOf(owner.accountId), 0);
});

test("a credit or an adjustment that is sent twice is posted once", async () => {
  const { accountId: id } = await createCustomer(accounts, { usd: "0" });
  const referencesIn = async (): Promise<readonly string[]> =>
    [...(await (await get(`/operate/accounts/${id}`)).text()).matchAll(/name="reference"[^>]* value="([^"]+)"/g)].map(
      ([, reference = ""]) => reference,
    );
  const [first = "", second = ""] = await referencesIn();
  const again = await referencesIn();
  assert.equal(new Set([first, second, ...again]).size, 4);
  for (const [form, fields] of [
    ["credits-add", { micros: "1", kind: "promotional", reference: first }],
    ["credits-adjust", { micros: "2", reference: second }],
  ] as const) {
    const statuses = await Promise.all(
      [1, 2].map(async () => (await send(`/operate/accounts/${id}/${form}`, fields)).status),
    );
    assert.deepEqual(statuses.sort(), [303, 422], form);
    const without = await send(`/operate/accounts/${id}/${form}`, { ...fields, reference: " " });
    assert.equal(without.status, 422);
  }
  assert.equal(await balanceOf(id), 3_000_000);
});

test("an operator overrides the limits of an account, restores them, and reads why an incomplete form is refused", async () => {
  const { accountId: id } = await createCustomer(accounts);
  const change = (fields: Record<string, string>) => send(`/operate/accounts/${id}/accounts-rate-limit`, fields);
  const limits = () =>
    inAccountsFile(accounts, async (database) => (await getAccount(database, id, "2026-11")).rateLimitOverride);
  assert.equal((await change({ per10s: "3", per60s: "4" })).status, 303);
  assert.deepEqual(await limits(), { per10s: 3, per60s: 4 });
  for (const [fields, reason] of [
    [{ per10s: "3", per60s: "" }, /expected both/],
    [{ per10s: "3", per60s: "x" }, /Invalid Requests in 60 s .*expected a whole number/],
  ] as const) {
    const refused = await change(fields);
    assert.equal(refused.status, 422);
    assert.match(await refused.text(), reason);
  }
  assert.equal((await change({ per10s: "", per60s: "", none: "on" })).status, 303);
  assert.equal(await limits(), null);
});

test("a new password is confirmed on the page after it, and an unknown change is not", async () => {
  const textOf = async (changed: string): Promise<string> => (await get(`/account?changed=${changed}`)).text();
  assert.match(await textOf("password"), /role="status"><span>The password is set\./);
  for (const unknown of ["other", "__proto__", "constructor"])
    assert.doesNotMatch(await textOf(unknown), /role="status"/, unknown);
});

test("each destructive form unfolds behind words that say what ends", async () => {
  const other = await createCustomer(accounts);
  await inAccountsFile(accounts, async (database) => {
    const grant = (await createCustomer(accounts)).keyId;
    await database.run(sql`UPDATE keys SET account_id = ${accountId}, client_id = 'agent' WHERE key_id = ${grant}`);
    await applyChange(
      database,
      "accounts operator",
      { accountId: other.accountId, isOperator: true },
      { actor: "test", atMs: 1 },
    );
  });
  await send("/account/searches", { name: "cheap", query: "max_price=9000" });
  const account = `/operate/accounts/${other.accountId}`;
  for (const [path, action] of [
    ["/account", /\/account\/keys\/\w+\/revoke/],
    ["/account", /\/account\/searches\/[\w-]+\/delete/],
    [account, new RegExp(`${account}/accounts-status`)],
    [account, new RegExp(`${account}/accounts-operator`)],
    [account, new RegExp(`${account}/credits-reverse`)],
    [account, new RegExp(`${account}/keys-revoke`)],
  ] as const) {
    const page = await (await get(path)).text();
    const form = new RegExp(
      `<details class="ending"><summary>[^<]+</summary><p>[^<]+</p><form action="(${action.source})" method="post">(.*?)</form></details>`,
    );
    const [, target = "", content = ""] = form.exec(page) ?? [];
    assert.match(content, /<button type="submit" class="btn danger">/, action.source);
    const sent = [...content.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]) => [name, value],
    );
    assert.equal((await send(target, Object.fromEntries(sent))).status, 303, target);
  }
  const ended = await (await get(account)).text();
  assert.doesNotMatch(ended, /keys-revoke/);
  assert.match(ended, /Reactivate the account[\s\S]*Give the operator[\s\S]*reversed/);
});

test("only pages of the explorer may be stored, by the browser's own cache", async () => {
  const token = await createLinkSecret(accounts, accountId, "invitation");
  for (const [path, stored] of [
    ["/shop", "private, no-cache"],
    ["/account", "no-store"],
    ["/operate", "no-store"],
    ["/sign-in", "no-store"],
    ["/listings/none", "no-store"],
    [`/invitation?token=${token}`, "no-store"],
  ] as const)
    assert.equal((await get(path)).headers.get("Cache-Control"), stored, path);
});

test("links and samples that a page shows once have the public URL", async (t) => {
  const { url: proxied } = await startService(t, lake, { accounts, publicUrl: "https://cars.example" });
  const csrf_token = csrfTokenIn(await (await fetch(`${proxied}/account`, { headers: { Cookie: cookie } })).text());
  const create = { csrf_token, name: "public", scope: "inventory.read" };
  const created = await (await sendForm(proxied, "/account/keys", create, { cookie })).text();
  assert.match(created, /https:\/\/cars\.example\/v1\/listings\?limit=1/);
  const search = { csrf_token, name: "Fords", query: "make=Ford" };
  const saved = await (await sendForm(proxied, "/account/searches", search, { cookie })).text();
  assert.match(saved, /https:\/\/cars\.example\/feeds\//);
});

test("a form comes from the whole origin of the service", async (t) => {
  const attempt = async (service: string, headers: Record<string, string>): Promise<number> =>
    (await sendForm(service, "/sign-in/link", { token: "none" }, { headers })).status;
  const https = url.replace("http:", "https:");
  assert.deepEqual([await attempt(url, { Origin: url }), await attempt(url, { Origin: https })], [404, 403]);
  const options = { accounts, trustedProxies: 1, publicUrl: "https://cars.example" };
  const { url: proxied } = await startService(t, lake, options);
  for (const [headers, status] of [
    [{ Origin: "https://cars.example" }, 404],
    [{ Origin: "http://cars.example" }, 403],
    [{ Origin: proxied.replace("http:", "https:"), "X-Forwarded-Proto": "https" }, 404],
    [{ Origin: proxied, "X-Forwarded-Proto": "https" }, 403],
  ] as const)
    assert.equal(await attempt(proxied, headers), status, JSON.stringify(headers));
});

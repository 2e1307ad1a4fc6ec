/** The page of an account: what is left, its keys, monthly limit, saved searches and charges, by forms that need no scripts; and its states. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { parseHTML } from "linkedom";
import { changeAccount } from "../../src/accounts/account.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { listKeys } from "../../src/accounts/keys/keys.ts";
import { prices } from "../../src/accounts/policy/prices.ts";
import { csvOfChunks } from "../../src/web/shell/file-download.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { createLinkSecret, csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { sampleService } from "../support/http/service.ts";
import { postPlainCharge } from "../support/ledger.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { client } = await sampleService();
const { accountId, bearer } = await createCustomer(client.accounts);
const sessionOf = async (account: string): Promise<string> =>
  `carquet-session=${await client.sessions.create({ accountId: account })}`;
const session = await sessionOf(accountId);

async function open(path: string, cookie = session) {
  const response = await fetch(`${client.url}${path}`, { headers: { Cookie: cookie }, redirect: "manual" });
  const html = await response.text();
  return { response, html, page: parseHTML(html).document };
}

const textOf = (page: Document, selector: string): string =>
  (page.querySelector(selector)?.textContent ?? "").replaceAll(/\s+/g, " ").trim();

const change = (...[name, input]: [Parameters<typeof applyChange>[1], object]): Promise<void> =>
  inAccountsFile(client.accounts, async (database) => {
    await applyChange(database, name, input as never, { actor: "test", atMs: Date.now() });
  });

/** Creates an account with a credit and nothing else, as an operator invites one. */
async function invited(usd: string): Promise<string> {
  const created = await createCustomer(client.accounts, { usd });
  await inAccountsFile(client.accounts, async (database) => {
    for (const { keyId } of await listKeys(database, created.accountId))
      await applyChange(database, "keys revoke", { keyId, accountId: created.accountId }, { actor: "test", atMs: 1 });
  });
  return created.accountId;
}

test("a new key is shown once, and its first request can be pasted", async () => {
  const { html: form } = await open("/account");
  const checked = [...form.matchAll(/<input(?=[^>]* checked)[^>]* value="([\w.]+)"/g)].map(([, scope = ""]) => scope);
  assert.deepEqual(checked, ["inventory.read", "dealers.read", "usage.read"]);
  const fields = { csrf_token: csrfTokenIn(form), name: "\u202efirst <b>", scope: "inventory.read" };
  const created = await sendForm(client.url, "/account/keys", fields, { cookie: session });
  assert.deepEqual([created.status, created.headers.get("Cache-Control")], [200, "no-store"]);
  const page = parseHTML(await created.text()).document;
  assert.match(textOf(page, ".verdict"), /The key “\ufffdfirst <b>” works now\.Copy it: it is shown only this once\./);
  const curl = textOf(page, ".codebox:last-child code").replace("\\ ", "");
  const { stdout } = await promisify(execFile)("sh", ["-c", `${curl} -s`]);
  assert.equal(JSON.parse(stdout).data.length, 1);
  const { html: later } = await open("/account");
  assert.doesNotMatch(later, /cq_live_\w{16}__/);
  assert.equal(later.split("<b>\ufffdfirst &lt;b></b>").length - 1, 1);
});

test("a key that is revoked is listed no more", async () => {
  const { page, html } = await open("/account");
  const path = page.querySelector('#keys form[action$="/revoke"]')?.getAttribute("action") ?? "";
  const ended = await sendForm(client.url, path, { csrf_token: csrfTokenIn(html) }, { cookie: session });
  assert.equal(ended.headers.get("Location"), "/account#keys");
  assert.ok(path !== "" && !(await open("/account")).html.includes(path));
  const keys = await inAccountsFile(client.accounts, (database) => listKeys(database, accountId));
  const { keyId } = keys.find(({ isWeb }) => isWeb) ?? assert.fail("no key of the pages");
  const refused = await sendForm(
    client.url,
    `/account/keys/${keyId}/revoke`,
    { csrf_token: csrfTokenIn(html) },
    { cookie: session },
  );
  assert.equal(refused.status, 404, "the key of the pages");
});

test("the verdict is what is left in searches, by the smaller of balance and monthly limit", async () => {
  const limit = (capMicros: number | null) =>
    inAccountsFile(client.accounts, (database) => changeAccount(database, accountId, { capMicros }));
  await fetch(`${client.url}/v1/listings?limit=1`, { headers: bearer });
  const spent = 2 * prices.listing_search;
  await eventually("the charge is written", async () =>
    /\$0\.004/.test(textOf((await open("/account")).page, ".facts")),
  );
  for (const [capMicros, says] of [
    [null, /^\$999\.99 left\. About 490,000 searches\./],
    [1_000_000, /^\$999\.99 left\. 498 more searches\./],
    [spent + prices.listing_search - 1, /^Your monthly limit is reached\./],
  ] as const) {
    await limit(capMicros);
    const { page } = await open("/account");
    assert.match(textOf(page, ".verdict h1"), says);
    const set = capMicros === null ? /No monthly limit is set/ : /of a limit of \$/;
    assert.match(textOf(page, ".verdict .lede"), capMicros === spent + 1999 ? /refused, not charged/ : set);
  }
  const form = { csrf_token: csrfTokenIn((await open("/account")).html), cap: "much" };
  const refused = await sendForm(client.url, "/account/cap", form, { cookie: session });
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /Invalid Monthly limit, USD, or none &quot;much&quot;: expected an amount/);
  for (const cap of ["$2.50", ""]) {
    const changed = await sendForm(client.url, "/account/cap", { ...form, cap }, { cookie: session });
    assert.equal(changed.headers.get("Location"), "/account#cap");
    assert.match(
      textOf((await open("/account")).page, ".verdict .lede"),
      cap === "" ? /No monthly/ : /\$2\.50 a month/,
    );
  }
});

test("the newest charges are listed with their key, by kind, and all are in a CSV file", async () => {
  const payer = await createCustomer(client.accounts);
  const cookie = await sessionOf(payer.accountId);
  await inAccountsFile(client.accounts, async (database) => {
    const charge = { accountId: payer.accountId, keyId: payer.keyId, atMs: Date.now() };
    for (let index = 0; index < 20; index += 1)
      await postPlainCharge(database, {
        chargeId: `search-${index}`,
        usageClass: "listing_search",
        units: 1,
        ...charge,
      });
    await postPlainCharge(database, { chargeId: "an-export", usageClass: "listing_export", units: 3, ...charge });
  });
  const { page } = await open("/account", cookie);
  const rows = [...page.querySelectorAll("#charges tbody tr")].map((row) => row.textContent ?? "");
  assert.equal(rows.length, 20);
  assert.match(rows[0] ?? "", /Listing export, up to 3,000 rows.*\$0\.030$/);
  assert.match(rows[1] ?? "", /Listing search.*\$0\.002$/);
  assert.match(textOf(page, "#charges .of"), /^The newest 20 are shown/);
  const path = page.querySelector("#charges .head a")?.getAttribute("href") ?? "";
  const csv = (await open(path, cookie)).html;
  assert.match(csv, /^time,entry_id,kind,usd,usage_class,key_id,reference,note\r\n[^,]*,an-export,charge,-0\.03,/);
  assert.deepEqual([csv.trim().split("\r\n").length, /,paid,1000\.00,/.test(csv)], [1 + 20 + 1 + 1, true], "two more");
  // A spreadsheet would run it.
  await change("credits adjust", { accountId: payer.accountId, micros: 1, reference: "=1+1", note: null });
  assert.match((await open(path, cookie)).html, /,adjustment,0\.000001,,,'=1\+1,/);
});

test("a search is saved by its words or its filters, shown in words, and deleted", async () => {
  const cookie = await sessionOf((await createCustomer(client.accounts)).accountId);
  const { html, page } = await open("/account?query=make%3DToyota%26max_price%3D30000&name=cheap", cookie);
  assert.match(textOf(page, "#save p"), /^Toyota cars to \$30,000\.$/);
  assert.equal(page.querySelector("#save [name=words]"), null);
  const csrf_token = csrfTokenIn(html);
  const send = (fields: Readonly<Record<string, string>>) =>
    sendForm(client.url, "/account/searches", { csrf_token, ...fields }, { cookie });
  const filters = { name: "cheap <b>Toyotas</b>", query: "make=Toyota&max_price=30000" };
  const local = await send({ ...filters, webhook_url: "https://127.0.0.1/hook" });
  assert.match(await local.text(), /expected a public address/);
  const saved = await (await send({ ...filters, webhook_url: "https://shop.example/hook" })).text();
  assert.match(saved, /whsec_[\w+/]{43}=/);
  assert.match(saved, /“cheap &lt;b>Toyotas&lt;\/b>” is saved\./);
  const [feed = ""] = /http:[^<]*\/feeds\/[^<]*/.exec(saved) ?? [];
  const response = await fetch(feed);
  assert.deepEqual([response.status, /<title>cheap &lt;b>/.test(await response.text())], [200, true]);
  const asked = await (await send({ name: "asked", words: "used toyota under 20k zorgel" })).text();
  assert.match(asked, /Used Toyota cars to \$20,000\./);
  assert.match(asked, /Not understood, and left out: zorgel\./);
  assert.equal((await send({ name: "none", words: "zorgel" })).status, 422);
  assert.equal((await send({ name: "none", words: "sold cars" })).status, 422);
  const { page: listed, html: text } = await open("/account", cookie);
  assert.equal(textOf(listed, "#saved h2"), "Saved: 2 searches");
  assert.match(
    textOf(listed, ".saved li"),
    /cheap <b>Toyotas<\/b> Toyota cars to \$30,000\. Posts to https:\/\/shop\.example/,
  );
  assert.doesNotMatch(text, /whsec_/, "a secret is shown once");
  for (const form of listed.querySelectorAll('.saved form[action$="/delete"]')) {
    const deleted = await sendForm(client.url, form.getAttribute("action") ?? "", { csrf_token }, { cookie });
    assert.equal(deleted.headers.get("Location"), "/account#saved");
  }
  assert.equal((await fetch(feed)).status, 404);
});

test("a new account is welcomed with three first steps, and one without credit says whom to ask and what stays", async () => {
  const fresh = await invited("5");
  const cookie = await sessionOf(fresh);
  const { page } = await open("/account", cookie);
  assert.equal(textOf(page, "h1"), "Welcome. $5.00 is yours to spend.");
  assert.match(textOf(page, ".msg p"), /^Enough for about 2,500 searches\./);
  assert.equal(page.querySelectorAll(".steps a").length, 3);
  assert.ok(page.querySelector("#keys"), "its keys follow");
  await inAccountsFile(client.accounts, async (database) => {
    const [{ keyId } = { keyId: "" }] = await listKeys(database, fresh);
    const charge = { accountId: fresh, keyId, usageClass: "listing_export", atMs: Date.now() } as const;
    await postPlainCharge(database, { chargeId: "all-of-it", units: 500, ...charge });
  });
  const { page: spent } = await open("/account", cookie);
  assert.equal(textOf(spent, "h1"), "Your credit is used up.");
  assert.match(
    textOf(spent, ".msg p"),
    /^\$5\.00 of \$5\.00 is spent.*Ask the person who invited you.*charges stay\.$/,
  );
  assert.equal(spent.querySelector(".msg a.main")?.getAttribute("href"), "#charges");
  await change("accounts status", { accountId: fresh, state: "suspended" });
  const { page: ended } = await open("/account", cookie);
  assert.match(textOf(ended, "h1"), /^Your account is suspended\./);
});

test("a file of rows ends with a chunk that is not full, and has each row once", async () => {
  for (const [rows, reads] of [
    [0, 1],
    [499, 1],
    [500, 2],
    [501, 2],
    [1000, 3],
  ] as const) {
    const asked: (number | null)[] = [];
    const read = async (after: number | null, limit: number): Promise<readonly number[]> => {
      asked.push(after);
      const from = after ?? 0;
      return Array.from({ length: Math.min(limit, rows - from) }, (_, index) => from + index + 1);
    };
    let csv = "";
    for await (const lines of csvOfChunks(["n"], read, (row) => [String(row)])) csv += lines;
    assert.deepEqual(csv.split(/\r?\n/), ["n", ...Array.from({ length: rows }, (_, index) => String(index + 1)), ""]);
    assert.equal(asked.length, reads, `${rows} rows`);
  }
});

test("former addresses of the account lead to its page, with what they named", async () => {
  for (const [from, to] of [
    ["/dashboard", "/account"],
    ["/dashboard/ledger", "/account#charges"],
    ["/dashboard/ledger.csv", "/account/charges.csv"],
    ["/dashboard/searches?query=make%3DFord", "/account?query=make%3DFord#save"],
    ["/dashboard/settings", "/account#password"],
  ] as const) {
    const { response } = await open(from);
    assert.deepEqual([response.status, response.headers.get("Location")], [301, to], from);
  }
});

test("an invited account sets its password and creates a key in a browser, on pages that are accessible and fit a phone", {
  skip: skipWithoutBrowser,
}, async (scope) => {
  const fresh = await invited("5");
  const site = await signedInBrowser(scope, client);
  const secret = await createLinkSecret(client.accounts, fresh, "invitation");
  const page = await site.openAnonymously(`/invitation?token=${secret}`);
  await assertAccessible(page);
  await page.getByLabel("New password").fill("correct horse battery");
  await page.getByLabel("The same again").fill("correct horse battery");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("heading", { name: "Welcome.", level: 1 }).waitFor();
  await assertAccessible(page);
  await assertFitsPhone(page);
  await page.getByRole("link", { name: "3 · Send a request" }).click();
  await page.locator("#new-key").getByLabel("Name").fill("browser");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("cq_live_").first().waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Account" }).first().click();
  await page.getByText("Revoke", { exact: true }).click();
  await page.getByRole("button", { name: "Revoke the key" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(`${client.url}/account`);
  await assertAccessible(page);
  await assertFitsPhone(page);
  const plain = await site.openWithoutScripts("/account#save");
  assert.equal(await plain.locator("#save").getByLabel("Which cars").isVisible(), true);
  assert.equal(await plain.locator("#new-key").isVisible(), false);
  assert.deepEqual(site.faults, []);
});

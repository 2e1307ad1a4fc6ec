/** The dashboard in a browser: from an invitation to a key that is used and revoked; and the accessibility of every page. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { getAccount } from "../../src/accounts/account.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { dayOf } from "../../src/accounts/clock.ts";
import { listKeys } from "../../src/accounts/keys/keys.ts";
import { reviewAccounts } from "../../src/accounts/policy/tier-reviews.ts";
import { plusDays } from "../../src/base/day.ts";
import { SpendingChart } from "../../src/web/account/spending-chart.tsx";
import { usd } from "../../src/web/shell/format.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { createLinkSecret } from "../support/http/forms.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { postCharge } from "../support/ledger.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone } from "../support/web/site.ts";

const skip = skipWithoutBrowser;

/** A browser page of a service with an invited account; it fails the test if the page loads anything from another host. */
async function openPage(): Promise<{ page: Page; url: string; accounts: string; accountId: string }> {
  const { lake } = await createLake(fileScope);
  const { url, accounts, customer } = await startService(fileScope, lake);
  const browser = await launchBrowser(fileScope);
  const page = await browser.newPage();
  page.on("request", (request) => assert.ok(request.url().startsWith(url), request.url()));
  return { page, url, accounts, accountId: customer.accountId };
}

const visit = skip === false ? await openPage() : undefined;

test("an invited account creates a key, uses it, sees its use, and revokes it", { skip }, async () => {
  assert.ok(visit);
  const { page, url, accounts, accountId } = visit;
  const password = "correct horse battery";
  await page.goto(`${url}/invitation?token=${createLinkSecret(accounts, accountId, "invitation")}`);
  await assertAccessible(page);
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same again").fill(password);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();

  for (const secret of ["wrong password", password]) {
    await page.goto(`${url}/dashboard/keys`);
    await page.getByLabel("Email or account id").fill(accountId);
    await page.getByLabel("Password").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    if (secret !== password) await page.getByRole("alert").getByText("No account has this name and password").waitFor();
    await assertAccessible(page);
  }

  await page.getByLabel("Name").fill("browser <b>test</b>");
  await page.getByLabel("dealers.read").uncheck();
  await page.getByRole("button", { name: "Create the key" }).click();
  const key = (await page.locator("figure.code pre").first().textContent()) ?? "";
  assert.match(key, /^cq_live_/);
  const curl = (await page.locator("figure.code pre").last().textContent()) ?? "";
  assert.equal(curl, `curl -H 'Authorization: Bearer ${key}' \\\n  '${url}/v1/listings?limit=1'`);
  await assertAccessible(page);
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } })).status;
  await eventually("the key works", async () => (await statusOf("/v1/listings?limit=1")) === 200);
  assert.equal(await statusOf("/v1/dealers"), 403);

  const row = page.getByRole("row").filter({ hasText: "browser <b>test</b>" });
  await eventually("its use is seen", async () => {
    await page.goto(`${url}/dashboard/keys`);
    return !((await row.textContent()) ?? "").includes("never");
  });
  assert.ok(!(await page.content()).includes(key.slice(-43)), "a secret is shown once");
  await row.getByRole("link", { name: "Revoke" }).click();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("The key is revoked.").waitFor();
  await eventually("the key is refused", async () => (await statusOf("/v1/usage")) === 401, 2_000);
});

test("the dashboard shows the entries of the ledger, and every page is accessible and fits a phone", {
  skip,
}, async () => {
  assert.ok(visit);
  const { page, url, accounts, accountId } = visit;
  inAccountsFile(accounts, (database) => {
    const [{ keyId } = { keyId: "" }] = listKeys(database, accountId);
    const charge = { accountId, keyId, usageClass: "listing_export", units: 3, atMs: Date.now() } as const;
    assert.equal(postCharge(database, { chargeId: "request-of-an-export", ...charge }), undefined);
  });
  await page.goto(`${url}/dashboard/ledger`);
  await page.getByRole("row").filter({ hasText: "Listing search" }).first().waitFor();
  await page.getByRole("row").filter({ hasText: "Export of listings, up to 3,000 rows" }).waitFor();
  assert.ok((await page.getByRole("row").filter({ hasText: "Paid" }).textContent())?.includes("+$1,000.00"));
  await page.getByLabel("What").selectOption("Listing search");
  await page.getByLabel("Key").selectOption("browser <b>test</b>");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("Paid").waitFor({ state: "detached" });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("CSV of these entries").click()]);
  const csv = readFileSync(await download.path(), "utf8");
  assert.match(csv, /^time,entry_id,kind,usd,usage_class,key_id,reference,note\r\n.*,charge,-0\.002,listing_search,/);
  assert.equal(csv.split("\r\n").length - 2, await page.locator("tbody tr").count());
  const [shownId] = await page.locator("tbody code").allTextContents();
  assert.equal(shownId, csv.split("\r\n")[1]?.split(",")[1], "a charge has the id of its request");

  const month = dayOf(Date.now()).slice(0, 7);
  const ledger = await (await page.request.get(`${url}/dashboard/ledger.csv?from=${month}-01`)).text();
  const amounts = ledger.split("\r\n").map((line) => (line.includes(",charge,") ? -Number(line.split(",")[3]) : 0));
  const spent = usd(Math.round(amounts.reduce((sum, amount) => sum + amount, 0) * 1_000_000));
  await page.goto(`${url}/dashboard`);
  const spending = page.locator("figure").filter({ has: page.getByRole("heading", { name: "Spending" }) });
  assert.ok((await spending.textContent())?.includes(`its sum: ${spent} without a spend cap. The balance is $999.`));
  assert.equal(await spending.locator(".limit").count(), 0);
  await page.getByLabel("USD a month").fill("25");
  await page.getByRole("button", { name: "Set the cap" }).click();
  await page.getByText("The spend cap is changed.").waitFor();
  assert.match((await page.locator(".figures").textContent()) ?? "", /\$0\.0\d* ?of a cap of \$25\.00/);
  await spending.getByRole("img", { name: `The sum of the month: ${spent} of a cap of $25.00` }).waitFor();
  assert.equal(await spending.locator(".limit").textContent(), "cap $25.00");
  await page.getByLabel("USD a month").fill("much");
  await page.getByRole("button", { name: "Set the cap" }).click();
  await page.getByRole("alert").getByText('Invalid spend cap "much"').waitFor();

  for (const path of [
    "/dashboard",
    "/dashboard/keys",
    "/dashboard/agents",
    "/dashboard/ledger",
    "/dashboard/limits",
    "/dashboard/settings",
  ]) {
    await page.goto(`${url}${path}`);
    await assertAccessible(page);
    await assertFitsPhone(page);
  }
});

test("the month's spending says which limit ends it, and when", () => {
  const rows = Array.from({ length: 20 }, (_, day) => {
    const date = plusDays("2026-11-01", day);
    return { date, metering_class: "listing_search", requests: 1, charged_micros: 1_000_000 } as const;
  });
  for (const [capUsd, balanceUsd, outlook, drawn] of [
    [25, 100, "the cap is reached on Nov 25, 2026", ["cap $25.00"]],
    [25, 2.5, "the balance is used up on Nov 23, 2026", ["cap $25.00", "balance used up"]],
    [null, 3, "the balance is used up on Nov 23, 2026", ["balance used up"]],
    [null, 90, "the month ends at $30.00", []],
    [40, 90, "the month ends at $30.00", ["cap $40.00"]],
  ] as const) {
    const capMicros = capUsd === null ? null : capUsd * 1_000_000;
    const account = { capMicros, balanceMicros: balanceUsd * 1_000_000 };
    const html = renderToString(h(SpendingChart, { account, rows, today: "2026-11-20" }));
    assert.ok(html.includes(`At this pace, ${outlook}.`), html.slice(0, 400));
    assert.deepEqual(
      [...html.matchAll(/class="limit">.*?<text[^>]*>(.*?)<\/text>/g)].map(([, text]) => text),
      drawn,
    );
  }
});

test("a search of the explorer is saved with a webhook, and deleted", { skip }, async () => {
  assert.ok(visit);
  const { page, url } = visit;
  await page.goto(`${url}/?make=Toyota&max_price=30000`);
  await page.getByRole("link", { name: "Save this search" }).click();
  assert.equal(await page.getByLabel("Filters").inputValue(), "make=Toyota&max_price=30000");
  await page.getByLabel("Name").fill("cheap <b>Toyotas</b>");
  await page.getByLabel("Webhook").fill("https://127.0.0.1/hook");
  await page.getByRole("button", { name: "Save the search" }).click();
  await page.getByText("expected a public address").waitFor();
  await page.goBack();
  await page.getByLabel("Webhook").fill("https://shop.example/hook");
  await page.getByRole("button", { name: "Save the search" }).click();
  const [secret, feed] = await page.locator("figure.code pre").allTextContents();
  assert.match(secret ?? "", /^whsec_[\w+/]{43}=$/);
  await assertAccessible(page);
  const response = await fetch(feed ?? "");
  assert.deepEqual([response.status, /<title>cheap &lt;b>/.test(await response.text())], [200, true]);
  await page.getByRole("link", { name: "All saved searches" }).click();
  await assertAccessible(page);
  const row = page.getByRole("row").filter({ hasText: "cheap <b>Toyotas</b>" });
  assert.match((await row.textContent()) ?? "", /https:\/\/shop\.example\/hook/);
  assert.ok(!(await page.content()).includes(secret ?? "?"), "a secret is shown once");
  await row.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the search" }).click();
  await page.getByText("The search is deleted.").waitFor();
  assert.equal((await fetch(feed ?? "")).status, 404);
});

test("an operator sees and changes accounts, and every page of it is accessible; no other account sees it", {
  skip,
}, async () => {
  assert.ok(visit);
  const { page, url, accounts, accountId } = visit;
  assert.equal((await page.goto(`${url}/operator`))?.status(), 404);
  assert.equal((await page.request.get(`${url}/operator/ingest/2026-11-19/quality.csv`)).status(), 404);
  const { accountId: other } = createCustomer(accounts, { tier: 3, usd: "600", override: null });
  const by = { actor: "test", atMs: Date.now() };
  inAccountsFile(accounts, (database) => {
    applyChange(database, "accounts operator", { accountId, isOperator: true }, by);
    reviewAccounts(database, plusDays(dayOf(by.atMs), 31));
  });
  await eventually(
    "the account is an operator",
    async () => (await page.goto(`${url}/operator/service`))?.status() === 200,
  );
  await assertAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  const form = page.locator(`form[action="/operator/reviews/${other}"]`);
  await form.getByRole("button", { name: "Approve" }).click();
  await page.getByText("The review is decided.").waitFor();

  await page.goto(`${url}/operator/accounts?q=${other}`);
  await assertAccessible(page);
  await page.getByRole("main").getByRole("link", { name: "buyer@dealers.example" }).click();
  await page.getByLabel("Credit, USD").fill("12.50");
  await page.getByLabel("Kind").selectOption("promotional");
  await page.getByRole("button", { name: "Add the credit" }).click();
  await page.getByText("The account is changed.").waitFor();
  await page.getByLabel("Requests in 10 s").fill("7");
  await page.getByLabel("Requests in 60 s").fill("9");
  await page.getByRole("button", { name: "Override the limits" }).click();
  await page.getByText("7 in 10 s, 9 in 60 s, overridden").waitFor();
  await page.getByRole("link", { name: "Suspend the account" }).click();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Suspend the account" }).click();
  await page.getByRole("button", { name: "Reactivate the account" }).waitFor();
  await assertAccessible(page);
  const changed = inAccountsFile(accounts, (database) => getAccount(database, other, "2026-11"));
  assert.deepEqual(
    [changed.tier, changed.state, changed.balanceMicros, changed.rateLimitOverride],
    [4, "suspended", 612_500_000, { per10s: 7, per60s: 9 }],
  );
  await page.getByRole("button", { name: "Create a sign-in link" }).click();
  assert.match((await page.locator("figure.code pre").textContent()) ?? "", /\/sign-in\?token=[\w-]{43}$/);
  await page.getByText(`carquet accounts invite --account ${other} --sign-in`).waitFor();
  await page.goto(`${url}/operator/accounts`);
  await page.getByLabel("Email", { exact: true }).fill("new@cars.example");
  await page.locator('select[name="tier"]').selectOption("2");
  await page.getByRole("button", { name: "Create the account" }).click();
  assert.match((await page.locator("figure.code pre").textContent()) ?? "", /\/invitation\?token=[\w-]{43}$/);

  await page.goto(`${url}/operator`);
  await page.getByRole("link", { name: "Issues" }).click();
  await page.getByRole("heading", { name: "Issues" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Quality of the feeds" }).click();
  await page.getByRole("link", { name: "All checks", exact: true }).click();
  await page.getByRole("cell", { name: "rows" }).first().waitFor();
  await assertAccessible(page);
  const csvPath = await page.getByRole("link", { name: "All checks as CSV" }).getAttribute("href");
  const csv = await page.request.get(`${url}${csvPath}`);
  assert.match(await csv.text(), /^day,dealer_id,check,field,n,share,usual,status,examples\r\n2026-11-1\d,/);
  const anonymous = await fetch(`${url}${csvPath}`, { redirect: "manual" });
  assert.deepEqual([anonymous.status, anonymous.headers.get("location")], [302, "/sign-in"]);
  const unknownDay = await page.request.get(`${url}/operator/ingest/2020-01-01/quality`);
  assert.equal(unknownDay.status(), 404);
  await page.goto(`${url}/operator/audit`);
  const actions = await page.locator("tbody tr td:nth-child(3)").allTextContents();
  assert.deepEqual(actions.slice(0, 7), [
    "accounts invite",
    "accounts create",
    "accounts invite",
    "accounts status",
    "accounts rate-limit",
    "credits add",
    "tiers approve",
  ]);
  await assertAccessible(page);
});

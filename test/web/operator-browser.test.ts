/** The pages of operators in a browser: accounts, decisions, checks and the audit log. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { getAccount } from "../../src/accounts/account.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { dayOf } from "../../src/accounts/clock.ts";
import { reviewAccounts } from "../../src/accounts/policy/tier-reviews.ts";
import { plusDays } from "../../src/base/day.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible } from "../support/web/site.ts";

const skip = skipWithoutBrowser;

/** A browser page of a service, signed in to a customer; it fails the test if the page loads anything from another host. */
async function openPage(): Promise<{ page: Page; url: string; accounts: string; accountId: string }> {
  const { lake } = await createLake(fileScope);
  const { url, accounts, customer, sessions } = await startService(fileScope, lake);
  const context = await launchBrowser(fileScope);
  const value = await sessions.create(customer.accountId);
  await context.addCookies([{ name: "carquet-session", value, url }]);
  const page = await context.newPage();
  page.on("request", (request) => assert.ok(request.url().startsWith(url), request.url()));
  return { page, url, accounts, accountId: customer.accountId };
}

const visit = skip === false ? await openPage() : undefined;

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

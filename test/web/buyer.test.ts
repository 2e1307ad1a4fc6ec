/** What a buyer does, with the keyboard alone: find, filter, judge, keep and compare cars; and what the pages of few or no results say. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { marketService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

describe("a buyer", { skip: skipWithoutBrowser }, async () => {
  if (skipWithoutBrowser) return;
  const { client } = await marketService();
  const site = await signedInBrowser(fileScope, client);

  const focusedId = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id ?? "");
  const totalOf = async (page: Page): Promise<number> =>
    Number(((await page.locator("#total").textContent()) ?? "").replaceAll(/\D/g, ""));

  test("finds, filters, keeps and compares cars with the keyboard alone", async () => {
    const page = await site.open("/");
    await page.keyboard.press("/");
    assert.equal(await focusedId(page), "find");
    await page.keyboard.type("used suv");
    await page.keyboard.press("Enter");
    await page.waitForURL(/inventory_type=used.*body_type=SUV/);
    await page.keyboard.press("f");
    await page.locator('[id="inventory_type=certified"]').focus();
    await page.keyboard.press("Space");
    await page.waitForURL(/inventory_type=certified,used|inventory_type=used,certified/, { waitUntil: "commit" });
    await page.locator("#results[aria-busy]").waitFor({ state: "detached" });
    assert.equal(await focusedId(page), "inventory_type=certified");
    assert.equal(await totalOf(page), await fetchTotal(client, "inventory_type=used,certified&body_type=SUV"));
    for (const key of ["j", "s", "j", "s"]) await page.keyboard.press(key);
    await page.getByRole("link", { name: "Compare 2" }).waitFor();
    const kept = await page.locator(".keep[aria-pressed=true]").count();
    assert.equal(kept, 2);
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Where the price stands" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("heading", { name: "Compare two cars" }).waitFor();
    assert.equal(await page.locator("thead .shot").count(), 2);
    await page.close();
  });

  test("turns keys off, and they do not act in fields", async () => {
    const page = await site.open("/");
    await page.locator("#postal_code").focus();
    await page.keyboard.type("j?");
    assert.equal(await page.locator("#postal_code").inputValue(), "j?");
    await page.locator("#postal_code").fill("");
    await page.locator("#total").click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement?.closest(".car")), null);
    await page.evaluate(() => localStorage.clear());
    await page.close();
  });

  test("reaches every value of a facet by its search, and sees what to give up when nothing matches", async () => {
    const page = await site.open("/?inventory_type=used");
    const { data } = await client.getBody(
      "getFacets",
      "/v1/facets?facets=model&facet_value_limit=100&inventory_type=used",
    );
    const rare = data.facets.model?.at(-1) ?? assert.fail();
    assert.equal(await page.locator(`[id="model=${rare.value}"]`).count(), 0);
    await page.locator("#search-model").pressSequentially(rare.value);
    await page.locator(`[id="model=${rare.value}"]`).check();
    await page.waitForURL(/model=/, { waitUntil: "commit" });
    await page.locator(".few").waitFor();
    assert.equal(await totalOf(page), rare.count);
    assert.equal((await page.locator("#facet-price circle").count()) > 0, true, "few prices are dots");
    await page.goto(`${client.url}/?inventory_type=used&make=Toyota&max_price=1`);
    const steps = await page.locator(".steps li").allInnerTexts();
    const without = async (filters: string): Promise<string> =>
      (await fetchTotal(client, filters)).toLocaleString("en-US");
    assert.ok(
      steps.some((text) => text.startsWith("Without Price") && text.endsWith("\n0") === false),
      steps.join("; "),
    );
    assert.ok(
      steps.includes(`Without Price to 1\n${await without("inventory_type=used&make=Toyota")}`),
      steps.join("; "),
    );
    await assertAccessible(page);
    await page.close();
  });

  test("opens the filters as a sheet on a phone, with their number on its button", async () => {
    const page = await site.open("/?make=Toyota,Honda&max_price=60000");
    await assertFitsPhone(page);
    await page.getByRole("link", { name: "Filters · 2" }).click();
    await page.locator('[id="inventory_type=used"]').check();
    await page.waitForURL(/inventory_type=used/, { waitUntil: "commit" });
    const total = await fetchTotal(client, "make=Toyota,Honda&max_price=60000&inventory_type=used");
    await page.getByRole("link", { name: `Show ${total} listings` }).click();
    assert.equal(await page.locator("#view").isVisible(), false);
    await page.getByRole("link", { name: "Filters · 3" }).waitFor();
    await page.close();
  });
});

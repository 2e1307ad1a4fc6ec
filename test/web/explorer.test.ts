/** The explorer in a browser. Counts that it shows are compared with those of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { createCustomer } from "../support/accounts.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { marketService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, type Site, signedInBrowser } from "../support/web/site.ts";

const { client } = await marketService();

const numberIn = (text: string | null): number => Number((text ?? "").replaceAll(/\D/g, ""));

const shownTotal = async (page: Page): Promise<number> =>
  numberIn(await page.locator("#total").evaluate((heading) => heading.firstChild?.textContent ?? ""));

/** Returns the parameters of a view and their values, in any order. */
const parametersOf = (query: string): readonly string[] =>
  [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value.split(",").sort().join()}`).sort();

const waitForView = (page: Page, query: string): Promise<void> =>
  page.waitForURL(({ search }) => parametersOf(search).join() === parametersOf(query).join(), { waitUntil: "commit" });

/** Returns the counts that a page shows for a facet, by value. */
async function shownCounts(page: Page, facet: string): Promise<Readonly<Record<string, number>>> {
  const fields = await page.locator(`#facet-${facet} label.value`).all();
  const entries = await Promise.all(
    fields.map(async (field) => [
      await field.locator("input").getAttribute("value"),
      numberIn(await field.locator(".count").textContent()),
    ]),
  );
  return Object.fromEntries(entries);
}

/** Fails unless a page shows the most frequent values of a facet, with the counts that the API answers under filters. */
async function assertCounts(page: Page, facet: string, filters: string): Promise<void> {
  const shown = await shownCounts(page, facet);
  const all = await countsOf(facet, filters);
  assert.ok(Object.keys(shown).length >= Math.min(8, Object.keys(all).length), facet);
  assert.deepEqual(shown, Object.fromEntries(Object.keys(shown).map((value) => [value, all[value]])), facet);
}

/** Returns the counts that the API answers for a facet under filters, by value. */
async function countsOf(facet: string, filters: string): Promise<Readonly<Record<string, number>>> {
  const { data } = await client.getBody("getFacets", `/v1/facets?facets=${facet}&facet_value_limit=50&${filters}`);
  return Object.fromEntries((data.facets[facet] ?? []).map(({ value, count }) => [value, count]));
}

test("a listing of a past day says that its page is of the present, and the price of that day", async () => {
  const Cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;
  const open = async (path: string): Promise<string> =>
    (await fetch(`${client.url}${path}`, { headers: { Cookie } })).text();
  const date = "2026-11-15";
  const query = `snapshot_date=${date}`;
  for (const view of [query, `layout=table&${query}`]) {
    const path = `/listings/\\w{32}\\?${view.replace("&", "&amp;")}&amp;offset=0`;
    assert.match(await open(`/?${view}`), new RegExp(`href="${path}"`));
  }
  const past = await client.getBody("searchListings", `/v1/listings?${query}&min_price=1&fields=price&limit=100`);
  const present = await client.getBody("searchListings", "/v1/listings?min_price=1&fields=price&limit=100");
  const prices = new Map(present.data.map(({ id, price }) => [id, price]));
  const changed = past.data.filter(({ id, price }) => prices.has(id) && prices.get(id) !== price);
  assert.ok(changed.length > 0);
  for (const { id, price } of [...changed, ...past.data.slice(0, 3)].slice(0, 8)) {
    const page = await open(`/listings/${id}?${query}`);
    const says = `This page is as of Nov 19, 2026. On Nov 15, 2026, its price was $${price?.toLocaleString("en-US")}.`;
    assert.ok(page.includes(says), says);
  }
  for (const other of ["2026-11-19", "2027-01-01", "none"])
    assert.doesNotMatch(await open(`/listings/${changed[0]?.id}?snapshot_date=${other}`), /This page is as of/);
});

test("a view by value loses its filter and order where listings have no values", async () => {
  const Cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;
  const byValue = "value_rating=great,good&sort=value&make=Toyota";
  for (const mode of ["", "snapshot_date=2026-11-15", "inventory_status=sold", "layout=charts&chart=time"]) {
    const response = await fetch(`${client.url}/?${byValue}&${mode}`, { headers: { Cookie } });
    assert.equal(response.status, 200, mode);
    assert.equal((await response.text()).includes("cannot be combined"), false, mode);
  }
  const total = await fetchTotal(client, "value_rating=great,good&make=Toyota");
  const page = await (await fetch(`${client.url}/?${byValue}`, { headers: { Cookie } })).text();
  assert.match(page, new RegExp(`id="total"[^>]*>${total}\\b`));
  assert.match(page, /<option value="value" selected/);
});

test("by value, rated cars come first until the filter is removed, and the API's order stays", async () => {
  const Cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;
  const open = async (query: string) => (await fetch(`${client.url}/?${query}`, { headers: { Cookie } })).text();
  const totalOf = (page: string) => /id="total"[^>]*>([\d,]+)/.exec(page)?.[1];
  const rated = await fetchTotal(client, "value_rating=great,good,fair,high");
  const all = await fetchTotal(client, "inventory_status=active");
  assert.ok(rated < all);
  const byValue = await open("sort=value");
  assert.equal(totalOf(byValue), String(rated));
  assert.match(
    byValue,
    /href="\/\?sort=value&amp;unrated=shown"><span class="vh">Remove <\/span><span>Rated prices only/,
  );
  assert.equal(totalOf(await open("sort=value&unrated=shown")), String(all));
  assert.equal(totalOf(await open("sort=price")), String(all));
  assert.equal(
    totalOf(await open("sort=value&value_rating=great")),
    String(await fetchTotal(client, "value_rating=great")),
  );
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);
  const signedIn = (): Site => {
    if (site === undefined) throw new TypeError("No browser.");
    return site;
  };
  const open = (path: string): Promise<Page> => signedIn().open(path);

  test("chosen values filter the results, and each facet is counted without its own filter", async () => {
    const page = await open("/");
    assert.equal(await shownTotal(page), await fetchTotal(client, ""));
    await page.locator('[id="make=Toyota"]').check();
    await waitForView(page, "?make=Toyota");
    await page.locator('[id="make=Honda"]').check();
    await waitForView(page, "?make=Toyota,Honda");
    await page.locator('[id="inventory_type=used"]').check();
    await waitForView(page, "?inventory_type=used&make=Toyota,Honda");
    assert.equal(await shownTotal(page), await fetchTotal(client, "make=Toyota,Honda&inventory_type=used"));
    await assertCounts(page, "make", "inventory_type=used");
    await assertCounts(page, "inventory_type", "make=Toyota,Honda");
    await assertCounts(page, "model", "make=Toyota,Honda&inventory_type=used");
    assert.equal(await page.locator("#view-cost").textContent(), "$0.005");
  });

  test("going back and forward shows the views again, and charges nothing", async () => {
    const page = await open("/");
    const all = await shownTotal(page);
    await page.locator('[id="body_type=SUV"]').check();
    await waitForView(page, "?body_type=SUV");
    const some = await shownTotal(page);
    assert.ok(some < all);
    const { totals } = await client.getBody("getUsage", "/v1/usage");
    await page.goBack();
    assert.equal(await shownTotal(page), all);
    assert.equal(await page.locator('[id="body_type=SUV"]').isChecked(), false);
    await page.goForward();
    assert.equal(await shownTotal(page), some);
    assert.deepEqual((await client.getBody("getUsage", "/v1/usage")).totals, totals);
  });

  test("a refused view is shown without a second request, and going back shows the view before it", async () => {
    const slow = createCustomer(client.accounts, { override: { per10s: 1, per60s: 1 } });
    const page = await signedIn().openAnonymously("/sign-in");
    const value = await client.sessions.create(slow.accountId);
    await page.context().addCookies([{ name: "carquet-session", value, url: client.url }]);
    await page.goto(client.url);
    const all = await shownTotal(page);
    const requested: string[] = [];
    page.on("request", (request) => {
      if (["document", "fetch"].includes(request.resourceType())) requested.push(new URL(request.url()).search);
    });
    await page.locator('[id="body_type=SUV"]').click();
    await page.getByRole("heading", { name: "Too many requests" }).waitFor();
    assert.deepEqual([new URL(page.url()).search, requested], ["?body_type=SUV", ["?body_type=SUV"]]);
    await page.goBack();
    assert.equal(await shownTotal(page), all);
    assert.equal(requested.length, 1);
  });

  test("bounds and sliders filter by ranges", async () => {
    const page = await open("/");
    await page.locator("#max_price").fill("30000");
    await page.locator("#max_price").press("Enter");
    await waitForView(page, "?max_price=30000");
    assert.equal(await shownTotal(page), await fetchTotal(client, "max_price=30000"));
    await page.locator('#facet-year input[data-bound="min"]').press("End");
    await page.waitForURL(/min_year=20\d\d/, { waitUntil: "commit" });
    const year = new URL(page.url()).searchParams.get("min_year");
    assert.equal(await shownTotal(page), await fetchTotal(client, `max_price=30000&year=${year}`));
  });

  test("the time machine shows a past day, and sold listings are a separate mode", async () => {
    const page = await open("/?make=Toyota");
    await page.locator("#snapshot_date").fill("2026-11-15");
    await page.locator("#snapshot_date").press("Enter");
    await waitForView(page, "?make=Toyota&snapshot_date=2026-11-15");
    assert.equal(await shownTotal(page), await fetchTotal(client, "make=Toyota&snapshot_date=2026-11-15"));
    assert.match((await page.locator("#total").textContent()) ?? "", /on Nov 15, 2026$/);
    await page.getByRole("link", { name: "Sold", exact: true }).click();
    await waitForView(page, "?make=Toyota&inventory_status=sold");
    assert.equal(await shownTotal(page), await fetchTotal(client, "make=Toyota&inventory_status=sold"));
  });

  test("a shared URL shows the same view without scripts, and its form works", async () => {
    const path = "/?make=Toyota,Honda&max_price=40000&sort=price&layout=table";
    const total = await shownTotal(await open(path));
    const page = await signedIn().openWithoutScripts(path);
    assert.equal(numberIn(await page.locator("#total").textContent()), total);
    await page.locator('[id="inventory_type=new"]').check();
    await page.locator("form#view button.apply").click();
    assert.deepEqual(parametersOf(new URL(page.url()).search), parametersOf(`${path.slice(1)}&inventory_type=new`));
    const expected = await fetchTotal(client, "make=Toyota,Honda&max_price=40000&inventory_type=new");
    assert.equal(numberIn(await page.locator("#total").textContent()), expected);
  });

  test("the code of a view is a request that returns its listings", async () => {
    const page = await open("/?make=Ford&sort=-price");
    await page.locator("#api > summary").click();
    const code = await page.locator("#api pre").allTextContents();
    const urls = code.map((text) => /https?:[^'"]+/.exec(text)?.[0]).filter((url) => url !== undefined);
    assert.equal(urls.length, 3);
    assert.equal(new Set(urls).size, 1);
    const answer = await fetch(urls[0] ?? "", { headers: client.customer.bearer });
    const { data }: { data: readonly { id: string }[] } = await answer.json();
    const links = await page.locator(".car h2 a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.deepEqual(
      links,
      data.map(({ id }) => `/listings/${id}?make=Ford&sort=-price&offset=0`),
    );
  });

  test("an invalid bound is explained beside the filters", async () => {
    const page = await open("/?min_price=5000&max_price=100");
    assert.match((await page.getByRole("alert").textContent()) ?? "", /min_price/);
    await page.locator("#min_price").fill("");
    await page.locator("#min_price").blur();
    await waitForView(page, "?max_price=100");
    assert.equal(await page.getByRole("alert").count(), 0);
  });

  test("the box leads to the listing of a VIN or an id, and to the listings of words", async () => {
    const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
    const { vin, id } = data[0] ?? { vin: "", id: "" };
    for (const words of [vin, id]) {
      const page = await open("/");
      await page.locator("[data-suggest]").fill(words);
      await page.locator("[data-suggest]").press("Enter");
      await page.waitForURL(`${client.url}/listings/${id}`);
      assert.ok((await page.locator("main").textContent())?.includes(vin));
    }
    const path = "/?inventory_type=used&make=Toyota&body_type=SUV&state=CA";
    for (const page of [await open("/find?q=used+toyota+suv+CA"), await open(path)]) {
      assert.equal(page.url(), `${client.url}${path}`);
      assert.match((await page.locator("#api pre").first().textContent()) ?? "", /\/v1\/listings\?/);
      assert.equal(await shownTotal(page), await fetchTotal(client, path.slice(2)));
    }
  });

  test("the box suggests what its last word begins to name, for keyboards and screen readers", async () => {
    const page = await open("/?make=Honda");
    await page.locator("[data-suggest]").pressSequentially("used toyota cam");
    const option = page.getByRole("option", { name: /^used Toyota Camry \d+$/ });
    await option.waitFor();
    await assertAccessible(page);
    await page.keyboard.press("ArrowDown");
    const box = page.getByRole("combobox", { name: /Find cars/, expanded: true });
    assert.equal(await box.getAttribute("aria-activedescendant"), await option.getAttribute("id"));
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("[data-suggest]").inputValue(), "used Toyota Camry ");
    assert.equal(await option.isVisible(), false);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${client.url}/?inventory_type=used&make=Toyota&model=Camry`);
    assert.match((await page.locator(".question").textContent()) ?? "", /used, Toyota Camry/);
    await page.close();
  });

  test("every page is accessible and fits a phone, and none asks another host or violates the policy", async () => {
    const { data } = await client.getBody("searchListings", "/v1/listings?make=Toyota&limit=1");
    const { dealer_id } = data[0] ?? {};
    const paths = [
      "/",
      "/?layout=table&make=Toyota",
      "/dealers",
      "/?inventory_status=sold",
      "/?make=toyotta",
      "/find?q=nothing+such",
      "/find?q=used+santa+fe+with+leather",
    ];
    for (const path of [...paths, `/dealers/${dealer_id}`, "/listings/none"]) {
      const page = await open(path);
      for (const summary of await page.locator("#api > summary").all()) await summary.click();
      await assertAccessible(page);
      await assertFitsPhone(page);
      await page.close();
    }
    await assertAccessible(await signedIn().openAnonymously("/"));
    assert.deepEqual(signedIn().faults, []);
  });
});

/** The dealers and the page of a dealer. Their numbers are those of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { marketService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { signedInBrowser } from "../support/web/site.ts";

const { client } = await marketService();

const metrics = "metric=days_on_market.median,price_to_value.median";
const groupsOf = (query: string) =>
  client.getBody("getGroups", `/v1/groups?group_by=dealer_id&${metrics}&limit=1000&${query}`);

const cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;
const pageOf = async (path: string): Promise<string> =>
  (await fetch(`${client.url}${path}`, { headers: { Cookie: cookie } })).text();

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&amp;", "&")
    .trim();

/** Returns the rows of the table of dealers: id, and the texts of the cells. */
const rowsOf = (page: string): readonly (readonly string[])[] => {
  const table = /<table class="dealers">.*?<\/table>/s.exec(page)?.[0] ?? "";
  return [...table.matchAll(/<tr><td>.*?href="\/dealers\/([^"]+)">(.*?)<\/a>(.*?)<\/tr>/gs)].map(
    ([, id = "", name = "", rest = ""]) => [id, textOf(name), ...rest.split("</td>").slice(2, 5).map(textOf)],
  );
};

test("the table has the numbers of the API, sorts by each column, turns pages, and costs two operations", async () => {
  const { data, meta } = await groupsOf("");
  const byId = new Map(data.map((group) => [group.values.dealer_id, group]));
  const page = await pageOf("/dealers");
  assert.match(page, new RegExp(`<h1>${meta.total_groups} dealers</h1>`));
  assert.equal([...page.matchAll(/<code>GET \/v1\//g)].length, 2);
  const rows = rowsOf(page);
  assert.equal(rows.length, Math.min(25, data.length));
  for (const [id = "", name, inventory, days, difference] of rows) {
    const { dealer_name, count, metrics: found } = byId.get(id) ?? assert.fail(id);
    const [median = null, value = null] = found.map((one) => one.value);
    const expected = [dealer_name, String(count), median === null ? "–" : String(Math.round(median))];
    assert.deepEqual([name, inventory, days], expected);
    const percent = value === null ? "too few rated" : `${Math.abs(value * 100).toFixed(1)}%`;
    assert.equal(difference?.replace(/^[+−]/, ""), percent);
  }
  assert.ok(
    rows.some(([, , , , difference]) => difference?.endsWith("%")),
    "a dealer with 10 rated cars",
  );
  const names = data.map(({ dealer_name }) => String(dealer_name).toLowerCase()).sort();
  const shownNames = async (query: string) =>
    rowsOf(await pageOf(`/dealers?${query}`)).map(([, name = ""]) => name.toLowerCase());
  assert.deepEqual(await shownNames("sort=name&offset=25"), names.slice(25, 50));
  const values = data.flatMap(({ metrics: [, found] }) => found?.value ?? []);
  const [dearest] = rowsOf(await pageOf("/dealers?sort=-value"));
  assert.equal(byId.get(dearest?.[0] ?? "")?.metrics[1]?.value, Math.max(...values));
});

test("a dealer's page has its listings by price beside the estimate, its mix and its history", async () => {
  const { data } = await groupsOf("");
  for (const { values, count } of data.slice(0, 1)) {
    const path = `/dealers/${values.dealer_id}`;
    const page = await pageOf(path);
    assert.match(page, new RegExp(`<h2>${count} for sale</h2>`));
    for (const sort of ["value", "-value"]) {
      const query = `dealer_id=${values.dealer_id}&sort=${sort}&limit=1`;
      const { data: listings } = await client.getBody("searchListings", `/v1/listings?${query}`);
      const shown = /<tbody><tr><td><a href="([^"]+)"/.exec(await pageOf(`${path}?sort=${sort}`));
      assert.equal(shown?.[1], `/listings/${listings[0]?.id}`);
    }
    const facets = await client.getBody("getFacets", `/v1/facets?facets=make&dealer_id=${values.dealer_id}`);
    for (const { value, count: listings } of (facets.data.facets.make ?? []).slice(0, 8))
      assert.ok(textOf(page).includes(`${value}${listings}`), value);
    assert.match(page, /id="numbers-trend-count"/);
  }
});

test("feeds are ticks, and silent dealers are found", async () => {
  const { data } = await groupsOf("");
  const page = await pageOf("/dealers");
  assert.equal([...page.matchAll(/aria-label="\d of 7 feeds"/g)].length, Math.min(25, data.length));
  const [, named = "0"] = /delivery=silent"><strong>(\d+)<\/strong>/.exec(page) ?? [];
  const silent = await pageOf("/dealers?delivery=silent");
  assert.equal(rowsOf(silent).length, Number(named));
  assert.equal([...silent.matchAll(/<rect[^>]*class="absent"[^>]*><title>Nov 19, 2026/g)].length, Number(named));
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);

  test("dealers are found by name, make and place, and a state is chosen on the map by keyboard", async () => {
    const page = (await site?.open("/dealers?inventory_type=used")) ?? assert.fail("No browser.");
    const { data } = await client.getBody("getFacets", "/v1/facets?facets=state&inventory_type=used");
    const [state] = data.facets.state ?? assert.fail();
    await page.locator("#numbers-dealer-states summary").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`state=${state?.value}`));
    const { meta, data: groups } = await groupsOf(`inventory_type=used&state=${state?.value}`);
    assert.equal(await page.locator("h1").textContent(), `${meta.total_groups} dealers`);
    assert.equal(await page.locator(".kpis b").textContent(), String(state?.count));
    assert.equal(await page.locator(".us-map .place").count(), groups.length);
    assert.equal(await page.getByLabel("State").inputValue(), state?.value);
    const name = String(groups[0]?.dealer_name);
    await page.getByLabel("Name, city or domain").fill(name);
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/q=/);
    assert.equal(await page.locator("table.dealers tbody a").first().textContent(), name);
    await page.goto(`${client.url}/dealers?postal_code=00000`);
    assert.match((await page.locator(".notice").textContent()) ?? "", /00000/);
    assert.deepEqual(site?.faults, []);
  });
});

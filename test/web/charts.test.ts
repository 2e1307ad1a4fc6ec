/** The charts of the explorer in a browser. Their numbers are compared with those of the API. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { besideValue, chartSearches } from "../../src/web/explorer/charts/chart-searches.ts";
import { serialEnds } from "../../src/web/explorer/charts/vin-sample.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, signedInBrowser } from "../support/web/site.ts";

const { lake } = await createLake(fileScope, await generateFeeds(fileScope, { listings: 400, days: 7 }));
const client = await startService(fileScope, lake);

type CsvRow = Readonly<Record<string, string>>;

/** Returns the rows of the CSV file of a chart. */
async function csvOf(page: Page, id: string): Promise<readonly CsvRow[]> {
  const url = (await page.locator(`a[download="${id}.csv"]`).getAttribute("href")) ?? "";
  return parse(decodeURIComponent(url.slice(url.indexOf(",") + 1)), { columns: true });
}

const numbersOf = (rows: readonly CsvRow[], column: string): readonly number[] =>
  rows.map((row) => Number(row[column]));

test("the sampled ends of VINs are distinct, and about 300 listings have one of them", () => {
  assert.deepEqual(serialEnds(300), []);
  assert.deepEqual(serialEnds(1200), ["2", "7"]);
  for (const total of [301, 3_000, 3_001, 28_450, 1_000_000, 7_654_321]) {
    const ends = serialEnds(total);
    const expected = (total * ends.length) / 10 ** (ends[0]?.length ?? 0);
    assert.equal(new Set(ends).size, ends.length);
    assert.ok(ends.length <= 10 && expected > 140 && expected <= 300, `${total}: ${ends}, ${expected}`);
  }
});

test("a search beside another one is itself a search, and none if both are the same", () => {
  const beside = besideValue({ make: "Honda", min_year: "2020", layout: "charts" });
  assert.equal(beside, "make=Honda&min_year=2020");
  const [own, other] = chartSearches({ make: "Toyota", beside }, "2026-11-19");
  assert.deepEqual(own, { name: "Make Toyota", filters: { make: "Toyota" } });
  assert.deepEqual(other, { name: "Make Honda · Year from 2020", filters: { make: "Honda", min_year: "2020" } });
  assert.equal(chartSearches({ make: "Toyota", beside: besideValue({ make: "Toyota" }) }, "2026-11-19").length, 1);
  assert.equal(chartSearches({ make: "Toyota", beside: besideValue({}) }, "2026-11-19")[1]?.name, "All listings");
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);
  const open = (path: string): Promise<Page> => {
    if (site === undefined) throw new Error("No browser.");
    return site.open(path);
  };

  test("charts of prices have the numbers of the API, and the page shows their cost", async () => {
    const page = await open("/");
    await page.getByRole("link", { name: "Charts" }).click();
    await page.waitForURL(/layout=charts/, { waitUntil: "commit" });
    const { data } = await client.getBody("getFacets", "/v1/facets?facets=make,price&metric=price.median");
    const prices = await csvOf(page, "prices");
    assert.deepEqual(
      prices.map((row) => [Number(row.from), Number(row.below), Number(row.listings)]),
      data.range_facets.price?.buckets.map(({ min, max, count }) => [min, max, count]),
    );
    assert.equal(await page.locator(".plot-area").first().locator(".bar").count(), prices.length);
    const medians = await csvOf(page, "median-price-by-make");
    assert.deepEqual(
      medians.map(({ make, median_price: median }) => [make, median === "" ? null : Number(median)]),
      data.facets.make?.map(({ value, metric }) => [value, metric?.value ?? null]),
    );
    // The facets of the list before are paid for.
    assert.equal(await page.locator("#view-cost").textContent(), "$0.009");
  });

  test("a sample says which listings of how many it has, and has them all", async () => {
    const page = await open("/?layout=charts");
    const note =
      (await page.locator("figure", { hasText: "Price against miles" }).locator(".sub").first().textContent()) ?? "";
    const [, sampled, total, ends = ""] =
      /A sample of (\d+) of (\d+) listings: those whose VIN ends in ([\d, ]+)\./.exec(note) ?? [];
    const masks = ends
      .split(", ")
      .map((end) => end.padStart(17, "?"))
      .join();
    const listings = await client.getBody("searchListings", `/v1/listings?vin_pattern=${masks}&limit=1`);
    assert.equal(Number(sampled), listings.pagination.total, note);
    assert.equal(Number(total), (await client.getBody("searchListings", "/v1/listings?limit=1")).pagination.total);
    const few = await open("/?layout=charts&make=Toyota");
    const rows = await csvOf(few, "prices-and-miles");
    const known = await client.getBody("searchListings", "/v1/listings?make=Toyota&min_price=0&min_mileage=0&limit=1");
    assert.equal(rows.length, known.pagination.total);
  });

  test("trends until a past day are those of the API", async () => {
    const page = await open("/?layout=charts&chart=time&make=Toyota,Honda&snapshot_date=2026-11-17");
    const query = "metric=count,sold&interval=day&to=2026-11-17&make=Toyota,Honda";
    const { data } = await client.getBody("getTrends", `/v1/trends?${query}`);
    const points = data[0]?.points ?? [];
    assert.equal(points.length, 5);
    for (const [index, name] of ["count", "sold"].entries())
      assert.deepEqual(
        numbersOf(await csvOf(page, `trend-${name}`), name),
        points.map(({ metrics }) => metrics[index]?.value),
      );
  });

  test("lines are interrupted and shaded where there was no delivery", async (t) => {
    const feeds = await generateFeeds(t, { listings: 400, days: 7 });
    for (const day of ["2026-11-15", "2026-11-16"]) await rm(join(feeds, day), { recursive: true });
    const gap = await startService(t, (await createLake(t, feeds)).lake);
    const page = await (await signedInBrowser(t, gap)).open("/?layout=charts&chart=time");
    const figure = page.locator("figure", { hasText: "Inventory" });
    assert.match((await figure.locator(".sub").first().textContent()) ?? "", /Days without a delivery are shaded\.$/);
    const shade = figure.locator(".shade");
    assert.equal(await shade.count(), 1);
    assert.equal(await shade.locator("title").textContent(), "No delivery from Nov 15, 2026 to Nov 16, 2026");
    assert.match((await figure.locator(".plot-area").getAttribute("aria-label")) ?? "", /; No delivery from Nov 15/);
    assert.equal((await figure.locator("path.line").getAttribute("d"))?.match(/M/g)?.length, 2);
    for (const metric of ["count", "sold", "price.median"]) {
      const rows = await csvOf(page, `trend-${metric.replace(".", "-")}`);
      const unknown = rows.filter((row) => row[metric.replace(".", "_")] === "").map(({ day }) => day);
      assert.deepEqual(unknown, ["2026-11-15", "2026-11-16"], metric);
    }
  });

  test("the map leads to a state, whose dots are the dealers of the search", async () => {
    const page = await open("/?layout=charts&chart=map&inventory_type=used");
    const { data } = await client.getBody(
      "getFacets",
      "/v1/facets?facets=state&facet_value_limit=100&inventory_type=used",
    );
    const states = data.facets.state ?? [];
    assert.deepEqual(
      numbersOf(await csvOf(page, "states"), "listings"),
      states.map(({ count }) => count),
    );
    const [max] = states;
    await page.locator(`.us-map a[href*="state=${max?.value}"]`).dispatchEvent("click");
    await page.waitForURL(new RegExp(`state=${max?.value}`));
    assert.equal(await page.locator("#total").textContent(), `${max?.count} for sale`);
    const groups = await client.getBody(
      "getGroups",
      `/v1/groups?group_by=dealer_id&limit=100&inventory_type=used&state=${max?.value}`,
    );
    const titles = await page.locator(".us-map .place title").allTextContents();
    const sizes = titles.map((title) => Number(/: (\d+) listings/.exec(title)?.[1])).sort((one, other) => other - one);
    assert.deepEqual(
      sizes,
      groups.data.map(({ count }) => count),
    );
    const compared = await open("/?layout=charts&chart=map&inventory_type=used&beside=inventory_type%3Dnew");
    assert.equal(await compared.locator(".us-map").count(), 2);
  });

  test("a kept search stands beside the next one, in ranges of one width", async () => {
    const page = await open("/?layout=charts&inventory_type=new");
    await page.getByRole("link", { name: "Compare with another search" }).click();
    await page.waitForURL(/beside=/, { waitUntil: "commit" });
    await page.locator('[id="inventory_type=new"]').uncheck();
    await page.waitForURL(({ searchParams }) => !searchParams.has("inventory_type"), { waitUntil: "commit" });
    await page.locator('[id="inventory_type=used"]').check();
    await page.waitForURL(({ searchParams }) => searchParams.get("inventory_type") === "used", { waitUntil: "commit" });
    assert.equal(await page.locator("figure").first().locator("path.line.series-2").count(), 1);
    const rows = await csvOf(page, "prices");
    for (const type of ["used", "new"]) {
      const own = rows.filter(({ search }) => search === `Condition ${type}`);
      const { data } = await client.getBody("getFacets", `/v1/facets?facets=price&inventory_type=${type}`);
      const known = data.total - (data.stats.price?.missing ?? 0);
      assert.equal(
        numbersOf(own, "listings").reduce((sum, count) => sum + count, 0),
        known,
      );
    }
    const widths = rows.slice(1, -1).map(({ from, below }) => Number(below) - Number(from));
    assert.ok(new Set(widths).size <= 3, String(widths));
    await page.getByRole("link", { name: "Swap" }).click();
    await page.waitForURL(({ searchParams }) => searchParams.get("inventory_type") === "new", { waitUntil: "commit" });
    assert.equal((await csvOf(page, "prices"))[0]?.search, "Condition new");
  });

  test("charts are drawn without scripts, fit a phone, and are accessible", async (scope) => {
    const value = await client.sessions.create(client.customer.accountId);
    const phone = await launchBrowser(scope, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    await phone.addCookies([{ name: "carquet-session", value, url: client.url }]);
    const plain = await phone.newPage();
    const charts = ["", "&chart=time", "&chart=map", "&make=Toyota&beside=make%3DHonda"].map(
      (more) => `/?layout=charts${more}`,
    );
    for (const path of [...charts, "/?layout=charts&make=none"]) {
      await plain.goto(`${client.url}${path}`);
      if (!path.endsWith("none")) assert.ok((await plain.locator(".plot-area, .us-map").count()) > 0, path);
      const page = await open(path);
      const summaries = await page.locator(".numbers summary").all();
      await summaries[0]?.click();
      await assertAccessible(page);
      await page.setViewportSize({ width: 390, height: 844 });
      assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
      await page.close();
    }
    assert.deepEqual(site?.faults, []);
  });
});

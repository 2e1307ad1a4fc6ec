/** The charts of the explorer in a browser. Their numbers are compared with those of the API. */
import assert from "node:assert/strict";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { besideValue, chartSearches } from "../../../src/web/explorer/charts/chart-searches.ts";
import { serialEnds } from "../../../src/web/explorer/charts/vin-sample.ts";
import { percent } from "../../../src/web/shell/format.ts";
import { skipWithoutBrowser } from "../../support/http/browser.ts";
import { startService } from "../../support/http/service.ts";
import { generateFeeds } from "../../support/lakes/generated.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";
import { chartRows, numbersOf } from "../../support/web/chart-files.ts";
import { assertAccessible, signedInBrowser } from "../../support/web/site.ts";

/** Five days: the first is 30 days before the last, and none were delivered between it and the last three. */
async function sparseFeeds(): Promise<string> {
  const feeds = await generateFeeds(fileScope, { listings: 400, days: 5 });
  await rm(join(feeds, "2026-11-16"), { recursive: true });
  await rename(join(feeds, "2026-11-15"), join(feeds, "2026-10-20"));
  return feeds;
}

const { lake } = await createLake(fileScope, await sparseFeeds());
const client = await startService(fileScope, lake);

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

/** Returns the file that a button of a chart writes, in base64. */
async function downloadOf(page: Page, figure: Locator, format: string): Promise<string> {
  const started = page.waitForEvent("download");
  await figure.getByRole("button", { name: format }).click();
  return readFile(await (await started).path(), "base64");
}

/** Fails if a page, with its table open, is not accessible or wider than a phone. Closes it. */
async function assertUsable(page: Page): Promise<void> {
  await page.locator(".numbers summary").first().click();
  await assertAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, page.url());
  await page.close();
}

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);
  const open = (path: string): Promise<Page> => {
    if (site === undefined) throw new Error("No browser.");
    return site.open(path);
  };

  const prices = site === undefined ? undefined : await open("/?layout=charts");
  const shown = (): Page => {
    if (prices === undefined) throw new Error("No browser.");
    return prices;
  };
  const totalOf = async (query: string): Promise<number> =>
    (await client.getBody("searchListings", `/v1/listings?${query}&limit=1`)).pagination.total;

  test("charts of prices have the numbers of the API, and the page shows their cost", async () => {
    const page = shown();
    const { data } = await client.getBody("getFacets", "/v1/facets?facets=make,price&metric=price.median");
    const rows = await chartRows(page, "prices");
    assert.deepEqual(
      rows.map((row) => [Number(row.from), Number(row.below), Number(row.listings)]),
      data.range_facets.price?.buckets.map(({ min, max, count }) => [min, max, count]),
    );
    assert.equal(await page.locator(".plot-area").first().locator(".bar").count(), rows.length);
    const ticks = await page.locator(".plot-area").first().locator(".tick").allTextContents();
    assert.ok(ticks.filter((tick) => /^[$]\d+K$/.test(tick)).length > 1, `round prices below the bars: ${ticks}`);
    const medians = await chartRows(page, "median-price-by-make");
    assert.deepEqual(
      medians.map(({ make, median_price: median }) => [make, median === "" ? null : Number(median)]),
      data.facets.make?.map(({ value, metric }) => [value, metric?.value ?? null]),
    );
    assert.equal(await page.locator("#view-cost").textContent(), "$0.012");
  });

  test("a sample says which listings of how many it has", async () => {
    const figure = shown().locator("figure", { hasText: "Price against miles" });
    const note = (await figure.locator(".sub").first().textContent()) ?? "";
    const [, sampled, total, ends = ""] =
      /A sample of (\d+) of (\d+) listings: those whose VIN ends in ([\d, ]+)\./.exec(note) ?? [];
    const masks = ends.replaceAll(/\d+/g, (end) => end.padStart(17, "?")).replaceAll(" ", "");
    assert.equal(Number(sampled), await totalOf(`vin_pattern=${masks}`), note);
    assert.equal(Number(total), await totalOf(""));
  });

  test("a chart is drawn as a PNG and an SVG with the marks and colors of the page", async () => {
    const page = shown();
    const figure = page.locator("figure", { hasText: "Prices" }).first();
    const png = (await downloadOf(page, figure, "PNG")) ?? "";
    const svg = (await downloadOf(page, figure, "SVG")) ?? "";
    const bar = await page.evaluate(async (encoded) => {
      const image = new Image();
      image.src = `data:image/png;base64,${encoded}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context?.drawImage(image, 0, 0);
      const bars = [...document.querySelectorAll(".plot-area .bar")];
      const heightOf = (element: Element): number => element.getBoundingClientRect().height;
      const [highest] = bars.sort((one, other) => heightOf(other) - heightOf(one));
      const [box, rect] = [document.querySelector("figure"), highest].map((one) => one?.getBoundingClientRect());
      if (box === undefined || rect === undefined || highest === undefined) return undefined;
      const at = [rect.left - box.left + 20 + rect.width / 2, rect.top - box.top + 20 + rect.height / 2];
      const pixel = context?.getImageData(2 * (at[0] ?? 0), 2 * (at[1] ?? 0), 1, 1).data ?? [];
      return {
        width: image.width,
        box: box.width,
        pixel: [...pixel].slice(0, 3),
        fill: getComputedStyle(highest).fill,
      };
    }, png);
    assert.equal(bar?.width, 2 * Math.ceil((bar?.box ?? 0) + 40));
    assert.equal(`rgb(${bar?.pixel.join(", ")})`, bar?.fill);
    const text = Buffer.from(svg, "base64").toString();
    const heights = [...text.matchAll(/<rect [^>]*height="([\d.]+)"/g)].length;
    assert.ok(
      heights >= (await chartRows(page, "prices")).length && text.includes(">Prices</text>"),
      text.slice(0, 300),
    );
  });

  test("a drag across bars selects a range, in words and as a link; a bar is a link itself", async () => {
    const page = shown();
    const rows = await chartRows(page, "prices");
    const first = rows[2];
    const last = rows[5];
    const plot = page.locator("[data-brush]");
    const box = await plot.boundingBox();
    if (box === null || first === undefined || last === undefined) throw new Error("No plot.");
    const xOf = (slot: number): number => box.x + (box.width * (slot + 0.5)) / rows.length;
    await page.mouse.move(xOf(5), box.y + 40);
    await page.mouse.down();
    await page.mouse.move(xOf(4), box.y + 60);
    await page.mouse.move(xOf(2), box.y + 60);
    await page.mouse.up();
    const words = page.locator("[data-selection] .made");
    const held = rows.slice(2, 6).reduce((sum, row) => sum + Number(row.listings), 0);
    const range = `$${Number(first.from).toLocaleString("en-US")} to $${(Number(last.below) - 1).toLocaleString("en-US")}`;
    assert.match((await words.textContent()) ?? "", new RegExp(`^${range.replaceAll("$", "[$]")} holds ${held} \\(`));
    const { searchParams } = new URL((await words.locator("a").getAttribute("href")) ?? "", client.url);
    assert.deepEqual(
      [searchParams.get("min_price"), searchParams.get("max_price")],
      [first.from, String(Number(last.below) - 1)],
    );
    assert.equal(await totalOf(String(searchParams).replace("layout=charts&", "")), held);
    await words.getByRole("button").click();
    assert.equal(await words.isVisible(), false);
    const single = await plot.locator("a.slot").nth(3).getAttribute("href");
    assert.equal(single, `/?layout=charts&min_price=${rows[3]?.from}&max_price=${Number(rows[3]?.below) - 1}`);
  });

  test("the ends of a selection move by keyboard, one bar or five, and Enter filters", async () => {
    const page = shown();
    const rows = await chartRows(page, "prices");
    const lowest = page.getByRole("slider", { name: "Lowest: Prices" });
    const highest = page.locator(".handle").nth(1);
    await lowest.focus();
    for (const key of ["ArrowRight", "ArrowRight", "Shift+ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    assert.equal(await lowest.getAttribute("aria-valuenow"), "6");
    await page.keyboard.press("Escape");
    assert.equal(await lowest.getAttribute("aria-valuenow"), "0");
    await highest.focus();
    for (const key of ["Home", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    assert.equal(await highest.getAttribute("aria-valuenow"), "3");
    await page.keyboard.press("Enter");
    await page.waitForURL(/max_price=/, { waitUntil: "commit" });
    const held = rows.slice(0, 3).reduce((sum, row) => sum + Number(row.listings), 0);
    await page.locator("#total", { hasText: `${held} for sale` }).waitFor();
  });

  test("trends until a past day are those of the API, and interrupted and shaded where there was no delivery", async () => {
    const page = await open("/?layout=charts&chart=time&make=Toyota,Honda&snapshot_date=2026-11-18");
    const query = "metric=count,sold&interval=day&from=2026-10-20&to=2026-11-18&make=Toyota,Honda";
    const { data } = await client.getBody("getTrends", `/v1/trends?${query}`);
    const points = data[0]?.points ?? [];
    assert.equal(points.filter(({ days }) => days > 0).length, 3);
    for (const [index, name] of ["count", "sold"].entries()) {
      assert.deepEqual(
        numbersOf(await chartRows(page, `trend-${name}`), name),
        points.map(({ days, metrics }) => (days === 0 ? null : metrics[index]?.value)),
      );
    }
    const figure = page.locator("figure", { hasText: "Inventory" });
    assert.match((await figure.locator(".sub").first().textContent()) ?? "", /Days without a delivery are shaded\.$/);
    const shade = figure.locator(".shade");
    assert.equal(await shade.count(), 1);
    assert.equal(await shade.locator("title").textContent(), "No delivery from Oct 21, 2026 to Nov 16, 2026");
    assert.match((await figure.locator(".plot-area").getAttribute("aria-label")) ?? "", /; No delivery from Oct 21/);
    assert.equal((await figure.locator("path.line").getAttribute("d"))?.match(/M/g)?.length, 2);
    await assertUsable(page);
  });

  test("the map leads to a state, whose dots are ZIP codes", async () => {
    const page = await open("/?layout=charts&chart=map&inventory_type=used");
    const { data } = await client.getBody(
      "getFacets",
      "/v1/facets?facets=state&facet_value_limit=100&inventory_type=used",
    );
    const states = data.facets.state ?? [];
    assert.deepEqual(
      numbersOf(await chartRows(page, "states"), "listings"),
      states.map(({ count }) => count),
    );
    const [max] = states;
    await page.locator(`.us-map a[href*="state=${max?.value}"]`).dispatchEvent("click");
    await page.waitForURL(new RegExp(`state=${max?.value}`));
    assert.equal(await page.locator("#total").textContent(), `${max?.count} for sale`);
    const dealers = await client.getBody("searchDealers", `/v1/dealers?state=${max?.value}&limit=100`);
    const zips = new Set(dealers.data.map(({ postal_code }) => postal_code));
    assert.equal(await page.locator(".us-map .place").count(), zips.size);
    const compared = await open("/?layout=charts&chart=map&inventory_type=used&beside=inventory_type%3Dnew");
    assert.equal(await compared.locator(".us-map").count(), 2);
    await assertUsable(compared);
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
    const rows = await chartRows(page, "prices");
    for (const type of ["used", "new"]) {
      const own = rows.filter(({ search }) => search === `Condition ${type}`);
      const { data } = await client.getBody("getFacets", `/v1/facets?facets=price&inventory_type=${type}`);
      const known = data.total - (data.stats.price?.missing ?? 0);
      assert.equal(
        numbersOf(own, "listings").reduce((sum: number, count) => sum + (count ?? 0), 0),
        known,
      );
    }
    const widths = rows.slice(1, -1).map(({ from, below }) => Number(below) - Number(from));
    assert.ok(new Set(widths).size <= 3, String(widths));
    const numbers = await page.locator(".duo dd.series-1").allTextContents();
    const query = "facets=price,days_on_market&inventory_type=used";
    const now = await client.getBody("getFacets", `/v1/facets?${query}`);
    const before = await client.getBody("getFacets", `/v1/facets?${query}&snapshot_date=2026-10-20`);
    const change = percent(now.data.total / before.data.total - 1);
    assert.equal(numbers[0], `${now.data.total}${change}`);
    assert.match(
      numbers[1] ?? "",
      new RegExp(`^[$]${Math.round(now.data.stats.price?.median ?? 0).toLocaleString("en-US")}`),
    );
    assert.match(numbers[2] ?? "", new RegExp(`^${Math.round(now.data.stats.days_on_market?.median ?? 0)}[±+−]`));
    const listed = (await chartRows(page, "prices-and-miles")).filter(
      ({ search }) => search === "Condition used",
    ).length;
    assert.equal(listed, await totalOf("inventory_type=used&min_price=0&min_mileage=0"));
    await page.getByRole("link", { name: "Swap" }).click();
    await page.waitForURL(({ searchParams }) => searchParams.get("inventory_type") === "new", { waitUntil: "commit" });
    assert.equal((await chartRows(page, "prices"))[0]?.search, "Condition new");
    await assertUsable(page);
  });

  test("charts are drawn without scripts, with bars as links, beside changes of counts", async () => {
    const plain = await site?.openWithoutScripts("/?layout=charts&make=Toyota&change=30&beside=make%3DHonda");
    if (plain === undefined) throw new Error("No browser.");
    assert.equal(await plain.locator(".js-only:visible").count(), 0);
    const now = await totalOf("make=Toyota&inventory_type=used");
    const before = await totalOf("make=Toyota&inventory_type=used&snapshot_date=2026-10-20");
    const used = plain.locator("label", { has: plain.locator('[id="inventory_type=used"]') });
    assert.equal(await used.locator(".chg").textContent(), percent(now / before - 1));
  });

  test("a search with few listings shows a dot for each", async () => {
    const { data } = await client.getBody("getFacets", "/v1/facets?facets=model&facet_value_limit=100");
    const model = data.facets.model?.find(({ count }) => count < 10 && count > 2);
    const page = await open(`/?layout=charts&model=${model?.value}`);
    assert.equal(await page.locator("a.slot circle").count(), (await chartRows(page, "prices")).length);
    assert.deepEqual(site?.faults, []);
  });
});

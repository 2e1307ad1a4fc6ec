/** The charts of depreciation in a browser. Their numbers are compared with those of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { skipWithoutBrowser } from "../../support/http/browser.ts";
import { startService } from "../../support/http/service.ts";
import { generateFeeds } from "../../support/lakes/generated.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";
import { chartRows, numbersOf } from "../../support/web/chart-files.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../../support/web/site.ts";

const { lake } = await createLake(fileScope, await generateFeeds(fileScope, { listings: 4000, days: 1 }));
const client = await startService(fileScope, lake);

const charts = "/?layout=charts&chart=depreciation";
const { data: counted } = await client.getBody("getFacets", "/v1/facets?facets=model&facet_value_limit=2");
const [model, other] = counted.facets.model?.map(({ value }) => value) ?? [];
const { data: listed } = await client.getBody("searchListings", `/v1/listings?model=${model}&fields=make&limit=1`);
const make = String(listed[0]?.make);
const one = `make=${make}&model=${model}&inventory_type=new,used,certified`;

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);
  const open = (path: string): Promise<Page> => {
    if (site === undefined) throw new Error("No browser.");
    return site.open(path);
  };

  for (const by of ["age", "miles"] as const)
    test(`a search of one model shows its price by ${by} as the API follows it, and each point leads to its listings`, async () => {
      const page = await open(`${charts}&${one}&by=${by}`);
      const { data } = await client.getBody("getDepreciation", `/v1/depreciation?${one}&by=${by}`);
      const rows = await chartRows(page, `price-by-${by}`);
      const columns = {
        from: by,
        sample: "listings",
        median: "median_price",
        p10: "p10",
        p90: "p90",
        fitted: "fitted",
      };
      for (const [field, column] of Object.entries(columns))
        assert.deepEqual(
          numbersOf(rows, column),
          data.points.map((point) => Object(point)[field]),
          field,
        );
      const known = data.points.filter(({ median }) => median !== null);
      assert.ok(known.length > 0 && data.curve.slope !== null, "the sample is large enough for a curve");
      const figure = page.locator("figure");
      assert.equal(await figure.locator("a.slot").count(), known.length);
      assert.equal((await figure.locator("path.line").getAttribute("d"))?.match(/[ML]/g)?.length, data.points.length);
      const note = (await figure.locator(".sub").textContent()) ?? "";
      assert.ok(note.includes(`medians of ${data.curve.sample} new and used and certified cars`), note);
      assert.equal(await page.locator("#view-cost").textContent(), by === "age" ? "$0.016" : "$0.01");
      const { searchParams } = new URL((await figure.locator("a.slot").first().getAttribute("href")) ?? "", client.url);
      const { from = 0, to = 0 } = known[0] ?? {};
      const year = (data.newest_year ?? 0) - from;
      const bounds = by === "age" ? { min_year: year, max_year: year } : { min_mileage: from, max_mileage: to };
      assert.deepEqual(Object.fromEntries(searchParams), {
        ...Object.fromEntries(new URLSearchParams(one)),
        ...Object.fromEntries(Object.entries(bounds).map(([name, bound]) => [name, String(bound)])),
      });
      await figure.locator("a.slot").first().click();
      await page.waitForURL(({ searchParams: shown }) => !shown.has("chart"), { waitUntil: "commit" });
      const range = by === "age" ? `year=${year}` : `min_mileage=${from}&max_mileage=${to}`;
      const { pagination } = await client.getBody("searchListings", `/v1/listings?${one}&${range}&limit=1`);
      await page.locator("#total", { hasText: `${pagination.total} for sale` }).waitFor();
    });

  test("without one model the page says what to choose, and costs nothing for depreciation", async () => {
    const page = await open(`${charts}&make=${make}`);
    assert.match((await page.locator("figure .sub").textContent()) ?? "", /follows one model: choose a model/);
    assert.equal(await page.locator("#view-cost").textContent(), "$0.006");
    const { data } = await client.getBody("getFacets", `/v1/facets?facets=model&make=${make}&facet_value_limit=20`);
    assert.deepEqual(
      (await chartRows(page, "models")).map((row) => [row.model, Number(row.listings)]),
      data.facets.model?.map(({ value, count }) => [value, count]),
    );
    await page.locator("figure a.row").first().click();
    await page.locator("h2", { hasText: "Price by age" }).waitFor();
    for (const chart of ["prices", "time", "map"]) {
      const shown = await open(`/?layout=charts&chart=${chart}&make=${make}&model=${model}`);
      assert.equal((await shown.content()).includes("/v1/depreciation"), false, chart);
    }
  });

  test("a compared model has a second curve, and each search names what depreciation does not filter by", async () => {
    const beside = encodeURIComponent(`model=${other}`);
    const page = await open(`${charts}&model=${model}&value_rating=great,good,fair,high&beside=${beside}`);
    assert.equal(await page.locator("figure path.line").count(), 2);
    const searches = new Set((await chartRows(page, "price-by-age")).map(({ search }) => search));
    assert.equal(searches.size, 2);
    const note = (await page.locator("figure .sub").textContent()) ?? "";
    assert.match(note, new RegExp(`${model}.* has no filter by Value.*${other}`));
    assert.equal(await page.locator('figure a[href*="value_rating"]:not(.sub a)').count(), 0);
    await page.locator(".numbers summary").first().click();
    await assertAccessible(page);
    await assertFitsPhone(page);
    const plain = await site?.openWithoutScripts(`${charts}&make=${make}&beside=${beside}`);
    assert.deepEqual(await plain?.locator("figure h2").allTextContents(), ["Price by age", "Choose a model"]);
    assert.deepEqual(site?.faults, []);
  });
});

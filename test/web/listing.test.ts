/** The page of a listing: its numbers are those of the API, and photos are those of its dealer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { parseHTML } from "linkedom";
import { photoSources } from "../../src/web/shop/photos.tsx";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { marketService, startService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { lake } = await marketService();
const client = await startService(fileScope, lake, { photos: "direct" });
const Cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;

const fetchPage = (path: string, url = client.url): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { Cookie } });

async function documentOf(path: string): Promise<Document> {
  const response = await fetchPage(path);
  assert.equal(response.status, 200, path);
  return parseHTML(await response.text()).document;
}

const textsOf = (page: Document, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map(({ textContent }) => (textContent ?? "").trim());

const dollars = (value: number | null): string =>
  value === null ? "–" : `${value < 0 ? "−" : ""}$${Math.abs(value).toLocaleString("en-US")}`;

/** Returns listings with photos and more comparables than the page shows at first. */
async function comparedListings() {
  const path =
    "/v1/listings?value_rating=great,good,fair,high&sort=-days_on_market&fields=photo_urls,days_on_market&limit=100";
  const { data } = await client.getBody("searchListings", path);
  const photographed = data.filter(({ photo_urls }) => (photo_urls ?? []).length > 1).slice(0, 20);
  const compared = await Promise.all(
    photographed.map(async (listing) => {
      const valued = await client.getBody("getListingComparables", `/v1/listings/${listing.id}/comparables?limit=60`);
      return { ...listing, valued: valued.data };
    }),
  );
  return compared.filter(({ valued }) => valued.comparables.length > 5);
}

const compared = await comparedListings();

test("the numbers of a listing's page are those of the API, and it names what it cost", async () => {
  assert.ok(compared.length > 1);
  for (const { id, vin, days_on_market: days, valued } of compared.slice(0, 1)) {
    const page = await documentOf(`/listings/${id}`);
    const { comparables, valuation, summary } = valued;
    const rows = [...page.querySelectorAll(".comparables tbody tr")].map((row) =>
      [...row.querySelectorAll("td")].slice(1, 7).map(({ textContent }) => textContent),
    );
    assert.deepEqual(
      rows,
      comparables.map(({ miles, distance_miles, price, adjustment, adjusted_price, weight }) => [
        miles?.toLocaleString("en-US") ?? "–",
        distance_miles === null ? "–" : `${Math.round(distance_miles).toLocaleString("en-US")} mi`,
        dollars(price),
        `${adjustment > 0 ? "+" : ""}${dollars(adjustment)}`,
        dollars(adjusted_price),
        weight.toFixed(2),
      ]),
    );
    for (const variant of [".on-wide", ".on-phone"]) {
      assert.equal(page.querySelectorAll(`.strip ${variant} circle:not(.subject)`).length, comparables.length);
      const sold = comparables.filter(({ status }) => status === "sold");
      assert.equal(page.querySelectorAll(`.strip ${variant} circle.sold`).length, sold.length);
    }
    const file = page.querySelector('a[download="comparables.csv"]')?.getAttribute("href") ?? "";
    const records: readonly Record<string, string>[] = parse(decodeURIComponent(file.replace(/^[^,]*,/, "")), {
      columns: true,
    });
    assert.deepEqual(
      records.map((one) => [one.listing_id, one.adjusted_price]),
      comparables.map((one) => [one.listing_id, String(one.adjusted_price)]),
    );
    const [estimate, percentile, age, change] = textsOf(page, ".four dd");
    const low = dollars(valuation.market_value_low);
    const high = dollars(valuation.market_value_high);
    assert.equal(estimate, `${dollars(valuation.market_value)}80%: ${low} to ${high}`);
    assert.match(
      percentile ?? "",
      new RegExp(`^${Math.round(summary?.percentile ?? NaN)}(st|nd|rd|th)of ${summary?.sample} `),
    );
    assert.match(age ?? "", new RegExp(`^${days} day`));
    const { data: listing } = await client.getBody("getListing", `/v1/listings/${id}`);
    const total = listing.price_change_total ?? 0;
    assert.ok(change?.startsWith(`${total > 0 ? "+" : ""}${dollars(total)}`), change);
    const evidence = await client.getBody("getEvidence", `/v1/vins/${vin}/evidence`);
    const newest = [...evidence.data.steps].reverse();
    const shown = textsOf(page, ".trail li:not(.key)");
    assert.deepEqual(shown.length, newest.length);
    for (const [index, { text }] of newest.entries()) assert.ok(shown[index]?.includes(text), text);
    const prices = textsOf(page, ".requests li span").map((usd) => Number(usd.replace("$", "")));
    const cost = Number(page.querySelector("#view-cost")?.textContent?.replace("$", ""));
    assert.equal(cost.toFixed(6), prices.reduce((sum, usd) => sum + usd, 0).toFixed(6));
    assert.ok(cost <= 0.035, String(cost));
  }
});

const pathsOf = (page: Document, selector: string): readonly (string | null)[] =>
  [...page.querySelectorAll(selector)].map((link) => link.getAttribute("href"));

test("the page leads back to its search, and to the cars before and after it, also of other pages, without a charge", async () => {
  for (const [search, cars] of [
    ["/?inventory_type=used&sort=price", ".car h2 a"],
    ["/?inventory_type=new&layout=table&columns=vehicle,price", "tbody td:first-child a"],
  ] as const) {
    const pages = [await documentOf(search)];
    pages.push(await documentOf(pathsOf(pages[0] ?? assert.fail(), ".paging a")[0] ?? ""));
    const total = Number.parseInt(pages[0]?.querySelector("#total")?.textContent?.replace(",", "") ?? "", 10);
    const paths = pages.flatMap((page) => pathsOf(page, cars));
    const size = paths.length / 2;
    for (const at of [0, 1, size - 1, size]) {
      const page = await documentOf(paths[at] ?? "");
      assert.deepEqual(
        pathsOf(page, ".crumbs a")[0],
        at < size ? search : pathsOf(pages[0] ?? assert.fail(), ".paging a")[0],
      );
      assert.deepEqual(pathsOf(page, '[rel="prev"]'), at === 0 ? [] : [paths[at - 1]]);
      assert.deepEqual(pathsOf(page, '[rel="next"]'), [paths[at + 1]]);
      assert.equal(
        page.querySelector(".crumbs .ends span")?.textContent,
        `${at + 1} of ${total.toLocaleString("en-US")}`,
      );
      const request = [...page.querySelectorAll(".requests li")].find((item) =>
        /fields=id&/.test(item.textContent ?? ""),
      );
      assert.equal(request?.querySelector("span") ?? null, null, request?.textContent ?? "no request");
    }
  }
});

test("a listing that has left its search, or was opened from none, has no cars beside it; an invalid search is a missing part", async () => {
  const [one, other] = compared;
  const positionOf = async (query: string) => {
    const page = await documentOf(`/listings/${one?.id}?${query}`);
    return [pathsOf(page, ".crumbs a")[0], textsOf(page, ".crumbs .ends"), textsOf(page, ".notice p").length];
  };
  assert.deepEqual(await positionOf(""), ["/", [], 0]);
  assert.deepEqual(await positionOf(`vin_pattern=${other?.vin}&offset=0`), [`/?vin_pattern=${other?.vin}`, [], 0]);
  assert.deepEqual(await positionOf("min_price=x&offset=0"), ["/?min_price=x", [], 1]);
});

test("the median of each day is drawn, and charged, if it is asked for", async () => {
  const path = `/listings/${compared[0]?.id}`;
  const link = (await documentOf(path)).querySelector(`a[href="${path}?median=days"]`);
  const cost = /\(\$([\d.]+)\)/.exec(link?.parentElement?.textContent ?? "")?.[1];
  const asked = await documentOf(`${path}?median=days`);
  assert.equal(asked.querySelector("#view-cost")?.textContent, `$${cost}`);
  assert.ok(
    textsOf(asked, ".requests code").some((request) => request.startsWith("GET /v1/trends?metric=price.median")),
  );
});

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("photos come from their hosts over https, without a referrer, on pages whose policy allows them; without photos, the page has links", async (scope) => {
  const listed = ["http://a.example/1.jpg", "https://b.example/2.jpg", "javascript:alert(1)"];
  assert.deepEqual(photoSources(listed, "direct"), ["https://b.example/2.jpg"]);
  assert.deepEqual(photoSources(listed, "off"), []);
  const { id, photo_urls: urls } = compared[0] ?? assert.fail();
  const response = await fetchPage(`/listings/${id}`);
  assert.match(response.headers.get("Content-Security-Policy") ?? "", /img-src https: 'self' data:;/);
  assert.equal(response.headers.get("Referrer-Policy"), "same-origin");
  const shown = [
    ...(await response.text()).matchAll(
      /<img class="photo" id="[^"]*" src="([^"]*)"[^>]* referrerpolicy="no-referrer"/g,
    ),
  ];
  assert.deepEqual(
    shown.map(([, source]) => source),
    urls?.slice(0, 6),
  );
  const plain = await startService(scope, lake, { accounts: client.accounts });
  const without = await fetchPage(`/listings/${id}`, plain.url);
  assert.match(without.headers.get("Content-Security-Policy") ?? "", /img-src 'self' data:;/);
  const page = parseHTML(await without.text()).document;
  assert.equal(page.querySelector("img.photo"), null);
  assert.equal(page.querySelector(`a[href="${urls?.[0]}"]`)?.textContent, "Photo 1");
});

test("the page is accessible and fits a phone, with photos and without", {
  skip: skipWithoutBrowser,
}, async (scope) => {
  const site = await signedInBrowser(scope, client);
  const { id, valued, photo_urls: urls } = compared[0] ?? assert.fail();
  const page = await site.open("/accounts");
  const referrers = new Set<string | undefined>();
  await page.context().route(/^https:/, async (route) => {
    referrers.add((await route.request().allHeaders()).referer);
    if (route.request().url() === urls?.[0]) await route.fulfill({ body: png, contentType: "image/png" });
    else await route.abort();
  });
  await page.goto(`${client.url}/listings/${id}`);
  await page.locator("#photo-1").evaluate((photo) => (photo as HTMLImageElement).decode());
  assert.equal(await page.locator("#photo-1").isVisible(), true);
  await page.getByRole("link", { name: "Photo 2", exact: true }).click();
  await page.locator('.thumbs a[href="#photo-2"] img').waitFor({ state: "hidden" });
  assert.equal(await page.locator("#photo-1").isVisible(), false);
  await page.locator("#photo-2").waitFor({ state: "hidden" });
  assert.equal(
    await page.locator(".frame .drawing").isVisible(),
    true,
    "the drawn car, below a photo that does not load",
  );
  await assertAccessible(page);
  await assertFitsPhone(page);
  const plain = await site.openWithoutScripts(`/listings/${id}`);
  assert.equal(await plain.locator(".strip .on-wide").isVisible(), true);
  assert.equal(await plain.locator("[data-keep]").isVisible(), false);
  await plain.locator("details.more > summary").first().click();
  assert.equal(await plain.locator(".comparables tbody tr:visible").count(), valued.comparables.length);
  const results = await site.open("/");
  const paths = await results.locator(".car h2 a").evaluateAll((cars) => cars.map((car) => car.getAttribute("href")));
  await results.locator(".car h2 a").first().click();
  for (const [key, at] of [
    ["j", 1],
    ["k", 0],
  ] as const) {
    await results
      .getByRole("link", { name: /^(Next|Previous) car/ })
      .first()
      .waitFor();
    await results.keyboard.press(key);
    await results.waitForURL(`${client.url}${paths[at]}`);
  }
  assert.deepEqual([...referrers], [undefined]);
  assert.deepEqual(
    site.faults.filter((fault) => !fault.startsWith("request to https:")),
    [],
  );
});

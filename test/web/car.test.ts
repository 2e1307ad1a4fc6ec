/** The page of a car: its numbers are those of the API, its judgement is not louder than its data, and photos are those of its dealer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { parseHTML } from "linkedom";
import { photoSources } from "../../src/web/shop/photos.tsx";
import { createCustomer } from "../support/accounts.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { marketService, startService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { lake } = await marketService();
const client = await startService(fileScope, lake, { photos: "direct" });
const Cookie = `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`;

const fetchPage = (path: string, url = client.url, cookie = Cookie): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { Cookie: cookie } });

async function documentOf(path: string, status = 200): Promise<Document> {
  const response = await fetchPage(path);
  assert.equal(response.status, status, path);
  return parseHTML(await response.text()).document;
}

const textsOf = (page: Document, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map(({ textContent }) => (textContent ?? "").trim());

const hrefsOf = (page: Document, selector: string): readonly (string | null)[] =>
  [...page.querySelectorAll(selector)].map((link) => link.getAttribute("href"));

const number = (value: number | null): string => value?.toLocaleString("en-US") ?? "–";
const dollars = (value: number | null): string =>
  value === null ? "–" : `${value < 0 ? "−" : ""}$${number(Math.abs(value))}`;

const search = async (query: string) => (await client.getBody("searchListings", `/v1/listings?${query}`)).data;

/** Returns cars with photos and similar cars, those with the most first. */
async function comparedCars() {
  const found = await search(
    "value_rating=great,good,fair,high&sort=-days_on_market&fields=photo_urls,days_on_market,keywords&limit=100",
  );
  const photographed = found.filter(({ photo_urls }) => (photo_urls ?? []).length > 1).slice(0, 20);
  const compared = await Promise.all(
    photographed.map(async (listing) => {
      const valued = await client.getBody("getListingComparables", `/v1/listings/${listing.id}/comparables?limit=60`);
      return { ...listing, valued: valued.data };
    }),
  );
  const similar = compared.filter(({ valued }) => valued.comparables.length > 5);
  return similar.sort((one, other) => other.valued.comparables.length - one.valued.comparables.length);
}

const compared = await comparedCars();
const [car] = compared;
assert.ok(car);

test("the numbers of a car's page are those of the API, and it names what it cost", async () => {
  const { id, vin, valued } = car;
  const page = await documentOf(`/listings/${id}?numbers=similar.distance_miles`);
  const { comparables } = valued;
  const { data: listing } = await client.getBody("getListing", `/v1/listings/${id}`);
  assert.equal(page.querySelector(".panel .p b")?.textContent, dollars(listing.price));
  const dots = page.querySelectorAll("#similar .wide g circle, #similar .wide a circle");
  const drawn = comparables.length < 10 ? 0 : comparables.length + 1;
  assert.equal(dots.length, drawn, "a dot for each similar car, and one for this car");
  const few = compared.find((one) => one.valued.comparables.length < 10);
  for (const { id: shown, valued: of } of [car, few ?? assert.fail("every car has many similar ones")]) {
    const text = (await documentOf(`/listings/${shown}`)).querySelector("#similar")?.textContent ?? "";
    assert.equal(text.includes("Each dot is"), of.comparables.length >= 10, "dots that are drawn are explained");
  }
  const more = comparables.filter(({ adjusted_price }) => adjusted_price > (listing.price ?? 0)).length;
  const less = comparables.filter(({ adjusted_price }) => adjusted_price < (listing.price ?? 0)).length;
  assert.match(page.querySelector("#similar h2")?.textContent ?? "", new RegExp(`\\b${Math.max(more, less)}\\b`));
  const miles = (one: (typeof comparables)[number]) => one.distance_miles ?? Number.POSITIVE_INFINITY;
  const nearest = [...comparables].sort((one, other) => miles(one) - miles(other));
  assert.deepEqual(
    [...page.querySelectorAll("#numbers-similar tbody tr")].map((row) =>
      [...row.querySelectorAll("td.num")].slice(0, 4).map(({ textContent }) => textContent),
    ),
    nearest.map((one) => [
      one.distance_miles === null ? "–" : `${number(Math.round(one.distance_miles))} mi`,
      number(one.miles),
      dollars(one.price),
      dollars(one.adjusted_price),
    ]),
  );
  const file = hrefsOf(page, 'a[download="similar.csv"]')[0] ?? "";
  const records: readonly Record<string, string>[] = parse(decodeURIComponent(file.replace(/^[^,]*,/, "")), {
    columns: true,
  });
  assert.deepEqual(
    records.map((one) => [one.vin, one.adjusted_price]),
    comparables.map((one) => [one.vin, String(one.adjusted_price)]),
  );
  const evidence = await client.getBody("getEvidence", `/v1/vins/${vin}/evidence`);
  const shown = textsOf(page, "#facts li").join("\n");
  for (const { text } of evidence.data.steps) assert.ok(shown.includes(text), text);
  const prices = [...(textsOf(page, ".how pre code")[0] ?? "").matchAll(/# \$([\d.]+)/g)].map(([, usd]) => Number(usd));
  const cost = Number(page.querySelector("#page-cost")?.textContent?.replace("$", ""));
  assert.equal(cost.toFixed(6), prices.reduce((sum, usd) => sum + usd, 0).toFixed(6));
  assert.ok(cost <= 0.035, String(cost));
});

test("similar cars are counted within each distance, and the table of the nearest sorts", async () => {
  const { id, valued } = car;
  const page = await documentOf(`/listings/${id}?within=500&numbers=nearest.-price`);
  const { comparables } = valued;
  const within = (radius: number) =>
    comparables.filter(({ distance_miles: miles }) => miles !== null && miles <= radius);
  assert.deepEqual(textsOf(page, "#similar .seg a"), [
    `100 mi: ${within(100).length}`,
    `500 mi: ${within(500).length}`,
    `any: ${valued.summary?.sample}`,
  ]);
  assert.equal(page.querySelector('#similar .seg [aria-current="true"]')?.textContent?.startsWith("500"), true);
  const prices = textsOf(page, "#nearest tbody td:nth-child(4)").map((text) => Number(text.replace(/\D/g, "")));
  assert.deepEqual(
    prices,
    [...prices].sort((one, other) => other - one),
  );
  assert.ok(prices.length <= 6);
  const [sorted] = hrefsOf(page, '#nearest th[aria-sort="descending"] a');
  assert.match(sorted ?? "", /within=500&numbers=nearest.price#nearest$/);
});

test("a car leads back to its search, and to the cars after it; an invalid search is a missing part", async () => {
  const filters = "inventory_type=used&max_price=40000&sort=price";
  const found = await client.getBody("searchListings", `/v1/listings?${filters}&limit=6`);
  const ids = found.data.map(({ id }) => id);
  const page = await documentOf(`/listings/${ids[1]}?${filters}`);
  assert.match(textsOf(page, ".kicker")[0] ?? "", new RegExp(`^Used .* / 2 of ${number(found.pagination.total)}$`));
  assert.match(hrefsOf(page, ".kicker a")[0] ?? "", /^\/shop\?inventory_type=used&max_price=40000&sort=price$/);
  assert.deepEqual(
    hrefsOf(page, "#others .card h3 a").map((href) => href?.slice(10, 42)),
    ids.slice(2, 6),
  );
  const plain = await documentOf(`/listings/${ids[1]}`);
  assert.equal(textsOf(plain, ".kicker a")[0], "Shop");
  const invalid = await documentOf(`/listings/${ids[1]}?min_price=x`, 400);
  assert.match(textsOf(invalid, ".note")[0] ?? "", /^Missing: other cars\. Invalid value/);
});

test("a branded title is a red badge instead of a rating, without a comparison; the nearest clean ones follow", async () => {
  const cars = await search("fields=keywords,make,model&limit=100&sort=price");
  const branded = cars.find(({ keywords }) => keywords?.includes("branded"));
  assert.ok(branded);
  const page = await documentOf(`/listings/${branded.id}`);
  assert.equal(page.querySelector(".panel .badge.branded")?.textContent, "Branded title");
  assert.match(page.querySelector(".say mark")?.textContent ?? "", /title is branded/);
  assert.equal(page.querySelector("#similar"), null);
  assert.match(textsOf(page, ".rose p")[0] ?? "", /^Similar cars have clean titles\./);
  assert.match(textsOf(page, "#others h2")[0] ?? "", /with a clean title$/);
  assert.equal(page.querySelector("#others .badge.branded"), null);
});

test("a page says the true reason where there is no rating", async () => {
  const cars = await search("fields=keywords,price,market_value,value_rating&limit=100&sort=-days_on_market");
  const unrated = cars.filter(
    ({ value_rating: rating, keywords }) => rating === null && !keywords?.includes("branded"),
  );
  assert.ok(unrated.length > 0);
  for (const { id, price, market_value: value } of unrated.slice(0, 4)) {
    const { data } = await client.getBody("getListingComparables", `/v1/listings/${id}/comparables`);
    const reason = data.valuation.null_reason;
    const expected =
      price === null || price === undefined
        ? /^The dealer states no price\./
        : typeof value === "number"
          ? price < value
            ? /^Less than half of/
            : /^More than twice/
          : reason === "out_of_range"
            ? /no similar car has such a year/
            : reason === "unknown_attributes"
              ? /is not stated/
              : /^Too few similar cars to rate\./;
    const page = await documentOf(`/listings/${id}`);
    assert.match(textsOf(page, ".say")[0] ?? "", expected, id);
    assert.equal(page.querySelector(".panel .p b + .badge")?.textContent, "No rating");
  }
});

test("a sold car is not judged", async () => {
  const [sold] = await search("inventory_status=sold&fields=price,sold_date&limit=1");
  assert.ok(sold);
  const page = await documentOf(`/listings/${sold.id}`);
  assert.match(page.querySelector(".say")?.textContent ?? "", /^Sold by /);
  assert.equal(page.querySelector(".panel a.main"), null, "no call for a sold car");
});

test("a page whose parts cannot be paid shows the charged parts, and why the rest is missing", async () => {
  const poor = await createCustomer(client.accounts, { usd: "0.009" });
  const cookie = `carquet-session=${await client.sessions.create({ accountId: poor.accountId })}`;
  const response = await fetchPage(`/listings/${car.id}`, client.url, cookie);
  const page = parseHTML(await response.text()).document;
  assert.equal(response.status, 200);
  assert.equal(page.querySelector("#page-cost")?.textContent, "$0.008");
  assert.match(textsOf(page, ".note").join(), /Missing: similar cars\. .*billing state/);
  assert.notEqual(page.querySelector(".panel .p b")?.textContent, "");
});

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("photos come from their hosts over https, without a referrer, on pages whose policy allows them; without photos, the page has links", async (scope) => {
  const listed = ["http://a.example/1.jpg", "https://b.example/2.jpg", "javascript:alert(1)"];
  assert.deepEqual(photoSources(listed, "direct"), ["https://b.example/2.jpg"]);
  assert.deepEqual(photoSources(listed, "off"), []);
  const { id, photo_urls: urls } = car;
  const response = await fetchPage(`/listings/${id}`);
  assert.match(response.headers.get("Content-Security-Policy") ?? "", /img-src https: 'self' data:;/);
  const text = await response.text();
  const shown = [...text.matchAll(/<img class="photo" id="[^"]*" src="([^"]*)"[^>]* referrerpolicy="no-referrer"/g)];
  assert.deepEqual(
    shown.map(([, source]) => source),
    urls?.slice(0, 6),
  );
  const others = parseHTML(text).document.querySelectorAll("#others .stage");
  assert.ok(others.length > 0 && [...others].some((stage) => stage.querySelector("img") !== null));
  const plain = await startService(scope, lake, { accounts: client.accounts });
  const without = await fetchPage(`/listings/${id}`, plain.url);
  assert.match(without.headers.get("Content-Security-Policy") ?? "", /img-src 'self' data:;/);
  const page = parseHTML(await without.text()).document;
  assert.equal(page.querySelector("img.photo"), null);
  assert.equal(page.querySelector(`a[href="${urls?.[0]}"]`)?.textContent, "Photo 1");
});

test("the page is accessible and fits a phone, with photos and without scripts", {
  skip: skipWithoutBrowser,
}, async (scope) => {
  const site = await signedInBrowser(scope, client);
  const { id, photo_urls: urls } = car;
  const page = await site.open("/account");
  const referrers = new Set<string | undefined>();
  await page.context().route(/^https:/, async (route) => {
    referrers.add((await route.request().allHeaders()).referer);
    if (route.request().url() === urls?.[0]) await route.fulfill({ body: png, contentType: "image/png" });
    else await route.abort();
  });
  await page.goto(`${client.url}/listings/${id}`);
  await page.locator("#photo-1").evaluate((photo) => (photo as HTMLImageElement).decode());
  assert.equal(await page.locator("#photo-1").isVisible(), true);
  await page.goto(`${client.url}/listings/${id}#photo-2`);
  await page.locator("#photo-2").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".photos .car").isVisible(), true, "the drawing, below a photo that does not load");
  await assertAccessible(page);
  await assertFitsPhone(page);
  const plain = await site.openWithoutScripts(`/listings/${id}`);
  assert.equal(await plain.locator("[data-keep]").first().isVisible(), false);
  await plain.locator("#facts > summary").click();
  assert.equal(await plain.locator("#facts li").first().isVisible(), true);
  await plain.getByRole("link", { name: /^100 mi/ }).click();
  assert.match(plain.url(), /within=100#similar$/);
  assert.deepEqual([...referrers], [undefined]);
  assert.deepEqual(
    site.faults.filter((fault) => !fault.startsWith("request to https:")),
    [],
  );
});
test("roof rails are drawn on a car that has them", async () => {
  const [railed] = await search("features=roof_rack&body_type=SUV&limit=1");
  const page = await documentOf(`/listings/${railed?.id}`);
  assert.match(page.querySelector("svg.car")?.getAttribute("class") ?? "", /^car(?!.* no-rails)/);
});

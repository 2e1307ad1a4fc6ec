/** The shop: what its pages say beside the answers of the API, over HTTP and in a browser. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { equivalentSql } from "../../src/web/shop/equivalent-sql.ts";
import { withParameters } from "../../src/web/shop/view.ts";
import { createCustomer } from "../support/accounts.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { marketService } from "../support/http/service.ts";
import { queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, type Site, signedInBrowser } from "../support/web/site.ts";

const { lake, client } = await marketService();
const signedIn = {
  Cookie: `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`,
};

const get = (path: string, headers: Record<string, string> = signedIn): Promise<Response> =>
  fetch(`${client.url}${path}`, { headers, redirect: "manual" });

const text = async (path: string): Promise<string> => plain(await (await get(path)).text());

/** Returns the text of a page without its markup. */
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([.,?:])/g, "$1");

/** Returns the paths of the cars of a page, in their order. */
const carsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<h3><a href="\/listings\/(\w+)/g)].map(([, id = ""]) => id);

/** Returns the counts that a page shows for a facet, by value. */
const countsOf = (html: string, facet: string): ReadonlyMap<string, number> =>
  new Map(
    [...html.matchAll(/<label><input type="checkbox" id="(\w+)=([^"]*)".*?<output>([\d,]+)<\/output>/g)]
      .filter(([, name]) => name === facet)
      .map(([, , value = "", count = ""]) => [value, Number(count.replace(",", ""))]),
  );

const locationOf = async (path: string): Promise<string | null> => (await get(path)).headers.get("Location");

test("all cars stand in the order of the API's best prices, each a link to its page", async () => {
  const html = await (await get("/shop")).text();
  const { data, pagination } = await client.getBody("searchListings", "/v1/listings?sort=value&limit=24");
  const great = await fetchTotal(client, "value_rating=great");
  assert.deepEqual(
    carsOf(html),
    data.map(({ id }) => id),
  );
  const said = plain(/<h1>.*?<\/h1>/.exec(html)?.[0] ?? "").trim();
  assert.equal(said, `${pagination.total.toLocaleString("en-US")} cars. ${great} great prices stand first.`);
});

test("the counts beside the filters are those of the searches that they lead to", async () => {
  const html = await (await get("/shop?body_type=SUV&keywords=clean_title")).text();
  const base = "body_type=SUV&keywords=clean_title";
  assert.equal(
    countsOf(html, "inventory_type").get("used,certified"),
    await fetchTotal(client, `${base}&inventory_type=used,certified`),
  );
  assert.equal(
    countsOf(html, "body_type").get("Pickup") ?? 0,
    await fetchTotal(client, "body_type=Pickup&keywords=clean_title"),
  );
  for (const keyword of ["one_owner", "fleet", "branded"])
    assert.equal(countsOf(html, "keywords").get(keyword) ?? 0, await fetchTotal(client, `${base},${keyword}`), keyword);
  const [[feature = "", cars] = []] = [...countsOf(html, "features")].filter(([, count]) => count > 0).slice(-1);
  assert.equal(cars, await fetchTotal(client, `${base}&features=${feature}`));
  assert.equal(
    countsOf(html, "value_rating").get("great") ?? 0,
    await fetchTotal(client, `${base}&value_rating=great`),
  );
});

test("addresses have one form: repeated boxes are lists, written prices numbers, and towns ZIP codes", async () => {
  const cases = {
    "/shop?make=Toyota&make=Honda&sort=value&max_price=": "/shop?make=Toyota,Honda",
    "/shop?max_price=$25,000": "/shop?max_price=25000",
    "/shop?max_mileage=62.5k": "/shop?max_mileage=62500",
    "/shop?max_price=20000,00&offset=0": "/shop?max_price=20000,00",
    "/shop?inventory_type=used,certified&inventory_type=certified": "/shop?inventory_type=certified",
    "/shop?inventory_type=used,certified&inventory_type=new": "/shop?inventory_type=used,certified,new",
    "/?make=Ford&layout=table&period=90": "/shop?make=Ford&view=table",
    "/?make=Ford&layout=charts&chart=time": "/market?make=Ford",
    "/?make=Ford&make=Audi&layout=rows": "/shop?make=Ford,Audi&view=rows",
    "/?make=Ford&make=Audi&layout=charts&chart=map": "/market?make=Ford,Audi&view=map",
    "/compare?ids=a,b": "/shop?view=table&ids=a%2Cb",
    "/export?make=Ford": "/shop?view=table&make=Ford",
    "/find?q=RAV4+against+CR-V": "/market?show=RAV4&against=CR-V",
    "/find?q=": "/shop",
    "/find?q=RAV4+against+CR-V+vs+Civic": "/market?show=RAV4&against=CR-V+against+Civic",
    "/shop?inventory_type=cpo": "/shop?inventory_type=certified",
  };
  for (const [path, target] of Object.entries(cases)) assert.equal(await locationOf(path), target, path);
  assert.match(
    (await locationOf("/shop?postal_code=Seattle,+WA&radius=50")) ?? "",
    /^\/shop\?postal_code=98\d{3}&radius=50$/,
  );
});

test("a changed search begins on its first page", () => {
  const view = { make: "Kia", offset: "48", sort: "price" };
  assert.deepEqual(withParameters(view, { make: "Ford", sort: undefined }), { make: "Ford" });
  assert.deepEqual(withParameters(view, { offset: "72" }), { ...view, offset: "72" });
});

test("a search is said in words, its median with its bound, and a town by its name", async () => {
  const filters =
    "inventory_type=used,certified&body_type=SUV&max_price=30000&keywords=clean_title,branded&features=sunroof";
  const page = await text(`/shop?${filters}`);
  assert.match(page, /Used SUVs to \$30,000 with sunroof, clean title, no branded title\./);
  const { data } = await client.getBody("getFacets", `/v1/facets?facets=price&${filters}`);
  const median = Math.round(data.stats.price?.median ?? 0).toLocaleString("en-US");
  if (data.total > 24) assert.ok(page.includes(`median price, within your bound $${median}`), page.slice(0, 900));
  for (const text of ["Clean title, Hide branded titles", "Sunroof"]) assert.ok(page.includes(`${text}, remove`), text);
});

test("a sold car has no judgement, and a branded title stands where a rating would", async () => {
  assert.doesNotMatch(await text("/shop?inventory_status=sold"), /than similar cars|Great price \$/);
  const { data } = await client.getBody(
    "searchListings",
    "/v1/listings?sort=-value&limit=100&fields=keywords,make,model,year,price",
  );
  const branded = data.find((car) => car.keywords?.includes("branded"));
  if (branded === undefined) return;
  const query = new URLSearchParams({ make: branded.make ?? "", model: branded.model ?? "", vin_pattern: branded.vin });
  assert.match(await text(`/shop?${query}`), /Branded title No rating: cars with a branded title are not valued/);
});

test("few cars come with single changes and their counts, none with the cheapest one anywhere", async () => {
  const used = "inventory_type=used,certified&make=Toyota";
  const html = await (await get(`/shop?${used}&max_price=1`)).text();
  assert.match(plain(html), /No car matches\. One change finds some\./);
  const cheapest = await client.getBody("searchListings", `/v1/listings?${used}&sort=price&limit=1`);
  const price = cheapest.data[0]?.price?.toLocaleString("en-US");
  assert.ok(plain(html).includes(`The cheapest used Toyota for sale costs $${price}, in`), plain(html).slice(0, 900));
  const changes = [...html.matchAll(/<li><a href="(\/shop[^"]*)">[^<]*<\/a><b>([\d,]+)</g)];
  assert.ok(changes.length > 0);
  for (const [, path = "", count = ""] of changes) {
    const { searchParams } = new URL(path.replaceAll("&amp;", "&"), client.url);
    assert.equal(count.replace(",", ""), String(await fetchTotal(client, searchParams.toString())), path);
  }
});

test("an unknown ZIP code is said with an example, and every other filter stays", async () => {
  const html = await (await get("/shop?make=Ford&postal_code=00000&radius=50")).text();
  assert.match(plain(html), /There is no ZIP code 00000\..*Five digits, such as 98402/);
  const { data } = await client.getBody("searchListings", "/v1/listings?make=Ford&sort=value&limit=24");
  assert.deepEqual(
    carsOf(html),
    data.map(({ id }) => id),
  );
  assert.match(html, /<input type="hidden" name="make" value="Ford"/);
  assert.match(await text("/shop?make=toyotta"), /No car has ever had the make “toyotta”\. Did you mean Toyota\s?\?/);
});

test("several judgements of prices are one filter in words", async () => {
  const words = plain(await (await get("/shop?make=Ford&value_rating=great,good")).text());
  assert.match(words, /Great price or good price/, "its chip");
  assert.match(words, /, great price or good price\./, "the context of the verdict");
});

test("a refused filter is said in plain words, and the rest of the search is shown", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?make=Ford&sort=value&limit=24");
  const cases = {
    "min_price=5000&max_price=100":
      /\$5,000 to \$100” cannot be searched\..*The first number is greater than the second/,
    "max_price=20000,00":
      /to 20000,00” cannot be searched\..*Invalid value &quot;20000,00&quot; for max_price: expected a number, such as 25,000\./,
    "min_year=soon&max_mileage=far":
      /from soon” cannot be searched\..*&quot;soon&quot; for min_year: expected a number, such as 2022\. .*&quot;far&quot; for max_mileage/,
    "max_mileage=make": /to make mi” cannot be searched\./,
    "nope=1": /Unknown query parameter nope\. This page has view, sort/,
    "postal_code=98109&radius=wide": /“wide mi of .*Invalid value &quot;wide&quot; for radius/,
    "limit=few": /limit few” cannot be searched\..*Invalid value &quot;few&quot; for limit/,
    "postal_code=1234&radius=50&sort=distance": /There is no ZIP code 1234\..*Five digits, such as 98402/,
  };
  for (const [query, words] of Object.entries(cases)) {
    const answer = await get(`/shop?make=Ford&${query}`);
    assert.equal(answer.status, 400, query);
    const html = await answer.text();
    assert.match(plain(html), words, query);
    assert.deepEqual(
      carsOf(html),
      data.map(({ id }) => id),
      query,
    );
  }
});

test("a filter that others rule out is said, and the rest of the search is shown", async () => {
  const cases = {
    "make=Ford&inventory_status=sold&value_rating=great": [
      "make=Ford&inventory_status=sold",
      "value_rating and inventory_status=sold cannot be combined: sold cars are not judged.",
    ],
    "make=Ford&sold_within_days=900&value_rating=great&sort=-value": [
      "make=Ford&sold_within_days=900",
      "sort and sold_within_days cannot be combined: sold cars are not judged.",
    ],
    "make=Ford&radius=50": [
      "make=Ford",
      "Missing parameter postal_code: expected a ZIP code from which radius is measured.",
    ],
  } as const;
  for (const [query, [rest, sentence]] of Object.entries(cases)) {
    const answer = await get(`/shop?${query}`);
    assert.equal(answer.status, 400, query);
    const html = await answer.text();
    assert.ok(html.includes(`role="alert"><span>${sentence}`), query);
    assert.deepEqual(carsOf(html), carsOf(await (await get(`/shop?${rest}`)).text()), query);
  }
});

test("a question leads to its cars, and says which of its words were not read as they stand", async () => {
  const html = await (await get("/find?q=used+toyotta+SUV+with+wings+under+$300+a+month")).text();
  const [, address = ""] = /<link rel="canonical" href="([^"]+)"/.exec(html) ?? [];
  assert.equal(address.replaceAll("&amp;", "&"), "/shop?inventory_type=used,certified&make=Toyota&body_type=SUV");
  const page = plain(html);
  assert.match(
    page,
    /Only “used”, “toyotta” and “SUV” were read: “wings” and “under \$300 a month” have no meaning here\. No filter is for payments/,
  );
  assert.match(page, /“toyotta” was read as Toyota\./);
  assert.doesNotMatch(await text("/find?q=used+toyota"), /was read|were read/);
  const nothing = await get("/find?q=heated");
  assert.equal(nothing.status, 404);
  assert.match(await nothing.text(), /<a href="\/find\?q=heated\+seats">heated seats<\/a>/);
});

test("a VIN and an id lead to their car, the name of a dealer to its page", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
  const { vin = "", id = "", dealer_id, dealer_name } = data[0] ?? {};
  for (const words of [vin, id]) assert.equal(await locationOf(`/find?q=${words}`), `/listings/${id}`);
  assert.equal(await locationOf(`/find?${new URLSearchParams({ q: dealer_name ?? "" })}`), `/dealers/${dealer_id}`);
  assert.equal((await get("/find?q=1HGCM82633A004352")).status, 404);
});

test("suggestions complete the last words of a question; strangers get none", async () => {
  const suggest = async (q: string, headers = signedIn): Promise<readonly string[]> =>
    (await get(`/find/suggestions?${new URLSearchParams({ q })}`, headers)).json();
  assert.equal((await suggest("used toyota cam"))[0], "used Toyota Camry");
  assert.deepEqual(await suggest("!"), []);
  assert.deepEqual(await suggest("toyota", { Cookie: "carquet-session=none" }), []);
});

test("kept cars stand beside each other, the lowest numbers marked, and one is added by its VIN", async () => {
  const { data } = await client.getBody(
    "searchListings",
    "/v1/listings?sort=price&limit=2&min_price=1&max_mileage=200000",
  );
  const [cheap, other] = data;
  const added = await get(`/shop?ids=${cheap?.id}&view=table&ids=${other?.vin}`);
  const html = await added.text();
  assert.match(html, new RegExp(`rel="canonical" href="/shop\\?ids=${cheap?.id},${other?.id}`));
  const page = plain(html);
  assert.match(page, /Two kept cars\./);
  assert.ok(
    page.includes(`$${cheap?.price?.toLocaleString("en-US")} lowest`) || cheap?.price === other?.price,
    page.slice(0, 800),
  );
  const unknown = "0".repeat(32);
  assert.equal((await get(`/shop?ids=${unknown}&view=table`)).status, 404);
  const many = Array.from({ length: 13 }, (_, index) => `${index}`.padStart(32, "0")).join();
  assert.match(await text(`/shop?ids=${many}`), /names 13 cars: expected at most 12\./);
  assert.match(await text(`/shop?ids=${cheap?.id}&ids=zzz`), /One kept car\..*Missing: car zzz\./);
});

test("the front door has the numbers of the market, its best prices, and those near the last ZIP code", async () => {
  const html = await (await get("/")).text();
  const rated = await client.getBody("getFacets", "/v1/facets?facets=price&inventory_type=used,certified");
  const median = Math.round(rated.data.stats.price?.median ?? 0).toLocaleString("en-US");
  const great = await fetchTotal(client, "value_rating=great");
  const page = plain(html);
  for (const words of [`$${median} half of the used cars`, `${great} great prices on Nov 19`])
    assert.ok(page.includes(words), words);
  const numbers = [...html.matchAll(/<a href="(\/shop\?[^"]+)"><b>([\d,]+)<\/b><span>cars? with a new price/g)];
  assert.equal(numbers.length, 1);
  for (const [, path = "", count = ""] of numbers)
    assert.equal(
      count.replace(",", ""),
      String(await fetchTotal(client, path.replaceAll("&amp;", "&").replace("/shop?", ""))),
    );
  const searched = await get("/shop?postal_code=98109&radius=100");
  const near = (searched.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  assert.equal(near, "carquet-near=98109");
  const nearby = await (await get("/", { Cookie: `${signedIn.Cookie}; ${near}` })).text();
  assert.match(plain(nearby), /best prices near Seattle, WA|best prices near ZIP code 98109|Know what a car/);
  for (const [, words = ""] of html.matchAll(/<a href="\/find\?q=([^"]+)">/g)) {
    const example = await get(`/find?q=${words}`);
    assert.ok([200, 302].includes(example.status), words);
    assert.doesNotMatch(plain(await example.text()), /no meaning here/, words);
  }
});

test("a facet has its rarer values to unfold, and a field for others", async () => {
  const { data } = await client.getBody("getFacets", "/v1/facets?facets=model&facet_value_limit=40&inventory_type=new");
  const rare = data.facets.model?.at(-1) ?? assert.fail();
  const html = await (await get("/shop?inventory_type=new")).text();
  assert.equal(countsOf(html, "model").get(rare.value), rare.count);
  assert.match(html, /<details id="more-model"><summary>\d+ more.*?<input class="in" name="model"/s);
  assert.equal(await locationOf("/values/model?inventory_type=new"), "/shop?inventory_type=new");
});

test("the statement of a search finds as many listings as the search", async () => {
  const queries = [
    "make=toyota,HONDA&min_price=20000&sort=-price",
    "model=f-150&exclude_state=CA",
    "year=2022,2023&body_type=SUV&max_mileage=60000&inventory_type=used&sort=value",
    "exclude_make=ford",
  ];
  for (const query of queries) {
    const statement = equivalentSql({ path: "/v1/listings", querystring: query }) ?? assert.fail(query);
    const total = await fetchTotal(client, query.replace(/&sort=.*/, ""));
    const [found] = await queryLake(lake, `SELECT count(*) AS total FROM (${statement})`);
    assert.equal(Number(found?.total), total, statement);
  }
  for (const query of [
    "postal_code=98109&radius=50",
    "features=sunroof",
    "sort=distance",
    "inventory_status=sold",
    "snapshot_date=2026-11-18",
  ])
    assert.equal(equivalentSql({ path: "/v1/listings", querystring: query }), undefined, query);
  assert.equal(equivalentSql({ path: "/v1/facets", querystring: "facets=make" }), undefined);
});

test("a table is exported as a file, charged as an export; a refused one says why", async () => {
  const page = await (await get("/shop?make=Toyota&view=table")).text();
  assert.match(plain(page), /All \d+ rows, \$0\.01: CSV Parquet/);
  const fields = { csrf_token: csrfTokenIn(page), make: "Toyota" };
  const send = (format: string, others = {}) =>
    sendForm(client.url, "/export", { ...fields, format, ...others }, { cookie: signedIn.Cookie });
  const file = await send("csv");
  assert.match(file.headers.get("Content-Disposition") ?? "", /filename="listings-\d{4}-\d\d-\d\d\.csv"/);
  assert.match(file.headers.get("Content-Type") ?? "", /^text\/csv/);
  assert.equal((await file.text()).trimEnd().split("\n").length - 1, await fetchTotal(client, "make=Toyota"));
  assert.match(await (await send("parquet")).text(), /^PAR1/);
  const refused = await send("xlsx");
  assert.equal(refused.status, 400);
  assert.match(plain(await refused.text()), /Invalid value &quot;xlsx&quot; for format/);
  assert.equal((await send("csv", { csrf_token: "forged" })).status, 403);
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const found = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);
  const site = (): Site => found ?? assert.fail("No browser.");
  const total = async (page: Page): Promise<number> =>
    Number(((await page.locator("h1").textContent()) ?? "").replaceAll(",", "").match(/\d+/)?.[0]);
  const parts = (query: string): string =>
    [...new URLSearchParams(query)]
      .map((entry) => entry.join("="))
      .sort()
      .join("&");
  const waitFor = (page: Page, query: string): Promise<void> =>
    page.waitForURL(({ search }) => parts(search) === parts(query), { waitUntil: "commit" });

  test("chosen boxes and typed bounds show their cars at once, and going back costs nothing", async () => {
    const page = await site().open("/shop");
    const all = await total(page);
    await page.locator("#more-filters > summary").click();
    const box = page.locator('[id="body_type=SUV"]');
    await box.evaluate((element) => element.scrollIntoView({ block: "center" }));
    const top = await page.evaluate(() => scrollY);
    await box.check();
    await waitFor(page, "?body_type=SUV");
    await page.locator('[id="body_type=SUV"]:focus').waitFor();
    assert.equal(await page.locator("#more-filters[open]").count(), 1);
    assert.equal(await page.evaluate(() => scrollY), top);
    await page.locator('[id="inventory_type=used,certified"]').check();
    await waitFor(page, "?inventory_type=used,certified&body_type=SUV");
    assert.equal(await total(page), await fetchTotal(client, "inventory_type=used,certified&body_type=SUV"));
    await page.locator('[name="max_price"]').fill("$30,000");
    await page.locator('[name="max_price"]').press("Enter");
    await page.waitForURL(/max_price=30000/, { waitUntil: "commit" });
    assert.equal(
      parts(new URL(page.url()).search),
      parts("?inventory_type=used,certified&body_type=SUV&max_price=30000"),
    );
    const { totals } = await client.getBody("getUsage", "/v1/usage");
    for (let steps = 0; steps < 5 && new URL(page.url()).search !== ""; steps += 1) await page.goBack();
    await page.waitForFunction(
      (cars) => document.querySelector("h1")?.textContent?.startsWith(cars),
      all.toLocaleString("en-US"),
    );
    await page.locator('[id="body_type=SUV"]:not(:checked)').waitFor();
    assert.deepEqual((await client.getBody("getUsage", "/v1/usage")).totals, totals);
    await page.close();
  });

  test("a refused view is shown without a second request, and going back shows the view before it", async () => {
    const slow = await createCustomer(client.accounts, { override: { per10s: 1, per60s: 1 } });
    const page = await site().openAnonymously("/sign-in");
    const value = String(await client.sessions.create({ accountId: slow.accountId }));
    await page.context().addCookies([{ name: "carquet-session", value, url: client.url }]);
    await page.goto(`${client.url}/shop`);
    const all = await total(page);
    await page.locator('[id="body_type=SUV"]').click();
    await page.getByRole("heading", { name: "Too many requests" }).waitFor();
    assert.equal(new URL(page.url()).search, "?body_type=SUV");
    await page.goBack();
    await page.locator("#cars").waitFor();
    assert.equal(await total(page), all);
  });

  test("filters, order and pages work without scripts", async () => {
    const page = await site().openWithoutScripts("/shop?make=Toyota,Honda&sort=price&view=table");
    await page.locator('[id="inventory_type=new"]').check();
    await page.getByRole("button", { name: "Show the cars" }).click();
    assert.equal(
      parts(new URL(page.url()).search),
      parts("?inventory_type=new&make=Toyota,Honda&sort=price&view=table"),
    );
    assert.equal(await total(page), await fetchTotal(client, "make=Toyota,Honda&inventory_type=new"));
    await page.getByRole("link", { name: "Miles" }).click();
    assert.equal(new URL(page.url()).searchParams.get("sort"), "-miles");
  });

  test("a heart keeps a car for the bar, which leads to the kept cars", async () => {
    const page = await site().open("/shop");
    for (const heart of (await page.locator(".keep").all()).slice(0, 2)) await heart.click();
    assert.equal(await page.locator(".keep[aria-pressed=true]").count(), 2);
    await page.getByRole("link", { name: "2 kept cars" }).click();
    await page.getByRole("heading", { name: /^Two kept cars/ }).waitFor();
    await page
      .getByRole("link", { name: /^Remove/ })
      .first()
      .click();
    await page.getByRole("heading", { name: /^One kept car/ }).waitFor();
    await page.evaluate(() => localStorage.clear());
    await page.close();
  });

  test("the first car is at most 12 tabs away by the second skip link, and a whole card is visible on a phone", async () => {
    const page = await site().open("/shop?body_type=SUV&inventory_type=used,certified&max_price=30000");
    for (let tabs = 0; tabs < 2; tabs += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    let tabs = 2;
    const isOnCar = () => page.evaluate(() => document.activeElement?.closest("#cars .card") !== null);
    for (; tabs <= 12 && !(await isOnCar()); tabs += 1) await page.keyboard.press("Tab");
    assert.ok(tabs <= 12, `${tabs} tabs`);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const query of ["", "?body_type=SUV&inventory_type=used,certified&max_price=30000", "?make=Ford"]) {
      await page.goto(`${client.url}/shop${query}`);
      const card = await page.locator("#cars .card").first().boundingBox();
      const bar = await page.locator(".doors").boundingBox();
      assert.ok(
        card !== null && bar !== null && card.y + card.height <= bar.y,
        `${query}: ${card?.y} + ${card?.height}`,
      );
    }
    await page.getByRole("link", { name: /^Filters/ }).click();
    await page.locator('[id="body_type=SUV"]').check();
    await waitFor(page, "?make=Ford&body_type=SUV");
    await page.locator('[id="body_type=SUV"]:focus').waitFor();
    await page.getByRole("button", { name: "Show the cars" }).click();
    await page.locator(".facets").waitFor({ state: "hidden" });
    await page.close();
  });

  test("every page is accessible and fits a phone, and none asks another host or violates the policy", async () => {
    const { data } = await client.getBody("searchListings", "/v1/listings?make=Toyota&limit=2");
    const paths = [
      "/",
      "/shop",
      "/shop?view=table&make=Toyota",
      "/shop?inventory_status=sold",
      "/shop?make=toyotta",
      "/shop?inventory_type=used,certified&make=Toyota&max_price=1",
      "/shop?postal_code=00000&make=Toyota",
      `/shop?ids=${data.map(({ id }) => id).join()}&view=table`,
      "/values/model?make=Toyota",
      "/find?q=nothing+such",
      "/find?q=used+toyotta+with+wings",
      `/find?q=${"x".repeat(200)}`,
      `/shop?make=${"x".repeat(200)}`,
    ];
    for (const path of paths) {
      const page = await site().open(path);
      await assertAccessible(page);
      await assertFitsPhone(page);
      await page.close();
    }
    assert.deepEqual(site().faults, []);
  });
});

/** Filters of pages: addresses that the API would refuse in this form, and what pages say of and link for each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { carsPath } from "../../src/web/market/market-search.ts";
import { apiFilters, readView, viewPath } from "../../src/web/shop/view.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { marketService } from "../support/http/service.ts";

const { client } = await marketService();
const headers = { Cookie: `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}` };

const get = (path: string): Promise<Response> => fetch(`${client.url}${path}`, { headers, redirect: "manual" });

/** Returns the page of an address, which is whole. */
async function htmlOf(path: string): Promise<string> {
  const answer = await get(path);
  const html = await answer.text();
  assert.equal(answer.status, 200, path);
  assert.ok(!html.includes("Missing:"), path);
  return html;
}

/** Returns the text of a page without its markup. */
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([.,?:])/g, "$1");

test("a sparse search is widened up to the longest radius, and not beyond it", async () => {
  const sparse = "/shop?postal_code=98109&max_price=9000&make=Ford";
  assert.match(await htmlOf(`${sparse}&radius=400`), /GET \/v1\/listings\?[^ ]*radius=500&/);
  await htmlOf(`${sparse}&radius=500`);
});

test("a bound stands in its field as the API takes it, and is read with the sign of any currency", async () => {
  const html = await htmlOf("/shop?min_price=5000&max_price=25000.5&min_mileage=62500");
  for (const [name, bound] of Object.entries({ min_price: 5000, max_price: 25000.5, min_mileage: 62500 }))
    assert.match(html, new RegExp(`name="${name}" value="${bound}"`), name);
  for (const written of ["€25,000", "£25000", "$25k"])
    assert.deepEqual(readView(new URLSearchParams({ max_price: written })), { max_price: "25000" }, written);
});

test("a search is saved without the filters that saved searches lack, which are named, and not if none is left", async () => {
  const saveLinkOf = async (path: string): Promise<string | undefined> =>
    /<a class="chip" href="(\/account[^"]+)">Tell me of new ones/
      .exec(await htmlOf(path))?.[1]
      ?.replaceAll("&amp;", "&");
  const html = await htmlOf((await saveLinkOf("/shop?make=Ford&value_rating=great,good&sort=price")) ?? assert.fail());
  assert.match(html, /Left out: value rating\. Saved searches have no such filter\./);
  assert.match(html, /<p>Ford cars\.<\/p>/);
  assert.match(html, /name="name"[^>]* value="Ford cars"/);
  assert.match(html, /name="query" value="make=Ford"/);
  const fields = { csrf_token: csrfTokenIn(html), name: "Fords" };
  const save = async (more: Readonly<Record<string, string>>): Promise<string> =>
    (await sendForm(client.url, "/account/searches", { ...fields, ...more }, { cookie: headers.Cookie })).text();
  assert.match(await save({ query: "make=Ford" }), /“Fords” is saved/);
  assert.match(await save({ words: "used Ford great price" }), /Left out: value rating\./);
  assert.equal(await saveLinkOf("/shop?value_rating=great"), undefined);
  assert.equal(await saveLinkOf("/shop?min_days_on_market=1"), undefined);
});

test("words of a closed vocabulary are read in any case", async () => {
  const cases = {
    "inventory_status=Sold": "inventory_status=sold",
    "inventory_status=ACTIVE": "",
    "inventory_type=Used, CERTIFIED": "inventory_type=used,certified",
    "keywords=Clean_Title&value_rating=GREAT": "keywords=clean_title&value_rating=great",
    "state=wa,Or&powertrain_type=bev": "state=WA,OR&powertrain_type=BEV",
    "state=Washington&make=FORD": "state=Washington&make=FORD",
  };
  for (const [query, view] of Object.entries(cases))
    assert.equal(viewPath(readView(new URLSearchParams(query))), view === "" ? "/shop" : `/shop?${view}`);
  assert.equal((await get("/shop?inventory_status=Sold")).headers.get("Location"), "/shop?inventory_status=sold");
});

test("a range of years is two bounds wherever a search is described or linked", async () => {
  for (const range of [{ min_year: "2019" }, { min_year: "2019", max_year: "2021" }, { max_year: "2012" }]) {
    const { min_year: min, max_year: max = "2028" } = range;
    const filters = apiFilters({ make: "Ford", ...range }, "2026-11-19");
    const bounds = { ...(min && { min_year: min }), max_year: max };
    assert.deepEqual(readView(new URLSearchParams(filters)), { make: "Ford", ...bounds });
    const address = `/shop?make=Ford&${new URLSearchParams(bounds)}`;
    assert.equal(carsPath({ filters }), address);
    const query = new URLSearchParams(filters).toString();
    const words = min === undefined ? `to ${max}` : `${min} to ${max}`;
    const html = await htmlOf(`/account?${new URLSearchParams({ query })}`);
    assert.ok(html.includes(`<p>Ford cars, ${words}.</p>`));
    const fields = { csrf_token: csrfTokenIn(html), name: words, query };
    const saved = await (await sendForm(client.url, "/account/searches", fields, { cookie: headers.Cookie })).text();
    assert.ok(saved.includes(`Ford cars, ${words}.`) && !saved.includes("has ever had"));
    assert.ok((await htmlOf("/account")).includes(`<a href="${address.replaceAll("&", "&amp;")}">Page</a>`), address);
  }
  const market = await get("/market?year=2019,2020,2021&show=used&days=60");
  assert.equal(market.headers.get("Location"), "/market?show=used&days=60&min_year=2019&max_year=2021");
  assert.match(await htmlOf("/shop?min_year=2019&max_year=2019"), />2019<span class="vh">, remove/);
  for (const year of ["2019,2021", "2019,x"]) assert.deepEqual(readView(new URLSearchParams({ year })), { year }, year);
});

test("a page names the place and the order that it has, and its links keep what is chosen", async () => {
  assert.doesNotMatch(
    plain(await htmlOf("/shop?postal_code=98109")),
    /cars? in Seattle|miles of Seattle/i,
    "nothing is filtered",
  );
  const around = plain(await htmlOf("/shop?latitude=47.62&longitude=-122.35&radius=50"));
  assert.match(around, /within 50 miles of 47\.62, -122\.35\./);
  assert.match(around, /50 mi of 47\.62, -122\.35, remove/);
  for (const sort of ["-msrp", "-value", "listed_at", "price_drop"])
    assert.match(await htmlOf(`/shop?sort=${sort}`), new RegExp(`<option value="${sort}" selected>`), sort);
  const sold = await htmlOf("/shop?sold_within_days=5");
  assert.match(sold, /name="sold_within_days".*<option value="5" selected>Sold in 5 days/);
  const misspelled = await htmlOf("/shop?make=toyotta,Honda");
  assert.match(misspelled, /Did you mean <a href="\/shop\?make=Honda,Toyota">Toyota<\/a>/);
  const owned = await htmlOf("/shop?keywords=one_owner");
  assert.match(owned, /href="\/shop\?keywords=one_owner,clean_title"/);
  assert.doesNotMatch(owned, /href="\/shop\?keywords=clean_title"/);
});

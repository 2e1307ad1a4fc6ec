/** Filters of pages: addresses that the API would refuse in this form, and what pages say of and link for each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readView } from "../../src/web/shop/view.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { marketService } from "../support/http/service.ts";

const { client } = await marketService();
const headers = { Cookie: `carquet-session=${await client.sessions.create(client.customer.accountId)}` };

const get = (path: string): Promise<Response> => fetch(`${client.url}${path}`, { headers, redirect: "manual" });

/** Returns the page of an address, which is whole. */
async function htmlOf(path: string): Promise<string> {
  const answer = await get(path);
  const html = await answer.text();
  assert.equal(answer.status, 200, path);
  assert.ok(!html.includes("Missing:"), path);
  return html;
}

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

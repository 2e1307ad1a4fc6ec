/** Pages of a market that is too small for a fit of prices, such as that of a first feed: no car has a value, and no order needs one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../support/http/service.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const feeds = await generateFeeds(fileScope, { listings: 31, days: 1 });
const { lake } = await createLake(fileScope, feeds);
const client = await startService(fileScope, lake);
const headers = { Cookie: `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}` };

const get = (path: string): Promise<Response> => fetch(`${client.url}${path}`, { headers });

const paths: Readonly<Record<string, () => Promise<string> | string>> = {
  "the front door": () => "/",
  "the shop": () => "/shop",
  "a search": () => "/shop?inventory_type=used",
  "the table": () => "/shop?view=table",
  "a question": () => "/find?q=used",
  "a car": async () => `/listings/${(await client.getBody("searchListings", "/v1/listings?limit=1")).data[0]?.id}`,
  "a dealer": async () =>
    `/dealers/${(await client.getBody("searchDealers", "/v1/dealers?limit=1")).data[0]?.dealer_id}`,
  "the market": () => "/market",
};

for (const [name, pathOf] of Object.entries(paths))
  test(`${name} is whole`, async () => {
    const response = await get(await pathOf());
    const html = await response.text();
    assert.equal(response.status, 200, html);
    assert.doesNotMatch(html, /Missing:|cannot be answered/);
  });

test("prices of a first day have not moved, and its sales are not counted", async () => {
  const html = await (await get("/market")).text();
  assert.match(html, /<h1>.*are for sale/);
  assert.ok(!/did not move|in 0 days|as on|sold_within_days=0/i.test(html));
});

test("the newest cars stand first, and a filter of judgements is refused by name", async () => {
  const html = await (await get("/shop")).text();
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=24");
  const shown = [...html.matchAll(/<h3><a href="\/listings\/(\w+)/g)].map(([, id]) => id);
  assert.deepEqual(
    shown,
    data.map(({ id }) => id),
  );
  const refused = await get("/shop?value_rating=great");
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /value_rating/);
});

test("measures of values are unknown, and orders by them are refused", async () => {
  const { data } = await client.getBody("getGroups", "/v1/groups?group_by=value_rating&metric=price_to_value.median");
  assert.deepEqual(
    data.map(({ values, metrics }) => [values.value_rating, metrics[0]?.value]),
    [[null, null]],
  );
  assert.equal((await client.getError("/v1/listings?sort=value")).code, "incompatible_parameters");
});

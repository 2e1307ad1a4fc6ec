/** The dealers and the page of a lot: what they say beside the answers of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Lot, type LotChoice, saidOf, supplyOf } from "../../src/web/lot/lot-data.ts";
import { medianOf, rankDealers } from "../../src/web/lot/lot-dealers.ts";
import type { PageRequests } from "../../src/web/shell/page-requests.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { cookieOf, csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { marketService, startService } from "../support/http/service.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { lake, client } = await marketService();
const session = `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`;

const get = (path: string, cookie = session): Promise<Response> =>
  fetch(`${client.url}${path}`, { headers: { Cookie: cookie }, redirect: "manual" });
const htmlOf = async (path: string, cookie = session): Promise<string> => (await get(path, cookie)).text();

const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll("&amp;", "&")
    .replaceAll("&#39;", "'")
    .replaceAll(/\s+/g, " ");

const { data: groups } = await client.getBody(
  "getGroups",
  "/v1/groups?group_by=dealer_id&inventory_type=used,certified&metric=price_to_value.median,days_on_market.median&limit=1000",
);
const [largest] = groups;
const dealerId = String(largest?.values.dealer_id);
const own = `dealer_id=${dealerId}&inventory_type=used,certified`;

/** Returns the rows of the numbers of a figure, as its CSV file has them. */
const numbersIn = (html: string, id: string): readonly string[] => {
  const [, url = ""] = new RegExp(`href="data:text/csv;charset=utf-8,([^"]*)" download="${id}.csv"`).exec(html) ?? [];
  return decodeURIComponent(url).trim().split("\r\n").slice(1);
};

test("the cars of a lot are counted by age with their money, and each bar leads to its cars", async () => {
  const html = await htmlOf(`/dealers/${dealerId}`);
  const { data } = await client.getBody("searchListings", `/v1/listings?${own}&limit=100&fields=price,days_on_market`);
  const bounds = [
    ["0 to 15", 0, 15],
    ["16 to 30", 16, 30],
    ["31 to 45", 31, 45],
    ["46 to 60", 46, 60],
    ["over 60", 61, Number.POSITIVE_INFINITY],
  ] as const;
  const expected = bounds.map(([text, from, to]) => {
    const cars = data.filter(({ days_on_market: days }) => days != null && days >= from && days <= to);
    return [text, cars.length, cars.reduce((sum, { price }) => sum + (price ?? 0), 0)].join();
  });
  assert.deepEqual(numbersIn(html, "aging"), expected);
  const aged = await fetchTotal(client, `${own}&min_days_on_market=61`);
  assert.match(html, new RegExp(`href="/shop\\?dealer_id=${dealerId}&amp;[^"]*min_days_on_market=61`));
  if (aged > 0) assert.match(plain(html), /older than 60 days/);
  const { data: oldest } = await client.getBody("searchListings", `/v1/listings?${own}&sort=-days_on_market&limit=1`);
  const [, decided = ""] = /id="decide".*?<tbody>.*?href="\/listings\/(\w+)"/s.exec(html) ?? [];
  assert.equal(decided, oldest[0]?.id);
  const branded = data.length - (await fetchTotal(client, `${own}&keywords=branded`));
  assert.equal(plain(html).includes("a branded title."), branded > 0);
});

test("the figures of a lot lead to statements that return their numbers", async (scope) => {
  const analyst = await startService(scope, lake, { exports: { sqlDeadlineMs: 30_000 } });
  const html = await htmlOf(`/dealers/${dealerId}?radius=100`);
  const statements = [...html.matchAll(/href="\/sql\?([^"]*)">SQL</g)].map(
    ([, query = ""]) => new URLSearchParams(query).get("statement") ?? "",
  );
  const [ofDealers, ofAges] = statements.length === 1 ? [undefined, ...statements] : statements;
  const run = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const headers = { ...analyst.customer.bearer, "Content-Type": "application/json" };
    const answer = await fetch(`${analyst.url}/v1/sql`, { method: "POST", headers, body: JSON.stringify({ sql }) });
    assert.equal(answer.status, 200, sql);
    return (await answer.json()).data;
  };
  const ages = await run(ofAges ?? "");
  assert.deepEqual(
    ages.map(({ days, cars, money }) => [days, cars, money].join()),
    numbersIn(html, "aging").filter((row) => !row.includes(",0,")),
  );
  if (ofDealers === undefined) return;
  const dealers = await run(ofDealers);
  const counted = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.join()).sort();
  assert.deepEqual(
    counted(dealers.map(({ dealer_name: name, cars }) => [name, cars])),
    counted(numbersIn(html, "price-age").map((row) => [row.split(",")[0], row.split(",")[2]])),
  );
});

test("dealers around are ranked by medians of the API, those of small ones of their listings", async () => {
  const { data: sellers } = await client.getBody(
    "getGroups",
    "/v1/groups?group_by=dealer_id&inventory_type=new&metric=price_to_value.median&limit=1000",
  );
  const bySample = [...sellers].sort(
    (first, second) => (second.metrics[0]?.sample ?? 0) - (first.metrics[0]?.sample ?? 0),
  );
  const id = String(bySample[0]?.values.dealer_id);
  const html = await htmlOf(`/dealers/${id}?condition=new&radius=100&all=`);
  const cell = /<a href="\/shop\?dealer_id=([0-9a-f-]{36})[^"]*">(\d+)<\/a><\/td><td class="num">([^<]+)</g;
  const ranked = [...html.matchAll(cell)];
  assert.ok(ranked.length > 0);
  for (const [, dealer = "", cars, toMarket] of ranked) {
    const query = `dealer_id=${dealer}&inventory_type=new&limit=100&fields=price_to_value`;
    const { data, pagination } = await client.getBody("searchListings", `/v1/listings?${query}`);
    const median = medianOf(data.flatMap(({ price_to_value }) => price_to_value ?? []));
    assert.equal(Number(cars), pagination.total);
    assert.equal(toMarket?.replace("−", "-").replace(/[+\s%]/g, ""), (median * 100).toFixed(1).replace("-0.0", "0.0"));
    assert.ok(pagination.total >= 5);
  }
  assert.match(html, /<tr class="me">/);
});

test("small dealers are ranked as long as 400 cars are read", async () => {
  const dealers = Array.from({ length: 41 }, (_, index) => {
    return { id: `dealer ${index}`, name: "", cars: 10, toMarket: null, days: null, supply: null };
  });
  const cars = dealers.flatMap(({ id: dealer_id, cars: count }, index) =>
    Array.from({ length: count }, () => ({ dealer_id, price_to_value: index / 100, days_on_market: index })),
  );
  const call = async (_: string, query: Readonly<Record<string, string>>) => {
    const found = cars.filter(({ dealer_id }) => query.dealer_id?.split(",").includes(dealer_id));
    return { data: found.slice(Number(query.offset), Number(query.offset) + Number(query.limit)) };
  };
  const ranked = await rankDealers({ call } as unknown as PageRequests, dealers, {});
  assert.deepEqual(
    ranked.map(({ id, days }) => [id, days]),
    dealers.slice(0, 40).map(({ id }, index) => [id, index]),
  );
});

test("a lot's rank is one more than the dealers that ask less, or hold fresher cars; an equal one does not count", () => {
  const choice = {
    dealer: { dealer_id: "a" },
    condition: "used",
    counts: { used: 9, new: 0 },
    query: new URLSearchParams(),
  } as unknown as LotChoice;
  const ranked = [
    { id: "a", toMarket: 0.1, days: 30 },
    { id: "b", toMarket: 0.1, days: 20 },
    { id: "c", toMarket: -0.1, days: 30 },
  ] as unknown as Lot["ranked"];
  const { priceRank, ageRank, dealers } = saidOf(choice, {
    aging: [],
    ranked,
    branded: undefined,
    marketSupply: undefined,
  });
  assert.deepEqual([priceRank, ageRank, dealers], [2, 2, 3]);
});

test("days of supply are those of all groups, and unknown for fewer than 10 sales", () => {
  const groups = (...sold: readonly number[]) =>
    sold.map((sample) => ({ count: 20, metrics: [{ sample }] })) as unknown as Parameters<typeof supplyOf>[0];
  assert.deepEqual(
    [supplyOf(groups(10)), supplyOf(groups(4, 6)), supplyOf(groups(9)), supplyOf(groups())],
    [60, 120, undefined, undefined],
  );
});

test("a browser calls a dealer its own by a form, which the page of dealers then leads to", async () => {
  const path = `/dealers/${dealerId}`;
  const page = await htmlOf(path);
  assert.match(plain(page), /Its used cars|It has/);
  const forged = await sendForm(client.url, path, { csrf_token: "x" }, { cookie: session });
  assert.equal(forged.headers.getSetCookie().length, 0);
  const sent = await sendForm(client.url, path, { csrf_token: csrfTokenIn(page) }, { cookie: session });
  assert.deepEqual([sent.status, sent.headers.get("Location")], [303, path]);
  const mine = `${session}; ${cookieOf(sent).cookie}`;
  assert.equal((await get("/dealers", mine)).headers.get("Location"), path);
  const owned = await htmlOf(path, mine);
  assert.match(plain(owned), /Your used cars|You have/);
  assert.doesNotMatch(owned, /This is my lot/);
  assert.match(await htmlOf("/dealers?choose", mine), /Which lot is yours\?/);
  assert.equal((await get("/dealers", `${session}; carquet-lot=<b>`)).status, 200);
});

test("dealers are found by name and near a ZIP code, those with the most cars first, and an unknown ZIP code is said", async () => {
  const { data: all, meta } = await client.getBody("getGroups", "/v1/groups?group_by=dealer_id&limit=1000");
  const html = await htmlOf("/dealers");
  assert.match(plain(html), new RegExp(`${meta.total_groups} dealers`));
  const namesIn = (page: string) =>
    [...page.matchAll(/<td><a href="\/dealers\/[^"]+">(.*?)<\/a>/g)].map(([, name = ""]) => plain(name));
  assert.deepEqual(
    namesIn(html),
    all.slice(0, 50).map(({ dealer_name }) => plain(String(dealer_name))),
  );
  const name = String(largest?.dealer_name);
  assert.ok(namesIn(await htmlOf(`/dealers?${new URLSearchParams({ q: name })}`)).includes(name));
  const { data: dealer } = await client.getBody("getDealer", `/v1/dealers/${dealerId}`);
  const near = await htmlOf(`/dealers?q=${dealer.postal_code}`);
  assert.ok(namesIn(near).includes(name));
  assert.match(near, /dealers? within 50 miles of/);
  assert.match(await htmlOf("/dealers?q=00000"), /No ZIP code is 00000\. An example that works: 60641/);
  assert.match(await htmlOf(`/dealers?q=${encodeURIComponent("<img src=x>")}`), /No dealer with “&lt;img src=x>”/);
});

test("all dealers with a word are counted, and the first ones are shown with the counts of their profiles", async () => {
  const found = await client.getBody("searchDealers", "/v1/dealers?q=example&limit=50");
  assert.ok(found.pagination.total > 50);
  const html = await htmlOf("/dealers?q=example");
  assert.ok(plain(html).includes(`${found.pagination.total} dealers with “example”`));
  const cars = [...html.matchAll(/<a href="\/shop\?dealer_id=[^"]+">(\d+)<\/a>/g)].map(([, count]) => Number(count));
  assert.deepEqual(
    cars,
    found.data.map(({ listing_count }) => listing_count).sort((one, other) => other - one),
  );
});

test("new cars and what sells here faster are other views, and an unknown dealer is missing", async () => {
  const fresh = await htmlOf(`/dealers/${dealerId}?condition=new`);
  assert.equal(
    /New (\d+)/.exec(plain(fresh))?.[1],
    String(await fetchTotal(client, `dealer_id=${dealerId}&inventory_type=new`)),
  );
  assert.match(await htmlOf(`/dealers/${dealerId}?buy=fit`), /sells faster than others/);
  assert.equal((await get("/dealers/00000000-0000-0000-0000-000000000000")).status, 404);
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);

  test("a lot and the dealers are accessible and fit a phone", async () => {
    for (const path of [`/dealers/${dealerId}?radius=100`, "/dealers?choose", `/dealers/${dealerId}?buy=fit&all=`]) {
      const page = (await site?.open(path)) ?? assert.fail("No browser.");
      await assertAccessible(page);
      await assertFitsPhone(page);
      await page.close();
    }
    assert.deepEqual(site?.faults, []);
  });
});

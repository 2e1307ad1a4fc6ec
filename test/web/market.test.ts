/** The market: what its page says beside the answers of the API, its numbers, and its figures of days and weeks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import { renderToString } from "preact-render-to-string";
import { plusDays } from "../../src/base/day.ts";
import { DaysFigure } from "../../src/web/market/market-figures.tsx";
import {
  loadTrend,
  type MarketPoint,
  type SearchTrend,
  sideOf,
  spokenPeriod,
  trendPeriod,
} from "../../src/web/market/market-trends.ts";
import type { PageRequests } from "../../src/web/shell/page-requests.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { marketService } from "../support/http/service.ts";
import { queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { type CsvRow, chartRows, numbersOf } from "../support/web/chart-files.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { lake, client } = await marketService();
const signedIn = {
  Cookie: `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`,
};

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${client.url}${path}`, { headers: { ...signedIn, ...headers }, redirect: "manual" });

const htmlOf = async (path: string): Promise<string> => (await get(path)).text();

const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");

const { data: groups } = await client.getBody(
  "getGroups",
  "/v1/groups?group_by=make,model&inventory_type=used,certified&limit=2",
);
const [one, other] = groups.map(({ values }) => ({ make: values.make ?? "", model: values.model ?? "" }));
assert.ok(one !== undefined && other !== undefined);
const words = (model: typeof one): string => `used ${model.make} ${model.model}`;
const filtersOf = ({ make, model }: typeof one): string =>
  `${new URLSearchParams({ make, model })}&inventory_type=used,certified`;
const compared = `/market?${new URLSearchParams({ show: words(one), against: words(other) })}`;
const days = { first: "2026-11-13", last: "2026-11-19" };
const metrics = "price.median,count,sold,days_on_market.median,days_supply";
const trendOf = (model: typeof one) =>
  client.getBody(
    "getTrends",
    `/v1/trends?${filtersOf(model)}&metric=${metrics}&interval=day&from=${days.first}&to=${days.last}`,
  );

test("the days of two searches are those of the API, on the page and in CSV", async () => {
  const trends = await Promise.all([one, other].map(trendOf));
  const html = await htmlOf(compared);
  const [first] = trends;
  const last = first?.data[0]?.points.at(-1);
  const cars = last?.metrics[1]?.value;
  assert.ok(typeof cars === "number" && cars > 0);
  const facts = plain(/id="facts".*?<\/section><\/section>/s.exec(html)?.[0] ?? "");
  assert.match(facts, new RegExp(`For sale ${cars} ${trends[1]?.data[0]?.points.at(-1)?.metrics[1]?.value} `));
  const [, csv = ""] = /href="data:text\/csv;charset=utf-8,([^"]+)" download="table\.csv"/.exec(html) ?? [];
  const rows: readonly CsvRow[] = parse(decodeURIComponent(csv), { columns: true });
  const points = first?.data[0]?.points ?? [];
  assert.deepEqual(
    rows.map((row) => [row.day, row.count, row.price_median]),
    points.map(({ start, metrics: [price, count] }) => [start, String(count?.value), String(price?.value ?? "")]),
  );
  for (const path of [compared, `${compared}&view=table`]) assert.equal((await get(path)).status, 200, path);
});

test("the statements behind the figures have the numbers of the API", async () => {
  const html = await htmlOf(compared);
  const statements = [...html.matchAll(/\/sql\?(statement=[^"]*)"/g)].map(
    ([, query = ""]) => new URLSearchParams(query.replaceAll("&amp;", "&")).get("statement") ?? "",
  );
  const statementOf = (view: string): string =>
    statements.find((statement) => statement.includes(`FROM ${view}\n`)) ?? assert.fail(view);
  const ofDays = await queryLake(lake, statementOf("active_days"));
  const trends = await Promise.all([one, other].map(trendOf));
  const counts = (rows: readonly unknown[]): readonly string[] => rows.map(String).sort();
  assert.deepEqual(
    counts(ofDays.map(({ cars }) => cars)),
    counts(trends.flatMap(({ data }) => data[0]?.points.map(({ metrics: [, cars] }) => cars?.value) ?? [])),
  );
  const ofYears = await queryLake(lake, statementOf("active"));
  const priced = await fetchTotal(client, `${filtersOf(one)}&min_price=1`);
  const ofOne = ofYears.filter((row) => String(row.model_year).endsWith(one.model)).map(({ cars }) => Number(cars));
  assert.equal(
    ofOne.reduce((sum, cars) => sum + cars, 0),
    priced,
  );
});

test("sales that cannot be known yet are unknown, not 0, and few medians are a sentence", async () => {
  const html = await htmlOf(compared);
  assert.match(plain(html), /Sold in 30 days – –/);
  assert.match(html, /no line: the table has them|No median is known/);
  assert.doesNotMatch(plain(/<section class="verdict">.*?<\/section>/s.exec(html)?.[0] ?? ""), /were sold/);
  const table = await htmlOf(`${compared}&view=table&numbers=table.day`);
  assert.match(plain(table), /Nov 13 .* – –/);
  assert.match(table, /aria-sort="ascending"/);
});

test("the boxes take words, one box takes both searches, and filters of the address stay", async () => {
  const both = await htmlOf(`/market?${new URLSearchParams({ show: `${words(one)} against ${other.model} prices` })}`);
  for (const [label, value] of [
    ["Show", words(one)],
    ["against", `${other.model} prices`],
  ])
    assert.match(both, new RegExp(`${label}</span><input[^>]*value="${value}"`), label);
  assert.match(both, /Market · used and certified · United States/);
  const filtered = await htmlOf(`/market?${filtersOf(one)}&state=CA`);
  assert.match(filtered, /class="chip on"[^>]*state|class="chip on"[^>]*>[^<]*(CA|California)/);
  assert.match(filtered, /<input type="hidden" name="state" value="CA"/);
  assert.match(filtered, /Market · used and certified · CA/);
  const mixed = await htmlOf(`/market?${new URLSearchParams({ show: `${one.make} ${one.model}` })}`);
  assert.match(mixed, /used and new/);
  const states = await htmlOf(`/market?${new URLSearchParams({ show: words(one), against: `${words(one)} in CA` })}`);
  assert.ok(plain(states).includes(`${one.model} (CA)`));
});

test("words that are no filter are said with an example, and what no API has is left out", async () => {
  const hostile = `"><script>alert(1)</script>`;
  const html = await htmlOf(`/market?${new URLSearchParams({ show: `used ${hostile}`, against: "qwertyuiop" })}`);
  assert.doesNotMatch(html, /<script>alert/);
  assert.match(html, /Not understood: “[^<]*An example that works: used Toyota RAV4 in WA/);
  const alone = await htmlOf("/market?against=qwertyuiop");
  assert.match(plain(alone), /Market · used and certified · United States Used car prices/, "nothing is compared");
  assert.match(alone, /Not understood: “qwertyuiop”/);
  const map = await htmlOf(`/market?show=qwertyuiop&view=map`);
  assert.match(map, /This market cannot be shown/);
  assert.doesNotMatch(map, /id="map"|GET \/v1\/facets/, "no map of all cars");
  assert.match(await htmlOf(`/market?${filtersOf(one)}&value_rating=great`), /no filter by value rating/);
});

test("a filter that is refused is said above the figures of the rest", async () => {
  const base = `/market?${filtersOf(one)}`;
  const figures = (html: string) =>
    [...html.matchAll(/<(?:figure|section) class="fig[^>]*>.*?<\/(?:figure|section)>/gs)].map(([figure]) =>
      plain(figure),
    );
  const cases = {
    "postal_code=00000&radius=50":
      /Invalid value &quot;00000&quot; for postal_code: expected an existing US ZIP code\./,
    "state=zz": /Invalid value &quot;zz&quot; for state: expected /,
    "min_price=9&max_price=1&min_mileage=far":
      /Invalid value &quot;far&quot; for min_mileage.*"alert"><span>The first number is greater than the second/,
    "radius=50": /Missing parameter postal_code: expected a ZIP code/,
  };
  for (const view of ["", "&view=map"]) {
    const expected = figures(await htmlOf(`${base}${view}`));
    for (const [query, sentence] of Object.entries(cases)) {
      const answer = await get(`${base}&${query}${view}`);
      const html = await answer.text();
      assert.equal(answer.status, 400, query);
      assert.match(html.replaceAll("\n", " "), new RegExp(`"alert"><span>[^<]*${sentence.source}`, "s"), query);
      assert.deepEqual(figures(html), expected, query);
    }
  }
  assert.match(plain(await htmlOf("/market?state=zz")), /Market · used and certified · United States Used car prices/);
});

test("the map has the counts of the API, and each state leads to its cars", async () => {
  const html = await htmlOf(`${compared}&view=map`);
  const { data } = await client.getBody("getFacets", `/v1/facets?${filtersOf(one)}&facets=state&facet_value_limit=100`);
  const counted = data.facets.state ?? [];
  const [, first = ""] = /<figure class="fig" id="map">(.*?)<\/figure>/s.exec(html) ?? [];
  for (const { value, count } of counted) {
    assert.ok(first.toLowerCase().includes(`state=${value}" tabindex="-1"`.toLowerCase()), value);
    assert.match(first, new RegExp(`state=${value}">[^<]+</a></td><td class="num">${count}<`));
  }
  assert.match(html, /id="map-against"/);
});

test("addresses of the former charts lead to the market, and other sites do not make a visitor pay", async () => {
  for (const [path, target] of [
    ["/?make=Ford&layout=charts&chart=map&shade=median", "/market?make=Ford&view=map"],
    ["/?make=Ford&layout=charts&chart=time&period=365", "/market?make=Ford&days=365"],
  ])
    assert.equal((await get(path ?? "")).headers.get("Location"), target);
  for (const site of ["cross-site", "same-site"])
    assert.equal((await get("/market", { "Sec-Fetch-Site": site })).status, 403, site);
});

test("a period of up to 62 days has a point for each day, a longer one for each week; it begins with the first day at the earliest", () => {
  const days = { first: "2026-09-01", last: "2026-11-19", everywhere: "2026-09-01" };
  const periodOf = (count: number): string => {
    const { from, to, interval } = trendPeriod(new URLSearchParams({ days: String(count) }), days);
    return `${from} ${to} ${interval}`;
  };
  assert.deepEqual([62, 63, 79, 80].map(periodOf), [
    "2026-09-18 2026-11-19 day",
    "2026-09-17 2026-11-19 week",
    "2026-09-01 2026-11-19 week",
    "2026-09-01 2026-11-19 week",
  ]);
});

test("sales are known from the third day of the data on, those of 30 days once all of them are", async () => {
  const days = { first: "2026-10-01", last: "2026-11-19", everywhere: "2026-10-01" };
  const metrics = [
    { name: "sold", value: 2, sample: 2 },
    { name: "days_supply", value: 40, sample: 9 },
  ];
  const shown = ["2026-10-03", "2026-10-04", "2026-11-01", "2026-11-02"];
  const points = shown.map((day) => ({ start: day, end: day, days: 1, level_day: day, metrics }));
  const requests = {
    loadPart: (_: string, load: () => unknown) => load(),
    call: async () => ({ data: [{ points }] }),
  } as unknown as PageRequests;
  const period = { from: days.first, to: days.last, interval: "day" } as const;
  const trend = await loadTrend(requests, weeksOf("Cars", 1).search, period, days);
  assert.deepEqual(
    trend?.points.map(({ sold, sold30 }) => [sold, sold30]),
    [
      [null, null],
      [2, null],
      [2, null],
      [2, 9],
    ],
  );
});

/** Returns a trend of weeks whose last one is unfinished. */
function weeksOf(name: string, weeks: number): SearchTrend {
  const points = Array.from({ length: weeks }, (_, index): MarketPoint => {
    const start = plusDays("2026-08-31", 7 * index);
    const isLast = index === weeks - 1;
    return {
      interval: "week",
      start,
      end: plusDays(start, isLast ? 3 : 6),
      days: isLast ? 4 : 7,
      "price.median": 20_000 + 100 * index,
      count: 50,
      sold: 5,
      "days_on_market.median": 30,
      days_supply: 40,
      sold30: 20,
    };
  });
  const search = { words: "", given: {}, filters: {}, name, plural: `${name}s`, condition: "used" };
  return { search, points, loss: undefined, others: [] };
}

test("weeks are said, an unfinished one is dotted with a question mark, and nine values are no chart", () => {
  const draw = (weeks: number): string => {
    const trends = [weeksOf("RAV4", weeks), weeksOf("CR-V", weeks)];
    const last = trends[0]?.points.at(-1)?.end ?? "";
    const period = { from: "2026-08-31", to: last, interval: "week" } as const;
    const sides = trends.map((trend) => sideOf(trend, period));
    const market = { trends, sides, period: spokenPeriod(trends, period), query: new URLSearchParams() };
    return renderToString(DaysFigure({ market, id: "price" }));
  };
  const html = draw(12);
  assert.match(
    html,
    /on the last day of each week\. [^<]*A point is a week; the last one is unfinished, with 4 days\./,
  );
  assert.equal(html.match(/stroke-dasharray="2 4"/g)?.length, 4);
  assert.match(html, />RAV4\?</);
  assert.match(html, /Nov 16 to Nov 19\?/);
  assert.match(draw(9), /Fewer than 10 medians|no line/);
  assert.doesNotMatch(draw(9), /<svg/);
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const site = skipWithoutBrowser ? undefined : await signedInBrowser(fileScope, client);

  test("the market is accessible, fits a phone, and works without scripts", async () => {
    for (const path of [compared, "/market", `${compared}&view=map`, `${compared}&view=table`]) {
      const page = (await site?.open(path)) ?? assert.fail("No browser.");
      await assertAccessible(page);
      await assertFitsPhone(page);
      await page.close();
    }
    const page = (await site?.openWithoutScripts("/market")) ?? assert.fail("No browser.");
    await page.getByLabel("Show").fill(words(one));
    await page.getByLabel("against").fill(words(other));
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/against=/);
    const { data } = await trendOf(one);
    assert.deepEqual(
      numbersOf(await chartRows(page, "price"), "price_median"),
      data[0]?.points.map(({ metrics: [price] }) => price?.value ?? null),
    );
    assert.deepEqual(site?.faults, []);
  });
});

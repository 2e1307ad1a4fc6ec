/** Trends over days without a delivery, and over periods that ended long ago. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { type Client, startService } from "../../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

/** The first day is a Monday. */
const longAgo = ["2025-03-03", "2025-03-04", "2025-03-08", "2025-03-24", "2025-04-02"];
const lately = "2026-03-02";

/** Starts a service on deliveries of 30 cars, each of which is cheaper than before; one car comes and one leaves on each day. */
async function serviceOf(days: readonly string[]): Promise<Client> {
  const feeds = await temporaryFolder(fileScope);
  for (const [order, day] of days.entries()) {
    const dealer_id = dealerIdOf(1);
    const inventory = Array.from({ length: 30 }, (_, n) => ({
      vin: vinOf(n + order),
      dealer_id,
      make: "Honda",
      price: 20_000 + n - 100 * order,
      miles: 10 * n,
      msrp: 30_000,
    }));
    await writeFeeds(feeds, day, { dealers: [{ dealer_id, name: "North", state: "CA" }], inventory });
  }
  return startService(fileScope, (await createLake(fileScope, feeds)).lake);
}

const client = await serviceOf([...longAgo, lately]);

const metrics = [
  ...["count", "new_listings", "sold", "price_drops", "days_supply"],
  ...["price.median", "miles.mean", "msrp.p90", "sell_through", "discount_from_msrp.p10"],
];

type Trend = AnswerOf<"getTrends">;

/** Requests all metrics, at most five at a time. */
const getTrends = (query: string, from = client): Promise<readonly Trend[]> =>
  Promise.all(
    [metrics.slice(0, 5), metrics.slice(5)].map((names) =>
      from.getBody("getTrends", `/v1/trends?metric=${names}&${query}`),
    ),
  );

const pointsOf = ({ data }: Trend, series = 0): Trend["data"][number]["points"] =>
  data[series]?.points ?? assert.fail("no series");

for (const facet of ["", "&facet=make,state"]) {
  test(`a day without a delivery has no data in any metric${facet === "" ? "" : ", by facet"}`, async () => {
    const period = "from=2025-03-03&to=2025-04-02&interval=day";
    for (const trend of await getTrends(`${period}${facet}`))
      for (const [series] of trend.data.entries())
        for (const { start, days, level_day, metrics: values } of pointsOf(trend, series)) {
          const isPublished = longAgo.includes(start);
          assert.deepEqual([days, level_day], isPublished ? [1, start] : [0, null]);
          for (const { name, ...result } of values) {
            const noData = { value: null, sample: 0, null_reason: "no_data" };
            if (!isPublished) assert.deepEqual(result, noData, `${name} on ${start}`);
            else if (name !== "days_supply" && name !== "sell_through")
              assert.notEqual(result.value, null, `${name} on ${start}`);
            else assert.equal(result.null_reason === "no_data", start < "2025-04-02", `${name} on ${start}`);
          }
        }
  });
}

test("an interval has as many days as it has deliveries, and its flows are those of its days", async () => {
  const [trend] = await getTrends("from=2025-03-03&to=2025-04-02&interval=week");
  const points = pointsOf(trend ?? assert.fail("no trend"));
  const valuesOf = (name: string): readonly unknown[] =>
    points.map(({ metrics: values }) => values.find((metric) => metric.name === name)?.value);
  assert.deepEqual(
    points.map(({ start, end, days, level_day }) => [start, end, days, level_day]),
    [
      ["2025-03-03", "2025-03-09", 3, "2025-03-08"],
      ["2025-03-10", "2025-03-16", 0, null],
      ["2025-03-17", "2025-03-23", 0, null],
      ["2025-03-24", "2025-03-30", 1, "2025-03-24"],
      ["2025-03-31", "2025-04-02", 1, "2025-04-02"],
    ],
  );
  assert.deepEqual(valuesOf("new_listings"), [32, null, null, 1, 1]);
  assert.deepEqual(valuesOf("price_drops"), [2 * 29, null, null, 29, 29]);
  assert.deepEqual(trend?.meta.missing_days, [
    { start: "2025-03-05", end: "2025-03-07" },
    { start: "2025-03-09", end: "2025-03-23" },
    { start: "2025-03-25", end: "2025-04-01" },
  ]);
});

test("supply compares the active listings with the sales that became known in 30 days", async () => {
  const path = "/v1/trends?metric=days_supply,sell_through,sold&from=2025-04-02&to=2025-04-02&interval=day";
  for (const facet of ["", "&facet=make"]) {
    const { data } = await client.getBody("getTrends", `${path}${facet}`);
    // Of four cars that left, one was seen on two days and has been absent for three deliveries.
    assert.deepEqual(data[0]?.points[0]?.metrics, [
      { name: "days_supply", value: 900, sample: 1 },
      { name: "sell_through", value: 0.0323, sample: 31 },
      { name: "sold", value: 1, sample: 1 },
    ]);
  }
});

test("a table has a row for each point without data, with empty values", async () => {
  const path = "/v1/trends?metric=count,sold&from=2025-03-05&to=2025-03-08&interval=day&facet=make&format=csv";
  const answer = await fetch(`${client.url}${path}`, { headers: client.customer.bearer });
  const [header, ...rows] = (await answer.text()).trimEnd().split("\r\n");
  assert.equal(header, "facet,value,start,end,days,level_day,metric,metric_value,metric_sample,metric_null_reason");
  assert.deepEqual(
    rows.filter((row) => row.includes("2025-03-06")),
    ["make,Honda,2025-03-06,2025-03-06,0,,count,,0,no_data", "make,Honda,2025-03-06,2025-03-06,0,,sold,,0,no_data"],
  );
});

test("a period that ended a year ago is measured as it was then", async () => {
  const then = await serviceOf(longAgo);
  for (const query of ["interval=day", "interval=week", "interval=month", "interval=day&facet=make,state&make=honda"]) {
    const period = `from=2025-03-04&to=2025-03-31&${query}`;
    const now = await getTrends(period);
    const past = await getTrends(period, then);
    assert.deepEqual(
      now.map(({ data }) => data),
      past.map(({ data }) => data),
      query,
    );
    const { from, to, as_of } = now[0]?.meta ?? assert.fail("no trend");
    assert.deepEqual([from, to, as_of], ["2025-03-04", "2025-03-31", lately]);
  }
});

test("the levels of a past period are the facets of its days", async () => {
  const [, trend] = await getTrends("from=2025-03-08&to=2025-04-02&interval=day");
  for (const { level_day, metrics: values } of pointsOf(trend ?? assert.fail("no trend"))) {
    if (level_day === null) continue;
    const path = `/v1/facets?facets=make,price&metric=price.median&snapshot_date=${level_day}`;
    const { data } = await client.getBody("getFacets", path);
    const [{ metric } = assert.fail("no make")] = data.facets.make ?? [];
    assert.deepEqual(values[0], { ...metric, name: "price.median" });
    assert.equal(values[0]?.value, data.stats.price?.median);
  }
});

test("a period of a year, up to a day in the past, has a point for each of its intervals", async () => {
  const [trend] = await getTrends("from=2025-03-03&to=2026-03-01&interval=day");
  const points = pointsOf(trend ?? assert.fail("no trend"));
  assert.equal(points.length, 364);
  assert.equal(points.filter(({ days }) => days > 0).length, longAgo.length);
  const defaults = await client.getBody("getTrends", "/v1/trends?metric=count&to=2025-05-01");
  assert.deepEqual([defaults.meta.from, defaults.meta.to], ["2025-03-03", "2025-05-01"]);
});

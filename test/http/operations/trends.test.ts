/** Operation `getTrends`: its parameters, refusals, form and definitions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decoderOf } from "../../../src/contract/decode.ts";
import type { ErrorCode } from "../../../src/contract/errors.ts";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { type IntervalLength, intervalsOf, missingRanges, planTrends } from "../../../src/query/trends/trends.ts";
import { sampleService } from "../../support/http/service.ts";
import { openVersion } from "../../support/versions.ts";

const { lake, client } = await sampleService();

/** Refusals that the schemas of parameters do not decide. */
const refused: readonly (readonly [query: string, code: ErrorCode, message: RegExp])[] = [
  [
    "metric=count&from=2026-11-19&to=2026-11-18",
    "incompatible_parameters",
    /^from and to cannot be combined: 2026-11-19 is after 2026-11-18\.$/,
  ],
  [
    "metric=count&from=2026-11-20",
    "invalid_parameter_value",
    /^Invalid value "2026-11-20" for from: expected a day up to 2026-11-19, the last day with data\.$/,
  ],
  [
    "metric=count&to=2026-11-17",
    "invalid_parameter_value",
    /^Invalid value "2026-11-17" for to: expected a day from 2026-11-18 on, the first day with data\.$/,
  ],
  ["metric=count&min_price=2&max_price=1", "incompatible_parameters", /^min_price and max_price /],
  ["metric=count&radius=10", "missing_parameter", /^Missing parameter postal_code: /],
];

for (const [query, code, message] of refused) {
  test(`trends refuse ${query || "an empty query"}`, async () => {
    const answer = await client.getError(`/v1/trends?${query}`);
    assert.deepEqual([answer.status, answer.code], [400, code]);
    assert.match(answer.message, message);
  });
}

const getTrend = (query: string): Promise<AnswerOf<"getTrends">> => client.getBody("getTrends", `/v1/trends?${query}`);

test("a trend covers the data by default, in weeks, and takes any case", async () => {
  const trend = await getTrend("metric=count");
  const { metric, interval, from, to, sort, missing_days, as_of, data_version } = trend.meta;
  assert.deepEqual(
    { metric, interval, from, to, sort, missing_days, as_of, data_version },
    {
      metric: ["count"],
      interval: "week",
      from: "2026-11-18",
      to: "2026-11-19",
      sort: "-count",
      missing_days: [],
      as_of: "2026-11-19",
      data_version: "2026-11-19.1",
    },
  );
  assert.deepEqual(await getTrend("metric=COUNT,count&interval=Week"), trend);
  assert.deepEqual(await getTrend("metric=count&from=2001-01-01&to=2099-12-31"), trend);
});

test("every metric has its definition, in the requested order", async () => {
  const names = ["sold", "price.p37", "sell_through", "discount_from_msrp.mean", "days_supply"];
  const { data, meta } = await getTrend(`metric=${names}&facet=make&facet_limit=2&interval=day`);
  assert.deepEqual(
    meta.definitions.map(({ name, kind }) => [name, kind]),
    names.map((name) => [name, name === "sold" ? "flow" : "level"]),
  );
  assert.ok(meta.definitions.every(({ formula, denominator, sample }) => formula && denominator && sample));
  assert.equal(data.length, 2);
  for (const { points } of data)
    for (const { metrics } of points)
      assert.deepEqual(
        metrics.map(({ name }) => name),
        names,
      );
});

test("a median is the 50th percentile, and a value of few listings is null", async () => {
  const { data } = await getTrend(
    "metric=price.median,price.p50,count,new_listings&interval=day&facet=make&facet_limit=50",
  );
  const points = data.flatMap((series) => series.points);
  for (const { metrics } of points) {
    const [median, percentile, count, listed] = metrics;
    const { name: _, ...result } = percentile ?? assert.fail("no percentile");
    assert.deepEqual(median, { name: "price.median", ...result });
    assert.equal(result.null_reason === "insufficient_sample", (count?.value ?? 0) < 10);
    assert.equal(listed?.value, listed?.sample);
  }
  assert.ok(
    points.some(({ metrics }) => metrics[0]?.value === null) && points.some(({ metrics }) => metrics[0]?.value),
  );
});

test("days of supply and sell-through are unknown until 30 days of sales are known", async () => {
  const names = ["days_supply", "sell_through"];
  const { data } = await getTrend(`metric=${names}&interval=day`);
  const unknown = { value: null, sample: 0, null_reason: "no_data" };
  for (const { metrics } of data[0]?.points ?? assert.fail("no series"))
    assert.deepEqual(
      metrics,
      names.map((name) => ({ name, ...unknown })),
    );
});

test("a trend without matches has points of zero, and no series by facet", async () => {
  const { data } = await getTrend("metric=count,sold&make=unknown");
  assert.deepEqual(data[0]?.points[0]?.metrics, [
    { name: "count", value: 0, sample: 0 },
    { name: "sold", value: 0, sample: 0 },
  ]);
  assert.deepEqual((await getTrend("metric=count,sold&make=unknown&facet=make")).data, []);
});

test("several facets return the series of each, in the requested order", async () => {
  const shared = "metric=count,price.median,new_listings,days_supply&interval=day&inventory_type=used";
  const facets = ["state", "make", "features"] as const;
  const { data, meta } = await getTrend(`${shared}&facet=State,make,FEATURES,state&facet_limit=3`);
  const alone = await Promise.all(facets.map((facet) => getTrend(`${shared}&facet=${facet}&facet_limit=3`)));
  assert.deepEqual(
    data,
    alone.flatMap((trend) => trend.data),
  );
  assert.deepEqual(
    data.map(({ facet }) => facet),
    facets.flatMap((facet) => [facet, facet, facet]),
  );
  assert.deepEqual([meta.facet, meta.facets, meta.facet_limit], [undefined, facets, 3]);
  assert.deepEqual(
    alone.map((trend) => [trend.meta.facet, trend.meta.facets]),
    facets.map((facet) => [facet, [facet]]),
  );
  const whole = await getTrend(shared);
  assert.deepEqual(
    whole.data.map(({ facet, value }) => [facet, value]),
    [[null, null]],
  );
  assert.deepEqual([whole.meta.facet, whole.meta.facets, whole.meta.facet_limit], [undefined, undefined, undefined]);
});

test("weeks start on Monday, months on their first day, quarters with January, and the period cuts all", () => {
  const starts = (start: string, end: string, length: IntervalLength): readonly string[] =>
    [...intervalsOf({ start, end }, length)].map((interval) => `${interval.start}/${interval.end}`);
  assert.deepEqual(starts("2026-12-30", "2027-01-05", "week"), ["2026-12-30/2027-01-03", "2027-01-04/2027-01-05"]);
  assert.deepEqual(starts("2027-01-03", "2027-01-04", "week"), ["2027-01-03/2027-01-03", "2027-01-04/2027-01-04"]);
  assert.deepEqual(starts("2028-01-31", "2028-03-01", "month"), [
    ...["2028-01-31/2028-01-31", "2028-02-01/2028-02-29", "2028-03-01/2028-03-01"],
  ]);
  assert.deepEqual(starts("2026-02-27", "2026-10-01", "quarter"), [
    ...["2026-02-27/2026-03-31", "2026-04-01/2026-06-30", "2026-07-01/2026-09-30", "2026-10-01/2026-10-01"],
  ]);
  assert.deepEqual(starts("2026-12-31", "2027-01-01", "quarter"), ["2026-12-31/2026-12-31", "2027-01-01/2027-01-01"]);
  assert.deepEqual(starts("2026-11-18", "2026-11-19", "day"), ["2026-11-18/2026-11-18", "2026-11-19/2026-11-19"]);
});

test("a trend of too many intervals or values is refused with the limit", async (t) => {
  const years = [...intervalsOf({ start: "2024-01-01", end: "2026-11-19" }, "day")].map(({ start }) => start);
  const sizes = new Map(years.map((day) => [day, day < "2025-10-01" ? 1_000_000 : 1000]));
  const { dimensions, meta } = await openVersion(t, lake, { hasServingFiles: false });
  const version = { snapshotSizes: sizes, meta, dimensions };
  const plan = (query: string) => planTrends(decoderOf("getTrends")(query, {}).query, version);
  assert.throws(() => plan("metric=count&interval=day&from=2025-01-01&to=2025-09-30"), {
    message:
      'Invalid value "day" for interval: expected snapshots of at most 100000000 listings, not 273000000. Choose a longer interval or a shorter period.',
  });
  const metrics = "metric=count,sold,price.p1,price.p2,price.p3&interval=day";
  assert.equal(plan("metric=count&interval=day&from=2025-10-16").intervals.length, 400);
  assert.equal(plan("metric=count&interval=month&from=2001-01-01").intervals.length, 35);
  assert.throws(() => plan("metric=count&interval=day&from=2025-10-15"), {
    message:
      'Invalid value "day" for interval: expected at most 400 intervals from 2025-10-15 to 2026-11-19, not 401. Choose a longer interval or a shorter period.',
  });
  assert.throws(() => plan(`${metrics}&from=2025-10-16&facet=make&facet_limit=11`), {
    message:
      "Invalid value 11 for facet_limit: expected at most 10, because intervals (400), series and metrics (5) multiply to at most 20000.",
  });
  assert.equal(plan(`${metrics}&from=2025-10-16&facet=make&facet_limit=10`).metrics.length, 5);
  assert.throws(() => plan(`${metrics}&from=2025-10-16&facet=make,state&facet_limit=6`), {
    message:
      "Invalid value 6 for facet_limit: expected at most 5, because intervals (400), facets (2), series and metrics (5) multiply to at most 20000.",
  });
  assert.equal(plan(`${metrics}&from=2025-10-16&facet=make,state&facet_limit=5`).metrics.length, 5);
  assert.throws(() => plan("metric=count&interval=day&from=2025-08-11&to=2025-09-30&facet=make,state"), {
    message:
      'Invalid value "day" for interval: expected snapshots of at most 50000000 listings for 2 facets, not 51000000. Choose a longer interval or a shorter period.',
  });
  assert.equal(plan("metric=count&interval=day&from=2025-08-12&to=2025-09-30&facet=make,state").intervals.length, 50);
});

test("days without a snapshot are ranges within the period", () => {
  const days = ["2026-11-01", "2026-11-04", "2026-11-05", "2026-11-09"];
  assert.deepEqual(missingRanges({ start: "2026-11-02", end: "2026-11-07" }, days), [
    { start: "2026-11-02", end: "2026-11-03" },
    { start: "2026-11-06", end: "2026-11-07" },
  ]);
  assert.deepEqual(missingRanges({ start: "2026-11-04", end: "2026-11-05" }, days), []);
});

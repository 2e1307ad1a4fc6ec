/** Operation `getFacets`: its parameters, refusals and form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operation } from "../../../src/contract/document.ts";
import type { ErrorCode } from "../../../src/contract/errors.ts";
import { rangedNames } from "../../../src/listing/schema.ts";
import { sampleService } from "../../support/http/service.ts";

const { client } = await sampleService();

const facetsSchema = operation("getFacets").parameters.find(({ name }) => name === "facets")?.schema;
const everyFacet = facetsSchema?.items?.enum ?? [];

/** Refusals that the schemas of parameters do not decide. */
const refused: readonly (readonly [query: string, code: ErrorCode, message: RegExp])[] = [
  ["facets=price,miles&interval=price:1", "invalid_parameter_value", /\binterval\b.*\bprice\b/],
  ["facets=price&interval=price:5000,price:2500", "incompatible_parameters", /\binterval\b.*\bprice\b/],
  ["facets=price&interval=miles:5000", "incompatible_parameters", /\binterval\b.*\bmiles\b/],
  ["facets=make&interval=price:5000", "incompatible_parameters", /\binterval\b.*\bprice\b/],
  ["facets=price&interval=price:5000,miles:1", "incompatible_parameters", /\binterval\b.*\bmiles\b/],
  [
    "facets=make,year&metric=price.mean",
    "incompatible_parameters",
    /^metric=price\.mean and facets=make,year cannot be combined: a metric requires exactly one categorical facet, not 2; \/v1\/groups \(group_listings\) measures combinations of up to three\.$/,
  ],
  [
    "facets=price,miles&metric=price.mean",
    "incompatible_parameters",
    /exactly one categorical facet, not 0; \/v1\/groups \(group_listings\) measures combinations of up to three\.$/,
  ],
  ["facets=make&sort=metric", "invalid_parameter_value", /^Invalid value "metric" for sort: expected count or -count /],
  [
    "facets=make&sort=-metric",
    "invalid_parameter_value",
    /^Invalid value "-metric" for sort: expected count or -count /,
  ],
  ["facets=make&min_price=2&max_price=1", "incompatible_parameters", /^min_price and max_price /],
  ["facets=make&snapshot_date=2020-01-01", "snapshot_unavailable", /^No snapshot for snapshot_date 2020-01-01: /],
  ["facets=make&snapshot_date=2026-11-18&sold_within_days=3", "incompatible_parameters", /^snapshot_date and /],
  ["facets=make&postal_code=00000", "unknown_postal_code", /"00000"/],
  ["facets=make&radius=10", "missing_parameter", /^Missing parameter postal_code: /],
  ["facets=make&latitude=10", "missing_parameter", /^Missing parameter longitude: /],
];

for (const [query, code, message] of refused) {
  test(`facets refuse ${query || "an empty query"}`, async () => {
    const answer = await client.getError(`/v1/facets?${query}`);
    assert.deepEqual([answer.status, answer.code], [400, code]);
    assert.match(answer.message, message);
  });
}

test("all facets are answered together, in the requested order", async () => {
  assert.equal(everyFacet.length, 30 + 6, "with extensions");
  for (const requested of [everyFacet, [...everyFacet].reverse()]) {
    const { data, meta } = await client.getBody("getFacets", `/v1/facets?facets=${requested}`);
    assert.deepEqual(meta.facets, requested);
    const numeric = requested.filter((facet) => rangedNames.some((name) => name === facet));
    assert.deepEqual(
      Object.keys(data.facets),
      requested.filter((facet) => !numeric.includes(facet)),
    );
    assert.deepEqual([Object.keys(data.range_facets), Object.keys(data.stats)], [numeric, numeric]);
    for (const [facet, buckets] of Object.entries(data.facets)) assert.ok(buckets.length > 0, facet);
  }
});

test("facet names are case-insensitive, and a repeated name is answered once", async () => {
  const plain = await client.getBody("getFacets", "/v1/facets?facets=make,price&metric=price.p5&sort=-metric");
  const variant = await client.getBody("getFacets", "/v1/facets?facets=Make,PRICE,make&metric=PRICE.P5&sort=-Metric");
  assert.deepEqual(variant, plain);
  assert.deepEqual(plain.meta.facets, ["make", "price"]);
});

test("meta repeats the request and names the published version", async () => {
  const { meta } = await client.getBody("getFacets", "/v1/facets?facets=make&metric=miles.median&sort=metric");
  assert.deepEqual(meta, {
    facets: ["make"],
    metric: "miles.median",
    sort: "metric",
    minimum_metric_count: 10,
    as_of: "2026-11-19",
    currency: "USD",
    data_version: "2026-11-19.1",
  });
});

test("meta has no nulls: the metric defaults to count, and the minimum count is always present", async () => {
  const { meta } = await client.getBody("getFacets", "/v1/facets?facets=Price,make&max_price=0");
  assert.deepEqual(meta, {
    facets: ["price", "make"],
    metric: "count",
    sort: "-count",
    minimum_metric_count: 10,
    as_of: "2026-11-19",
    currency: "USD",
    data_version: "2026-11-19.1",
  });
});

test("the total equals that of the search, in every mode", async () => {
  for (const query of [
    "make=toyota",
    "snapshot_date=2026-11-18",
    "inventory_status=sold",
    "sold_within_days=30",
    "state=CA&max_price=20000",
  ]) {
    const { data } = await client.getBody("getFacets", `/v1/facets?facets=make,price&${query}`);
    const { pagination } = await client.getBody("searchListings", `/v1/listings?${query}`);
    const ranged = data.range_facets.price?.buckets ?? [];
    assert.equal(data.total, pagination.total);
    assert.equal(
      ranged.reduce((sum, { count }) => sum + count, 0),
      data.stats.price?.count,
    );
  }
});

test("facet answers are private: only the client's own cache may store them", async () => {
  const { headers } = await client.get("/v1/facets?facets=make");
  assert.equal(headers.get("Cache-Control"), "private, no-cache");
});

test("hostile values match nothing", async () => {
  for (const value of ["'; DROP TABLE builds; --", '"', "\\", "%00", "$1", "{}", "ſ", "💥"]) {
    const { data } = await client.getBody(
      "getFacets",
      `/v1/facets?facets=make,price&trim=${encodeURIComponent(value)}`,
    );
    assert.deepEqual([data.total, data.facets], [0, { make: [] }]);
  }
});

test("the metric count is the default", async () => {
  for (const facets of ["make", "make,price", "price"]) {
    const named = await client.getBody("getFacets", `/v1/facets?facets=${facets}&metric=Count`);
    const none = await client.getBody("getFacets", `/v1/facets?facets=${facets}`);
    assert.deepEqual(named, none);
    assert.equal(named.meta.metric, "count");
  }
  const { status, message } = await client.getError("/v1/facets?facets=make&metric=count&sort=metric");
  assert.equal(status, 400);
  assert.match(message, /expected count or -count when metric is not set/);
});

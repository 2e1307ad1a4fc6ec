/** Operation `getGroups`, and the facets and metrics that it shares with `getFacets`; see `oracle.test.ts` for what they count. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();

const groupsOf = (query: string) => client.getBody("getGroups", `/v1/groups?${query}`);
const facetsOf = (query: string) => client.getBody("getFacets", `/v1/facets?${query}`);

test("groups of one attribute are the buckets of its facet, beside one for unknown values", async () => {
  const { data, meta } = await groupsOf("group_by=version&metric=price.p25&limit=1000");
  const { data: counted } = await facetsOf("facets=version&metric=price.p25&facet_value_limit=100");
  const known = data.flatMap(({ values: { version }, count, metrics: [metric] }) =>
    typeof version === "string" ? [{ value: version, count, metric }] : [],
  );
  assert.deepEqual(known.slice(0, 100), counted.facets.version);
  assert.ok(
    data.some(({ values }) => values.version === null),
    "a group without a version",
  );
  assert.equal(
    data.reduce((sum, { count }) => sum + count, 0),
    counted.total,
  );
  assert.deepEqual([meta.total, meta.total_groups, meta.truncated], [counted.total, data.length, false]);
});

test("a cut says so, and is the beginning of all groups", async () => {
  const [all, cut] = await Promise.all([100, 3].map((limit) => groupsOf(`group_by=make,body_type&limit=${limit}`)));
  assert.deepEqual(cut?.data, all?.data.slice(0, 3));
  assert.deepEqual([cut?.meta.truncated, cut?.meta.total_groups], [true, all?.meta.total_groups]);
});

test("dealers are labelled with their names, by which they are found", async () => {
  const { data } = await facetsOf("facets=dealer_id&facet_value_limit=100");
  const [first] = data.facets.dealer_id ?? [];
  const { data: dealer } = await client.getBody("getDealer", `/v1/dealers/${first?.value}`);
  assert.equal(first?.label, dealer.name);
  const prefix = encodeURIComponent(String(dealer.name));
  const { data: found } = await facetsOf(`facets=dealer_id&facet_value_prefix=${prefix}`);
  assert.ok(found.facets.dealer_id?.some(({ value }) => value === first?.value));
  const { data: groups } = await groupsOf("group_by=state,dealer_id&limit=1000");
  const names = new Map(data.facets.dealer_id?.map(({ value, label }) => [value, label]));
  for (const { values, dealer_name } of groups) assert.equal(dealer_name, names.get(values.dealer_id ?? ""));
});

test("the prices of a dealer beside their estimates have the median of its listings", async () => {
  const { data } = await groupsOf("group_by=dealer_id&metric=price_to_value.median&sort=-metric&limit=3");
  for (const { values, metrics } of data) {
    const path = `/v1/listings?dealer_id=${values.dealer_id}&fields=price_to_value&limit=100`;
    const { data: listings } = await client.getBody("searchListings", path);
    const known = listings.flatMap(({ price_to_value: value }) => value ?? []).sort((one, other) => one - other);
    const low = known[Math.floor((known.length - 1) / 2)] ?? 0;
    const high = known[Math.ceil((known.length - 1) / 2)] ?? 0;
    assert.equal(metrics[0]?.sample, known.length);
    if (known.length < 10) assert.equal(metrics[0]?.value, null);
    else assert.ok(Math.abs((metrics[0]?.value ?? 9) - (low + high) / 2) < 1e-6);
  }
});

const refused = [
  ["/v1/groups?group_by=make&metric=days_supply&inventory_status=sold", /days_supply and inventory_status=sold/],
  ["/v1/groups?group_by=make&metric=price.mean,sell_through&sold_within_days=30", /sell_through and sold_within_days/],
  ["/v1/facets?facets=value_rating&metric=sell_through", /sell_through and value_rating/],
  ["/v1/facets?facets=make&metric=days_supply&value_rating=great", /days_supply and value_rating/],
  ["/v1/groups?group_by=make,value_rating&snapshot_date=2026-11-18", /group_by=value_rating and snapshot_date/],
  [
    "/v1/groups?group_by=make&metric=price_to_value.p5&inventory_status=sold",
    /price_to_value.p5 and inventory_status=s/,
  ],
  [
    "/v1/facets?facets=make&metric=price_to_value.mean&snapshot_date=2026-11-18",
    /price_to_value.mean and snapshot_date/,
  ],
  ["/v1/groups?group_by=make&sort=-metric", /-metric.*sort.*count or -count when metric is not set/],
  ["/v1/groups?group_by=features", /group_by/],
  ["/v1/groups?group_by=make,model,year,trim", /group_by/],
  ["/v1/groups?group_by=make&limit=1001", /limit/],
] as const;

for (const [path, message] of refused)
  test(`${path.slice(4)} is refused`, async () => {
    const { status, body } = await client.get(path);
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), message);
  });

/** Windows of days at their edges: a market with sales before, at and in the window of fit, whose history lies in two indexes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { qualityReport } from "../../src/query/quality/quality.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";

const published = "2026-11-19";
const before = (days: number): string => plusDays(published, -days);
/** Feeds half a year ago, and those of the last days. */
const feedDays = [185, 184, 183, 182, 181, 180, 179, 8, 7, 6, 5, 4, 3, 2, 1, 0];
const dealers = [1, 2].map((n) => {
  return { dealer_id: dealerIdOf(n), name: `Dealer ${n}`, state: "CA", latitude: 37.5, longitude: -122 };
});

/** Cars that leave: after the third feed without one, its sale is known. `knownBefore` counts the days from then to the published one. */
const leaving = [
  { knownBefore: 181, lastBefore: 184, trim: "A1", count: 12 },
  { knownBefore: 180, lastBefore: 183, trim: "B1", count: 12 },
  { knownBefore: 179, lastBefore: 182, trim: "C1", count: 12 },
  { knownBefore: 1, lastBefore: 4, trim: "Z1", count: 12 },
  { knownBefore: 0, lastBefore: 3, trim: "Y1", count: 12 },
] as const;

/** How many of ten cars lack a stock number in the feeds of the second dealer: on the 15th and 14th published day before the last one, and on that. */
const withoutNumber: Readonly<Record<number, number>> = { 185: 10, 184: 5, 0: 0 };

const car = (vin: number, trim: string, dealer = 1): FeedRow => ({
  vin: vinOf(vin),
  dealer_id: dealerIdOf(dealer),
  make: "Honda",
  model: "Civic",
  trim,
  inventory_type: "used",
  price: 20_000,
});

const folder = await temporaryFolder(fileScope);
for (const [index, days] of feedDays.entries()) {
  const inventory = leaving.flatMap(({ lastBefore, trim, count }, group) => {
    const isThere = days >= lastBefore && days < lastBefore + 100;
    return isThere ? Array.from({ length: count }, (_, n) => car(100 * group + n, trim)) : [];
  });
  const staying = Array.from({ length: 100 }, (_, n) => car(1000 + n, "S1"));
  const unknown = withoutNumber[days];
  if (unknown !== undefined)
    staying.push(
      ...Array.from({ length: 10 }, (_, n) => ({
        ...car(2000 + n, "S1", 2),
        stock_number: n < unknown ? "" : `S${n}`,
      })),
    );
  await writeFeeds(folder, before(days), {
    ...(index === 0 ? { dealers } : {}),
    inventory: [...inventory, ...staying],
  });
}
const { lake } = await createLake(fileScope, folder);
const client = await startService(fileScope, lake);

test("the market has the sales of each group, known on the days that the tests count from", async () => {
  const rows = await queryLake(
    lake,
    "SELECT trim, sold_on_record::VARCHAR AS day, count(*)::INTEGER AS n FROM sold GROUP BY ALL ORDER BY day, trim",
  );
  assert.deepEqual(
    rows.map(({ trim, day, n }) => [trim, day, n]),
    leaving.map(({ trim, knownBefore, count }) => [trim, before(knownBefore), count]),
  );
});

test("a sale that became known 179 days before the published day counts for fit, one a day earlier does not; `sold_from` is the first day that counts", async () => {
  const { data, meta } = await client.getBody("findFittingDealers", `/v1/vins/${vinOf(1000)}/dealer-fit`);
  assert.equal(meta.sold_from, before(179));
  assert.equal(data.market?.sales, 3 * 12);
});

test("days of supply on a past day count no sale that became known later", async () => {
  const soldOn = async (day: string): Promise<number | undefined> => {
    const path = `/v1/groups?group_by=make&metric=days_supply&snapshot_date=${day}`;
    return (await client.getBody("getGroups", path)).data[0]?.metrics[0]?.sample;
  };
  assert.deepEqual([await soldOn(before(2)), await soldOn(before(1)), await soldOn(published)], [0, 12, 24]);
});

test("equally frequent values of sold listings of several months are in the order of values", async () => {
  for (const sort of ["count", "-count"]) {
    const path = `/v1/facets?facets=trim&inventory_status=sold&sort=${sort}`;
    const { data } = await client.getBody("getFacets", path);
    assert.deepEqual(
      data.facets.trim?.map(({ value, count }) => [value, count]),
      ["A1", "B1", "C1", "Y1", "Z1"].map((trim) => [trim, 12]),
    );
  }
});

test("what is usual of a feed follows from the 14 published days before, not from a 15th", async (scope) => {
  const version = await openVersion(scope, lake);
  const rows = await qualityReport(version, { day: published, status: "ok", dealer: dealerIdOf(2) });
  const missing = rows.find(({ check, field }) => check === "missing" && field === "stock_number");
  assert.deepEqual([missing?.share, missing?.usual], [0, 0.5]);
});

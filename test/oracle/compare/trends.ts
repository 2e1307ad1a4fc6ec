/** Compares trends with the facets of each day, and with searches of sold listings. */
import assert from "node:assert/strict";
import type { AnswerOf } from "../../../src/contract/types.ts";
import type { Client } from "../../support/http/service.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { hasParameter, pathOf, type Query } from "../random-requests/query.ts";
import { forEachConcurrently } from "./oracle.ts";

type Series = AnswerOf<"getTrends">["data"];

/**
 * Requests trends under filters. Each point must have the counts and metrics of the facets of its day, and each number of sales must be the
 * difference between two windows of sold listings. Fails at the first difference.
 */
export async function compareTrendsWithFacets(
  client: Client,
  inventory: OracleInventory,
  queries: Iterable<Query>,
): Promise<{ readonly levels: number; readonly sales: number }> {
  let levels = 0;
  let sales = 0;
  await forEachConcurrently(queries, async (query) => {
    const filters = new Map([...query].filter(([name]) => hasParameter("getTrends", name)));
    const points = await compareLevels(client, inventory, filters);
    const sold = await compareSales(client, inventory, filters);
    levels += points;
    sales += sold;
  });
  return { levels, sales };
}

async function trendOf(client: Client, filters: Query, parameters: Readonly<Record<string, string>>): Promise<Series> {
  const query = new Map([...filters, ...Object.entries({ from: "2001-01-01", interval: "day", ...parameters })]);
  return (await client.getBody("getTrends", pathOf("getTrends", query))).data;
}

/** Compares the points of all makes; returns how many of them have listings. */
async function compareLevels(client: Client, { snapshots }: OracleInventory, filters: Query): Promise<number> {
  const trend = await trendOf(client, filters, { metric: "count,price.p25", facet: "make", facet_limit: "40" });
  let compared = 0;
  for (const day of snapshots.keys()) {
    const query: Query = new Map([
      ...[...filters, ["snapshot_date", day] as const],
      ...Object.entries({ facets: "make", metric: "price.p25", facet_value_limit: "100" }),
    ]);
    const { data } = await client.getBody("getFacets", pathOf("getFacets", query));
    const expected = (data.facets.make ?? []).map(({ value, count, metric }) => [value, [count, count], metric]);
    const points = trend.flatMap(({ value, points }) => {
      const [count, metric] = points.find(({ level_day }) => level_day === day)?.metrics ?? [];
      return count?.value === 0 ? [] : [[String(value), [count?.value, count?.sample], metric] as const];
    });
    const sorted = <Row extends readonly unknown[]>(rows: readonly Row[]): readonly Row[] =>
      [...rows].sort((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1));
    assert.deepEqual(sorted(points), sorted(expected), pathOf("getFacets", query));
    compared += points.length;
  }
  return compared;
}

/** Compares the sales of each day; returns their sum. */
async function compareSales(client: Client, { asOf, snapshots }: OracleInventory, filters: Query): Promise<number> {
  const [series] = await trendOf(client, filters, { metric: "sold" });
  const soldSince = async (day: string): Promise<number> => {
    const daysAgo = 1 + (Date.parse(asOf) - Date.parse(day)) / 86_400_000;
    const query: Query = new Map([...filters, ["sold_within_days", String(daysAgo)], ["limit", "1"]]);
    return (await client.getBody("searchListings", pathOf("searchListings", query))).pagination.total;
  };
  const points = series?.points ?? [];
  const sumFrom = (index: number): number =>
    points.slice(index).reduce((sum, { metrics }) => sum + (metrics[0]?.value ?? 0), 0);
  for (const [index, { start }] of points.entries())
    if (snapshots.has(start))
      assert.equal(sumFrom(index), await soldSince(start), `${start} ${JSON.stringify([...filters])}`);
  return sumFrom(0);
}

/** Oracle of groups: scans the matching listings for every combination of values. */
import { vocabulary } from "../../../src/contract/document.ts";
import { numberOf, type Query, queryValues } from "../random-requests/query.ts";
import { type BucketValue, valuesOf } from "./facets.ts";
import { compare, type FlatListing, type OracleInventory } from "./inventory.ts";
import { definedOf, type Metric, metricNames, oracleMetric, populationOf, sampleListingsMin } from "./metrics.ts";
import { oracleUnmatched } from "./unmatched.ts";

export const groupAttributes = vocabulary("getGroups", "group_by");

interface Group {
  readonly values: readonly (BucketValue | null)[];
  readonly count: number;
  readonly metrics: readonly Metric[];
}

/** Returns the answer to a group query that is not refused. */
export function oracleGroups(inventory: OracleInventory, query: Query) {
  const attributes = [...new Set(queryValues(query.get("group_by")))];
  const metrics = metricNames(query);
  const [sort = "-count"] = queryValues(query.get("sort"));
  const limit = numberOf(query, "limit") ?? 100;
  const { listings, sold, hasSales } = populationOf(inventory, query);
  const sales = groupBy(sold, (listing) => keyOf(listing, attributes));
  const groups = [...groupBy(listings, (listing) => keyOf(listing, attributes))].map(
    ([key, members]): Group => ({
      values: attributes.map((attribute) => members.map((one) => onlyValue(one, attribute)).sort(compare)[0] ?? null),
      count: members.length,
      metrics: metrics.map((name) => oracleMetric(name, { listings: members, sold: sales.get(key) ?? [], hasSales })),
    }),
  );
  return {
    data: groups
      .sort(orderOf(sort))
      .slice(0, limit)
      .map(({ values, ...group }) => ({
        values: Object.fromEntries(attributes.map((attribute, at) => [attribute, textOf(values[at] ?? null)])),
        ...(attributes.includes("dealer_id")
          ? { dealer_name: inventory.dealerNames.get(String(values[attributes.indexOf("dealer_id")])) ?? null }
          : {}),
        ...group,
      })),
    meta: {
      group_by: attributes,
      metric: metrics,
      sort,
      limit,
      total: listings.length,
      total_groups: groups.length,
      truncated: groups.length > limit,
      minimum_metric_count: sampleListingsMin,
      ...definedOf(metrics),
      as_of: inventory.asOf,
      currency: inventory.currency,
      data_version: inventory.version,
      ...oracleUnmatched(inventory, query),
    },
  };
}

const onlyValue = (listing: FlatListing, attribute: string): BucketValue | null =>
  valuesOf(listing, attribute)[0] ?? null;

const textOf = (value: BucketValue | null): string | null => (value === null ? null : String(value));

const keyOf = (listing: FlatListing, attributes: readonly string[]): string =>
  JSON.stringify(attributes.map((attribute) => textOf(onlyValue(listing, attribute))?.toLowerCase() ?? null));

function groupBy(
  listings: readonly FlatListing[],
  keyOfListing: (listing: FlatListing) => string,
): ReadonlyMap<string, readonly FlatListing[]> {
  const groups = new Map<string, FlatListing[]>();
  for (const listing of listings) {
    const key = keyOfListing(listing);
    groups.set(key, groups.get(key) ?? []);
    groups.get(key)?.push(listing);
  }
  return groups;
}

/** Orders by the number of listings or the first metric, then by values. Groups without a metric are last. */
const orderOf =
  (sort: string) =>
  (one: Group, other: Group): number => {
    const [left, right] = [one, other].map(({ count, metrics }) =>
      sort.endsWith("count") ? count : (metrics[0]?.value ?? null),
    );
    const isAscending = !sort.startsWith("-") || left === null || right === null;
    const first = isAscending ? compare(left ?? null, right ?? null) : compare(right ?? null, left ?? null);
    return one.values.reduce<number>((order, value, at) => order || compare(value, other.values[at] ?? null), first);
  };

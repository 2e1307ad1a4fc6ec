/** Oracle of facets: scans the matching listings for every bucket. */
import { vocabulary } from "../../../src/contract/document.ts";
import { numberNames, rangedNames } from "../../../src/listing/schema.ts";
import { numberOf, type Query, queryValues } from "../random-requests/query.ts";
import { compare, type FlatListing, listFields, type OracleInventory } from "./inventory.ts";
import {
  definedOf,
  knownOf,
  type Metric,
  oracleMetric,
  type Population,
  populationOf,
  sampleListingsMin,
} from "./metrics.ts";
import { matchingListings } from "./search.ts";
import { oracleRanges, oracleStats, smallestAllowedWidth } from "./statistics.ts";
import { nameKey, oracleUnmatched } from "./unmatched.ts";

export const oracleNumericFacets: readonly string[] = rangedNames;
export const oracleCategoricalFacets: readonly string[] = vocabulary("getFacets", "facets").filter(
  (facet) => !oracleNumericFacets.includes(facet),
);
export const measures: readonly string[] = numberNames.filter((name) =>
  vocabulary("getFacets", "metric").some((metric) => metric.startsWith(`${name}.`)),
);

export type BucketValue = string | number;

/** A bucket; numeric values are still numbers. */
interface Bucket {
  readonly value: BucketValue;
  readonly count: number;
  readonly metric?: Metric;
}

/** A numeric facet whose fixed width needs too many buckets, with the smallest width that does not. */
export interface TooNarrowWidth {
  readonly facet: string;
  readonly leastWidth: number;
}

/** Returns the facets of a query whose fixed width is refused. */
export function tooNarrowWidths(inventory: OracleInventory, query: Query): readonly TooNarrowWidth[] {
  const widths = fixedWidths(query);
  return [...widths].flatMap(([facet, width]) => {
    const leastWidth = smallestAllowedWidth(knownOf(countedListings(inventory, query, facet), facet), width);
    return leastWidth === undefined ? [] : [{ facet, leastWidth }];
  });
}

/** Returns the query whose matches a facet counts: in mode `disjunctive`, the query without its own values and bounds. */
function countedQuery(query: Query, facet: string): Query {
  const [mode = ""] = queryValues(query.get("facet_mode"));
  const bound = facet === "miles" ? "mileage" : facet;
  const own = [facet, `min_${bound}`, `max_${bound}`];
  return mode === "disjunctive" ? new Map([...query].filter(([name]) => !own.includes(name))) : query;
}

const countedListings = (inventory: OracleInventory, query: Query, facet: string): readonly FlatListing[] =>
  matchingListings(inventory, countedQuery(query, facet));

/** Returns the answer to a facet query that is not refused. */
export function oracleFacets(inventory: OracleInventory, query: Query) {
  const listings = matchingListings(inventory, query);
  const requested = [...new Set(queryValues(query.get("facets")))];
  const [metric] = queryValues(query.get("metric"));
  const [sort = "-count"] = queryValues(query.get("sort"));
  const limit = numberOf(query, "facet_value_limit") ?? 20;
  const [prefix] = queryValues(query.get("facet_value_prefix"));
  const categories = requested.filter((name) => oracleCategoricalFacets.includes(name));
  const numbers = requested.filter((name) => oracleNumericFacets.includes(name));
  const widths = fixedWidths(query);
  const counted = (facet: string): readonly FlatListing[] => countedListings(inventory, query, facet);
  const [mode] = queryValues(query.get("facet_mode"));
  const labelOf = (facet: string, value: BucketValue): { readonly label?: string | null } =>
    facet === "dealer_id" ? { label: inventory.dealerNames.get(String(value)) ?? null } : {};
  const categoryBuckets = (facet: string) =>
    bucketsOf(populationOf(inventory, countedQuery(query, facet)), facet, metric)
      .toSorted(orders[sort])
      .map((bucket) => ({ ...bucket, value: String(bucket.value), ...labelOf(facet, bucket.value) }))
      .filter(
        ({ value, label }) =>
          prefix === undefined || isSpelledLike(value, prefix) || isSpelledLike(label ?? "", prefix),
      )
      .slice(0, limit);
  return {
    data: {
      total: listings.length,
      facets: keyed(categories, categoryBuckets),
      range_facets: keyed(numbers, (facet) => oracleRanges(knownOf(counted(facet), facet), widths.get(facet))),
      stats: keyed(numbers, (facet) => oracleStats(knownOf(counted(facet), facet), counted(facet).length)),
    },
    meta: {
      facets: requested,
      ...(mode === "disjunctive" ? { facet_mode: mode } : {}),
      metric: metric ?? "count",
      sort,
      minimum_metric_count: sampleListingsMin,
      ...definedOf(metric === undefined ? [] : [metric]),
      as_of: inventory.asOf,
      currency: inventory.currency,
      data_version: inventory.version,
      ...oracleUnmatched(inventory, query),
    },
  };
}

/** Returns true if a value begins with a text, or each word of the text begins a word of the value. */
function isSpelledLike(value: string, text: string): boolean {
  const wordsOf = (words: string): readonly string[] =>
    words
      .replaceAll(/['’]/g, "")
      .split(/[^\p{L}\p{N}\p{M}]+/u)
      .map(nameKey)
      .filter((word) => word !== "");
  const words = wordsOf(value);
  const wanted = wordsOf(text);
  const isBegun = wanted.length === 0 ? value.startsWith(text) : nameKey(value).startsWith(nameKey(text));
  return isBegun || (wanted.length > 0 && wanted.every((part) => words.some((word) => word.startsWith(part))));
}

function fixedWidths(query: Query): ReadonlyMap<string, number> {
  return new Map(
    queryValues(query.get("interval")).map((item) => {
      const [facet = "", width] = item.trim().split(":");
      return [facet, Number(width)];
    }),
  );
}

function keyed<Answer>(names: readonly string[], answer: (name: string) => Answer): Readonly<Record<string, Answer>> {
  return Object.fromEntries(names.map((name) => [name, answer(name)]));
}

/**
 * Returns a bucket for each value; a listing with several values is in several buckets. Spellings that differ in case
 * are one value, represented by the first of them.
 */
function bucketsOf({ listings, sold, hasSales }: Population, facet: string, metric?: string): readonly Bucket[] {
  const groups = new Map<BucketValue, { spellings: Set<BucketValue>; members: Set<FlatListing> }>();
  for (const listing of listings) {
    for (const value of valuesOf(listing, facet)) {
      const key = foldOf(value);
      const group = groups.get(key) ?? { spellings: new Set(), members: new Set() };
      groups.set(key, group);
      group.spellings.add(value);
      group.members.add(listing);
    }
  }
  return [...groups].map(([key, { spellings, members }]) => {
    const soldToo = sold.filter((listing) => valuesOf(listing, facet).some((value) => foldOf(value) === key));
    return {
      value: [...spellings].sort(compare)[0] ?? "",
      count: members.size,
      ...(metric === undefined
        ? {}
        : { metric: oracleMetric(metric, { listings: [...members], sold: soldToo, hasSales }) }),
    };
  });
}

const foldOf = (value: BucketValue): BucketValue => (typeof value === "string" ? value.toLowerCase() : value);

export function valuesOf(listing: FlatListing, facet: string): readonly BucketValue[] {
  const list = listFields.find((field) => field === facet);
  if (list !== undefined) return listing[list];
  const value = listing[facet as "make" | "year"];
  return value === null ? [] : [value];
}

type Order = (one: Bucket, other: Bucket) => number;

const byCount = (one: Bucket, other: Bucket): number => one.count - other.count;
const byValue = (one: Bucket, other: Bucket): number => compare(one.value, other.value);

/** Orders by metric in either direction; buckets without one are last. */
const byMetric =
  (direction: 1 | -1): Order =>
  (one, other) => {
    const left = one.metric?.value ?? null;
    const right = other.metric?.value ?? null;
    return left === null || right === null || direction === 1 ? compare(left, right) : compare(right, left);
  };

/** Ties are ordered by value, ascending. */
const orders: Readonly<Record<string, Order>> = {
  count: (one, other) => byCount(one, other) || byValue(one, other),
  "-count": (one, other) => byCount(other, one) || byValue(one, other),
  metric: (one, other) => byMetric(1)(one, other) || byValue(one, other),
  "-metric": (one, other) => byMetric(-1)(one, other) || byValue(one, other),
};

/** Compares facets with search: a search for a bucket's value or range finds as many listings as the bucket counts. */
import assert from "node:assert/strict";
import { vocabulary } from "../../../src/contract/document.ts";
import type { AnswerOf, Filters } from "../../../src/contract/types.ts";
import type { Chance } from "../../support/chance.ts";
import type { Client } from "../../support/http/service.ts";
import { oracleCategoricalFacets, oracleNumericFacets } from "../answers/facets.ts";
import { numberOf, pathOf, type Query } from "../random-requests/query.ts";
import { listItemOf } from "../random-requests/spellings.ts";
import { forEachConcurrently } from "./oracle.ts";

/** Filters that combine their values with AND, so that another value narrows the search. */
const narrowing = ["features", "options_packages", "keywords"];

/** Keywords that the filter of the same name excludes. */
const negative = ["branded", "fleet"];

/** Widths with at most 100 ranges in a random lake. */
const fixedWidths = "price:70000,msrp:50000,miles:7000,days_on_market:3";

export interface BucketSummary {
  readonly buckets: number;
  /** Number of facets they belong to. */
  readonly facets: number;
}

interface BucketSearch {
  /** Description of the bucket for messages. */
  readonly bucket: string;
  readonly facet: string;
  readonly count: number;
  /** Undefined if no listing can be in the bucket. */
  readonly query: Query | undefined;
}

/** Requests all facets under each query, and searches for some buckets of each facet. */
export async function compareBucketsWithSearch(
  client: Client,
  chance: Chance,
  queries: Iterable<Query>,
  bucketsMax: number,
): Promise<BucketSummary> {
  const seen = new Set<string>();
  let buckets = 0;
  for (const query of queries) {
    const facets = [...oracleCategoricalFacets, ...oracleNumericFacets].join(",");
    const facetQuery = new Map([...query, ["facets", facets], ["facet_value_limit", "100"]]);
    if (chance.happens(0.5)) facetQuery.set("interval", fixedWidths);
    const path = pathOf("getFacets", facetQuery);
    const { data } = await client.getBody("getFacets", path);
    await forEachConcurrently(
      searchesOf(data, query, chance, bucketsMax),
      async ({ bucket, facet, count, query: narrowed }) => {
        const found = narrowed === undefined ? 0 : await totalOf(client, narrowed);
        assert.equal(
          found,
          count,
          `${path}\n${bucket} counts ${count}; a search of ${JSON.stringify([...(narrowed ?? [])])}`,
        );
        seen.add(facet);
        buckets += 1;
      },
    );
  }
  return { buckets, facets: seen.size };
}

/** Returns searches for some buckets of each facet of an answer. */
function searchesOf(
  { facets, range_facets }: AnswerOf<"getFacets">["data"],
  query: Query,
  chance: Chance,
  bucketsMax: number,
): readonly BucketSearch[] {
  const sample = <Bucket>(of: readonly Bucket[]): readonly Bucket[] =>
    of.length <= bucketsMax ? of : chance.some(of, bucketsMax);
  const valueSearches = Object.entries(facets).flatMap(([facet, buckets]) =>
    sample(buckets).flatMap(({ value, count }) => {
      const narrowed = narrowedTo(query, facet, value);
      return narrowed === undefined ? [] : [{ bucket: `${facet} ${value}`, facet, count, query: narrowed }];
    }),
  );
  const rangeSearches = Object.entries(range_facets).flatMap(([facet, { buckets }]) =>
    [...sample(buckets), ...buckets.slice(0, 1), ...buckets.slice(-1)].map(({ min, max, count }) => {
      return { bucket: `${facet} ${min} to ${max}`, facet, count, query: narrowedToRange(query, facet, { min, max }) };
    }),
  );
  return [...valueSearches, ...rangeSearches];
}

async function totalOf(client: Client, query: Query): Promise<number> {
  const search = pathOf("searchListings", new Map([...query, ["limit", "1"], ["fields", "id"]]));
  return (await client.getBody("searchListings", search)).pagination.total;
}

/** Returns whether the filter of a facet accepts a value that the data has. */
function isAccepted(facet: string, value: string): boolean {
  const words: readonly unknown[] = vocabulary("searchListings", facet as keyof Filters);
  return words.length === 0 || words.includes(value);
}

/** Returns a query with a facet value added, or undefined if no parameter can express it. */
function narrowedTo(query: Query, facet: string, value: string): Query | undefined {
  const current = query.get(facet);
  const isExpressible =
    (current === undefined || narrowing.includes(facet)) &&
    !(facet === "keywords" && negative.includes(value)) &&
    isAccepted(facet, value);
  if (!isExpressible) return undefined;
  const added = encodeURIComponent(listItemOf(value, facet === "assembly_location" ? "|" : ","));
  return new Map([...query, [facet, current === undefined ? added : `${current},${added}`]]);
}

/** Returns a query narrowed to a bucket's range, or undefined if the bounds exclude each other. */
function narrowedToRange(
  query: Query,
  facet: string,
  range: { readonly min: number; readonly max: number },
): Query | undefined {
  const name = facet === "miles" ? "mileage" : facet;
  const min = Math.max(range.min, numberOf(query, `min_${name}`) ?? range.min);
  const greatest = Math.min(range.max - 1, numberOf(query, `max_${name}`) ?? range.max);
  if (min > greatest) return undefined;
  return new Map([...query, [`min_${name}`, String(min)], [`max_${name}`, String(greatest)]]);
}

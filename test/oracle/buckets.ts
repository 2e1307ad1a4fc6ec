/** Whether facets and search agree: a search for a bucket's value finds as many listings as the bucket counts. */
import assert from "node:assert/strict";
import type { AnswerOf } from "../../src/contract/types.ts";
import type { Client } from "../support/service.ts";
import { eachOf } from "./agree.ts";
import type { Chance } from "./chance.ts";
import { categoricalFacets } from "./facets.ts";
import { pathOf, type Query } from "./query.ts";

/** Filters that every named value must pass, so that one more value makes them narrower. */
const narrowing = ["features", "options_packages", "keywords"];

/** Keywords that the filter of the same name excludes. */
const negative = ["branded", "fleet"];

export interface BucketsChecked {
  readonly buckets: number;
  /** By how many facets. */
  readonly facets: number;
}

/** Asks for all categorical facets under each query of filters, and searches for some buckets of each facet. */
export async function searchBuckets(
  client: Client,
  chance: Chance,
  queries: Iterable<Query>,
  bucketsMost: number,
): Promise<BucketsChecked> {
  const seen = new Set<string>();
  let buckets = 0;
  for (const query of queries) {
    const asked = new Map([...query, ["facets", categoricalFacets.join(",")], ["facet_value_limit", "100"]]);
    const path = pathOf("getFacets", asked);
    const { data }: AnswerOf<"getFacets"> = await client.found("getFacets", path);
    const searches = Object.entries(data.facets).flatMap(([facet, found]) => {
      const chosen = found.length <= bucketsMost ? found : chance.some(found, bucketsMost);
      return chosen.flatMap(({ value, count }) => {
        const narrowed = narrowedTo(query, facet, String(value));
        return narrowed === undefined ? [] : [{ facet, value, count, query: narrowed }];
      });
    });
    await eachOf(searches, async ({ facet, value, count, query: narrowed }) => {
      const search = pathOf("searchListings", new Map([...narrowed, ["limit", "1"], ["fields", "id"]]));
      const { pagination } = await client.found("searchListings", search);
      assert.equal(pagination.total, count, `${path}\n${facet} ${value} counts ${count}; ${search}`);
      seen.add(facet);
      buckets += 1;
    });
  }
  return { buckets, facets: seen.size };
}

/** A query with a value of a facet added; undefined where no parameter can say it. */
function narrowedTo(query: Query, facet: string, value: string): Query | undefined {
  const given = query.get(facet);
  const isSayable =
    (given === undefined || narrowing.includes(facet)) &&
    !value.includes(facet === "assembly_location" ? "|" : ",") &&
    !(facet === "keywords" && negative.includes(value)) &&
    !(facet === "state" && !/^[A-Z]{2}$/.test(value));
  if (!isSayable) return undefined;
  const added = encodeURIComponent(value);
  return new Map([...query, [facet, given === undefined ? added : `${given},${added}`]]);
}

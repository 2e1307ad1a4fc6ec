/**
 * Facets: how many of the matching listings have which values, in ranges where the values are numbers, and a metric of them.
 *
 * One statement answers all facets of a request over `matches`, the listings that pass the filters, with a row for each facet.
 * Which listings those are is the affair of modes and filters, as in the search.
 */
import { bounds } from "../base/bounds.ts";
import { isObject, type Json, type Row } from "../base/json.ts";
import { join, type Sql, sql } from "../base/sql.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Listings, Market } from "../lake/market.ts";
import type { Requirement } from "./attributes.ts";
import { type Bucketing, bucketsOf, numberFacets } from "./buckets.ts";
import { type Metric, measuring } from "./metrics.ts";
import { modeOf } from "./modes.ts";
import { type NumericFacet, numericFacets, rangesOf, rangeTables } from "./ranges.ts";
import { matching, requirementsOf } from "./where.ts";

export type FacetQuery = QueryOf<"getFacets">;
type Facet = FacetQuery["facets"][number];

/** A facet request, decided in full; what remains is to run it. */
export interface FacetPlan {
  readonly query: FacetQuery;
  readonly listings: Listings;
  /** What listings have to fulfil; where nothing is required, all match. */
  readonly requirements: readonly Requirement[];
  /** Of the categorical facets. */
  readonly bucketing: Bucketing;
  readonly numeric: readonly NumericFacet[];
}

const isNumeric = (facet: Facet): facet is NumericFacet => numericFacets.some((one) => one === facet);

/** Plans the facets of a market. Refuses parameters that do not go together. */
export function planFacets(query: FacetQuery, market: Market): FacetPlan {
  const { facets, metric, sort, facet_value_limit: limit } = query;
  const categorical = facets.filter((facet) => !isNumeric(facet));
  if (metric !== undefined && categorical.length !== 1) {
    throw refuse("incompatible_parameters", {
      parameters: `metric=${metric} and facets=${facets.join(",")}`,
      reason: `a metric takes exactly one categorical facet, and ${categorical.length} are asked for`,
    });
  }
  if (metric === undefined && (sort === "metric" || sort === "-metric")) {
    const allowed = "count or -count where the parameter metric is not given";
    throw refuse("invalid_parameter_value", { parameter: "sort", value: quoted(sort), allowed, hint: "" });
  }
  const mode = modeOf(query, market);
  return {
    query,
    listings: mode.listings,
    requirements: requirementsOf(query, mode, market),
    bucketing: {
      facets: categorical,
      limit,
      sort,
      measuring: metric === undefined ? undefined : measuring(metric),
      numbered: mode.listings.numbered,
    },
    numeric: facets.filter(isNumeric),
  };
}

/**
 * The facets of so many matches. A few are kept in memory for all facets; many are read again for each, which the
 * files' dictionaries make cheaper than copies of their texts.
 */
export function facetsOf({ listings, requirements, bucketing, numeric }: FacetPlan, total: number): Sql {
  const isKept = total <= listings.count * bounds.keptMatchesShare;
  const matches = sql`
    matches AS ${isKept ? sql`` : sql`NOT`} MATERIALIZED (SELECT * ${matching(listings.unordered, requirements)})`;
  return sql`
    WITH ${join([matches, ...(numeric.length === 0 ? [] : rangeTables(numeric, isKept))])}
    ${join(
      [
        ...(bucketing.facets.length === 0 ? [] : [bucketsOf(bucketing)]),
        ...(numeric.length === 0 ? [] : [rangesOf(total)]),
      ],
      sql` UNION ALL BY NAME `,
    )}`;
}

/** The answer, but for where it comes from: schema `FacetResult`, and most of `FacetMeta`. */
export function readFacets({ query, bucketing, numeric }: FacetPlan, total: number, rows: readonly Row[]) {
  const { facets, metric, sort } = query;
  const rowOf = (facet: string): Row | undefined => rows.find((row) => row.facet === facet);
  return {
    data: {
      total,
      facets: byName(bucketing.facets, (facet) => readBuckets(facet, rowOf(facet)?.buckets, metric)),
      range_facets: byName(numeric, (facet) => rowOf(facet)?.range_facet),
      stats: byName(numeric, (facet) => rowOf(facet)?.stats),
    },
    meta: {
      facets,
      metric: metric ?? null,
      sort,
      minimum_metric_count: metric === undefined ? null : bounds.metricListingsMin,
    },
  };
}

function byName<F extends string, T>(facets: readonly F[], partOf: (facet: F) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(facets.map((facet) => [facet, partOf(facet)]));
}

/** The buckets of a facet, schemas `FacetBucket` and `Metric`. */
function readBuckets(facet: string, buckets: Json | undefined, name: Metric | undefined): readonly object[] {
  if (!Array.isArray(buckets)) return [];
  return buckets.filter(isObject).map(({ value: text, count, metric: value }) => {
    const metric = value === null ? { name, value, null_reason: "insufficient_sample" } : { name, value };
    return {
      value: numberFacets.includes(facet) ? Number(text) : text,
      count,
      ...(name === undefined ? {} : { metric }),
    };
  });
}

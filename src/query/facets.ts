/**
 * Facets for operation `getFacets`: match counts by value and by range, statistics of numbers, and a metric per value.
 *
 * One request to the listing source counts all facets. The source chooses the ranges of numbers from their statistics.
 */
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { QueryOf } from "../contract/types.ts";
import { matchKeyOf, wordsOf } from "../db/text-matching.ts";
import { metricListingsMin } from "../listing/aggregates.ts";
import type { Filter } from "../listing/filter.ts";
import type { CountedName, NumberName } from "../listing/schema.ts";
import type {
  Aggregate,
  CountResult,
  ListingSource,
  MeasuredValue,
  MeasureResult,
  ValueCount,
} from "../listing/source.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { filtersOf } from "./filters.ts";
import { modeOf } from "./modes.ts";
import {
  type FixedWidths,
  fixedWidths,
  type NumericFacet,
  numericFacets,
  rangeChoice,
  rangeFacetOf,
  requireRanges,
  statsOf,
} from "./ranges.ts";

/** The most values of a facet among which `facet_value_prefix` looks. */
const facetValuesMax = 100_000;

export type FacetQuery = QueryOf<"getFacets">;
type Facet = FacetQuery["facets"][number];
type CategoricalFacet = Exclude<Facet, NumericFacet>;
type Metric = NonNullable<FacetQuery["metric"]>;

/** A validated facet request, ready to run. */
export interface FacetPlan {
  readonly query: FacetQuery;
  readonly listings: ListingSource;
  readonly filters: readonly Filter[];
  readonly categorical: readonly CategoricalFacet[];
  readonly numeric: readonly NumericFacet[];
  readonly widths: FixedWidths;
}

/** Results of the listing source. */
interface FacetResults {
  readonly counts: CountResult | undefined;
  readonly measured: MeasureResult | undefined;
}

const isNumeric = (facet: Facet): facet is NumericFacet => numericFacets.some((name) => name === facet);
const isCategorical = (facet: Facet): facet is CategoricalFacet => !isNumeric(facet);

/** Plans a facet request on a version. Refuses parameters that cannot be combined. */
export function planFacets(query: FacetQuery, version: LakeVersion): FacetPlan {
  const { facets, metric, sort } = query;
  const [categorical, numeric] = [facets.filter(isCategorical), facets.filter(isNumeric)];
  if (metric !== undefined && categorical.length !== 1) {
    throw refuse("incompatible_parameters", {
      parameters: `metric=${metric} and facets=${facets.join(",")}`,
      reason: `a metric requires exactly one categorical facet, not ${categorical.length}`,
    });
  }
  if (metric === undefined && (sort === "metric" || sort === "-metric")) {
    const allowed = "count or -count when metric is not set";
    throw refuse("invalid_parameter_value", { parameter: "sort", value: quoted(sort), allowed, hint: "" });
  }
  const mode = modeOf(query, version);
  return {
    query,
    listings: mode.listings,
    filters: [...mode.filters, ...filtersOf(query, version.dimensions)],
    categorical,
    numeric,
    widths: fixedWidths(query.interval, numeric),
  };
}

/** Runs a plan. Returns schema `FacetResult`, and schema `FacetMeta` without the version. */
export async function countFacets(plan: FacetPlan) {
  const { query, categorical, numeric } = plan;
  const results = await queryFacets(plan);
  const total = results.counts?.total ?? results.measured?.total ?? 0;
  return {
    data: {
      total,
      facets: byName(categorical, (facet) => requestedOf(bucketsOf(facet, results, query.metric), query)),
      range_facets: byName(numeric, (facet) => rangeFacetOf(facet, results.counts, plan.widths)),
      stats: byName(numeric, (facet) => statsOf(results.counts?.summaries.get(facet), total)),
    },
    meta: {
      facets: query.facets,
      metric: query.metric ?? "count",
      sort: query.sort,
      minimum_metric_count: metricListingsMin,
    },
  };
}

async function queryFacets(plan: FacetPlan): Promise<FacetResults> {
  const { query, listings, filters, categorical, numeric, widths } = plan;
  const { sort, metric } = query;
  const limit = query.facet_value_prefix === undefined ? query.facet_value_limit : facetValuesMax;
  const [facet] = categorical;
  const measured =
    metric === undefined || facet === undefined
      ? undefined
      : await listings.measureValues({ filters, attribute: facet, ...measureOf(metric), limit, sort });
  const attributes: readonly CountedName[] = measured === undefined ? categorical : [];
  if (attributes.length + numeric.length === 0) return { counts: undefined, measured };
  const order = sort === "count" ? "count" : "-count";
  const numbers = numeric.map((number) => rangeChoice(number, widths));
  const counts = await listings.countValues({ filters, attributes, limit, sort: order, numbers });
  requireRanges(widths, counts);
  return { counts, measured };
}

const measureOf = (
  metric: Metric & `${NumberName}.${Aggregate}`,
): { readonly measure: NumberName; readonly aggregate: Aggregate } => {
  const [measure, aggregate] = metric.split(".") as [NumberName, Aggregate];
  return { measure, aggregate };
};

/** Returns the buckets of a categorical facet, as schema `FacetBucket`. */
function bucketsOf(
  facet: CategoricalFacet,
  { counts, measured }: FacetResults,
  metric: Metric | undefined,
): readonly ValueCount[] {
  if (metric === undefined || measured === undefined) return counts?.values.get(facet) ?? [];
  return measured.values.map(({ value, count, ...result }) => ({
    value,
    count,
    metric: facetMetricOf(metric, count, result),
  }));
}

/** Returns the buckets whose value matches `facet_value_prefix`, at most `facet_value_limit`. */
function requestedOf(
  buckets: readonly ValueCount[],
  { facet_value_prefix: prefix, facet_value_limit: limit }: FacetQuery,
): readonly ValueCount[] {
  if (prefix === undefined) return buckets;
  const [key, words] = [matchKeyOf(prefix), wordsOf(prefix)];
  const matches = (value: string): boolean => {
    if (matchKeyOf(value).startsWith(key)) return true;
    const valueWords = wordsOf(value);
    return words.length > 0 && words.every((word) => valueWords.some((valueWord) => valueWord.startsWith(word)));
  };
  return buckets.filter(({ value }) => matches(value)).slice(0, limit);
}

/** Returns schema `FacetMetric`. */
function facetMetricOf(
  name: Metric,
  count: number,
  { metric: value, sample }: Pick<MeasuredValue, "metric" | "sample">,
): object {
  if (value !== null) return { name, value, sample };
  return {
    name,
    value,
    sample,
    null_reason: count >= metricListingsMin && sample === 0 ? "no_values" : "insufficient_sample",
  };
}

function byName<F extends string, T>(facets: readonly F[], resultOf: (facet: F) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(facets.map((facet) => [facet, resultOf(facet)]));
}

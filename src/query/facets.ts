/**
 * Facets for operation `getFacets`: match counts by value and by range, statistics of numbers, and a metric per value.
 *
 * One request to the listing source counts all facets that the same filters narrow. The source chooses the ranges of numbers from their statistics.
 */
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { Filters, QueryOf } from "../contract/types.ts";
import { areBeginnings, matchKeyOf, wordsOf } from "../db/text-matching.ts";
import { metricListingsMin } from "../listing/aggregates.ts";
import type { Filter } from "../listing/filter.ts";
import { attributeOf, type CountedName, type NumberName, valuedNames } from "../listing/schema.ts";
import type {
  Aggregate,
  CountResult,
  ListingSource,
  MeasuredValue,
  MeasureResult,
  ValueCount,
} from "../listing/source.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { filters, filtersOf } from "./filters.ts";
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

/** Facets that the same filters narrow. */
interface FacetGroup {
  readonly filters: readonly Filter[];
  readonly categorical: readonly CategoricalFacet[];
  readonly numeric: readonly NumericFacet[];
}

/** A validated facet request, ready to run. */
export interface FacetPlan {
  readonly query: FacetQuery;
  readonly listings: ListingSource;
  /** The first one has all filters, and perhaps no facets. */
  readonly groups: readonly FacetGroup[];
  readonly widths: FixedWidths;
  /** See `InventoryMode`. */
  readonly hasValues: boolean;
}

/** Results of the listing source. */
interface FacetResults {
  readonly total: number;
  readonly counts: CountResult | undefined;
  readonly measured: MeasureResult | undefined;
}

const isNumeric = (facet: Facet): facet is NumericFacet => numericFacets.some((name) => name === facet);
const isCategorical = (facet: Facet): facet is CategoricalFacet => !isNumeric(facet);

/** Plans a facet request on a version. Refuses parameters that cannot be combined. */
export function planFacets(query: FacetQuery, version: LakeVersion): FacetPlan {
  const { facets, metric, sort } = query;
  const categorical = facets.filter(isCategorical);
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
  const groups = groupsOf(query).map(({ facets: group, query: narrowing }) => ({
    filters: [...mode.filters, ...filtersOf(narrowing, version.dimensions)],
    categorical: group.filter(isCategorical),
    numeric: group.filter(isNumeric),
  }));
  const widths = fixedWidths(query.interval, facets.filter(isNumeric));
  return { query, listings: mode.listings, groups, widths, hasValues: mode.hasValues };
}

/** Facets, and the request whose filters narrow them. */
interface NarrowedFacets {
  readonly facets: readonly Facet[];
  readonly query: FacetQuery;
}

/** Divides the facets of a request: those that all filters narrow come first. In mode `disjunctive`, each of the others is narrowed by all but its own. */
function groupsOf(query: FacetQuery): readonly NarrowedFacets[] {
  if (query.facet_mode !== "disjunctive") return [{ facets: query.facets, query }];
  const isChosen = (facet: Facet): boolean => ownParameters(facet).some((parameter) => query[parameter] !== undefined);
  const without = (facet: Facet): FacetQuery => ({
    ...query,
    ...Object.fromEntries(ownParameters(facet).map((parameter) => [parameter, undefined])),
  });
  return [
    { facets: query.facets.filter((facet) => !isChosen(facet)), query },
    ...query.facets.filter(isChosen).map((facet) => ({ facets: [facet], query: without(facet) })),
  ];
}

/** Returns the filters that choose values or a range of a facet. */
function ownParameters(facet: Facet): readonly (keyof Filters)[] {
  const { range } = attributeOf(facet);
  return [facet, `min_${range}`, `max_${range}`].filter((name): name is keyof Filters => name in filters);
}

/** Runs a plan. Returns schema `FacetResult`, and schema `FacetMeta` without the version. */
export async function countFacets(plan: FacetPlan) {
  const { query, groups } = plan;
  const results = await Promise.all(groups.map((group) => queryFacets(group, plan)));
  const found = new Map(
    groups.flatMap(({ categorical, numeric }, index) =>
      [...categorical, ...numeric].map((facet) => [facet, results[index]] as const),
    ),
  );
  const [categorical, numeric] = [query.facets.filter(isCategorical), query.facets.filter(isNumeric)];
  return {
    data: {
      total: results[0]?.total ?? 0,
      facets: byName(categorical, (facet) =>
        plan.hasValues || !valuedNames.some((name) => name === facet)
          ? requestedOf(bucketsOf(facet, found.get(facet), query.metric), query)
          : [],
      ),
      range_facets: byName(numeric, (facet) => rangeFacetOf(facet, found.get(facet)?.counts, plan.widths)),
      stats: byName(numeric, (facet) =>
        statsOf(found.get(facet)?.counts?.summaries.get(facet), found.get(facet)?.total ?? 0),
      ),
    },
    meta: {
      facets: query.facets,
      ...(query.facet_mode === "disjunctive" ? { facet_mode: query.facet_mode } : {}),
      metric: query.metric ?? "count",
      sort: query.sort,
      minimum_metric_count: metricListingsMin,
    },
  };
}

async function queryFacets(
  { filters, categorical, numeric }: FacetGroup,
  { query, listings, widths }: FacetPlan,
): Promise<FacetResults> {
  const { sort, metric } = query;
  const limit = query.facet_value_prefix === undefined ? query.facet_value_limit : facetValuesMax;
  const [facet] = categorical;
  const measured =
    metric === undefined || facet === undefined
      ? undefined
      : await listings.measureValues({ filters, attribute: facet, ...measureOf(metric), limit, sort });
  const attributes: readonly CountedName[] = measured === undefined ? categorical : [];
  if (measured !== undefined && numeric.length === 0) return { total: measured.total, counts: undefined, measured };
  const order = sort === "count" ? "count" : "-count";
  const numbers = numeric.map((number) => rangeChoice(number, widths));
  const counts = await listings.countValues({ filters, attributes, limit, sort: order, numbers });
  requireRanges(widths, counts);
  return { total: counts.total, counts, measured };
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
  results: FacetResults | undefined,
  metric: Metric | undefined,
): readonly ValueCount[] {
  if (metric === undefined || results?.measured === undefined) return results?.counts?.values.get(facet) ?? [];
  return results.measured.values.map(({ value, count, ...result }) => ({
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
  const matches = (value: string): boolean => matchKeyOf(value).startsWith(key) || areBeginnings(words, wordsOf(value));
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

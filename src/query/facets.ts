/**
 * Facets: how many of the matching listings have which values, in ranges where the values are numbers, and a metric of them.
 *
 * The source counts all facets at once; it asks back for the ranges of numbers when it knows their statistics.
 */
import { bounds } from "../base/bounds.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { CountedName, NumberName } from "../listing/schema.ts";
import type {
  Aggregate,
  Counts,
  ListingSource,
  Measured,
  MeasuredValue,
  Ranges,
  Summaries,
} from "../listing/source.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { filtersOf } from "./filters.ts";
import { modeOf } from "./modes.ts";
import {
  emptyRangeFacet,
  type FixedWidths,
  fixedWidths,
  type NumericFacet,
  numericFacets,
  rangeFacet,
  rangesOf,
  statsOf,
} from "./ranges.ts";

export type FacetQuery = QueryOf<"getFacets">;
type Facet = FacetQuery["facets"][number];
type CategoricalFacet = Exclude<Facet, NumericFacet>;
type Metric = NonNullable<FacetQuery["metric"]>;

/** A facet request, decided in full; what remains is to run it. */
export interface FacetPlan {
  readonly query: FacetQuery;
  readonly listings: ListingSource;
  readonly filters: readonly Filter[];
  readonly categorical: readonly CategoricalFacet[];
  readonly numeric: readonly NumericFacet[];
  readonly widths: FixedWidths;
}

/** What the source says of a plan's listings. */
interface Found {
  readonly counts: Counts | undefined;
  readonly measured: Measured | undefined;
}

const isNumeric = (facet: Facet): facet is NumericFacet => numericFacets.some((one) => one === facet);
const isCategorical = (facet: Facet): facet is CategoricalFacet => !isNumeric(facet);

/** Plans the facets of a version. Refuses parameters that cannot be combined. */
export function planFacets(query: FacetQuery, version: LakeVersion): FacetPlan {
  const { facets, metric, sort } = query;
  const [categorical, numeric] = [facets.filter(isCategorical), facets.filter(isNumeric)];
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
  const mode = modeOf(query, version);
  return {
    query,
    listings: mode.listings,
    filters: [...mode.filters, ...filtersOf(query)],
    categorical,
    numeric,
    widths: fixedWidths(query.interval, numeric),
  };
}

/** The answer, but for where it comes from: schema `FacetResult`, and most of `FacetMeta`. */
export async function countFacets(plan: FacetPlan) {
  const { query, categorical, numeric } = plan;
  const found = await find(plan);
  const total = found.counts?.total ?? found.measured?.total ?? 0;
  return {
    data: {
      total,
      facets: byName(categorical, (facet) => bucketsOf(facet, found, query.metric)),
      range_facets: byName(numeric, (facet) => rangeFacetOf(facet, found.counts, plan.widths)),
      stats: byName(numeric, (facet) => statsOf(found.counts?.summaries.get(facet), total)),
    },
    meta: {
      facets: query.facets,
      metric: query.metric ?? "count",
      sort: query.sort,
      minimum_metric_count: bounds.metricListingsMin,
    },
  };
}

async function find({ query, listings, filters, categorical, numeric, widths }: FacetPlan): Promise<Found> {
  const { facet_value_limit: limit, sort, metric } = query;
  const [facet] = categorical;
  const measured =
    metric === undefined || facet === undefined
      ? undefined
      : await listings.measureValues({ filters, attribute: facet, ...measureOf(metric), limit, sort });
  const attributes: readonly CountedName[] = measured === undefined ? categorical : [];
  if (attributes.length + numeric.length === 0) return { counts: undefined, measured };
  const rangesOfAll = (summaries: Summaries): readonly Ranges[] =>
    numeric.flatMap((one) => {
      const known = summaries.get(one);
      return known === undefined ? [] : [rangesOf(one, known, widths.get(one))];
    });
  const order = sort === "count" ? "count" : "-count";
  const request = { filters, attributes, limit, sort: order, numbers: numeric, rangesOf: rangesOfAll } as const;
  return { counts: await listings.countValues(request), measured };
}

const measureOf = (
  metric: Metric & `${NumberName}.${Aggregate}`,
): { readonly measure: NumberName; readonly aggregate: Aggregate } => {
  const [measure, aggregate] = metric.split(".") as [NumberName, Aggregate];
  return { measure, aggregate };
};

/** The buckets of a facet, schema `FacetBucket`. */
function bucketsOf(
  facet: CategoricalFacet,
  { counts, measured }: Found,
  metric: Metric | undefined,
): readonly object[] {
  if (metric === undefined || measured === undefined) return counts?.values.get(facet) ?? [];
  return measured.values.map(({ value, count, ...of }) => ({ value, count, metric: metricOf(metric, count, of) }));
}

/** Schema `FacetMetric`. */
function metricOf(
  name: Metric,
  count: number,
  { metric: value, sample }: Pick<MeasuredValue, "metric" | "sample">,
): object {
  if (value !== null) return { name, value, sample };
  return { name, value, sample, null_reason: count < bounds.metricListingsMin ? "insufficient_sample" : "no_values" };
}

function rangeFacetOf(facet: NumericFacet, found: Counts | undefined, widths: FixedWidths) {
  const [known, counted] = [found?.summaries.get(facet), found?.ranges.get(facet)];
  if (known === undefined || counted === undefined) return emptyRangeFacet(widths.get(facet));
  return rangeFacet(counted.ranges, counted.counts, known);
}

function byName<F extends string, T>(facets: readonly F[], partOf: (facet: F) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(facets.map((facet) => [facet, partOf(facet)]));
}

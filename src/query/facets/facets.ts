/**
 * Facets for operation `getFacets`: match counts by value and by range, statistics of numbers, and a metric per value.
 *
 * One request counts all facets that the same filters narrow. `Listings.countValues` chooses the ranges of numbers from their statistics.
 */
import { forEachInTurns } from "../../base/turns.ts";
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, Filters, QueryOf } from "../../contract/types.ts";
import { areBeginnings, matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { attributeOf, type CountedName, valuedNames } from "../../listing/schema.ts";
import type { CountResult, MeasureResult, ValueCount } from "../../listing/source.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { filters, filtersOf } from "../filters.ts";
import { type InventoryMode, modeOf } from "../modes.ts";
import { definitionsOf, metricsOf, refuseSortWithoutMetric, servedMetrics, supplyDayOf } from "./metrics.ts";
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

type FacetQuery = QueryOf<"getFacets">;
type Facet = FacetQuery["facets"][number];
type CategoricalFacet = Exclude<Facet, NumericFacet>;

/** Facets that the same filters narrow. */
interface FacetGroup {
  readonly filters: readonly Filter[];
  readonly categorical: readonly CategoricalFacet[];
  readonly numeric: readonly NumericFacet[];
}

/** A validated facet request, ready to run. */
interface FacetPlan {
  readonly query: FacetQuery;
  readonly mode: InventoryMode;
  /** The first one has all filters, and perhaps no facets. */
  readonly groups: readonly FacetGroup[];
  readonly widths: FixedWidths;
  /** See `supplyDayOf`. */
  readonly supplyDay: string | undefined;
  readonly nameOfDealer: (id: string) => string | null;
}

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
      reason: `a metric requires exactly one categorical facet, not ${categorical.length}; /v1/groups (group_listings) measures combinations of up to three`,
    });
  }
  const names = metric === undefined ? [] : [metric];
  refuseSortWithoutMetric(sort, names);
  const mode = modeOf(query, version);
  const groups = groupsOf(query).map(({ facets: group, query: narrowing }) => ({
    filters: [...mode.filters, ...filtersOf(narrowing, version.dimensions)],
    categorical: group.filter(isCategorical),
    numeric: group.filter(isNumeric),
  }));
  const widths = fixedWidths(query.interval, facets.filter(isNumeric));
  const supplyDay = supplyDayOf(names, facets, query, version);
  const nameOfDealer = (id: string): string | null => version.dealers.nameOf(id);
  return { query, mode, groups, widths, supplyDay, nameOfDealer };
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
  const numeric = query.facets.filter(isNumeric);
  const requested = new Map<CategoricalFacet, readonly Bucket[]>();
  for (const facet of query.facets.filter(isCategorical)) {
    const isKnown = plan.mode.hasValues || !valuedNames.some((name) => name === facet);
    const buckets = isKnown ? bucketsOf(facet, found.get(facet), plan) : [];
    requested.set(facet, await requestedOf(buckets, query));
  }
  return {
    data: {
      total: results[0]?.total ?? 0,
      facets: Object.fromEntries(requested),
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
      ...definitionsOf(query.metric === undefined ? [] : [query.metric]),
    },
  };
}

async function queryFacets(
  { filters, categorical, numeric }: FacetGroup,
  { query, mode: { listings }, widths, supplyDay }: FacetPlan,
): Promise<FacetResults> {
  const { sort, metric } = query;
  const limit = query.facet_value_prefix === undefined ? query.facet_value_limit : facetValuesMax;
  const [facet] = categorical;
  const measured =
    metric === undefined || facet === undefined
      ? undefined
      : await listings.measureGroups({
          filters,
          attributes: [facet],
          metrics: metricsOf([metric]),
          supplyDay,
          sort,
          // An unknown value, which is not a bucket, is a group.
          limit: limit + 1,
        });
  const attributes: readonly CountedName[] = measured === undefined ? categorical : [];
  if (measured !== undefined && numeric.length === 0) return { total: measured.total, counts: undefined, measured };
  const order = sort === "count" ? "count" : "-count";
  const numbers = numeric.map((number) => rangeChoice(number, widths));
  const counts = await listings.countValues({ filters, attributes, limit, sort: order, numbers });
  requireRanges(widths, counts);
  return { total: counts.total, counts, measured };
}

/** Schema `FacetBucket`. */
type Bucket = ValueCount & { readonly label?: string | null };

/** Returns the buckets of a categorical facet. */
function bucketsOf(facet: CategoricalFacet, results: FacetResults | undefined, plan: FacetPlan): readonly Bucket[] {
  const { query, supplyDay, nameOfDealer } = plan;
  const { metric } = query;
  const buckets =
    metric === undefined || results?.measured === undefined
      ? (results?.counts?.values.get(facet) ?? [])
      : results.measured.groups.flatMap(({ values: [value = null], ...group }) =>
          value === null ? [] : [{ value, count: group.count, metric: servedMetrics([metric], group, supplyDay)[0] }],
        );
  if (facet !== "dealer_id") return buckets;
  return buckets.map(({ value, ...bucket }) => ({ value, label: nameOfDealer(value), ...bucket }));
}

/** Returns the buckets whose value or label matches `facet_value_prefix`, at most `facet_value_limit`. */
async function requestedOf(
  buckets: readonly Bucket[],
  { facet_value_prefix: prefix, facet_value_limit: limit }: FacetQuery,
): Promise<readonly Bucket[]> {
  if (prefix === undefined) return buckets.slice(0, limit);
  const key = matchKeyOf(prefix);
  const words = wordsOf(prefix);
  const matches = (text: string): boolean => matchKeyOf(text).startsWith(key) || areBeginnings(words, wordsOf(text));
  const found: Bucket[] = [];
  await forEachInTurns(buckets, (bucket) => {
    if (found.length < limit && (matches(bucket.value) || matches(bucket.label ?? ""))) found.push(bucket);
  });
  return found;
}

function byName<F extends string, T>(facets: readonly F[], resultOf: (facet: F) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(facets.map((facet) => [facet, resultOf(facet)]));
}

type GroupQuery = QueryOf<"getGroups">;

/** Returns schema `GroupRow` of each group, and schema `GroupMeta` without the version. Refuses parameters that cannot be combined. */
export async function findGroups(query: GroupQuery, version: LakeVersion) {
  const { group_by: attributes, metric: names = [], sort, limit } = query;
  refuseSortWithoutMetric(sort, names);
  const { listings, filters } = modeOf(query, version);
  const supplyDay = supplyDayOf(names, attributes, query, version);
  const { total, totalGroups, groups } = await listings.measureGroups({
    attributes,
    metrics: metricsOf(names),
    supplyDay,
    limit,
    sort,
    filters: [...filters, ...filtersOf(query, version.dimensions)],
  });
  const data = groups.map((group): AnswerOf<"getGroups">["data"][number] => ({
    values: Object.fromEntries(attributes.map((attribute, index) => [attribute, group.values[index] ?? null])),
    ...dealerOf(attributes, group.values, version),
    count: group.count,
    metrics: servedMetrics(names, group, supplyDay),
  }));
  return {
    data,
    meta: {
      group_by: attributes,
      metric: names,
      sort,
      limit,
      total,
      total_groups: totalGroups,
      truncated: totalGroups > groups.length,
      minimum_metric_count: metricListingsMin,
      ...definitionsOf(names),
    },
  };
}

function dealerOf(
  attributes: GroupQuery["group_by"],
  values: readonly (string | null)[],
  { dealers }: LakeVersion,
): { readonly dealer_name?: string | null } {
  const index = attributes.indexOf("dealer_id");
  return index < 0 ? {} : { dealer_name: dealers.nameOf(values[index] ?? "") };
}

/**
 * Translates benchmark queries into Solr requests. Filters bypass the caches unless the mode is cached; the bitsets of facet values are
 * always cached. Categorical facets use `facet.method`, Solr's fastest way; numeric facets and metrics use the JSON Facet API.
 */
import type { BenchNumericFacet, ColumnName } from "../../dataset/columns.ts";
import { valuesPerFacetMax } from "../../queries/facets.ts";
import { type BenchFilter, type FilterRenderers, renderFilter } from "../../queries/filter.ts";
import type { FacetSpec, LookUpSpec, SearchSpec } from "../../queries/query.ts";
import type { RangeGrid } from "../../queries/ranges.ts";
import { distanceOrigin } from "../../queries/search.ts";

/** The parameters of a request. A list is a repeated parameter. */
export type SolrParameters = Readonly<Record<string, string | readonly string[]>>;

export interface SolrMode {
  /** Allows filters and whole answers to come from a cache. */
  readonly isCached: boolean;
  /** Fields that are counted by ordinals instead of bitsets. */
  readonly highCardinalityFields: readonly string[];
}

export function encodeForm(parameters: SolrParameters): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const item of Array.isArray(value) ? value : [value]) form.append(name, item);
  return form.toString();
}

/** Integer columns whose facets are counted from a copy as a string field, `<name>_word`. */
export const integersWithStringField: readonly ColumnName[] = ["year", "cylinders", "doors", "seating_capacity"];

/** Returns the field that a categorical facet is counted from. */
export const fieldOf = (facet: ColumnName): string =>
  integersWithStringField.includes(facet) ? `${facet}_word` : facet;

const kilometersPerMile = 1.609344;

const filterRenderers: FilterRenderers<[cache: string], string> = {
  equals: ({ column, value }, cache) =>
    column === "state" ? `{!term f=state${cache}}${value}` : `{!term f=${column}_key${cache}}${value.toLowerCase()}`,
  maxPrice: ({ price }, cache) => `{!lucene${cache}}price:[* TO ${price}]`,
  near: ({ zip, miles }, cache) =>
    `{!geofilt sfield=place pt=${zip.latitude},${zip.longitude} d=${miles * kilometersPerMile}${cache}}`,
  features: ({ tokens }, cache) => `{!lucene${cache}}${tokens.map((token) => `+features:"${token}"`).join(" ")}`,
  vinMask: ({ mask }, cache) => `{!lucene${cache}}vin:${mask}`,
  dealer: ({ id }, cache) => `{!term f=dealer_id${cache}}${id}`,
  soldWithin: ({ after }, cache) => `{!lucene${cache}}sold_on_record:{${after}T00:00:00Z TO *]`,
};

const cacheParameter = (isCached: boolean): string => (isCached ? "" : " cache=false");

/** Returns the first filter as `q` and the others as `fq`, so that most requests have no `fq`. */
function filterParametersOf(filters: readonly BenchFilter[], isCached: boolean): SolrParameters {
  const cache = cacheParameter(isCached);
  const [query = `{!lucene${cache}}*:*`, ...others] = filters.map((filter) =>
    renderFilter(filterRenderers, filter, cache),
  );
  return { q: query, fq: others };
}

/** Returns the request of a page. */
export function searchParameters(
  { filters, sort, offset, limit, columns }: SearchSpec,
  { isCached }: Pick<SolrMode, "isCached">,
): SolrParameters {
  const page = { ...filterParametersOf(filters, isCached), start: String(offset), rows: String(limit) };
  if (sort !== "distance") return { ...page, sort: `${sort} asc,position asc`, fl: columns.join(",") };
  const { latitude, longitude } = distanceOrigin(filters);
  return {
    ...page,
    sfield: "place",
    pt: `${latitude},${longitude}`,
    sort: "geodist() asc,position asc",
    fl: `${columns.join(",")},distance:geodist()`,
  };
}

/** Returns the request of one listing. */
export const lookUpParameters = (
  { by, value, columns }: LookUpSpec,
  { isCached }: Pick<SolrMode, "isCached">,
): SolrParameters => ({
  q: `{!term f=${by}${cacheParameter(isCached)}}${value}`,
  rows: "1",
  fl: columns.join(","),
});

const percents = [1, 50, 99];

/** Returns the request of totals, value counts, statistics and percentiles, or of a metric; `rangeParameters` is that of ranges. */
export function facetParameters(spec: FacetSpec, mode: SolrMode): SolrParameters {
  const { filters, categorical, numeric, metric } = spec;
  const base = { ...filterParametersOf(filters, mode.isCached), rows: "0" };
  if (metric !== undefined) return { ...base, "json.facet": metricFacet(spec, metric) };
  const fields = categorical.map(fieldOf);
  const ordinalFields = fields.filter((field) => mode.highCardinalityFields.includes(field));
  const statistics = Object.fromEntries(numeric.flatMap(statisticFunctions));
  return {
    ...base,
    facet: "true",
    "facet.limit": String(valuesPerFacetMax),
    "facet.mincount": "1",
    "facet.method": "enum",
    "facet.field": fields,
    ...Object.fromEntries(ordinalFields.map((field) => [`f.${field}.facet.method`, "fc"])),
    ...(numeric.length === 0 ? {} : { "json.facet": JSON.stringify(statistics) }),
  };
}

function metricFacet({ categorical }: FacetSpec, { column, fraction }: NonNullable<FacetSpec["metric"]>): string {
  const [facet = "make"] = categorical;
  const functions = { metric: `percentile(${column},${fraction * 100})`, sample: `countvals(${column})` };
  const terms = { type: "terms", field: fieldOf(facet), limit: valuesPerFacetMax, facet: functions };
  return JSON.stringify({ [facet]: terms });
}

const statisticFunctions = (facet: BenchNumericFacet): readonly (readonly [string, string])[] => [
  [`${facet}_min`, `min(${facet})`],
  [`${facet}_max`, `max(${facet})`],
  [`${facet}_mean`, `avg(${facet})`],
  [`${facet}_stddev`, `stddev(${facet})`],
  [`${facet}_count`, `countvals(${facet})`],
  [`${facet}_percentiles`, `percentile(${[facet, ...percents].join(",")})`],
];

/** Returns the request of range counts: the regular buckets, and the values before and after them. */
export function rangeParameters(
  { filters }: FacetSpec,
  grids: readonly { readonly facet: BenchNumericFacet; readonly grid: RangeGrid }[],
  { isCached }: Pick<SolrMode, "isCached">,
): SolrParameters {
  const ranges = grids.map(({ facet, grid: { width, first, last } }) => [
    facet,
    {
      type: "range",
      field: facet,
      start: first * width,
      end: (last + 1) * width,
      gap: width,
      other: ["before", "after"],
    },
  ]);
  return {
    ...filterParametersOf(filters, isCached),
    rows: "0",
    "json.facet": JSON.stringify(Object.fromEntries(ranges)),
  };
}

/** Returns the request of the number of distinct values of each field. */
export const distinctCountParameters = (fields: readonly string[]): SolrParameters => ({
  q: "*:*",
  rows: "0",
  "json.facet": JSON.stringify(Object.fromEntries(fields.map((field) => [field, `unique(${field})`]))),
});

/**
 * Questions in Solr's words. Users' filters bypass the caches unless answers may be kept; constraints of facets are cached bitsets.
 * Categories are counted by `facet.method`, which is Solr's fastest way; numbers and metrics by the JSON Facet API.
 */
import type { ColumnName } from "../../dataset/columns.ts";
import { type AskedNumericFacet, type Span, valuesPerFacet } from "../../questions/facets.ts";
import { type PerFilter, type QuestionFilter, renderFilter } from "../../questions/filter.ts";
import type { Facets, LookUp, Search } from "../../questions/question.ts";
import { questionOrigin } from "../../questions/search.ts";

/** The parameters of a request; a list is a parameter that is repeated. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

export interface Mode {
  /** Whether users' filters and whole answers may come from a cache. */
  readonly isCached: boolean;
  /** Fields with so many values that a bitset for each does not pay: counted by ordinals. */
  readonly countedByOrdinals: readonly string[];
}

/** Parameters as a form. */
export function formOf(parameters: Parameters): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, one);
  return form.toString();
}

/** Numbers whose facets are counted from a field of words beside them, `<name>_word`. */
export const countedAsWords: readonly ColumnName[] = ["year", "cylinders", "doors", "seating_capacity"];

/** The field that a categorical facet is counted from. */
export const fieldOf = (facet: ColumnName): string => (countedAsWords.includes(facet) ? `${facet}_word` : facet);

const kilometersPerMile = 1.609344;

const queries: PerFilter<[cache: string], string> = {
  is: ({ column, value }, cache) =>
    column === "state" ? `{!term f=state${cache}}${value}` : `{!term f=${column}_key${cache}}${value.toLowerCase()}`,
  maxPrice: ({ price }, cache) => `{!lucene${cache}}price:[* TO ${price}]`,
  near: ({ zip, miles }, cache) =>
    `{!geofilt sfield=place pt=${zip.latitude},${zip.longitude} d=${miles * kilometersPerMile}${cache}}`,
  features: ({ tokens }, cache) => `{!lucene${cache}}${tokens.map((token) => `+features:"${token}"`).join(" ")}`,
  vinMask: ({ mask }, cache) => `{!lucene${cache}}vin:${mask}`,
  dealer: ({ id }, cache) => `{!term f=dealer_id${cache}}${id}`,
  soldWithin: ({ after }, cache) => `{!lucene${cache}}sold_date:{${after}T00:00:00Z TO *]`,
};

const localCache = (isCached: boolean): string => (isCached ? "" : " cache=false");

/** The first filter is the query, so that most questions have no other. */
function filtered(filters: readonly QuestionFilter[], isCached: boolean): Parameters {
  const cache = localCache(isCached);
  const [query = `{!lucene${cache}}*:*`, ...others] = filters.map((filter) => renderFilter(queries, filter, cache));
  return { q: query, fq: others };
}

/** A page. */
export function searchParameters(
  { filters, sort, offset, limit, columns }: Search,
  { isCached }: Pick<Mode, "isCached">,
): Parameters {
  const page = { ...filtered(filters, isCached), start: String(offset), rows: String(limit) };
  if (sort !== "distance") return { ...page, sort: `${sort} asc,position asc`, fl: columns.join(",") };
  const { latitude, longitude } = questionOrigin(filters);
  return {
    ...page,
    ...{ sfield: "place", pt: `${latitude},${longitude}`, sort: "geodist() asc,position asc" },
    fl: `${columns.join(",")},distance:geodist()`,
  };
}

/** One listing. */
export const lookUpParameters = ({ by, value, columns }: LookUp, { isCached }: Pick<Mode, "isCached">): Parameters => ({
  ...{ q: `{!term f=${by}${localCache(isCached)}}${value}`, rows: "1", fl: columns.join(",") },
});

const percentShares = [1, 50, 99];

/** Totals, counts of values, statistics and percentiles, or a metric: all but the ranges. */
export function facetParameters({ filters, categorical, numeric, metric }: Facets, mode: Mode): Parameters {
  const base = { ...filtered(filters, mode.isCached), rows: "0" };
  if (metric !== undefined) {
    const [facet = "make"] = categorical;
    const measures = {
      metric: `percentile(${metric.column},${metric.share * 100})`,
      sample: `countvals(${metric.column})`,
    };
    const terms = { type: "terms", field: fieldOf(facet), limit: valuesPerFacet, facet: measures };
    return { ...base, "json.facet": JSON.stringify({ [facet]: terms }) };
  }
  const fields = categorical.map(fieldOf);
  const byOrdinals = fields.filter((field) => mode.countedByOrdinals.includes(field));
  return {
    ...base,
    ...{ facet: "true", "facet.limit": String(valuesPerFacet), "facet.mincount": "1", "facet.method": "enum" },
    "facet.field": fields,
    ...Object.fromEntries(byOrdinals.map((field) => [`f.${field}.facet.method`, "fc"])),
    ...(numeric.length === 0 ? {} : { "json.facet": JSON.stringify(Object.fromEntries(numeric.flatMap(statistics))) }),
  };
}

const statistics = (of: AskedNumericFacet): readonly (readonly [string, string])[] => [
  [`${of}_min`, `min(${of})`],
  [`${of}_max`, `max(${of})`],
  [`${of}_mean`, `avg(${of})`],
  [`${of}_stddev`, `stddev(${of})`],
  [`${of}_count`, `countvals(${of})`],
  [`${of}_percentiles`, `percentile(${[of, ...percentShares].join(",")})`],
];

/** The counts of ranges: regular ones, those before and those after. */
export function rangeParameters(
  { filters }: Facets,
  spans: readonly { readonly of: AskedNumericFacet; readonly span: Span }[],
  { isCached }: Pick<Mode, "isCached">,
): Parameters {
  const ranges = spans.map(({ of, span: { width, first, last } }) => [
    of,
    { type: "range", field: of, start: first * width, end: (last + 1) * width, gap: width, other: ["before", "after"] },
  ]);
  return { ...filtered(filters, isCached), rows: "0", "json.facet": JSON.stringify(Object.fromEntries(ranges)) };
}

/** How many values each field has, over everything. */
export const distinctParameters = (fields: readonly string[]): Parameters => ({
  ...{ q: "*:*", rows: "0" },
  "json.facet": JSON.stringify(Object.fromEntries(fields.map((field) => [field, `unique(${field})`]))),
});

/** Sends benchmark queries to Solr and converts its responses to bodies in the shape of Carquet's API. */
import { isObject, type Row } from "../../../src/base/json.ts";
import { type BenchNumericFacet, benchCategoricalFacets } from "../../dataset/columns.ts";
import { facetsBody } from "../../queries/facets.ts";
import { at, type FacetSpec, type LookUpSpec, listAt, type QuerySpec, type SearchSpec } from "../../queries/query.ts";
import { type RangeCount, rangeFacetsBody, rangeGrid, type Statistics, toStatistics } from "../../queries/ranges.ts";
import { lookUpBody } from "../../queries/search.ts";
import type { HttpClient } from "../../servers/http.ts";
import type { DeferredBody } from "../../servers/server.ts";
import {
  distinctCountParameters,
  encodeForm,
  facetParameters,
  fieldOf,
  lookUpParameters,
  rangeParameters,
  type SolrMode,
  type SolrParameters,
  searchParameters,
} from "./requests.ts";

type Select = (core: string, parameters: SolrParameters) => Promise<string>;

const selectWith =
  (client: HttpClient): Select =>
  (core, parameters) =>
    client.send(`/${core}/select`, { form: encodeForm(parameters) });

/** Sends a query. Responses are parsed when the deferred body is called, except for what the next request depends on. */
export function querySolr(spec: QuerySpec, client: HttpClient, mode: SolrMode): Promise<DeferredBody> {
  const select = selectWith(client);
  if (spec.kind === "trends") throw new Error("Solr has no rows of past days: expected a case without trends.");
  if (spec.kind === "search") return runSearch(spec, select, mode);
  return spec.kind === "lookUp" ? runLookUp(spec, select, mode) : runFacets(spec, select, mode);
}

function coreOf({ from }: SearchSpec | FacetSpec): string {
  if (typeof from === "string") return from;
  throw new Error("Solr has no rows of past days: expected a case without them.");
}

async function runSearch(spec: SearchSpec, select: Select, mode: SolrMode): Promise<DeferredBody> {
  const text = await select(coreOf(spec), searchParameters(spec, mode));
  return () => {
    const { response } = parseResponse(text);
    return { data: listAt(response, "docs"), pagination: { total: Number(at(response, "numFound")) } };
  };
}

async function runLookUp(spec: LookUpSpec, select: Select, mode: SolrMode): Promise<DeferredBody> {
  const text = await select("active", lookUpParameters(spec, mode));
  return () => lookUpBody(spec.by, at(parseResponse(text).response, "docs", 0));
}

/** Sends a second request if the query has numeric facets: the edges of their ranges follow from the percentiles of the first. */
async function runFacets(spec: FacetSpec, select: Select, mode: SolrMode): Promise<DeferredBody> {
  const { numeric } = spec;
  const core = coreOf(spec);
  const text = await select(core, facetParameters(spec, mode));
  if (numeric.length === 0) return () => facetsBody(totalOf(text), spec, bucketsOf(text, spec), {});
  const { facets } = parseResponse(text);
  const withStatistics = numeric.map((facet) => ({ facet, statistics: statisticsOf(facets, facet) }));
  const grids = withStatistics
    .map(({ facet, statistics }) => ({ facet, grid: rangeGrid(statistics) }))
    .filter(({ grid }) => grid.last >= grid.first);
  const rangesText = await select(core, rangeParameters(spec, grids, mode));
  return () => {
    const ranges = parseResponse(rangesText).facets;
    const rangeFacets = withStatistics.map(({ facet, statistics }) => ({
      facet,
      statistics,
      counts: rangeCountsOf(ranges, facet, statistics),
    }));
    const total = totalOf(text);
    return facetsBody(total, spec, bucketsOf(text, spec), rangeFacetsBody(rangeFacets, total));
  };
}

function parseResponse(text: string): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(text);
  return isObject(body) ? body : {};
}

const totalOf = (text: string): number => Number(at(parseResponse(text).response, "numFound"));

/** Returns rows of `facet`, `value` and `listings`. Metrics come from the JSON Facet API, other counts as value, count, value, count. */
function bucketsOf(text: string, { categorical, metric }: FacetSpec): readonly Row[] {
  const { facets, facet_counts: counts } = parseResponse(text);
  return categorical.flatMap((facet): readonly Row[] => {
    if (metric !== undefined)
      return listAt(facets, facet, "buckets").map((bucket) => ({
        facet,
        value: String(at(bucket, "val")),
        listings: Number(at(bucket, "count")),
        metric: numberOrNull(at(bucket, "metric")),
        sample: Number(at(bucket, "sample")),
      }));
    const list = listAt(counts, "facet_fields", fieldOf(facet));
    return Array.from({ length: list.length / 2 }, (_, index) => ({
      facet,
      value: String(list[2 * index]),
      listings: Number(list[2 * index + 1]),
    }));
  });
}

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Index of each percentile in Solr's list, which has the order of `percents` in `requests.ts`. */
const percentileIndexes: Readonly<Partial<Record<keyof Statistics, number>>> = { p1: 0, median: 1, p99: 2 };

const statisticsOf = (facets: unknown, facet: BenchNumericFacet): Statistics =>
  toStatistics((statistic) => {
    const index = percentileIndexes[statistic];
    const value = index === undefined ? at(facets, `${facet}_${statistic}`) : at(facets, `${facet}_percentiles`, index);
    return numberOrNull(value);
  });

/** Returns the counts of a facet's ranges. Values outside of the grid count as the bucket before its first or after its last one. */
function rangeCountsOf(ranges: unknown, facet: BenchNumericFacet, statistics: Statistics): readonly RangeCount[] {
  const { width, first, last } = rangeGrid(statistics);
  const regular = listAt(ranges, facet, "buckets").map((bucket) => ({
    bucket: Math.round(Number(at(bucket, "val")) / width),
    listings: Number(at(bucket, "count")),
  }));
  const outside = (side: "before" | "after"): number => Number(at(ranges, facet, side, "count") ?? 0);
  return [
    { bucket: first - 1, listings: outside("before") },
    ...regular,
    { bucket: last + 1, listings: outside("after") },
  ];
}

/** Beyond this number of values, a cached bitset for each value costs more than it saves. */
const bitsetFacetValuesMax = 1000;

/** Returns the facet fields with enough values for ordinals to count them faster than bitsets. */
export async function highCardinalityFields(client: HttpClient): Promise<readonly string[]> {
  const fields = benchCategoricalFacets.map(fieldOf);
  const { facets } = parseResponse(await selectWith(client)("active", distinctCountParameters(fields)));
  return fields.filter((field) => Number(at(facets, field) ?? 0) > bitsetFacetValuesMax);
}

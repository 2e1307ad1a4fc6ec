/**
 * Facet queries: categorical facets, numeric facets with statistics and ranges, and metrics. Ranges take two steps, as in Carquet:
 * statistics with percentiles first, then counts of ranges whose width follows from the percentiles.
 */
import type { Row } from "../../src/base/json.ts";
import { type BenchNumericFacet, benchNumericFacets, type CategoricalColumn } from "../dataset/columns.ts";
import { type SqlPeer, tableExpression } from "../peers/peer.ts";
import { compareFacets } from "./compare-facets.ts";
import { type BenchFilter, filterParameters, sqlCondition } from "./filter.ts";
import { at, type BenchQuery, type FacetSpec } from "./query.ts";
import { type RangeCount, rangeFacetsBody, rangeGrid, type Statistics, toStatistics } from "./ranges.ts";
import { countListings } from "./search.ts";

/** The facets that a typical search page shows beside its results. */
export const sidebarFacets = [
  ...["make", "model", "year", "body_type", "inventory_type", "base_exterior_color"],
  ...["price", "miles"],
] as readonly (CategoricalColumn | BenchNumericFacet)[];

export interface FacetOptions {
  readonly facets: readonly (CategoricalColumn | BenchNumericFacet)[];
  readonly filters?: readonly BenchFilter[];
  /** Parameters other than facets, filters and metric. */
  readonly parameters?: readonly string[];
  readonly from?: FacetSpec["from"];
  readonly metric?: NonNullable<FacetSpec["metric"]>;
}

/** The most values that a categorical facet counts. */
export const valuesPerFacetMax = 20;

export function facetQuery({ facets, parameters = [], ...options }: FacetOptions): BenchQuery {
  const spec: FacetSpec = {
    kind: "facets",
    from: "active",
    filters: [],
    ...options,
    categorical: facets.filter((facet): facet is CategoricalColumn => !isNumericFacet(facet)),
    numeric: facets.filter(isNumericFacet),
  };
  const { metric, filters } = spec;
  const metricParameters = metric === undefined ? [] : [`metric=${metric.name}`];
  const queryParameters = [
    `facets=${facets.join(",")}`,
    ...filterParameters(filters),
    ...parameters,
    ...metricParameters,
  ];
  const path = `/v1/facets?${queryParameters.join("&")}`;
  return {
    path,
    spec,
    execute: (peer) => executeFacets(spec, peer),
    compare: (ours, theirs, server) => compareFacets(path, spec, { ours, theirs }, server),
    matchCount: (body) => Number(at(body, "data", "total")),
  };
}

const isNumericFacet = (facet: string): facet is BenchNumericFacet => benchNumericFacets.some((name) => name === facet);

/**
 * Returns the body of a facet query in the shape of the API. `buckets` are rows of `facet`, `value` and `listings`, plus `metric` and
 * `sample` if the query has a metric; `rangeFacets` are the parts of numeric facets (`rangeFacetsBody`).
 */
export function facetsBody(
  total: number,
  { categorical }: FacetSpec,
  buckets: readonly Row[],
  rangeFacets: object,
): object {
  const bucketOf = ({ value, listings, metric, sample }: Row) => ({
    value: String(value),
    count: Number(listings),
    ...(metric === undefined ? {} : { metric, sample }),
  });
  const byFacet = categorical.map((facet) => [facet, buckets.filter((row) => row.facet === facet).map(bucketOf)]);
  return { data: { total, facets: Object.fromEntries(byFacet), ...rangeFacets } };
}

async function executeFacets(spec: FacetSpec, peer: SqlPeer): Promise<object> {
  const { filters, categorical, numeric, metric } = spec;
  const { dialect } = peer;
  const from = tableExpression(spec.from);
  const where = sqlCondition(filters, dialect);
  const total = await countListings(peer, from, where);
  const statement =
    metric === undefined
      ? dialect.valueCounts(categorical, from, where, valuesPerFacetMax)
      : metricStatement(peer, spec, metric, where);
  const buckets = categorical.length === 0 ? [] : await peer.rows(statement);
  const rangeFacets = numeric.length === 0 ? {} : await executeRangeFacets(peer, spec, where, total);
  return facetsBody(total, spec, buckets, rangeFacets);
}

function metricStatement(
  { dialect }: SqlPeer,
  { from, categorical }: FacetSpec,
  { column, fraction }: NonNullable<FacetSpec["metric"]>,
  where: string,
): string {
  const [facet = ""] = categorical;
  return `
    SELECT '${facet}' AS facet, ${facet} AS value, count(*) AS listings,
      ${dialect.percentile(column, fraction)} AS metric, count(${column}) AS sample
    FROM ${tableExpression(from)} WHERE ${where} AND ${facet} IS NOT NULL GROUP BY ${facet} ORDER BY listings DESC, ${facet} LIMIT ${valuesPerFacetMax}`;
}

/** Executes two statements: the statistics of all numeric facets, then the counts of their ranges. */
async function executeRangeFacets(
  peer: SqlPeer,
  { numeric, ...spec }: FacetSpec,
  where: string,
  total: number,
): Promise<object> {
  const from = tableExpression(spec.from);
  const expressions = numeric.flatMap((facet) => statisticExpressions(peer, facet));
  const [row = {}] = await peer.rows(`SELECT ${expressions.join(", ")} FROM ${from} WHERE ${where}`);
  const numberOf = (column: string): number | null => (row[column] === null ? null : Number(row[column]));
  const withStatistics = numeric.map((facet): { facet: BenchNumericFacet; statistics: Statistics } => ({
    facet,
    statistics: toStatistics((statistic) => numberOf(`${facet}_${statistic}`)),
  }));
  const countStatements = withStatistics.map(
    ({ facet, statistics }) => `
      SELECT '${facet}' AS facet, ${peer.dialect.integerDivision(facet, rangeGrid(statistics).width)} AS bucket, count(*) AS listings
      FROM ${from} WHERE ${where} AND ${facet} IS NOT NULL GROUP BY bucket`,
  );
  const rows = await peer.rows(countStatements.join(" UNION ALL "));
  const countsOf = (facet: BenchNumericFacet): readonly RangeCount[] =>
    rows
      .filter((count) => count.facet === facet)
      .map(({ bucket, listings }) => ({ bucket: Number(bucket), listings: Number(listings) }));
  return rangeFacetsBody(
    withStatistics.map(({ facet, statistics }) => ({ facet, statistics, counts: countsOf(facet) })),
    total,
  );
}

/** SELECT expressions of a facet's statistics, named `<facet>_<statistic>`. */
function statisticExpressions({ dialect }: SqlPeer, facet: BenchNumericFacet): readonly string[] {
  const { percentile, stddev } = dialect;
  return [
    ...[`min(${facet}) AS ${facet}_min`, `max(${facet}) AS ${facet}_max`, `avg(${facet}) AS ${facet}_mean`],
    ...[`${stddev(facet)} AS ${facet}_stddev`, `count(${facet}) AS ${facet}_count`],
    ...[`${percentile(facet, 0.5)} AS ${facet}_median`],
    ...[`${percentile(facet, 0.01)} AS ${facet}_p1`, `${percentile(facet, 0.99)} AS ${facet}_p99`],
  ];
}

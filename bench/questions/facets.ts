/**
 * Questions that are answered with counts: categorical facets, numeric ones with statistics and ranges, and a metric. A peer works out
 * the ranges as Carquet does: statistics and percentiles first, then the counts of ranges of a round width.
 */
import { isObject, type Json, type Row } from "../../src/base/json.ts";
import type { Relation } from "../flat.ts";
import type { Categorical, Peer } from "../peers/peer.ts";
import { at, type Question } from "./question.ts";
import { type Condition, inWords, totalOf } from "./search.ts";

export const numericFacets = ["price", "msrp", "miles", "days_on_market"] as const;
type Numeric = (typeof numericFacets)[number];

export const categoricalFacets = [
  ...["make", "model", "inventory_type", "year", "trim", "version", "base_exterior_color", "exterior_color"],
  ...["base_interior_color", "interior_color", "seating_capacity", "doors", "engine", "state", "drivetrain"],
  ...["assembly_location", "assembly_country", "transmission", "fuel_type", "body_type", "cylinders", "dealer_type"],
  ...["availability_status", "options_packages", "features", "keywords"],
] as readonly Categorical[];

/** All thirty. */
export const allFacets = [...categoricalFacets, ...numericFacets];

export interface Facets {
  readonly query?: string;
  readonly facets: readonly (Categorical | Numeric)[];
  readonly from?: Relation;
  readonly where?: Condition;
  /** How a metric is said in the API, and what it is of. */
  readonly metric?: { readonly name: string; readonly column: string; readonly share: number };
}

const valuesPerFacet = 20;

export function facets({ query = "", facets: asked, from = "active", where = "true", metric }: Facets): Question {
  const parameters = [`facets=${asked.join(",")}`, query, metric === undefined ? "" : `metric=${metric.name}`];
  const [numeric, categorical] = [asked.filter(isNumeric), asked.filter((facet) => !isNumeric(facet))] as const;
  return {
    path: `/v1/facets?${parameters.filter((parameter) => parameter !== "").join("&")}`,
    ask: async (peer) => {
      const condition = inWords(where, peer.dialect);
      const total = await totalOf(peer, from, condition);
      const buckets =
        metric === undefined
          ? await peer.rows(peer.dialect.counts(categorical as readonly Categorical[], from, condition, valuesPerFacet))
          : await peer.rows(measured(peer, categorical[0] ?? "", from, condition, metric));
      const ranged = numeric.length === 0 ? {} : await rangesOf(peer, numeric, from, condition, total);
      const byFacet = Object.fromEntries(
        categorical.map((facet) => [facet, buckets.filter((row) => row.facet === facet)]),
      );
      return { data: { total, facets: byFacet, ...ranged } };
    },
    essence: (body) => essenceOf(body, asked),
    rows: (body) => Number(at(body, "data", "total")),
  };
}

const isNumeric = (facet: string): facet is Numeric => numericFacets.some((one) => one === facet);

function measured(
  peer: Peer,
  facet: string,
  from: Relation,
  where: string,
  metric: NonNullable<Facets["metric"]>,
): string {
  const { column, share } = metric;
  return `
    SELECT '${facet}' AS facet, ${facet} AS value, count(*) AS listings,
      CASE WHEN count(${column}) >= 10 THEN ${peer.dialect.percentile(column, share)} END AS metric
    FROM ${from} WHERE ${where} AND ${facet} IS NOT NULL GROUP BY ${facet} ORDER BY listings DESC, ${facet} LIMIT ${valuesPerFacet}`;
}

async function rangesOf(
  peer: Peer,
  numeric: readonly Numeric[],
  from: Relation,
  where: string,
  total: number,
): Promise<object> {
  const { percentile, deviation, quotient } = peer.dialect;
  const statistics = numeric.map((of) =>
    [
      ...[
        `min(${of}) AS ${of}_min`,
        `max(${of}) AS ${of}_max`,
        `count(${of}) AS ${of}_count`,
        `avg(${of}) AS ${of}_mean`,
      ],
      ...[`${percentile(of, 0.5)} AS ${of}_median`, `${deviation(of)} AS ${of}_stddev`],
      ...[`${percentile(of, 0.01)} AS ${of}_p1`, `${percentile(of, 0.99)} AS ${of}_p99`],
    ].join(", "),
  );
  const [known = {}] = await peer.rows(`SELECT ${statistics.join(", ")} FROM ${from} WHERE ${where}`);
  const spans = numeric.map((of) => ({ of, ...spanOf(known, of) }));
  const counted = spans.map(
    ({ of, width }) => `
      SELECT '${of}' AS facet, ${quotient(of, width)} AS number, count(*) AS listings
      FROM ${from} WHERE ${where} AND ${of} IS NOT NULL GROUP BY number`,
  );
  const rows = await peer.rows(counted.join(" UNION ALL "));
  const partOf = <T>(make: (span: (typeof spans)[number]) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(spans.map((span) => [span.of, make(span)]));
  return {
    stats: partOf(({ of }) => {
      const count = Number(known[`${of}_count`]);
      const parts = ["min", "max", "mean", "median", "stddev"].map((part) => [
        part,
        count === 0 ? null : known[`${of}_${part}`],
      ]);
      return { ...Object.fromEntries(parts), count, missing: total - count };
    }),
    range_facets: partOf(({ of, first, last, width }) => {
      const buckets = Array.from({ length: last - first + 1 }, (_, index) => ({
        ...{ min: (first + index) * width, max: (first + index + 1) * width, count: 0 },
      }));
      for (const row of rows.filter(({ facet }) => facet === of)) {
        const bucket = buckets[Math.max(0, Math.min(last - first, Number(row.number) - first))];
        if (bucket !== undefined) bucket.count += Number(row.listings);
      }
      return { buckets, interval: width };
    }),
  };
}

const widths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The narrowest round width that cuts what lies between the 1st and the 99th percentile into at most twenty ranges; none of nothing. */
function spanOf(known: Row, of: Numeric): { readonly width: number; readonly first: number; readonly last: number } {
  if (Number(known[`${of}_count`]) === 0) return { width: 1, first: 0, last: -1 };
  const edgeAt = (percentile: string): number =>
    Math.floor(Math.round(100 * Number(known[`${of}_${percentile}`])) / 100);
  const [low, high] = [edgeAt("p1"), edgeAt("p99")];
  const width = widths.find((one) => Math.floor(high / one) - Math.floor(low / one) < 20) ?? 1;
  return { width, first: Math.floor(low / width), last: Math.floor(high / width) };
}

/** Counts as they are, in their order; statistics and metrics to nine digits. */
function essenceOf(body: unknown, asked: readonly string[]): Json {
  const facetsOf = (facet: string): Json => {
    const buckets = at(body, "data", "facets", facet);
    return Array.isArray(buckets)
      ? buckets.map((bucket) => {
          const metric = at(bucket, "metric");
          const [value, count] = [String(at(bucket, "value")), Number(at(bucket, "count") ?? at(bucket, "listings"))];
          return [value, count, rounded(isObject(metric) ? metric.value : metric)];
        })
      : [];
  };
  return {
    total: Number(at(body, "data", "total")),
    facets: Object.fromEntries(asked.filter((facet) => !isNumeric(facet)).map((facet) => [facet, facetsOf(facet)])),
    ranges: Object.fromEntries(
      asked.filter(isNumeric).map((facet) => {
        const [stats, buckets] = [at(body, "data", "stats", facet), at(body, "data", "range_facets", facet, "buckets")];
        const parts = ["min", "max", "count", "missing", "mean", "median", "stddev"];
        const ranges = Array.isArray(buckets)
          ? buckets.map((bucket) => ["min", "max", "count"].map((part) => Number(at(bucket, part))))
          : [];
        return [facet, [...parts.map((part) => rounded(at(stats, part))), ranges]];
      }),
    ),
  };
}

const rounded = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(Number(value).toPrecision(9));

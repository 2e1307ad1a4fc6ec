/**
 * Questions that are answered with counts: categorical facets, numeric ones with statistics and ranges, and a metric. Ranges take two
 * steps, as in Carquet: statistics and percentiles, then the counts of ranges of a round width.
 */
import type { Row } from "../../src/base/json.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import type { Categorical, SqlPeer } from "../peers/peer.ts";
import { compareFacets } from "./compare-facets.ts";
import { conditionOf, parametersOf, type QuestionFilter } from "./filter.ts";
import { at, type Facets, type Question } from "./question.ts";
import { questionTotal } from "./search.ts";

export const askedNumericFacets = ["price", "msrp", "miles", "days_on_market"] as const;
export type AskedNumericFacet = (typeof askedNumericFacets)[number];

export const askedCategoricalFacets = [
  ...["make", "model", "inventory_type", "year", "trim", "version", "base_exterior_color", "exterior_color"],
  ...["base_interior_color", "interior_color", "seating_capacity", "doors", "engine", "state", "drivetrain"],
  ...["assembly_location", "assembly_country", "transmission", "fuel_type", "body_type", "cylinders", "dealer_type"],
  ...["availability_status", "options_packages", "features", "keywords"],
] as readonly Categorical[];

/** All thirty. */
export const allFacets = [...askedCategoricalFacets, ...askedNumericFacets];

/** What a list of results usually shows beside it. */
export const sidebarFacets = [
  ...["make", "model", "year", "body_type", "inventory_type", "base_exterior_color"],
  ...["price", "miles"],
] as readonly (Categorical | AskedNumericFacet)[];

export interface FacetOptions {
  readonly facets: readonly (Categorical | AskedNumericFacet)[];
  readonly filters?: readonly QuestionFilter[];
  /** Parameters that are not filters. */
  readonly query?: readonly string[];
  readonly from?: Relation;
  readonly metric?: NonNullable<Facets["metric"]>;
}

/** The most values that a categorical facet counts. */
export const valuesPerFacet = 20;

export function facets({ facets: asked, query = [], ...options }: FacetOptions): Question {
  const subject: Facets = {
    ...{ kind: "facets", from: "active", filters: [] },
    ...options,
    categorical: asked.filter((facet): facet is Categorical => !isNumeric(facet)),
    numeric: asked.filter(isNumeric),
  };
  const { metric, filters } = subject;
  const metrics = metric === undefined ? [] : [`metric=${metric.name}`];
  const path = `/v1/facets?${[`facets=${asked.join(",")}`, ...parametersOf(filters), ...query, ...metrics].join("&")}`;
  return {
    path,
    subject,
    ask: (peer) => askFacets(subject, peer),
    compare: (ours, theirs, server) => compareFacets(path, subject, { ours, theirs }, server),
    rows: (body) => Number(at(body, "data", "total")),
  };
}

const isNumeric = (facet: string): facet is AskedNumericFacet => askedNumericFacets.some((one) => one === facet);

/** The body of an answer; buckets are rows of `facet`, `value` and `listings`, with `metric` and `sample` if there is a metric. */
export function facetsBody(total: number, { categorical }: Facets, buckets: readonly Row[], ranged: object): object {
  const bucketOf = ({ value, listings, metric, sample }: Row) => ({
    ...{ value: String(value), count: Number(listings) },
    ...(metric === undefined ? {} : { metric, sample }),
  });
  const byFacet = categorical.map((facet) => [facet, buckets.filter((row) => row.facet === facet).map(bucketOf)]);
  return { data: { total, facets: Object.fromEntries(byFacet), ...ranged } };
}

async function askFacets(subject: Facets, peer: SqlPeer): Promise<object> {
  const { from, filters, categorical, numeric, metric } = subject;
  const { dialect } = peer;
  const where = conditionOf(filters, dialect, from);
  const total = await questionTotal(peer, from, where);
  const statement =
    metric === undefined
      ? dialect.counts(categorical, from, where, valuesPerFacet)
      : measured(peer, subject, metric, where);
  const buckets = await peer.rows(statement);
  const ranged = numeric.length === 0 ? {} : await rangesOf(peer, subject, where, total);
  return facetsBody(total, subject, buckets, ranged);
}

function measured(
  { dialect }: SqlPeer,
  { from, categorical }: Facets,
  { column, share }: NonNullable<Facets["metric"]>,
  where: string,
): string {
  const [facet = ""] = categorical;
  return `
    SELECT '${facet}' AS facet, ${facet} AS value, count(*) AS listings,
      ${dialect.percentile(column, share)} AS metric, count(${column}) AS sample
    FROM ${from} WHERE ${where} AND ${facet} IS NOT NULL GROUP BY ${facet} ORDER BY listings DESC, ${facet} LIMIT ${valuesPerFacet}`;
}

async function rangesOf(peer: SqlPeer, { from, numeric }: Facets, where: string, total: number): Promise<object> {
  const { percentile, deviation, quotient } = peer.dialect;
  const statistics = numeric.map((of) =>
    [
      ...[`min(${of}) AS ${of}_min`, `max(${of}) AS ${of}_max`, `count(${of}) AS ${of}_count`],
      ...[`avg(${of}) AS ${of}_mean`, `${deviation(of)} AS ${of}_stddev`],
      ...[`${percentile(of, 0.5)} AS ${of}_median`],
      ...[`${percentile(of, 0.01)} AS ${of}_p1`, `${percentile(of, 0.99)} AS ${of}_p99`],
    ].join(", "),
  );
  const [known = {}] = await peer.rows(`SELECT ${statistics.join(", ")} FROM ${from} WHERE ${where}`);
  const statisticsOf = (of: AskedNumericFacet): Statistics =>
    statisticsFrom((part) => (known[`${of}_${part}`] === null ? null : Number(known[`${of}_${part}`])));
  const found = numeric.map((of) => ({ of, statistics: statisticsOf(of) }));
  const counted = found.map(
    ({ of, statistics }) => `
      SELECT '${of}' AS facet, ${quotient(of, spanOf(statistics).width)} AS number, count(*) AS listings
      FROM ${from} WHERE ${where} AND ${of} IS NOT NULL GROUP BY number`,
  );
  const rows = await peer.rows(counted.join(" UNION ALL "));
  const countsOf = (of: AskedNumericFacet): readonly Count[] =>
    rows
      .filter(({ facet }) => facet === of)
      .map(({ number, listings }) => ({ number: Number(number), listings: Number(listings) }));
  return rangedBody(
    found.map(({ of, statistics }) => ({ of, statistics, counts: countsOf(of) })),
    total,
  );
}

/** Of the known values; null where there are none. The percentiles interpolate. */
export interface Statistics {
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly median: number | null;
  readonly stddev: number | null;
  readonly p1: number | null;
  readonly p99: number | null;
  readonly count: number;
}

/** Statistics from what an engine says of each; engines differ in what they say of no values, or of the deviation of one. */
export function statisticsFrom(value: (part: keyof Statistics) => number | null): Statistics {
  const count = value("count") ?? 0;
  const ofSome = (part: keyof Statistics): number | null => (count === 0 ? null : value(part));
  return {
    ...{ min: ofSome("min"), max: ofSome("max"), mean: ofSome("mean"), median: ofSome("median") },
    ...{ stddev: count < 2 ? null : value("stddev"), p1: ofSome("p1"), p99: ofSome("p99"), count },
  };
}

/** How many listings lie in a range: `number` times the width is its lower edge. */
export interface Count {
  readonly number: number;
  readonly listings: number;
}

export interface Ranged {
  readonly of: AskedNumericFacet;
  readonly statistics: Statistics;
  readonly counts: readonly Count[];
}

/** The parts `stats` and `range_facets` of a body. */
export function rangedBody(ranged: readonly Ranged[], total: number): object {
  const stats = ranged.map(({ of, statistics: { p1, p99, ...shown } }) => [
    of,
    { ...shown, missing: total - shown.count },
  ]);
  const ranges = ranged.map(({ of, statistics, counts }) => [of, rangesIn(statistics, counts)]);
  return { stats: Object.fromEntries(stats), range_facets: Object.fromEntries(ranges) };
}

/** The regular buckets of a range facet: `first` to `last`, each `width` wide. */
export interface Span {
  readonly width: number;
  readonly first: number;
  readonly last: number;
}

const widths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const regularBucketsMax = 20;

/** The least width of 1, 2 or 5 times a power of ten with at most twenty buckets from the 1st to the 99th percentile. */
export function spanOf({ p1, p99 }: Pick<Statistics, "p1" | "p99">): Span {
  if (p1 === null || p99 === null) return { width: 1, first: 0, last: -1 };
  const [low, high] = [p1, p99].map((edge) => Math.floor(Math.round(100 * edge) / 100)) as [number, number];
  const width = widths.find((one) => Math.floor(high / one) - Math.floor(low / one) + 1 <= regularBucketsMax) ?? 1;
  return { width, first: Math.floor(low / width), last: Math.floor(high / width) };
}

export interface Bucket {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Half-open buckets with true counts: the regular ones, and one below and one above where values lie outside. */
export function rangesIn(statistics: Statistics, counts: readonly Count[]) {
  const { width, first, last } = spanOf(statistics);
  const within = (from: number, to: number): number =>
    counts.reduce((sum, { number, listings }) => (number >= from && number <= to ? sum + listings : sum), 0);
  const regular = Array.from({ length: last - first + 1 }, (_, index): Bucket => {
    const number = first + index;
    return { min: number * width, max: (number + 1) * width, count: within(number, number) };
  });
  const [start, end] = [first * width, (last + 1) * width];
  const below = { min: statistics.min ?? 0, max: start, count: within(Number.NEGATIVE_INFINITY, first - 1) };
  const above = { min: end, max: (statistics.max ?? 0) + 1, count: within(last + 1, Number.POSITIVE_INFINITY) };
  const buckets = [below, ...regular, above].filter(
    (bucket) => (bucket !== below && bucket !== above) || bucket.count > 0,
  );
  return { buckets, interval: width, regular: { min: start, max: end } };
}

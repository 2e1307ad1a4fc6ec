/**
 * Numeric facets: statistics of `matches`, and counts by ranges of one round width.
 *
 * Sums are of whole numbers and percentiles exact, so that the same listings give the same answer to the last digit, however
 * the work is shared between threads.
 */
import { bounds } from "../base/bounds.ts";
import { join, name, type Sql, sql } from "../base/sql.ts";

/** The facets that are counted in ranges: whole numbers, none negative. */
export const numericFacets = ["price", "msrp", "miles", "days_on_market"] as const;

export type NumericFacet = (typeof numericFacets)[number];

/** The widths that a range may have: 1, 2 or 5 times a power of ten. */
const widths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** How the values of matches become `statistics` of each facet, and counts of listings by the `number` of their range. */
interface Way {
  /** Common table expressions of its own. */
  readonly before: readonly Sql[];
  readonly statistics: Sql;
  readonly counted: Sql;
}

/**
 * Common table expressions: `statistics` of each facet; `ranges`; and `counted`, how many listings are in which. A facet's ranges have the
 * narrowest width whose multiples cut what lies between the 1st and the 99th percentile into few enough of them; they are numbered from
 * zero, and all of it is null where there is no value. Percentiles between whole numbers are whole hundredths.
 *
 * Matches that are kept in memory are looked at one by one, twice: half of the processors' time of the other way. Of many more it is first
 * counted which value they have how often, which takes a third less of millions.
 */
export function rangeTables(facets: readonly NumericFacet[], areKept: boolean): readonly Sql[] {
  const { before, statistics, counted } = areKept ? oneByOne(facets) : byValue(facets);
  return [
    ...before,
    sql`
    statistics AS MATERIALIZED (${statistics})`,
    sql`
    ranges AS MATERIALIZED (
      SELECT facet, width, low // width AS first, high // width AS last
      FROM   (SELECT *, list_filter(${widths}::INTEGER[], lambda width: high // width - low // width < ${bounds.rangeBuckets})[1] AS width
              FROM   (SELECT facet, floor(round(100 * p1) / 100)::INTEGER AS low, floor(round(100 * p99) / 100)::INTEGER AS high
                      FROM   statistics)))`,
    sql`
    counted AS (${counted})`,
  ];
}

const unionAll = (statements: readonly Sql[]): Sql => join(statements, sql` UNION ALL `);

/** The number of the range that a value is in; what lies below the first or above the last is counted in these. */
const numberOf = (value: Sql): Sql => sql`greatest(first, least(last, ${value} // width))::BIGINT`;

function oneByOne(facets: readonly NumericFacet[]): Way {
  const statistics = facets.map((facet) => {
    const value = name(facet);
    return sql`
      SELECT facet, known, least, greatest, total, squares, percentiles[1] AS p1, percentiles[2] AS p50, percentiles[3] AS p99
      FROM   (SELECT ${facet} AS facet, count(${value})::INTEGER AS known, min(${value}) AS least, max(${value}) AS greatest,
                     sum(${value}) AS total, sum(${value}::BIGINT * ${value}) AS squares,
                     quantile_cont(${value}, [0.01, 0.5, 0.99]) AS percentiles
              FROM   matches)`;
  });
  const counted = facets.map(
    (facet) => sql`
      SELECT ${facet} AS facet, ${numberOf(name("matches", facet))} AS number, count(*)::INTEGER AS listings
      FROM   matches, (FROM ranges WHERE facet = ${facet})
      WHERE  ${name("matches", facet)} IS NOT NULL
      GROUP BY number`,
  );
  return { before: [], statistics: unionAll(statistics), counted: unionAll(counted) };
}

/** With `histogram`: how many listings have which value, and how many have that or a lower one. */
function byValue(facets: readonly NumericFacet[]): Way {
  const counted = facets.map(
    (facet) => sql`
      SELECT ${facet} AS facet, ${name(facet)} AS value, listings,
             (sum(listings) OVER (ORDER BY ${name(facet)} ROWS UNBOUNDED PRECEDING))::BIGINT AS upto
      FROM   (SELECT ${name(facet)}, count(*) AS listings FROM matches WHERE ${name(facet)} IS NOT NULL GROUP BY ${name(facet)})`,
  );
  return {
    before: [
      sql`
    histogram AS MATERIALIZED (${unionAll(counted)})`,
    ],
    statistics: sql`
      SELECT facet, coalesce(known, 0)::INTEGER AS known, least, greatest, total, squares, p1, p50, p99
      FROM   (SELECT unnest(${facets}) AS facet)
      LEFT JOIN (SELECT facet, known, min(value) AS least, max(value) AS greatest, sum(value * listings) AS total,
                        sum(value::HUGEINT * value * listings) AS squares,
                        ${percentile(0.01)} AS p1, ${percentile(0.5)} AS p50, ${percentile(0.99)} AS p99
                 FROM   histogram
                 JOIN   (SELECT facet, max(upto) AS known FROM histogram GROUP BY facet) USING (facet)
                 GROUP BY facet, known) USING (facet)`,
    counted: sql`
      SELECT facet, ${numberOf(sql`value`)} AS number, sum(listings)::INTEGER AS listings
      FROM   histogram
      JOIN   ranges USING (facet)
      GROUP BY ALL`,
  };
}

/** A percentile of a facet's histogram: between the two values around its rank, linearly. */
function percentile(share: number): Sql {
  const rank = sql`((known - 1) * ${share})`;
  const valueAt = (place: Sql): Sql => sql`min(value) FILTER (WHERE upto > ${place})`;
  const below = valueAt(sql`floor(${rank})`);
  return sql`${below} + (${valueAt(sql`ceil(${rank})`)} - ${below}) * (${rank} - floor(${rank}))`;
}

/** A row for each facet: `facet`, its schema `RangeFacet` as `range_facet`, and its schema `FacetStats` as `stats`. */
export function rangesOf(matches: number): Sql {
  return sql`
    SELECT facet,
      struct_pack(
        buckets := coalesce(list_transform(range(first, last + 1), lambda number: struct_pack(
          min := (number * width)::DOUBLE, max := ((number + 1) * width)::DOUBLE, "count" := coalesce(listings[number], 0))), []),
        "interval" := width, min := (first * width)::DOUBLE, max := ((last + 1) * width)::DOUBLE) AS range_facet,
      struct_pack(
        min := least, max := greatest, "count" := known, missing := (${matches} - known)::INTEGER,
        mean := total::DOUBLE / known, median := p50,
        stddev := if(known > 1, sqrt((known * squares - total * total)::DOUBLE / known / (known - 1)), NULL)) AS stats
    FROM      statistics
    JOIN      ranges USING (facet)
    LEFT JOIN (SELECT facet, map(list(number), list(listings)) AS listings FROM counted GROUP BY facet) USING (facet)`;
}

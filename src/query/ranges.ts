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

/**
 * Common table expressions: `statistics`, from one pass for all facets, and `ranges`, from another. A facet's ranges have the
 * narrowest width whose multiples cut what lies between the 1st and the 99th percentile into few enough of them; they are
 * numbered from zero, and all of it is null where there is no value. Percentiles between whole numbers are whole hundredths.
 */
export function rangeTables(facets: readonly NumericFacet[]): readonly Sql[] {
  return [
    sql`
    statistics AS MATERIALIZED (
      SELECT unnest(statistics, recursive := true)
      FROM   (SELECT [${join(facets.map(statisticsOf))}] AS statistics FROM matches))`,
    sql`
    ranges AS MATERIALIZED (
      SELECT facet, width, low // width AS first, high // width AS last
      FROM   (SELECT *, list_filter(${widths}::INTEGER[], lambda width: high // width - low // width < ${bounds.rangeBuckets})[1] AS width
              FROM   (SELECT facet, floor(round(100 * p1) / 100)::INTEGER AS low, floor(round(100 * p99) / 100)::INTEGER AS high
                      FROM   statistics)))`,
  ];
}

function statisticsOf(facet: NumericFacet): Sql {
  const value = name(facet);
  return sql`
    struct_pack(
      facet := ${facet}, known := count(${value})::INTEGER, least := min(${value}), greatest := max(${value}), total := sum(${value}),
      squares := sum(${value}::BIGINT * ${value}), p1 := quantile_cont(${value}, 0.01), p50 := quantile_cont(${value}, 0.5), p99 := quantile_cont(${value}, 0.99))`;
}

/** A row for each facet: `facet`, its schema `RangeFacet` as `range_facet`, and its schema `FacetStats` as `stats`. */
export function rangesOf(facets: readonly NumericFacet[], matches: number): Sql {
  const numbered = facets.map(
    (facet) => sql`
      SELECT ${facet} AS facet, ${name(facet)} // width AS number, count(*) AS listings
      FROM   matches, (SELECT width FROM ranges WHERE facet = ${facet})
      GROUP BY number`,
  );
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
    LEFT JOIN (SELECT facet, map(list(number), list(listings)) AS listings
               FROM   (SELECT facet, greatest(first, least(last, number))::BIGINT AS number, sum(listings)::INTEGER AS listings
                       FROM   (${join(numbered, sql` UNION ALL `)}) AS numbered
                       JOIN   ranges USING (facet)
                       WHERE  number IS NOT NULL
                       GROUP BY ALL)
               GROUP BY facet) USING (facet)`;
}

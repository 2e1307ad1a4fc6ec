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
 * Common table expressions, from one pass over the matches for each facet: `histogram`, how many listings have which value and how
 * many have that or a lower one; `statistics` of it; and `ranges`. A facet's ranges have the narrowest width whose multiples cut what
 * lies between the 1st and the 99th percentile into few enough of them; they are numbered from zero, and all of it is null where
 * there is no value. Percentiles between whole numbers are whole hundredths.
 */
export function rangeTables(facets: readonly NumericFacet[]): readonly Sql[] {
  const counted = facets.map(
    (facet) => sql`
      SELECT ${facet} AS facet, ${name(facet)} AS value, listings,
             (sum(listings) OVER (ORDER BY ${name(facet)} ROWS UNBOUNDED PRECEDING))::BIGINT AS upto
      FROM   (SELECT ${name(facet)}, count(*) AS listings FROM matches WHERE ${name(facet)} IS NOT NULL GROUP BY ${name(facet)})`,
  );
  return [
    sql`
    histogram AS MATERIALIZED (${join(counted, sql` UNION ALL `)})`,
    sql`
    statistics AS MATERIALIZED (
      SELECT facet, coalesce(known, 0)::INTEGER AS known, least, greatest, total, squares, p1, p50, p99
      FROM   (SELECT unnest(${facets}) AS facet)
      LEFT JOIN (SELECT facet, known, min(value) AS least, max(value) AS greatest, sum(value * listings) AS total,
                        sum(value::HUGEINT * value * listings) AS squares,
                        ${percentile(0.01)} AS p1, ${percentile(0.5)} AS p50, ${percentile(0.99)} AS p99
                 FROM   histogram
                 JOIN   (SELECT facet, max(upto) AS known FROM histogram GROUP BY facet) USING (facet)
                 GROUP BY facet, known) USING (facet))`,
    sql`
    ranges AS MATERIALIZED (
      SELECT facet, width, low // width AS first, high // width AS last
      FROM   (SELECT *, list_filter(${widths}::INTEGER[], lambda width: high // width - low // width < ${bounds.rangeBuckets})[1] AS width
              FROM   (SELECT facet, floor(round(100 * p1) / 100)::INTEGER AS low, floor(round(100 * p99) / 100)::INTEGER AS high
                      FROM   statistics)))`,
  ];
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
    LEFT JOIN (SELECT facet, map(list(number), list(listings)) AS listings
               FROM   (SELECT facet, greatest(first, least(last, value // width))::BIGINT AS number, sum(listings)::INTEGER AS listings
                       FROM   histogram
                       JOIN   ranges USING (facet)
                       GROUP BY ALL)
               GROUP BY facet) USING (facet)`;
}

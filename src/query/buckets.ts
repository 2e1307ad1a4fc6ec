/**
 * Categorical facets: `matches` counted, and measured, by the values of attributes.
 *
 * To count, matches are grouped once by build and once by dealer, whatever the number of facets; the few groups are then
 * counted by value. Values that differ in case alone are one, as they are to the filters: a search for a bucket's value
 * finds as many listings as the bucket counts.
 */
import { join, literal, name, type Sql, sql } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";
import { hotValues } from "../lake/hot-copy.ts";
import { keyOf } from "../lake/hot-tables.ts";
import { buildColumns, type RepeatingColumn, tokenKinds } from "../lake/layout.ts";
import { type AttributeName, attributes, bitsOfWords, type Place } from "./attributes.ts";
import type { Measuring } from "./metrics.ts";

export interface Bucketing {
  readonly facets: readonly AttributeName[];
  /** The most buckets of a facet. */
  readonly limit: number;
  readonly sort: QueryOf<"getFacets">["sort"];
  /** Of one facet only. */
  readonly measuring: Measuring | undefined;
  /** The columns of which matches carry the key of the value. */
  readonly numbered: readonly RepeatingColumn[];
}

/** Facets whose values are numbers; those of all others are texts. */
export const numberFacets: readonly string[] = Object.entries(buildColumns).flatMap(([column, of]) =>
  of === "SMALLINT" ? [column] : [],
);

/** Ties go by value; buckets without a metric come last. */
const orders: Readonly<Record<Bucketing["sort"], Sql>> = {
  "-count": sql`"count" DESC, number, value`,
  count: sql`"count", number, value`,
  "-metric": sql`metric DESC NULLS LAST, number, value`,
  metric: sql`metric NULLS LAST, number, value`,
};

/** A row for each facet that has buckets: `facet`, and `buckets`, a list of `value` (as a text), `count` and `metric`. */
export function bucketsOf({ facets, limit, sort, measuring, numbered }: Bucketing): Sql {
  const buckets =
    measuring === undefined ? counts(facets, numbered) : join(facets.map((facet) => metrics(facet, measuring)));
  const order = orders[sort];
  return sql`
    SELECT facet, list(struct_pack(value := value, "count" := "count", metric := metric) ORDER BY ${order}) AS buckets
    FROM   (SELECT *, CASE WHEN facet IN (${join(numberFacets.map(literal))}) THEN TRY_CAST(value AS INTEGER) END AS number
            FROM   (${buckets})
            QUALIFY row_number() OVER (PARTITION BY facet ORDER BY ${order}) <= ${limit})
    GROUP BY facet`;
}

interface Counted {
  readonly facet: AttributeName;
  readonly column: string;
}

/** What counts facets, by the place where their attributes live: statements that give `facet`, `value` and `listings`. */
const counters: Readonly<
  Record<
    Exclude<Place, "sorted">,
    (counted: readonly Counted[], numbered: readonly RepeatingColumn[]) => readonly Sql[]
  >
> = {
  fact: (counted, numbered) =>
    counted.map(
      ({ facet, column }) => sql`
        SELECT ${facet} AS facet, value::VARCHAR AS value, listings FROM (${valuesIn(column, numbered)})`,
    ),
  build: (counted) => [
    sql`
      SELECT attribute AS facet, value, listings
      FROM   (SELECT value_key, sum(listings) AS listings
              FROM   (SELECT build_key, count(*) AS listings FROM matches GROUP BY build_key)
              JOIN   build_values USING (build_key)
              GROUP BY value_key)
      JOIN   build_words USING (value_key)
      WHERE  attribute IN (${join(counted.map(({ column }) => literal(column)))})`,
  ],
  dealer: (counted) => [
    sql`
      SELECT unnest([${join(
        counted.map(({ facet, column }) => sql`struct_pack(facet := ${facet}, value := ${name(column)})`),
      )}], recursive := true), listings
      FROM   (SELECT dealer_key, count(*) AS listings FROM matches GROUP BY dealer_key)
      JOIN   dealers USING (dealer_key)`,
  ],
  tokens: (counted, numbered) =>
    counted.map(
      ({ facet, column }) => sql`
        SELECT ${facet} AS facet, token AS value, listings
        FROM   (SELECT token_key, sum(listings) AS listings
                FROM   (SELECT unnest(value) AS token_key, listings FROM (${valuesIn(column, numbered)}))
                GROUP BY token_key)
        JOIN   tokens USING (token_key)`,
    ),
  keywords: (counted) =>
    counted.map(
      ({ facet, column }) => sql`
        SELECT ${facet} AS facet, word AS value, listings
        FROM   (SELECT ${name(column)} AS bits, count(*) AS listings FROM matches GROUP BY bits)
        JOIN   ${bitsOfWords} ON bits & bit <> 0`,
    ),
};

/** The values of a column of the matches, and how many `listings` have each; of lists, which seldom repeat when they have no keys, each. */
function valuesIn(column: string, numbered: readonly RepeatingColumn[]): Sql {
  const repeating = numbered.find((one) => one === column);
  if (repeating === undefined && Object.hasOwn(tokenKinds, column))
    return sql`SELECT ${name(column)} AS value, 1 AS listings FROM matches`;
  if (repeating === undefined)
    return sql`SELECT ${name(column)} AS value, count(*) AS listings FROM matches GROUP BY ${name(column)}`;
  const key = name(keyOf(repeating));
  return sql`
    SELECT value, listings
    FROM   (SELECT ${key} AS key, count(*) AS listings FROM matches GROUP BY ${key})
    JOIN   ${hotValues(repeating)} USING (key)`;
}

function counts(facets: readonly AttributeName[], numbered: readonly RepeatingColumn[]): Sql {
  const isAt = (place: Place) => (facet: AttributeName) => attributes[facet].place === place;
  // What is in the facts as well as in the builds costs least in the facts, unless matches are grouped by build anyway.
  const sorted = facets.some(isAt("build")) ? "build" : "fact";
  const statements = Object.entries(counters).flatMap(([place, counter]) => {
    const counted = facets
      .filter((facet) => isAt(place as Place)(facet) || (place === sorted && isAt("sorted")(facet)))
      .map((facet) => ({ facet, column: attributes[facet].column }));
    return counted.length === 0 ? [] : counter(counted, numbered);
  });
  return sql`
    SELECT facet, min(value) AS value, sum(listings)::INTEGER AS "count", NULL::DOUBLE AS metric
    FROM   (${join(statements, sql` UNION ALL `)})
    WHERE  value IS NOT NULL
    GROUP BY facet, lower(value)`;
}

interface Measured {
  /** A row for each listing and value of it: `value` and `measure`. */
  readonly rows: Sql;
  /** What the rows of a bucket have in common. */
  readonly key: Sql;
  /** The value of a bucket. */
  readonly value: Sql;
}

const byValue = (rows: Sql): Measured => ({ rows, key: sql`value`, value: sql`value` });

/** What measures a facet, by the place where its attribute lives, given a listing's measure. */
const measurers: Readonly<Record<Place, (column: string, units: Sql) => Measured>> = {
  fact: (column, units) => ({
    rows: sql`SELECT ${name(column)} AS value, ${units} AS measure FROM matches`,
    key: sql`lower(value)`,
    value: sql`min(value)`,
  }),
  sorted: (column, units) => byValue(sql`SELECT ${name(column)} AS value, ${units} AS measure FROM matches`),
  build: (column, units) =>
    byValue(
      sql`SELECT ${name("builds", column)} AS value, ${units} AS measure FROM matches JOIN builds USING (build_key)`,
    ),
  dealer: (column, units) =>
    byValue(
      sql`SELECT ${name("dealers", column)} AS value, ${units} AS measure FROM matches JOIN dealers USING (dealer_key)`,
    ),
  tokens: (column, units) => ({
    rows: sql`SELECT unnest(${name(column)}) AS value, ${units} AS measure FROM matches`,
    key: sql`value`,
    value: sql`(SELECT token FROM tokens WHERE token_key = measured.value)`,
  }),
  keywords: (column, units) =>
    byValue(
      sql`SELECT word AS value, ${units} AS measure FROM matches JOIN ${bitsOfWords} ON ${name("matches", column)} & bit <> 0`,
    ),
};

function metrics(facet: AttributeName, { units, of }: Measuring): Sql {
  const { place, column } = attributes[facet];
  const { rows, key, value } = measurers[place](column, units);
  return sql`
    SELECT ${facet} AS facet, ${value}::VARCHAR AS value, count(*)::INTEGER AS "count", ${of(sql`measure`)} AS metric
    FROM   (${rows}) AS measured
    WHERE  value IS NOT NULL
    GROUP BY ${key}`;
}

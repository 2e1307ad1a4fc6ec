/**
 * SQL that counts and measures matches in Parquet files by value, one statement per request.
 *
 * Counting groups the matches once by build and once by dealer, for any number of attributes, and then counts the few groups by value.
 * Values that differ only in case are counted together, as filters match them.
 */
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { metricOf } from "../../listing/aggregates.ts";
import { attributeOf, type CountedName, type ListName, tokensNames } from "../../listing/schema.ts";
import type { CountRequest, MeasureRequest, Ranges } from "../../listing/source.ts";
import { unitsOf } from "../../listing/values.ts";
import { keywordTable } from "./where.ts";

/** ORDER BY clauses. Ties are broken by value; values without a metric come last. */
const orderings: Readonly<Record<MeasureRequest["sort"], Sql>> = {
  "-count": sql`"count" DESC, numeric_value, value`,
  count: sql`"count", numeric_value, value`,
  "-metric": sql`metric DESC NULLS LAST, numeric_value, value`,
  metric: sql`metric NULLS LAST, numeric_value, value`,
};

/** Returns the sort value of integer attributes, which sort numerically; null for all others. */
const numericValueOf = (attribute: Sql, attributes: readonly CountedName[]): Sql => {
  const integers = attributes.filter((name) => attributeOf(name).type === "SMALLINT");
  return integers.length === 0
    ? sql`NULL::INTEGER`
    : sql`CASE WHEN ${attribute} IN (${join(integers.map(literal))}) THEN TRY_CAST(value AS INTEGER) END`;
};

type CountOptions = Pick<CountRequest, "attributes" | "limit" | "sort"> & { readonly ranges: readonly Ranges[] };

/**
 * Returns a query for rows of `attribute`, `value`, `count` and `ordinal`. There is one row per counted value, whose ordinal is its rank from
 * 1, and one row per range, whose ordinal is its bucket from 0 (the values below the first range). `matches` is a FROM clause.
 */
export function countStatement(
  matches: Sql,
  isMaterialized: boolean,
  { attributes, limit, sort, ranges }: CountOptions,
): Sql {
  const values = sql`
    SELECT attribute, value, "count", (row_number() OVER (PARTITION BY attribute ORDER BY ${orderings[sort]}))::INTEGER AS ordinal
    FROM   (SELECT *, ${numericValueOf(sql`attribute`, attributes)} AS numeric_value FROM (${valueCounts(attributes)}))
    QUALIFY ordinal <= ${limit}`;
  const selects = [...(attributes.length === 0 ? [] : [values]), ...ranges.map(rangeCounts)];
  return sql`
    WITH matches AS ${isMaterialized ? sql`` : sql`NOT`} MATERIALIZED (SELECT * ${matches})
    ${join(selects, sql` UNION ALL `)}`;
}

function rangeCounts({ attribute, width, first, last }: Ranges): Sql {
  const bucket = sql`greatest(0, least(${last - first + 2}, ${ident(attribute)} // ${width} - ${first - 1}))`;
  return sql`
    SELECT ${attribute} AS attribute, NULL::VARCHAR AS value, count(*)::INTEGER AS "count", (${bucket})::INTEGER AS ordinal
    FROM matches WHERE ${ident(attribute)} IS NOT NULL GROUP BY ordinal`;
}

const isStoredIn =
  (home: string) =>
  (attribute: CountedName): boolean =>
    attributeOf(attribute).home === home;

/** Returns a query for `attribute`, `value` and `count` of each known value of the attributes. */
function valueCounts(attributes: readonly CountedName[]): Sql {
  const [builds, dealers] = [attributes.filter(isStoredIn("builds")), attributes.filter(isStoredIn("dealers"))];
  // Listings repeat the sort keys of their build. Counting those columns is cheaper than grouping by build, unless other build attributes
  // require the grouping anyway.
  const areSortKeys = builds.every((attribute) => attributeOf(attribute).isSortKey === true);
  const selects = [
    ...(areSortKeys ? builds : []).map(columnValues),
    ...(areSortKeys || builds.length === 0 ? [] : [buildValues(builds)]),
    ...(dealers.length === 0 ? [] : [dealerValues(dealers)]),
    ...attributes
      .filter(isStoredIn("listings"))
      .map((attribute) =>
        attributeOf(attribute).search === "category" ? columnValues(attribute) : listValues(attribute as ListName),
      ),
  ];
  return sql`
    SELECT attribute, min(value) AS value, sum(listings)::INTEGER AS "count" FROM (${join(selects, sql` UNION ALL `)})
    WHERE value IS NOT NULL GROUP BY attribute, lower(value)`;
}

/** Counts a column of listings. */
function columnValues(attribute: CountedName): Sql {
  const value = ident(attribute);
  return sql`SELECT ${attribute} AS attribute, ${value}::VARCHAR AS value, count(*) AS listings FROM matches GROUP BY ${value}`;
}

function buildValues(attributes: readonly CountedName[]): Sql {
  return sql`
    SELECT attribute, value, listings
    FROM   (SELECT value_key, sum(listings) AS listings
            FROM   (SELECT build_key, count(*) AS listings FROM matches GROUP BY build_key)
            JOIN   build_values USING (build_key)
            GROUP BY value_key)
    JOIN   build_words USING (value_key)
    WHERE  attribute IN (${join(attributes.map(literal))})`;
}

function dealerValues(attributes: readonly CountedName[]): Sql {
  const pairs = attributes.map(
    (name) => sql`struct_pack(attribute := ${name}, value := ${ident(attributeOf(name).column)})`,
  );
  return sql`
    SELECT unnest([${join(pairs)}], recursive := true), listings
    FROM   (SELECT dealer_key, count(*) AS listings FROM matches GROUP BY dealer_key)
    JOIN   dealers USING (dealer_key)`;
}

function listValues(list: ListName): Sql {
  if (list === "keywords") {
    return sql`
      SELECT 'keywords' AS attribute, keyword AS value, listings
      FROM   (SELECT keywords AS bits, count(*) AS listings FROM matches GROUP BY bits) JOIN ${keywordTable} ON (bits & bit) <> 0`;
  }
  return sql`
    SELECT ${list} AS attribute, token AS value, listings
    FROM   (SELECT token_key, count(*) AS listings FROM (SELECT unnest(${ident(list)}) AS token_key FROM matches) GROUP BY token_key)
    JOIN   tokens USING (token_key)`;
}

/** Returns a query for `value`, `count`, `sample` and `metric` of each value of an attribute. `matches` is a FROM clause. */
export function measureStatement(matches: Sql, { attribute, measure, aggregate, limit, sort }: MeasureRequest): Sql {
  const isInteger = attribute !== undefined && attributeOf(attribute).type === "SMALLINT";
  return sql`
    WITH matches AS (SELECT * ${matches})
    SELECT value, "count", sample, metric FROM (
      SELECT min(value)::VARCHAR AS value, ${isInteger ? sql`min(value)` : sql`NULL`}::INTEGER AS numeric_value,
             count(*)::INTEGER AS "count", count(measure)::INTEGER AS sample, ${metricOf(measure, aggregate, sql`measure`)} AS metric
      FROM   (${valueRows(attribute, [sql`${unitsOf(measure)} AS measure`])}) WHERE value IS NOT NULL GROUP BY lower(value::VARCHAR))
    ORDER BY ${orderings[sort]} LIMIT ${limit}`;
}

/**
 * Returns a query for `value` and the given columns of `matches`, each of them named, with one row per match and value. The value is null
 * if it is unknown, and empty without an attribute.
 */
export function valueRows(attribute: CountedName | undefined, columns: readonly Sql[]): Sql {
  const selected = join(columns);
  if (attribute === undefined) return sql`SELECT '' AS value, ${selected} FROM matches`;
  const { home, column, isSortKey } = attributeOf(attribute);
  if (attribute === "keywords")
    return sql`SELECT keyword AS value, ${selected} FROM matches JOIN ${keywordTable} ON (keywords & bit) <> 0`;
  if (tokensNames.some((name) => name === attribute)) {
    return sql`SELECT tokens.token AS value, keyed.* EXCLUDE (token_key)
      FROM (SELECT unnest(${ident(column)}) AS token_key, ${selected} FROM matches) AS keyed JOIN tokens USING (token_key)`;
  }
  if (home === "listings" || isSortKey === true) return sql`SELECT ${ident(column)} AS value, ${selected} FROM matches`;
  const key = home === "dealers" ? "dealer_key" : "build_key";
  return sql`SELECT ${ident(home, column)} AS value, ${selected} FROM matches JOIN ${ident(home)} USING (${ident(key)})`;
}

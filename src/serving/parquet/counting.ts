/**
 * Matches in Parquet files counted and measured by value, in one statement.
 *
 * To count, matches are grouped once by build and once by dealer, whatever the number of attributes; the few groups are then counted by
 * value. Values that differ in case alone are one, as they are to the filters.
 */
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { metricOf } from "../../listing/aggregates.ts";
import { attributeOf, type CountedName, type ListName, type NumberName, tokensNames } from "../../listing/schema.ts";
import type { CountRequest, MeasureRequest, Ranges } from "../../listing/source.ts";
import { unitsOf } from "../../listing/values.ts";
import { keywordTable } from "./where.ts";

/** Ties go by value; values without a metric come last. */
const orders: Readonly<Record<MeasureRequest["sort"], Sql>> = {
  "-count": sql`"count" DESC, number, value`,
  count: sql`"count", number, value`,
  "-metric": sql`metric DESC NULLS LAST, number, value`,
  metric: sql`metric NULLS LAST, number, value`,
};

/** The order of values that are whole numbers; null of all others. */
const numberOf = (attribute: Sql, attributes: readonly CountedName[]): Sql => {
  const numbers = attributes.filter((one) => attributeOf(one).type === "SMALLINT");
  return numbers.length === 0
    ? sql`NULL::INTEGER`
    : sql`CASE WHEN ${attribute} IN (${join(numbers.map(literal))}) THEN TRY_CAST(value AS INTEGER) END`;
};

/** What `countStatement` counts. */
type Counted = Pick<CountRequest, "attributes" | "limit" | "sort"> & { readonly ranges: readonly Ranges[] };

/**
 * Rows of `attribute`, `value`, `count` and `place`: one for each counted value, with its place in the order, and one for each range, by the
 * number of its bucket, from 0 for what lies below.
 */
export function countStatement(matches: Sql, isKept: boolean, { attributes, limit, sort, ranges }: Counted): Sql {
  const order = orders[sort];
  const values = sql`
    SELECT attribute, value, "count", (row_number() OVER (PARTITION BY attribute ORDER BY ${order}))::INTEGER AS place
    FROM   (SELECT *, ${numberOf(sql`attribute`, attributes)} AS number FROM (${valueCounts(attributes)}))
    QUALIFY place <= ${limit}`;
  const parts = [...(attributes.length === 0 ? [] : [values]), ...ranges.map(rangeCounts)];
  return sql`WITH matches AS ${isKept ? sql`` : sql`NOT`} MATERIALIZED (SELECT * ${matches}) ${join(parts, sql` UNION ALL `)}`;
}

function rangeCounts({ attribute, width, first, last }: Ranges): Sql {
  const bucket = sql`greatest(0, least(${last - first + 2}, ${ident(attribute)} // ${width} - ${first - 1}))`;
  return sql`
    SELECT ${attribute} AS attribute, NULL::VARCHAR AS value, count(*)::INTEGER AS "count", (${bucket})::INTEGER AS place
    FROM matches WHERE ${ident(attribute)} IS NOT NULL GROUP BY place`;
}

const isIn =
  (home: string) =>
  (attribute: CountedName): boolean =>
    attributeOf(attribute).home === home;

/** `attribute`, `value` and `count` of each value of some attributes. */
function valueCounts(attributes: readonly CountedName[]): Sql {
  const [builds, dealers] = [attributes.filter(isIn("builds")), attributes.filter(isIn("dealers"))];
  const own = attributes.filter(isIn("listings"));
  const isSorted = builds.every((one) => attributeOf(one).isSortKey === true);
  const statements = [
    // What listings repeat of their builds costs least there, unless matches are grouped by build anyway.
    ...(isSorted ? builds : []).map(ownValues),
    ...(isSorted || builds.length === 0 ? [] : [buildValues(builds)]),
    ...(dealers.length === 0 ? [] : [dealerValues(dealers)]),
    ...own.map((attribute) =>
      attributeOf(attribute).search === "category" ? ownValues(attribute) : listValues(attribute as ListName),
    ),
  ];
  return sql`
    SELECT attribute, min(value) AS value, sum(listings)::INTEGER AS "count" FROM (${join(statements, sql` UNION ALL `)})
    WHERE value IS NOT NULL GROUP BY attribute, lower(value)`;
}

function ownValues(attribute: CountedName): Sql {
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
    (one) => sql`struct_pack(attribute := ${one}, value := ${ident(attributeOf(one).column)})`,
  );
  return sql`
    SELECT unnest([${join(pairs)}], recursive := true), listings
    FROM   (SELECT dealer_key, count(*) AS listings FROM matches GROUP BY dealer_key)
    JOIN   dealers USING (dealer_key)`;
}

function listValues(list: ListName): Sql {
  if (list === "keywords") {
    return sql`
      SELECT 'keywords' AS attribute, word AS value, listings
      FROM   (SELECT keywords AS bits, count(*) AS listings FROM matches GROUP BY bits) JOIN ${keywordTable} ON (bits & bit) <> 0`;
  }
  return sql`
    SELECT ${list} AS attribute, token AS value, listings
    FROM   (SELECT token_key, count(*) AS listings FROM (SELECT unnest(${ident(list)}) AS token_key FROM matches) GROUP BY token_key)
    JOIN   tokens USING (token_key)`;
}

/** A row for each value of an attribute: `value`, `count`, `sample` and `metric`. */
export function measureStatement(matches: Sql, { attribute, measure, aggregate, limit, sort }: MeasureRequest): Sql {
  return sql`
    WITH matches AS (SELECT * ${matches})
    SELECT value, "count", sample, metric FROM (
      SELECT min(value)::VARCHAR AS value, ${attributeOf(attribute).type === "SMALLINT" ? sql`min(value)` : sql`NULL`}::INTEGER AS number,
             count(*)::INTEGER AS "count", count(measure)::INTEGER AS sample, ${metricOf(measure, aggregate, sql`measure`)} AS metric
      FROM   (${measuredRows(attribute, measure)}) WHERE value IS NOT NULL GROUP BY lower(value::VARCHAR))
    ORDER BY ${orders[sort]} LIMIT ${limit}`;
}

/** A row for each match and value of it: `value` and `measure`. */
function measuredRows(attribute: CountedName, measure: NumberName): Sql {
  const { home, column, isSortKey } = attributeOf(attribute);
  const units = sql`${unitsOf(measure)} AS measure`;
  if (attribute === "keywords")
    return sql`SELECT word AS value, ${units} FROM matches JOIN ${keywordTable} ON (keywords & bit) <> 0`;
  if (tokensNames.some((one) => one === attribute)) {
    return sql`SELECT token AS value, measure FROM (SELECT unnest(${ident(column)}) AS token_key, ${units} FROM matches) JOIN tokens USING (token_key)`;
  }
  if (home === "builds" && isSortKey !== true)
    return sql`SELECT ${ident("builds", column)} AS value, ${units} FROM matches JOIN builds USING (build_key)`;
  if (home === "dealers")
    return sql`SELECT ${ident("dealers", column)} AS value, ${units} FROM matches JOIN dealers USING (dealer_key)`;
  return sql`SELECT ${ident(column)} AS value, ${units} FROM matches`;
}

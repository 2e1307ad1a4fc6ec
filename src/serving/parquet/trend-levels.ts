/**
 * SQL for the levels of many days at once.
 *
 * A listing's row counts on the requested days from number `lo` up to `hi`. Counts and means are sums of what each row adds at `lo` and takes
 * away at `hi`; percentiles, and what depends on the days on market, take each row on each of its days.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { daysOnMarket } from "../../lake/market.ts";
import { meanOf, metricOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { attributeOf, type CountedName, type NumberName, tokensNames } from "../../listing/schema.ts";
import type { LevelRequest, Statistic } from "../../listing/trend-source.ts";
import { unitsOf } from "../../listing/values.ts";
import type { Dimensions } from "../dimensions.ts";
import { valueColumnOf, valueRows } from "./counting.ts";
import { fromMatches } from "./where.ts";

/** Returns a query for the levels of each day, most frequent values first. `intervals` are listings with `valid_from` and `valid_to`. */
export function levelStatement(intervals: Sql, request: LevelRequest, dimensions: Dimensions): Sql {
  const { days, filters, limit, statistics } = request;
  const isDaily = filters.some(dependsOnDay) || statistics.some(({ measure }) => measure === "days_on_market");
  const isSummed = !isDaily && statistics.every(({ aggregate }) => aggregate === "mean");
  const settled = filters.filter((filter) => !dependsOnDay(filter));
  const bounds = [sql`${daysBefore(days, sql`valid_from`)} AS lo`, sql`${daysBefore(days, sql`valid_to`)} AS hi`];
  const dates = days.map((day, step) => sql`(DATE ${literal(day)}, ${integerLiteral(step)})`);
  return sql`
    WITH days("day", step) AS (VALUES ${join(dates)}),
    spans AS (SELECT * FROM (SELECT *, ${join(bounds)} ${fromMatches(intervals, settled, dimensions)}) WHERE lo < hi),
    ${isSummed ? summedLevels(request) : expandedLevels(request, dimensions)},
    named AS (
      SELECT "key", min(spelling) AS value, min(numeric_value) AS numeric_value, sum("count") AS total FROM levels GROUP BY "key"),
    ranked AS (SELECT *, dense_rank() OVER (ORDER BY total DESC, numeric_value, value) AS "rank" FROM named)
    SELECT "day"::VARCHAR AS "day", levels.* EXCLUDE (step, spelling, numeric_value), value
    FROM   levels JOIN ranked USING ("key") JOIN days USING (step)
    WHERE  "rank" <= ${limit} ORDER BY "rank", "day"`;
}

/** Returns how many of the requested days are before a date: all of them if it is null. */
function daysBefore(days: readonly string[], date: Sql): Sql {
  const times = days.map((day) => Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  const first = times[0] ?? 0;
  const span = (times.at(-1) ?? first) - first + 1;
  let before = 0;
  const counts = Array.from({ length: span + 1 }, (_, offset) => {
    while (before < times.length && (times[before] as number) < first + offset) before += 1;
    return integerLiteral(before);
  });
  return sql`list_extract([${join(counts)}], 1 + greatest(0, least(${integerLiteral(span)}, ${date} - DATE ${literal(days[0] ?? "")})))`;
}

/** Returns whether a filter depends on the days on market. */
function dependsOnDay(filter: Filter): boolean {
  if (filter.kind === "all" || filter.kind === "any") return filter.filters.some(dependsOnDay);
  if (filter.kind === "not") return dependsOnDay(filter.filter);
  return (filter.kind === "atLeast" || filter.kind === "atMost") && filter.attribute === "days_on_market";
}

/** The identity of a value: spellings that differ in case are one value. */
export const valueKey = sql`lower(value::VARCHAR)`;

/** Returns a query for `value` and the given columns, with one row per match and value; an empty value without an attribute. */
export const groupedRows = (attribute: CountedName | undefined, columns: readonly Sql[]): Sql =>
  attribute === undefined ? sql`SELECT '' AS value, ${join(columns)} FROM matches` : valueRows(attribute, columns);

/** The columns of a value: its key, one of its spellings, and its number if it is one. */
function valueColumns(attribute: CountedName | undefined): Sql {
  const isInteger = attribute !== undefined && attributeOf(attribute).type === "SMALLINT";
  return sql`${valueKey} AS "key", min(value)::VARCHAR AS spelling, ${isInteger ? sql`min(value)` : sql`NULL`}::INTEGER AS numeric_value`;
}

const measuresOf = (statistics: readonly Statistic[]): readonly NumberName[] => [
  ...new Set(statistics.map(({ measure }) => measure)),
];

/** Returns the tables up to `levels`, from each match on each of its days. */
function expandedLevels({ filters, attribute, statistics }: LevelRequest, dimensions: Dimensions): Sql {
  const measures = measuresOf(statistics).map((measure) => sql`${unitsOf(measure)} AS ${ident(measure)}`);
  const columns = [
    valueColumns(attribute),
    sql`count(*)::INTEGER AS "count"`,
    ...statistics.flatMap(({ measure, aggregate }, index) => [
      sql`count(${ident(measure)})::INTEGER AS ${ident(`sample_${index}`)}`,
      sql`${metricOf(measure, aggregate, ident(measure))} AS ${ident(`metric_${index}`)}`,
    ]),
  ];
  const expanded = sql`
    SELECT spans.* EXCLUDE (days_on_market), ${daysOnMarket(sql`"day"`)} AS days_on_market, step
    FROM (SELECT *, unnest(range(lo, hi))::INTEGER AS step FROM spans) AS spans JOIN days USING (step)`;
  return sql`
    matches AS (SELECT * ${fromMatches(expanded, filters.filter(dependsOnDay), dimensions)}),
    levels AS (
      SELECT step, ${join(columns)} FROM (${groupedRows(attribute, [sql`step`, ...measures])})
      WHERE value IS NOT NULL GROUP BY ALL)`;
}

/** Returns the tables up to `levels`, from what each match adds and takes away. */
function summedLevels({ attribute, statistics }: LevelRequest): Sql {
  const measures = measuresOf(statistics);
  const sums = ["listings", ...measures.flatMap((measure) => [knownOf(measure), sumOf(measure)])].map((name) =>
    ident(name),
  );
  const total = (name: Sql): Sql => sql`sum(${name}) OVER so_far`;
  const columns = [
    sql`${total(ident("listings"))}::INTEGER AS "count"`,
    ...statistics.flatMap(({ measure }, index) => [
      sql`${total(ident(knownOf(measure)))}::INTEGER AS ${ident(`sample_${index}`)}`,
      sql`${meanOf(measure, total(ident(knownOf(measure))), total(ident(sumOf(measure))))} AS ${ident(`metric_${index}`)}`,
    ]),
  ];
  return sql`
    matches AS (${changes(attribute, measures, "lo", 1)} UNION ALL ${changes(attribute, measures, "hi", -1)}),
    changed AS (
      SELECT step, ${valueColumns(attribute)}, ${join(sums.map((name) => sql`sum(${name}) AS ${name}`))}
      FROM (${groupedRows(attribute, [sql`step`, ...sums])}) WHERE value IS NOT NULL GROUP BY ALL),
    levels AS (
      SELECT * FROM (
        SELECT step, "key", spelling, numeric_value, ${join(columns)}
        FROM (SELECT "key", min(spelling) AS spelling, min(numeric_value) AS numeric_value FROM changed GROUP BY "key")
        CROSS JOIN (SELECT step FROM days) LEFT JOIN (SELECT * EXCLUDE (spelling, numeric_value) FROM changed) USING ("key", step)
        WINDOW so_far AS (PARTITION BY "key" ORDER BY step))
      WHERE "count" > 0)`;
}

const knownOf = (measure: NumberName): string => `known ${measure}`;
const sumOf = (measure: NumberName): string => `sum ${measure}`;

/**
 * Returns what matches add (`sign` 1) or take away on a day. They are grouped by the column that has the attribute, or by the key of the
 * dimension that has it, before values are looked up: a third of the time for a year of states. Not lists of tokens, which may all differ.
 */
function changes(
  attribute: CountedName | undefined,
  measures: readonly NumberName[],
  at: "lo" | "hi",
  sign: 1 | -1,
): Sql {
  const isList = tokensNames.some((name) => name === attribute);
  const column = attribute === undefined ? [] : [ident(valueColumnOf(attribute))];
  const signed = (grouped: Sql, single: Sql): Sql => sql`${integerLiteral(sign)} * ${isList ? single : grouped}`;
  const sums = measures.flatMap((measure) => {
    const units = unitsOf(measure);
    return [
      sql`${signed(sql`count(${units})`, sql`(${units} IS NOT NULL)::INTEGER`)} AS ${ident(knownOf(measure))}`,
      sql`${signed(sql`sum(${units})`, sql`${units}`)} AS ${ident(sumOf(measure))}`,
    ];
  });
  const columns = [...column, sql`${ident(at)} AS step`, sql`${signed(sql`count(*)`, sql`1`)} AS listings`, ...sums];
  return sql`SELECT ${join(columns)} FROM spans ${isList ? sql`` : sql`GROUP BY ALL`}`;
}

/** The rows of the search index of some days, for trends. */
import { epochDay } from "../../../base/day.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../../db/sql.ts";
import { dependsOnDay } from "../../../listing/filter.ts";
import type { NumberName } from "../../../listing/schema.ts";
import type { LevelRequest } from "../../../listing/source.ts";
import { allOf, conditionOf, type IndexContext, numberOn } from "../conditions.ts";
import type { SearchIndex } from "../search-index.ts";
import { compileFilters, idOf, overMatches } from "../where.ts";

/** An index with the rows that hold on some of the requested days, which follow each other. */
export interface IndexedDays {
  readonly days: readonly string[];
  readonly index: SearchIndex;
}

/** Returns the rows that hold on one of the days. */
export const contextOf = ({ days, index }: IndexedDays): IndexContext =>
  index.between(days[0] ?? "", days.at(-1) ?? "");

export const measuresOf = ({ statistics }: Pick<LevelRequest, "statistics">): readonly NumberName[] => [
  ...new Set(statistics.map(({ measure }) => measure)),
];

/** Whether `rowsOn` selects a row for each day, because something depends on the day. */
export const isDaily = (request: Pick<LevelRequest, "filters" | "statistics">): boolean =>
  request.filters.some(dependsOnDay) || measuresOf(request).includes("days_on_market");

/**
 * Selects `id` (of the value of the attribute, see `idOf`), the measures, `valid_from` and `valid_to` of the matches in an index; one row for each day
 * if `isDaily`. Returns undefined without such rows.
 */
export function rowsOn(of: IndexedDays, request: LevelRequest): Sql | undefined {
  const context = contextOf(of);
  const daily = request.filters.filter(dependsOnDay);
  const { matches } = compileFilters(
    request.filters.filter((filter) => !dependsOnDay(filter)),
    context,
  );
  if (matches === "never") return undefined;
  if (!isDaily(request))
    return sql`SELECT ${selected(request, context)}, valid_from, valid_to ${overMatches(matches, context)}`;
  const dated = { ...context, day: sql`"day"` };
  const condition = allOf(daily.map((filter) => conditionOf(filter, dated)));
  if (condition === "never") return undefined;
  const where = condition === "always" ? sql`` : sql`WHERE ${condition}`;
  const [lo, hi] = boundsIn(of.days);
  return sql`
    SELECT ${selected(request, dated)}, "day" AS valid_from, "day" + 1 AS valid_to
    FROM (SELECT *, list_extract(${listOf(of.days.map(epochDay))}, step) AS "day"
          FROM (SELECT *, unnest(range(${lo} + 1, ${hi} + 1))::INTEGER AS step ${overMatches(matches, context)}))
    ${where}`;
}

/** Selects `id` and the measures of the matches on one day, as `rowsOn` does. */
export function rowsOnDay(day: string, { index }: IndexedDays, request: LevelRequest): Sql | undefined {
  const context = index.on(day);
  const { matches } = compileFilters(request.filters, context);
  return matches === "never" ? undefined : sql`SELECT ${selected(request, context)} ${overMatches(matches, context)}`;
}

const selected = (request: LevelRequest, context: IndexContext): Sql =>
  join([
    sql`${idOf(request.attribute)} AS id`,
    ...measuresOf(request).map((measure) => sql`${numberOn(measure, context)} AS ${ident(measure)}`),
  ]);

/** Returns the positions among some days of the first one on which a row holds, and of the one after the last. */
export const boundsIn = (days: readonly string[]): readonly [Sql, Sql] => [
  daysBefore(days, sql`valid_from`),
  daysBefore(days, sql`valid_to`),
];

/** Returns how many of some days are before another one, given as days since 1970. */
function daysBefore(days: readonly string[], day: Sql): Sql {
  const times = days.map(epochDay);
  const [first = 0, second = first + 1] = times;
  const last = times.at(-1) ?? first;
  const spacing = second - first;
  const offset = sql`${day} - ${integerLiteral(first)}`;
  // All days but the last are often at equal distances. Planning a list of literals takes longer than counting.
  if (times.slice(0, -1).every((time, index) => time === first + index * spacing)) {
    const before = sql`(${offset} + ${integerLiteral(spacing - 1)}) // ${integerLiteral(spacing)}`;
    return sql`(greatest(0, least(${integerLiteral(times.length - 1)}, ${before})) + (${day} > ${integerLiteral(last)})::INTEGER)`;
  }
  const span = last - first + 1;
  const counts = Array.from({ length: span + 1 }, (_, at) => times.filter((time) => time < first + at).length);
  return sql`list_extract(${listOf(counts)}, 1 + greatest(0, least(${integerLiteral(span)}, ${offset})))`;
}

/** Returns integers as a list. The cast of one text is planned many times faster than a list of literals. */
const listOf = (integers: readonly number[]): Sql => sql`${literal(JSON.stringify(integers))}::INTEGER[]`;

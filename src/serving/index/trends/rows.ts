/** The rows of the search index of some days, for trends. */
import { epochDay } from "../../../base/day.ts";
import { all, ident, integerLiteral, join, literal, type Sql, sql } from "../../../db/sql.ts";
import { dependsOnDay } from "../../../listing/filter.ts";
import type { NumberName } from "../../../listing/schema.ts";
import type { LevelRequest } from "../../../listing/source.ts";
import { conditionOf, fromMatches, idOf, numberOn } from "../conditions.ts";
import type { Segment, SegmentRows } from "../segment.ts";
import { testOf } from "../tests.ts";

/** A segment with the rows that hold on some of the requested days, which follow each other. */
export interface IndexedDays {
  readonly days: readonly string[];
  readonly segment: Segment;
}

export const measuresOf = ({ statistics }: Pick<LevelRequest, "statistics">): readonly NumberName[] => [
  ...new Set(statistics.map(({ measure }) => measure)),
];

/** Whether `rowsOn` selects a row for each day, because something depends on the day. */
export const isDaily = (request: Pick<LevelRequest, "filters" | "statistics">): boolean =>
  request.filters.some(dependsOnDay) || measuresOf(request).includes("days_on_market");

/**
 * Selects `id` (of the value of the attribute, see `idOf`), the measures, `valid_from` and `valid_to` of the matches in a segment; one row for each day
 * if `isDaily`.
 */
export function rowsOn(of: IndexedDays, request: LevelRequest): Sql {
  const rows = of.segment.between(of.days[0] ?? "", of.days.at(-1) ?? "");
  const matches = fromMatches(
    rows,
    request.filters.filter((filter) => !dependsOnDay(filter)),
  );
  if (!isDaily(request)) return sql`SELECT ${selected(request, rows)}, valid_from, valid_to ${matches}`;
  const dated = { ...rows, day: sql`"day"` };
  const conditions = request.filters
    .filter(dependsOnDay)
    .map((filter) => conditionOf(testOf(filter, of.segment), dated));
  const [lo, hi] = boundsIn(of.days);
  return sql`
    SELECT ${selected(request, dated)}, "day" AS valid_from, "day" + 1 AS valid_to
    FROM (SELECT *, list_extract(${listOf(of.days.map(epochDay))}, step) AS "day"
          FROM (SELECT *, unnest(range(${lo} + 1, ${hi} + 1))::INTEGER AS step ${matches}))
    WHERE ${all(conditions)}`;
}

/** Selects `id` and the measures of the matches on one day, as `rowsOn` does. */
export function rowsOnDay(day: string, { segment }: IndexedDays, request: LevelRequest): Sql {
  const rows = segment.on(day);
  return sql`SELECT ${selected(request, rows)} ${fromMatches(rows, request.filters)}`;
}

const selected = (request: LevelRequest, rows: SegmentRows): Sql =>
  join([
    sql`${idOf(request.attribute)} AS id`,
    ...measuresOf(request).map((measure) => sql`${numberOn(measure, rows)} AS ${ident(measure)}`),
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

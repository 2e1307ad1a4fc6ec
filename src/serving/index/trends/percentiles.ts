/** Percentiles of many days from search indexes, from each row on each of its days. */
import { integerIn, type Row } from "../../../base/json.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../../db/sql.ts";
import { metricOf } from "../../../listing/aggregates.ts";
import type { Level, LevelRequest } from "../../../listing/trend-source.ts";
import { withTokens } from "../where.ts";
import { boundsIn, contextOf, type IndexedDays, measuresOf, rowsOn, rowsOnDay } from "./rows.ts";
import type { Series } from "./series-sums.ts";

/** How many listings a series has on a day, and their statistics, by `placeOf`. */
type Measured = ReadonlyMap<string, Pick<Level, "count" | "statistics">>;

/** Identifies a series and a requested day by their numbers. */
export const placeOf = (series: number, step: number): string => `${series} ${step}`;

/** Measures the matches that have the value of a series, on each day. */
export async function measureOnDays(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
  series: readonly Series[],
): Promise<Measured> {
  const statement = isDayByDay(request) ? dayByDay(indexed, request, series) : expanded(indexed, request, series);
  return statement === undefined ? new Map() : readStatistics(await engine.rows(statement), request);
}

/**
 * Whether the statement scans the rows separately for each day: of a million listings, two days take half the time of `expanded`, eight days as
 * much. Of few matches, only two days take less.
 */
const isDayByDay = ({ days, filters }: LevelRequest): boolean => days.length <= (filters.length === 0 ? 8 : 2);

function dayByDay(indexed: readonly IndexedDays[], request: LevelRequest, series: readonly Series[]): Sql | undefined {
  const ofDays = request.days.flatMap((day, step) => {
    const rows = indexed
      .filter(({ days }) => days.includes(day))
      .flatMap((of) => withSeries(rowsOnDay(day, of, request), of, request, series) ?? []);
    const ofDay = sql`
      SELECT series, ${integerLiteral(step)} AS step, ${columnsOf(request)} FROM (${join(rows, sql` UNION ALL `)}) GROUP BY series`;
    return rows.length === 0 ? [] : ofDay;
  });
  return ofDays.length === 0 ? undefined : join(ofDays, sql` UNION ALL `);
}

/** Rows with the same days are collected before they are repeated for each day: half the time of repeating each row. */
function expanded(indexed: readonly IndexedDays[], request: LevelRequest, series: readonly Series[]): Sql | undefined {
  const selects = indexed.flatMap((of) => {
    const [lo, hi] = boundsIn(of.days);
    const first = integerLiteral(request.days.indexOf(of.days[0] ?? ""));
    const rows = withSeries(rowsOn(of, request), of, request, series);
    return rows === undefined
      ? []
      : sql`SELECT * EXCLUDE (valid_from, valid_to), ${first} + ${lo} AS lo, ${first} + ${hi} AS hi FROM (${rows})`;
  });
  if (selects.length === 0) return undefined;
  const measures = measuresOf(request).map((measure) => ident(measure));
  const lists = measures.map((measure) => sql`list(${measure}) AS ${measure}`);
  const unnested = measures.map((measure) => sql`unnest(${measure}) AS ${measure}`);
  return sql`
    SELECT series, step, ${columnsOf(request)}
    FROM (SELECT series, step, ${join(unnested)}
          FROM (SELECT * EXCLUDE (lo, hi), unnest(range(lo, hi))::INTEGER AS step
                FROM (SELECT series, lo, hi, ${join(lists)} FROM (${join(selects, sql` UNION ALL `)}) GROUP BY series, lo, hi)))
    GROUP BY series, step`;
}

/** Selects the rows that have the value of a series, with its number as `series` instead of the id. Returns undefined without such rows. */
function withSeries(
  rows: Sql | undefined,
  of: IndexedDays,
  { attribute }: LevelRequest,
  series: readonly Series[],
): Sql | undefined {
  if (rows === undefined) return undefined;
  if (attribute === undefined) return sql`SELECT * EXCLUDE (id), 0 AS series FROM (${rows})`;
  const context = contextOf(of);
  const ids = series.map(({ idsIn }) => idsIn.get(context.dictionary) ?? []);
  const pairs = ids.flatMap((of, ordinal) => of.map((id) => sql`(${integerLiteral(id)}, ${integerLiteral(ordinal)})`));
  if (pairs.length === 0) return undefined;
  const found = withTokens(rows, attribute, context);
  return sql`SELECT * EXCLUDE (id) FROM (${found}) JOIN (VALUES ${join(pairs)}) AS series(id, series) USING (id)`;
}

const columnsOf = ({ statistics }: LevelRequest): Sql =>
  join([
    sql`count(*)::INTEGER AS listings`,
    ...statistics.flatMap(({ measure, aggregate }, index) => [
      sql`count(${ident(measure)})::INTEGER AS ${ident(`sample_${index}`)}`,
      sql`${metricOf(measure, aggregate, ident(measure))} AS ${ident(`metric_${index}`)}`,
    ]),
  ]);

const readStatistics = (rows: readonly Row[], { statistics }: LevelRequest): Measured =>
  new Map(
    rows.map((row) => [
      placeOf(integerIn(row, "series"), integerIn(row, "step")),
      {
        count: integerIn(row, "listings"),
        statistics: statistics.map((_, index) => {
          const metric = row[`metric_${index}`];
          return { sample: integerIn(row, `sample_${index}`), metric: typeof metric === "number" ? metric : null };
        }),
      },
    ]),
  );

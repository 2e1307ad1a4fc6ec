/**
 * Levels of many days from search indexes.
 *
 * A row counts on the requested days from number `lo` up to `hi`. Counts by value are sums of what each row adds at `lo` and takes away at `hi`.
 * Statistics take each row on each of its days; with an attribute, only the rows of the values with the most listings.
 */
import { epochDay } from "../../../base/day.ts";
import { integerIn, type Row } from "../../../base/json.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../../db/sql.ts";
import { meanOf, metricOf } from "../../../listing/aggregates.ts";
import { dependsOnDay } from "../../../listing/filter.ts";
import type { Level, LevelRequest } from "../../../listing/trend-source.ts";
import { conditionOf, type IndexContext, numberOn } from "../conditions.ts";
import { compileFilters, idOf, overMatches, withTokens } from "../where.ts";
import { type Series, SeriesCounts } from "./series-counts.ts";

/** The rows of an index that hold on some requested days, which follow each other. */
export interface IndexedDays {
  readonly days: readonly string[];
  readonly context: IndexContext;
}

/** Returns `TrendSource.measureLevels`. */
export async function measureLevels(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Level[]> {
  const { days, attribute, statistics } = request;
  const isCounted = attribute !== undefined || statistics.length === 0;
  const series = isCounted ? await countSeries(indexed, engine, request) : [allMatches];
  const measured = await measureSeries(indexed, engine, request, series);
  return series.flatMap(({ key, value, counts }, ordinal) =>
    days.flatMap((day, step): readonly Level[] => {
      const found = measured.get(placeOf(ordinal, step));
      const count = counts[step] ?? found?.count ?? 0;
      return count === 0 ? [] : [{ day, key, value, count, statistics: found?.statistics ?? [] }];
    }),
  );
}

const placeOf = (ordinal: number, step: number): string => `${ordinal} ${step}`;

/** The series of all matches, without their counts: a statement for statistics counts them too. */
const allMatches: Series = { key: "", value: "", counts: new Int32Array(), idsIn: new Map() };

/** Up to this many rows, filtered matches are fetched and counted in memory, in half the time for a model. Above it, DuckDB counts. */
const fetchedRows = 2_000_000;

/** Counts the matches by value on each day. Returns the values with the most. */
async function countSeries(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Series[]> {
  const counts = new SeriesCounts(request);
  const { filters } = request;
  const rows = indexed.reduce((sum, { context }) => sum + context.rows, 0);
  const isFetched = rows <= fetchedRows && filters.length > 0 && !filters.some(dependsOnDay);
  const count = isFetched ? countFetched : countGrouped;
  await Promise.all(indexed.map((days) => count(days, engine, request, counts)));
  return counts.mostFrequent();
}

async function countFetched(
  { days, context }: IndexedDays,
  engine: Engine,
  request: LevelRequest,
  counts: SeriesCounts,
): Promise<void> {
  const { matches } = compileFilters(request.filters, context);
  if (matches === "never") return;
  const rows = sql`SELECT ${idOf(request.attribute)} AS id, valid_from, valid_to ${overMatches(matches, context)}`;
  const stepOf = stepsOf(days, request.days.indexOf(days[0] ?? ""));
  for (const part of await engine.vectors(withTokens(rows, request.attribute, context)))
    counts.addRows(context.dictionary, part, stepOf);
}

async function countGrouped(
  days: IndexedDays,
  engine: Engine,
  request: LevelRequest,
  counts: SeriesCounts,
): Promise<void> {
  const rows = rowsOn(days, { ...request, statistics: [] });
  if (rows === undefined) return;
  const grouped = sql`
    SELECT id, coalesce(lo, hi) AS step, (if(lo IS NULL, -1, 1) * count(*))::INTEGER AS listings
    FROM   (${rows}) GROUP BY GROUPING SETS ((id, lo), (id, hi))`;
  for (const part of await engine.vectors(grouped)) counts.addChanges(days.context.dictionary, part);
}

/** Returns a function from a day, as days since 1970, to how many of the requested days are before it. */
function stepsOf(days: readonly string[], first: number): (day: number) => number {
  const times = days.map(epochDay);
  const [start = 0, end = 0] = [times[0], times.at(-1)];
  const steps = Int32Array.from(
    { length: end - start + 2 },
    (_, at) => first + times.filter((time) => time < start + at).length,
  );
  return (day) => steps[Math.max(0, Math.min(steps.length - 1, day - start))] as number;
}

/** How many listings a series has on a day, and their statistics. */
type Measured = ReadonlyMap<string, Pick<Level, "count" | "statistics">>;

/** Measures the matches that have the value of a series. Returns the statistics by series and day. */
async function measureSeries(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
  series: readonly Series[],
): Promise<Measured> {
  const { statistics } = request;
  if (statistics.length === 0) return new Map();
  const selects = indexed.flatMap((days) => {
    const rows = rowsOn(days, request);
    return rows === undefined ? [] : (withSeries(rows, days, series) ?? []);
  });
  if (selects.length === 0) return new Map();
  const rows = join(selects, sql` UNION ALL `);
  return statistics.every(({ aggregate }) => aggregate === "mean")
    ? sumStatistics(await engine.rows(summedStatement(rows, statistics)), request)
    : readStatistics(await engine.rows(expandedStatement(rows, statistics)), statistics);
}

/** Selects the rows that have the value of a series, with its number as `series`. Returns undefined without such rows. */
function withSeries(rows: Sql, { context }: IndexedDays, series: readonly Series[]): Sql | undefined {
  if (series[0] === allMatches) return sql`SELECT * EXCLUDE (id), 0 AS series FROM (${rows})`;
  const ids = series.map(({ idsIn }) => idsIn.get(context.dictionary) ?? []);
  const pairs = ids.flatMap((of, ordinal) => of.map((id) => sql`(${integerLiteral(id)}, ${integerLiteral(ordinal)})`));
  if (pairs.length === 0) return undefined;
  return sql`SELECT * EXCLUDE (id) FROM (${rows}) JOIN (VALUES ${join(pairs)}) AS series(id, series) USING (id)`;
}

/**
 * Returns a query for the statistics of each series on each day, from each row on each of its days. Rows with the same days are collected before
 * they are repeated for each day: half the time of repeating each row.
 */
function expandedStatement(rows: Sql, statistics: LevelRequest["statistics"]): Sql {
  const columns = statistics.flatMap(({ measure, aggregate }, index) => [
    sql`count(${ident(measure)})::INTEGER AS ${ident(`sample_${index}`)}`,
    sql`${metricOf(measure, aggregate, ident(measure))} AS ${ident(`metric_${index}`)}`,
  ]);
  const measures = [...new Set(statistics.map(({ measure }) => measure))].map((measure) => ident(measure));
  const lists = measures.map((measure) => sql`list(${measure}) AS ${measure}`);
  const unnested = measures.map((measure) => sql`unnest(${measure}) AS ${measure}`);
  return sql`
    SELECT series, step, count(*)::INTEGER AS listings, ${join(columns)}
    FROM (SELECT series, step, ${join(unnested)}
          FROM (SELECT * EXCLUDE (lo, hi), unnest(range(lo, hi))::INTEGER AS step
                FROM (SELECT series, lo, hi, ${join(lists)} FROM (${rows}) GROUP BY series, lo, hi)))
    GROUP BY series, step`;
}

const readStatistics = (rows: readonly Row[], statistics: LevelRequest["statistics"]): Measured =>
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

/** Returns a query for the changes of the number of known values of each measure, and of their sum, per series and day. */
function summedStatement(rows: Sql, statistics: LevelRequest["statistics"]): Sql {
  const sign = sql`if(lo IS NULL, -1, 1)`;
  const columns = statistics.flatMap(({ measure }, index) => [
    sql`(${sign} * count(${ident(measure)}))::INTEGER AS ${ident(`sample_${index}`)}`,
    sql`(${sign} * coalesce(sum(${ident(measure)}), 0))::DOUBLE AS ${ident(`sum_${index}`)}`,
  ]);
  return sql`
    SELECT series, coalesce(lo, hi) AS step, (${sign} * count(*))::INTEGER AS listings, ${join(columns)} FROM (${rows}) GROUP BY GROUPING SETS ((series, lo), (series, hi))`;
}

/** Adds up what `summedStatement` returned, day by day. Sums of integers below 2^53 are exact. */
function sumStatistics(rows: readonly Row[], { days, statistics }: LevelRequest): Measured {
  const names = ["listings", ...statistics.flatMap((_, index) => [`sample_${index}`, `sum_${index}`])];
  const changes = new Map<number, readonly Float64Array[]>();
  for (const row of rows) {
    const [series, step] = [integerIn(row, "series"), integerIn(row, "step")];
    const ofSeries = changes.get(series) ?? names.map(() => new Float64Array(days.length + 1));
    changes.set(series, ofSeries);
    for (const [place, change] of ofSeries.entries())
      change[step] = (change[step] as number) + Number(row[names[place] ?? ""]);
  }
  const measured = new Map<string, Pick<Level, "count" | "statistics">>();
  for (const [series, ofSeries] of changes) {
    const totals = names.map(() => 0);
    for (const step of days.keys()) {
      for (const [place, change] of ofSeries.entries()) totals[place] = (totals[place] ?? 0) + (change[step] ?? 0);
      const means = statistics.map(({ measure }, index) => {
        const [sample = 0, sum = 0] = totals.slice(1 + 2 * index);
        return { sample, metric: meanOf(measure, sample, sum) };
      });
      measured.set(placeOf(series, step), { count: totals[0] ?? 0, statistics: means });
    }
  }
  return measured;
}

/**
 * Selects `id` (of the value of the attribute, 0 without one), the measures, `lo` and `hi` of the matches in an index; one row for each day where
 * something depends on the day. Returns undefined without such rows.
 */
function rowsOn({ days, context }: IndexedDays, request: LevelRequest): Sql | undefined {
  const { filters, statistics } = request;
  const measures = [...new Set(statistics.map(({ measure }) => measure))];
  const daily = filters.filter(dependsOnDay);
  const settled = filters.filter((filter) => !dependsOnDay(filter));
  const { matches } = compileFilters(settled, context);
  if (matches === "never") return undefined;
  const selected = (of: IndexContext): Sql =>
    join([
      sql`${idOf(request.attribute)} AS id`,
      ...measures.map((measure) => sql`${numberOn(measure, of)} AS ${ident(measure)}`),
    ]);
  const first = integerLiteral(request.days.indexOf(days[0] ?? ""));
  const bounds = sql`${first} + ${daysBefore(days, sql`valid_from`)} AS lo, ${first} + ${daysBefore(days, sql`valid_to`)} AS hi`;
  if (daily.length === 0 && !measures.includes("days_on_market"))
    return withTokens(
      sql`SELECT ${selected(context)}, ${bounds} ${overMatches(matches, context)}`,
      request.attribute,
      context,
    );
  const dated = { ...context, day: sql`"day"` };
  const conditions = daily.map((filter) => conditionOf(filter, dated)).filter((one) => typeof one !== "string");
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${join(conditions, sql` AND `)}`;
  return withTokens(
    sql`SELECT ${selected(dated)}, step AS lo, step + 1 AS hi
      FROM (SELECT *, list_extract(${listOf(days.map(epochDay))}, step - ${first} + 1) AS "day"
            FROM (SELECT *, unnest(range(lo, hi))::INTEGER AS step FROM (SELECT *, ${bounds} ${overMatches(matches, context)})))
      ${where}`,
    request.attribute,
    context,
  );
}

/** Returns how many of the requested days are before a day, given as days since 1970. */
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

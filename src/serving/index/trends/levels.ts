/**
 * Levels of many days from search indexes.
 *
 * What adds up, the numbers of listings and means, follows from what each row adds on its first day and takes away after its last. Percentiles take
 * each row on each of its days; of an attribute with many values, only the rows of those with the most listings.
 */
import { integerIn, numberOrNull, type Row } from "../../../base/json.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../../db/sql.ts";
import { metricOf } from "../../../listing/aggregates.ts";
import type { Level, LevelRequest } from "../../../listing/source.ts";
import { withTokens } from "../conditions.ts";
import type { Dictionary } from "../dictionary.ts";
import { joinNumbers, valueNumbers } from "../value-numbers.ts";
import { boundsIn, type IndexedDays, measuresOf, rowsOn, rowsOnDay } from "./rows.ts";
import { meansOf, type Series, sumSeries } from "./sums.ts";

/** Returns `LakeVersion.measureLevels`. */
export async function measureLevels(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Level[]> {
  if (indexed.length === 0) return [];
  if (request.statistics.every(({ aggregate }) => aggregate === "mean"))
    return (await sumSeries(indexed, engine, request)).flatMap((series) => levelsOf(series, request));
  const { numbers, textOf } = await chooseSeries(indexed, engine, request);
  const statement = isDayByDay(request) ? dayByDay(indexed, request, numbers) : expanded(indexed, request, numbers);
  const measured = (await engine.rows(statement)).map((row) => readSeries(row, request));
  const known = measured.filter(({ series }) => textOf(series) !== null);
  return largest(known, request.limit).map(({ series, step, count, statistics }) => {
    const value = textOf(series) ?? "";
    const day = request.days[step] ?? "";
    return { day, key: value.toLowerCase(), value, count, statistics };
  });
}

/** Returns the levels of a series from its sums. */
const levelsOf = ({ key, value, sums }: Series, { days, statistics }: LevelRequest): readonly Level[] =>
  days.flatMap((day, step) => {
    const count = sums[0]?.[step] ?? 0;
    return count === 0 ? [] : [{ day, key, value, count, statistics: meansOf(sums, step, statistics) }];
  });

interface NumberedSeries {
  readonly numbers: SeriesNumbers;
  /** Returns the value of the series with a number; null if none is wanted. */
  readonly textOf: (series: number) => string | null;
}

/** Up to this many values, measuring all takes at most as long as to count first which have the most matches. */
const measuredValuesMax = 64;

/** Numbers the series of the values with the most matches, or of all if there are few. */
async function chooseSeries(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<NumberedSeries> {
  const { attribute, limit } = request;
  if (attribute === undefined) return { numbers: (rows) => rows, textOf: () => "" };
  const dictionaries = indexed.map(({ segment }) => segment.dictionary);
  const { count, same, textOf, in: rowsIn } = valueNumbers(attribute, dictionaries);
  if (count <= Math.max(limit, measuredValuesMax) && same.length === 0)
    return { numbers: (rows, dictionary) => rowsIn(rows, sql`id`, dictionary), textOf };
  const chosen = await sumSeries(indexed, engine, { ...request, statistics: [] });
  return {
    numbers: (rows, dictionary) => {
      const pairs = chosen.flatMap(({ idsIn }, series) =>
        (idsIn.get(dictionary) ?? []).map((id): readonly [number, number] => [id, series]),
      );
      return joinNumbers(rows, sql`id`, pairs);
    },
    textOf: (series) => chosen[series]?.value ?? null,
  };
}

/** Sorts by the number of listings of each series over all days, then by the numbers of series and day. Omits all but the largest series. */
function largest(measured: readonly SeriesOnDay[], limit: number): readonly SeriesOnDay[] {
  const totals = new Map<number, number>();
  for (const { series, count } of measured) totals.set(series, (totals.get(series) ?? 0) + count);
  const ranked = [...totals].sort(([one, total], [other, otherTotal]) => otherTotal - total || one - other);
  const ranks = new Map(ranked.slice(0, limit).map(([series], rank) => [series, rank]));
  const rankOf = ({ series }: SeriesOnDay): number => ranks.get(series) ?? limit;
  return measured
    .filter(({ series }) => ranks.has(series))
    .sort((one, other) => rankOf(one) - rankOf(other) || one.step - other.step);
}

/** How many listings a series has on a requested day, both given by their numbers, and their statistics. */
interface SeriesOnDay extends Pick<Level, "count" | "statistics"> {
  readonly series: number;
  readonly step: number;
}

/** Selects rows of an index, given with `id`, with the number of their series instead. Rows without one may be left out. */
type SeriesNumbers = (rows: Sql, dictionary: Dictionary) => Sql;

/**
 * Whether the statement scans the rows separately for each day: of a million listings, two days take half the time of `expanded`, eight days as
 * much. Of few matches, only two days take less.
 */
const isDayByDay = ({ days, filters }: LevelRequest): boolean => days.length <= (filters.length === 0 ? 8 : 2);

function dayByDay(indexed: readonly IndexedDays[], request: LevelRequest, numbers: SeriesNumbers): Sql {
  const ofDays = request.days.flatMap((day, step) => {
    const rows = indexed
      .filter(({ days }) => days.includes(day))
      .map((of) => withSeries(rowsOnDay(day, of, request), of, request, numbers));
    const ofDay = sql`
      SELECT series, ${integerLiteral(step)} AS step, ${columnsOf(request)} FROM (${join(rows, sql` UNION ALL `)}) GROUP BY series`;
    return rows.length === 0 ? [] : ofDay;
  });
  return join(ofDays, sql` UNION ALL `);
}

/** Rows with the same days are collected before they are repeated for each day: half the time of repeating each row. */
function expanded(indexed: readonly IndexedDays[], request: LevelRequest, numbers: SeriesNumbers): Sql {
  const selects = indexed.map((of) => {
    const [lo, hi] = boundsIn(of.days);
    const first = integerLiteral(request.days.indexOf(of.days[0] ?? ""));
    const rows = withSeries(rowsOn(of, request), of, request, numbers);
    return sql`SELECT * EXCLUDE (valid_from, valid_to), ${first} + ${lo} AS lo, ${first} + ${hi} AS hi FROM (${rows})`;
  });
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

/** Selects rows with the number of their series as `series` instead of the id. */
function withSeries(rows: Sql, of: IndexedDays, { attribute }: LevelRequest, numbers: SeriesNumbers): Sql {
  const numbered = numbers(withTokens(rows, attribute, of), of.segment.dictionary);
  return sql`SELECT id AS series, * EXCLUDE (id) FROM (${numbered})`;
}

const columnsOf = ({ statistics }: LevelRequest): Sql =>
  join([
    sql`count(*)::INTEGER AS listings`,
    ...statistics.flatMap(({ measure, aggregate }, index) => [
      sql`count(${ident(measure)})::INTEGER AS ${ident(`sample_${index}`)}`,
      sql`${metricOf(measure, aggregate, ident(measure))} AS ${ident(`metric_${index}`)}`,
    ]),
  ]);

const readSeries = (row: Row, { statistics }: LevelRequest): SeriesOnDay => ({
  series: integerIn(row, "series"),
  step: integerIn(row, "step"),
  count: integerIn(row, "listings"),
  statistics: statistics.map((_, index) => ({
    sample: integerIn(row, `sample_${index}`),
    metric: numberOrNull(row[`metric_${index}`]),
  })),
});

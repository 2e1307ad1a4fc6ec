/** Sums of many days from search indexes: the numbers of listings, and what means follow from. */
import { forEachInTurns } from "../../../base/concurrency.ts";
import { epochDay } from "../../../base/day.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../../db/sql.ts";
import { meanOf } from "../../../listing/aggregates.ts";
import type { Level, LevelRequest, Statistic } from "../../../listing/source.ts";
import { withTokens } from "../conditions.ts";
import { type IndexedDays, isDaily, rowsOn, rowsOnDay } from "./rows.ts";
import { type Series, SeriesSums } from "./series-sums.ts";

/** Sums up the matches by value on each day, `statistics` as means. Returns the values with the most matches. */
export async function sumSeries(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Series[]> {
  const sums = new SeriesSums(request);
  await Promise.all(indexed.map((of) => addGrouped(of, engine, request, sums)));
  return sums.mostFrequent();
}

async function addGrouped(of: IndexedDays, engine: Engine, request: LevelRequest, sums: SeriesSums): Promise<void> {
  const isScanned = of.days.length <= scannedDaysMax;
  const grouped = isScanned ? countedOnDays(of, request) : changesOf(of, request);
  const { dictionary } = of.segment;
  const stepOf = stepsOf(of, request);
  await forEachInTurns(await engine.vectors(withTokens(grouped, request.attribute, of)), (vectors) => {
    sums.addChanges({ dictionary, vectors, stepOf, sign: 1 });
    if (isScanned || isDaily(request))
      sums.addChanges({ dictionary, vectors, stepOf: (day) => stepOf(day + 1), sign: -1 });
  });
}

/** Up to this many days, scanning the rows of each takes half the time of grouping all. */
const scannedDaysMax = 2;

function countedOnDays(of: IndexedDays, request: LevelRequest): Sql {
  const ofDays = of.days.map((day) => {
    const onDay = integerLiteral(epochDay(day));
    const rows = rowsOnDay(day, of, request);
    return sql`SELECT id, ${onDay} AS "day", ${join(sumsOf(request, sql`1`))} FROM (${rows}) GROUP BY id`;
  });
  return join(ofDays, sql` UNION ALL `);
}

/**
 * The rows are grouped by their own days, which takes half the time of finding requested days in each row. If the engine knows the first of these,
 * it groups in an array.
 */
function changesOf(of: IndexedDays, request: LevelRequest): Sql {
  const rows = rowsOn(of, request);
  const { ended, since } = of.segment.counts;
  if (ended === 0 || isDaily(request))
    return sql`
      SELECT id, valid_from AS "day", ${join(sumsOf(request, sql`1`))}
      FROM   (${rows}) WHERE valid_from >= ${integerLiteral(since)} GROUP BY id, valid_from`;
  const sign = sql`if(valid_from IS NULL, -1, 1)`;
  return sql`
    SELECT id, coalesce(valid_from, valid_to) AS "day", ${join(sumsOf(request, sign))}
    FROM   (${rows}) GROUP BY GROUPING SETS ((id, valid_from), (id, valid_to))`;
}

/** Returns the sums of a series, as integers: the number of listings, and three for each mean. */
const sumsOf = ({ statistics }: LevelRequest, sign: Sql): readonly Sql[] =>
  [sql`count(*)`, ...statistics.flatMap(({ measure }) => sumsFor(ident(measure)))].map(
    (sum) => sql`(${sign} * ${sum})::INTEGER`,
  );

/** A sum of units is two integers: vectors have 32 bits. */
const sumPart = 2 ** 30;
const sumsOfMean = 3;

/** Returns the number of known values of a measure, and both parts of their sum. */
function sumsFor(measure: Sql): readonly Sql[] {
  const sum = sql`coalesce(sum(${measure}), 0)::BIGINT`;
  return [sql`count(${measure})`, sql`${sum} // ${integerLiteral(sumPart)}`, sql`${sum} % ${integerLiteral(sumPart)}`];
}

/** Returns the means of a series on a day. Sums of integers below 2^53 are exact. */
export const meansOf = (sums: Series["sums"], step: number, statistics: readonly Statistic[]): Level["statistics"] =>
  statistics.map(({ measure }, index) => {
    const first = 1 + index * sumsOfMean;
    const [sample = 0, high = 0, low = 0] = sums.slice(first, first + sumsOfMean).map((sum) => sum[step]);
    return { sample, metric: meanOf(measure, sample, high * sumPart + low) };
  });

/** Returns a function from a day, as days since 1970, to how many of the requested days are before it. */
function stepsOf({ days }: IndexedDays, request: LevelRequest): (day: number) => number {
  const first = request.days.indexOf(days[0] ?? "");
  const times = days.map(epochDay);
  const start = times[0] ?? 0;
  const end = times.at(-1) ?? 0;
  const steps = Int32Array.from(
    { length: end - start + 2 },
    (_, at) => first + times.filter((time) => time < start + at).length,
  );
  return (day) => steps[Math.max(0, Math.min(steps.length - 1, day - start))] as number;
}

/**
 * Levels of many days from search indexes.
 *
 * What adds up, the numbers of listings and means, follows from what each row adds on its first day and takes away after its last. Percentiles take
 * each row on each of its days; of an attribute with many values, only the rows of those with the most listings.
 */
import type { Engine } from "../../../db/session-pool.ts";
import { sql } from "../../../db/sql.ts";
import type { Level, LevelRequest } from "../../../listing/source.ts";
import { joinNumbers, valueNumbers } from "../value-numbers.ts";
import { measureOnDays, type SeriesNumbers, type SeriesOnDay } from "./percentiles.ts";
import type { IndexedDays } from "./rows.ts";
import type { Series } from "./series-sums.ts";
import { meansOf, sumSeries } from "./sums.ts";

/** Returns `LakeVersion.measureLevels`. */
export async function measureLevels(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Level[]> {
  if (request.statistics.every(({ aggregate }) => aggregate === "mean"))
    return (await sumSeries(indexed, engine, request)).flatMap((series) => levelsOf(series, request));
  const { numbers, textOf } = await chooseSeries(indexed, engine, request);
  const measured = await measureOnDays(indexed, engine, request, numbers);
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
      return pairs.length === 0 ? undefined : joinNumbers(rows, sql`id`, pairs);
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

/**
 * Levels of many days from search indexes.
 *
 * What adds up, the numbers of listings and means, follows from what each row adds on its first day and takes away after its last. Percentiles take
 * each row on each of its days; with an attribute, only the rows of the values with the most listings.
 */
import type { Engine } from "../../../db/session-pool.ts";
import type { Level, LevelRequest } from "../../../listing/trend-source.ts";
import { measureOnDays, placeOf } from "./percentiles.ts";
import type { IndexedDays } from "./rows.ts";
import type { Series } from "./series-sums.ts";
import { meansOf, sumSeries } from "./sums.ts";

/** Returns `TrendSource.measureLevels`. */
export async function measureLevels(
  indexed: readonly IndexedDays[],
  engine: Engine,
  request: LevelRequest,
): Promise<readonly Level[]> {
  const { days, attribute, statistics } = request;
  const addsUp = statistics.every(({ aggregate }) => aggregate === "mean");
  const summed = addsUp ? statistics : [];
  const series =
    addsUp || attribute !== undefined
      ? await sumSeries(indexed, engine, { ...request, statistics: summed })
      : [allMatches];
  const measured = addsUp ? undefined : await measureOnDays(indexed, engine, request, series);
  return series.flatMap(({ key, value, sums }, ordinal) =>
    days.flatMap((day, step): readonly Level[] => {
      const found = measured?.get(placeOf(ordinal, step));
      const count = sums[0]?.[step] ?? found?.count ?? 0;
      return count === 0
        ? []
        : [{ day, key, value, count, statistics: found?.statistics ?? meansOf(sums, step, summed) }];
    }),
  );
}

/** The series of all matches, without their numbers: a statement for percentiles counts them too. */
const allMatches: Series = { key: "", value: "", sums: [], idsIn: new Map() };

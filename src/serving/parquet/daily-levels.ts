/** Levels of many days from Parquet files: each day is counted and measured like a single one. */

import type { ListingSource } from "../../listing/source.ts";
import type { Level, LevelRequest } from "../../listing/trend-source.ts";
import { compareValues } from "../../listing/values.ts";

/** How many days are measured at once. */
const daysAtOnce = 8;

/** Returns `TrendSource.measureLevels`. `sourceOn` returns the listings of a day. */
export async function measureLevelsByDay(
  sourceOn: (day: string) => ListingSource,
  request: LevelRequest,
): Promise<readonly Level[]> {
  const levels: Level[] = [];
  for (let at = 0; at < request.days.length; at += daysAtOnce) {
    const days = request.days.slice(at, at + daysAtOnce);
    levels.push(...(await Promise.all(days.map((day) => levelsOn(day, sourceOn(day), request)))).flat());
  }
  return mostFrequent(levels, request);
}

/** Returns the levels of a day, one for each value. */
async function levelsOn(
  day: string,
  source: ListingSource,
  { filters, attribute, statistics }: LevelRequest,
): Promise<readonly Level[]> {
  const all = { filters, limit: 2 ** 31 - 1, sort: "-count" } as const;
  const attributes = attribute === undefined ? [] : [attribute];
  const { total, values } = await source.countValues({ ...all, attributes, numbers: [], rangesOf: () => [] });
  const counted = attribute === undefined ? [{ value: "", count: total }] : (values.get(attribute) ?? []);
  const measured = await Promise.all(
    statistics.map(async (statistic) => {
      const found = await source.measureValues({ ...all, ...statistic, attribute });
      return new Map(found.values.map(({ value, sample, metric }) => [value.toLowerCase(), { sample, metric }]));
    }),
  );
  return counted
    .filter(({ count }) => count > 0)
    .map(({ value, count }) => {
      const key = value.toLowerCase();
      return { day, key, value, count, statistics: measured.map((of) => of.get(key) ?? { sample: 0, metric: null }) };
    });
}

/** Returns the levels of the values with the most listings over all days, those with more first; ties go by value. */
function mostFrequent(levels: readonly Level[], { attribute, limit }: LevelRequest): readonly Level[] {
  if (attribute === undefined) return levels;
  const order = compareValues(attribute);
  const series = new Map<
    string,
    { readonly value: string; readonly total: number; readonly levels: readonly Level[] }
  >();
  for (const level of levels) {
    const { value, total, levels: before } = series.get(level.key) ?? { value: level.value, total: 0, levels: [] };
    const spelling = order(level.value, value) < 0 ? level.value : value;
    series.set(level.key, { value: spelling, total: total + level.count, levels: [...before, level] });
  }
  return [...series.values()]
    .sort((one, other) => other.total - one.total || order(one.value, other.value))
    .slice(0, limit)
    .flatMap(({ value, levels: of }) => of.map((level) => ({ ...level, value })));
}

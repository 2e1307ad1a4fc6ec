/** Sums of many days from search indexes: the numbers of listings, and what means follow from. */

import { epochDay } from "../../../base/day.ts";
import { forEachInTurns } from "../../../base/turns.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../../db/sql.ts";
import { meanOf } from "../../../listing/aggregates.ts";
import type { Level, LevelRequest, Statistic } from "../../../listing/source.ts";
import { compareValues } from "../../../listing/values.ts";
import { unknownId } from "../build.ts";
import { none } from "../columns.ts";
import { withTokens } from "../conditions.ts";
import type { Dictionary } from "../dictionary.ts";
import { type IndexedDays, isDaily, rowsOn, rowsOnDay } from "./rows.ts";

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

/** The listings that have one value, which is empty without an attribute. */
export interface Series {
  /** Equal for all spellings of the value. */
  readonly key: string;
  readonly value: string;
  /** The number of listings on each requested day, then other sums over them. */
  readonly sums: readonly Float64Array[];
  readonly idsIn: ReadonlyMap<Dictionary, readonly number[]>;
}

/** Vectors of ids, of days, and of by how much each sum grows from then on, or shrinks. */
interface Changes {
  readonly dictionary: Dictionary;
  readonly vectors: readonly Int32Array[];
  /** Numbers the days. */
  readonly stepOf: (day: number) => number;
  readonly sign: 1 | -1;
}

class SeriesSums {
  private readonly numbers = new Map<string, number>();
  /** The value of each series. */
  private readonly values: string[] = [];
  /** The series of each id that has occurred in a dictionary. */
  private readonly known = new Map<Dictionary, number[]>();
  /** By how much the number of listings grows on each requested day, series by series: an array for each would be most of the work of thousands. */
  private listings = new Float64Array(0);
  private readonly added: Changes[] = [];

  private readonly width: number;

  constructor(private readonly request: Pick<LevelRequest, "days" | "attribute" | "limit">) {
    this.width = request.days.length + 1;
  }

  /** Adds the numbers of listings. The other sums wait for the series to be chosen: an attribute may have many times more values. */
  addChanges(changes: Changes): void {
    this.added.push(changes);
    this.forEach(changes, 0, (series, step, by) => {
      const at = series * this.width + step;
      this.listings[at] = (this.listings[at] as number) + by;
    });
  }

  /** Returns the series with the most listings over all days, the largest first; ties go by value. */
  async mostFrequent(): Promise<readonly Series[]> {
    const { attribute, limit } = this.request;
    const order = attribute === undefined ? () => 0 : compareValues(attribute);
    const totals = Float64Array.from(this.values, (_, series) => totalOf(this.listingsOf(series)));
    // Comparing the values of thousands of series takes longer than all else.
    const least = totals.slice().sort().at(-limit) ?? 0;
    const totalAt = (series: number): number => totals[series] as number;
    const valueAt = (series: number): string => this.values[series] as string;
    const chosen = [...totals.keys()]
      .filter((series) => totalAt(series) > 0 && totalAt(series) >= least)
      .sort((one, other) => totalAt(other) - totalAt(one) || order(valueAt(one), valueAt(other)))
      .slice(0, attribute === undefined ? 1 : limit);
    const others = await this.othersOf(chosen);
    const idsIn = this.idsOf(chosen);
    return chosen.map((series, rank) => {
      const sums = [this.listingsOf(series), ...(others.get(series) ?? [])].map(addedUp);
      return { key: valueAt(series).toLowerCase(), value: valueAt(series), sums, idsIn: idsIn[rank] ?? new Map() };
    });
  }

  /** Returns the ids of some series in each dictionary. */
  private idsOf(chosen: readonly number[]): readonly Map<Dictionary, number[]>[] {
    const found = chosen.map(() => new Map<Dictionary, number[]>());
    const ranks = new Map(chosen.map((series, rank) => [series, rank]));
    for (const [dictionary, known] of this.known) {
      for (const ids of found) ids.set(dictionary, []);
      known.forEach((series, id) => void found[ranks.get(series) ?? -1]?.get(dictionary)?.push(id));
    }
    return found;
  }

  /** Returns by how much each of the other sums of some series grows on each day. */
  private async othersOf(chosen: readonly number[]): Promise<ReadonlyMap<number, readonly Float64Array[]>> {
    const indexes = [...(this.added[0]?.vectors.keys() ?? [])]
      .slice(identifying + 1)
      .map((index) => index - identifying);
    const others = new Map(chosen.map((series) => [series, indexes.map(() => new Float64Array(this.width))]));
    await forEachInTurns(this.added, (changes) => {
      for (const [at, index] of indexes.entries())
        this.forEach(changes, index, (series, step, by) => {
          const sums = others.get(series)?.[at];
          if (sums !== undefined) sums[step] = (sums[step] as number) + by;
        });
    });
    return others;
  }

  /** Passes by how much one of the sums grows to `add`, with the series and the requested day. */
  private forEach(
    { dictionary, vectors: [ids = none, days = none, ...sums], stepOf, sign }: Changes,
    index: number,
    add: (series: number, step: number, by: number) => void,
  ): void {
    const known = this.known.get(dictionary) ?? [];
    this.known.set(dictionary, known);
    const by = sums[index] ?? none;
    for (let at = 0; at < by.length; at += 1) {
      const id = ids[at] as number;
      if (id === unknownId && this.request.attribute !== undefined) continue;
      known[id] ??= this.open(dictionary, id);
      add(known[id], stepOf(days[at] as number), sign * (by[at] as number));
    }
  }

  private listingsOf(series: number): Float64Array {
    return this.listings.subarray(series * this.width, (series + 1) * this.width);
  }

  /** Returns the series of a value. */
  private open(dictionary: Dictionary, id: number): number {
    const value = this.request.attribute === undefined ? "" : dictionary.valueOf(id);
    const key = value.toLowerCase();
    const series = this.numbers.get(key) ?? this.values.length;
    this.numbers.set(key, series);
    const known = this.values[series];
    if (known === undefined || value < known) this.values[series] = value;
    const before = this.listings;
    if (this.values.length * this.width <= before.length) return series;
    this.listings = new Float64Array(2 * this.values.length * this.width);
    this.listings.set(before);
    return series;
  }
}

/** Returns the number of listings over all days. */
function totalOf(listings: Float64Array): number {
  let total = 0;
  const days = listings.length - 1;
  for (let day = 0; day < days; day += 1) total += (listings[day] as number) * (days - day);
  return total;
}

/** Returns the sums on each day, given by how much they grow on each. */
function addedUp(changes: Float64Array): Float64Array {
  let sum = 0;
  return changes.subarray(0, -1).map((change) => (sum += change));
}

/** The vectors of changes that are no sums: ids and days. */
const identifying = 2;

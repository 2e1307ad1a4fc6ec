/** Sums over the listings of each value and day, added up over the indexes of many months. */

import type { LevelRequest } from "../../../listing/trend-source.ts";
import { compareValues } from "../../../listing/values.ts";
import { unknownId } from "../build.ts";
import type { Dictionary } from "../dictionary.ts";

/** The listings that have one value, which is empty without an attribute. */
export interface Series {
  /** Equal for all spellings of the value. */
  readonly key: string;
  readonly value: string;
  /** The number of listings on each requested day, then other sums over them. */
  readonly sums: readonly Float64Array[];
  readonly idsIn: ReadonlyMap<Dictionary, readonly number[]>;
}

interface OpenSeries extends Omit<Series, "sums"> {
  value: string;
  /** By how much each sum grows on each requested day. */
  readonly changes: readonly Float64Array[];
  readonly idsIn: Map<Dictionary, number[]>;
}

export class SeriesSums {
  private readonly series = new Map<string, OpenSeries>();
  /** The changes of each id that has occurred in a dictionary. */
  private readonly known = new Map<Dictionary, (readonly Float64Array[])[]>();

  /** `width` is the number of sums. */
  constructor(
    private readonly request: Pick<LevelRequest, "days" | "attribute" | "limit">,
    private readonly width: number,
  ) {}

  /** Adds listings: vectors of ids, of the first day and of the day after the last on which each counts. `stepOf` numbers the days. */
  addRows(
    dictionary: Dictionary,
    [ids = none, from = none, to = none]: readonly Int32Array[],
    stepOf: (day: number) => number,
  ): void {
    for (let at = 0; at < ids.length; at += 1) {
      const [changes] = this.changesOf(dictionary, ids[at] as number) ?? [];
      if (changes === undefined) continue;
      const [begin, end] = [stepOf(from[at] as number), stepOf(to[at] as number)];
      changes[begin] = (changes[begin] as number) + 1;
      changes[end] = (changes[end] as number) - 1;
    }
  }

  /** Adds changes: vectors of ids, of days, and of by how much each sum grows from then on, or shrinks. */
  addChanges(
    dictionary: Dictionary,
    [ids = none, days = none, ...sums]: readonly Int32Array[],
    { stepOf, sign }: { readonly stepOf: (day: number) => number; readonly sign: 1 | -1 },
  ): void {
    for (let at = 0; at < ids.length; at += 1) {
      const changes = this.changesOf(dictionary, ids[at] as number);
      if (changes === undefined) continue;
      const step = stepOf(days[at] as number);
      for (let place = 0; place < sums.length; place += 1) {
        const [of, by] = [changes[place] as Float64Array, sums[place] as Int32Array];
        of[step] = (of[step] as number) + sign * (by[at] as number);
      }
    }
  }

  /** Returns the series with the most listings over all days, the largest first; ties go by value. */
  mostFrequent(): readonly Series[] {
    const { attribute, limit } = this.request;
    const order = attribute === undefined ? () => 0 : compareValues(attribute);
    return [...this.series.values()]
      .map(({ changes, ...series }) => {
        const sums = changes.map(addedUp);
        return { series: { ...series, sums }, total: sums[0]?.reduce((sum, one) => sum + one, 0) ?? 0 };
      })
      .filter(({ total }) => total > 0)
      .sort((one, other) => other.total - one.total || order(one.series.value, other.series.value))
      .slice(0, attribute === undefined ? 1 : limit)
      .map(({ series }) => series);
  }

  /** Returns the changes of a value; undefined if it is unknown. */
  private changesOf(dictionary: Dictionary, id: number): readonly Float64Array[] | undefined {
    if (id === unknownId && this.request.attribute !== undefined) return undefined;
    const known = this.known.get(dictionary) ?? [];
    this.known.set(dictionary, known);
    known[id] ??= this.openSeries(dictionary, id).changes;
    return known[id];
  }

  private openSeries(dictionary: Dictionary, id: number): OpenSeries {
    const { attribute, days } = this.request;
    const value = attribute === undefined ? "" : dictionary.valueOf(id);
    const key = value.toLowerCase();
    const changes = Array.from({ length: this.width }, () => new Float64Array(days.length + 1));
    const series = this.series.get(key) ?? { key, value, changes, idsIn: new Map<Dictionary, number[]>() };
    if (value < series.value) series.value = value;
    series.idsIn.set(dictionary, [...(series.idsIn.get(dictionary) ?? []), id]);
    this.series.set(key, series);
    return series;
  }
}

/** Returns the sums on each day, given by how much they grow on each. */
function addedUp(changes: Float64Array): Float64Array {
  let sum = 0;
  return changes.subarray(0, -1).map((change) => (sum += change));
}

const none = new Int32Array();

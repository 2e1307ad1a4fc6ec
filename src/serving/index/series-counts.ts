/** Counts of listings by value and day, added up over the indexes of many months. */

import type { LevelRequest } from "../../listing/trend-source.ts";
import { compareValues } from "../../listing/values.ts";
import type { Dictionary } from "./dictionary.ts";
import { unknownId } from "./ids.ts";

/** The listings that have one value, which is empty without an attribute. */
export interface Series {
  /** Equal for all spellings of the value. */
  readonly key: string;
  readonly value: string;
  /** The number of listings on each requested day. */
  readonly counts: Int32Array;
  /** The ids of the value in each index. */
  readonly idsIn: ReadonlyMap<Dictionary, readonly number[]>;
}

interface OpenSeries extends Omit<Series, "counts"> {
  value: string;
  /** How many listings more count from each requested day on. */
  readonly changes: Int32Array;
  readonly idsIn: Map<Dictionary, number[]>;
}

export class SeriesCounts {
  private readonly series = new Map<string, OpenSeries>();
  /** The changes of each id that has occurred in a dictionary. */
  private readonly known = new Map<Dictionary, Map<number, Int32Array>>();

  constructor(private readonly request: Pick<LevelRequest, "days" | "attribute" | "limit">) {}

  /** Adds vectors of ids, of the numbers of days, and of how many listings more count from then on. `dictionaryAt` returns the dictionary of an id. */
  add(
    dictionaryAt: (at: number) => Dictionary | undefined,
    [ids = none, steps = none, listings = none]: readonly Int32Array[],
  ): void {
    for (let at = 0; at < ids.length; at += 1) {
      const [id, step, dictionary] = [ids[at] as number, steps[at] as number, dictionaryAt(at)];
      if (dictionary === undefined || (id === unknownId && this.request.attribute !== undefined)) continue;
      const changes = this.changesOf(dictionary, id);
      changes[step] = (changes[step] as number) + (listings[at] as number);
    }
  }

  /** Returns the series with the most listings over all days, the largest first; ties go by value. */
  mostFrequent(): readonly Series[] {
    const { attribute, limit } = this.request;
    const order = attribute === undefined ? () => 0 : compareValues(attribute);
    return [...this.series.values()]
      .map(({ changes, ...series }) => {
        let count = 0;
        const counts = changes.subarray(0, -1).map((change) => (count += change));
        return { series: { ...series, counts }, total: counts.reduce((sum, one) => sum + one, 0) };
      })
      .filter(({ total }) => total > 0)
      .sort((one, other) => other.total - one.total || order(one.series.value, other.series.value))
      .slice(0, attribute === undefined ? 1 : limit)
      .map(({ series }) => series);
  }

  private changesOf(dictionary: Dictionary, id: number): Int32Array {
    const ofDictionary = this.known.get(dictionary) ?? new Map<number, Int32Array>();
    this.known.set(dictionary, ofDictionary);
    const changes = ofDictionary.get(id) ?? this.openSeries(dictionary, id).changes;
    ofDictionary.set(id, changes);
    return changes;
  }

  private openSeries(dictionary: Dictionary, id: number): OpenSeries {
    const value = this.request.attribute === undefined ? "" : dictionary.valueOf(id);
    const key = value.toLowerCase();
    const changes = new Int32Array(this.request.days.length + 1);
    const series = this.series.get(key) ?? { key, value, changes, idsIn: new Map<Dictionary, number[]>() };
    if (value < series.value) series.value = value;
    series.idsIn.set(dictionary, [...(series.idsIn.get(dictionary) ?? []), id]);
    this.series.set(key, series);
    return series;
  }
}

const none = new Int32Array();

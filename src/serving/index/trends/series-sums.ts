/** Sums over the listings of each value and day, added up over the indexes of many months. */
import type { LevelRequest } from "../../../listing/source.ts";
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
  /** By how much each sum grows on each requested day: the number of listings, and the others once the series is chosen. */
  readonly changes: Float64Array[];
  readonly idsIn: Map<Dictionary, number[]>;
}

/** Vectors of ids, of days, and of by how much each sum grows from then on, or shrinks. */
interface Changes {
  readonly dictionary: Dictionary;
  readonly vectors: readonly Int32Array[];
  /** Numbers the days. */
  readonly stepOf: (day: number) => number;
  readonly sign: 1 | -1;
}

export class SeriesSums {
  private readonly series = new Map<string, OpenSeries>();
  /** The changes of each id that has occurred in a dictionary. */
  private readonly known = new Map<Dictionary, (readonly Float64Array[])[]>();
  private readonly added: Changes[] = [];

  constructor(private readonly request: Pick<LevelRequest, "days" | "attribute" | "limit">) {}

  /** Adds listings: vectors of ids, of the first day and of the day after the last on which each counts. `stepOf` numbers the days. */
  addRows(
    dictionary: Dictionary,
    [ids = none, from = none, to = none]: readonly Int32Array[],
    stepOf: (day: number) => number,
  ): void {
    for (let at = 0; at < ids.length; at += 1) {
      const [changes] = this.changesOf(dictionary, ids[at] as number) ?? [];
      if (changes === undefined) continue;
      const begin = stepOf(from[at] as number);
      const end = stepOf(to[at] as number);
      changes[begin] = (changes[begin] as number) + 1;
      changes[end] = (changes[end] as number) - 1;
    }
  }

  /** Adds the numbers of listings. The other sums wait for the series to be chosen: an attribute may have many times more values. */
  addChanges(changes: Changes): void {
    this.add(changes, 0);
    this.added.push(changes);
  }

  /** Returns the series with the most listings over all days, the largest first; ties go by value. */
  mostFrequent(): readonly Series[] {
    const { attribute, limit } = this.request;
    const order = attribute === undefined ? () => 0 : compareValues(attribute);
    const totals = [...this.series.values()].map((series) => ({ series, total: totalOf(series) }));
    // Comparing the values of thousands of series takes longer than all else.
    const sorted = Float64Array.from(totals, ({ total }) => total).sort();
    const chosen = totals
      .filter(({ total }) => total > 0 && total >= (sorted.at(-limit) ?? 0))
      .sort((one, other) => other.total - one.total || order(one.series.value, other.series.value))
      .slice(0, attribute === undefined ? 1 : limit)
      .map(({ series }) => series);
    this.addOthers(chosen);
    return chosen.map(({ changes, ...series }) => ({ ...series, sums: changes.map(addedUp) }));
  }

  private addOthers(chosen: readonly OpenSeries[]): void {
    const width = this.added[0]?.vectors.length ?? 0;
    for (let index = 1; index < width - identifying; index += 1) {
      for (const { changes } of chosen) changes.push(this.noChanges());
      for (const added of this.added) this.add(added, index);
    }
  }

  /** Adds one of the sums, of the series that have it. */
  private add({ dictionary, vectors: [ids = none, days = none, ...sums], stepOf, sign }: Changes, index: number): void {
    const by = sums[index] ?? none;
    for (let at = 0; at < by.length; at += 1) {
      const changes = this.changesOf(dictionary, ids[at] as number)?.[index];
      if (changes === undefined) continue;
      const step = stepOf(days[at] as number);
      changes[step] = (changes[step] as number) + sign * (by[at] as number);
    }
  }

  private noChanges(): Float64Array {
    return new Float64Array(this.request.days.length + 1);
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
    const { attribute } = this.request;
    const value = attribute === undefined ? "" : dictionary.valueOf(id);
    const key = value.toLowerCase();
    const changes = [this.noChanges()];
    const series = this.series.get(key) ?? { key, value, changes, idsIn: new Map<Dictionary, number[]>() };
    if (value < series.value) series.value = value;
    series.idsIn.set(dictionary, [...(series.idsIn.get(dictionary) ?? []), id]);
    this.series.set(key, series);
    return series;
  }
}

/** Returns the number of listings over all days. */
function totalOf({ changes: [listings = new Float64Array()] }: OpenSeries): number {
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

const none = new Int32Array();

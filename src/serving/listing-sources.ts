/** The listing sources of a version over its search indexes: of one day, of several days, and of sold listings. */
import { plusDays } from "../base/day.ts";
import type { Engine } from "../db/session-pool.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { LakeFile } from "../lake/manifest.ts";
import { supplyWindowStart } from "../listing/aggregates.ts";
import type { Filter } from "../listing/filter.ts";
import { life } from "../listing/lifecycle-rules.ts";
import type {
  EventCount,
  EventRequest,
  Level,
  LevelRequest,
  MeasureRequest,
  MeasureResult,
} from "../listing/source.ts";
import { hasDay, type IndexPart, type ServingOptions } from "./files/serving-parts.ts";
import type { Dictionary } from "./index/dictionary.ts";
import { measureGroups } from "./index/groups.ts";
import type { IndexedRows } from "./index/indexed-rows.ts";
import { idsIn } from "./index/ordered-matches.ts";
import type { Segment, SegmentRows } from "./index/segment.ts";
import { countEvents } from "./index/trends/events.ts";
import { measureLevels } from "./index/trends/levels.ts";
import { soldFilesSince } from "./listing-files.ts";

/** Runs a request on the listings of an inventory, in the segments that have some of them. */
export type AskListings = <T>(request: (parts: readonly SegmentRows[]) => Promise<T>) => Promise<T>;

/** Runs a request on the indexes of some parts. */
export type RunOnIndexes = <T>(
  parts: readonly IndexPart[],
  request: (segments: readonly Segment[]) => Promise<T>,
) => Promise<T>;

/** The catalog with the tables `comparables` and `price_effects`, and a query for the ids of the listings that match filters as they were last observed. */
export interface ServedMarket {
  readonly catalog: string;
  readonly idsOf: (filters: readonly Filter[]) => Sql;
}

export class ListingSources {
  constructor(
    private readonly parts: readonly IndexPart[],
    private readonly options: Pick<ServingOptions, "manifest">,
    private readonly runOnIndexes: RunOnIndexes,
  ) {}

  /** Asks the listings of a day. */
  on(day: string): AskListings {
    const isToday = day === this.options.manifest.as_of;
    return this.asking(
      (rows) => (isToday ? rows.today !== undefined : hasDay(rows, day)),
      (segment) => (isToday ? segment.today : segment.on(day)),
    );
  }

  /** Asks the intervals that hold on a day from `first` to `last`. */
  between(first: string, last: string): AskListings {
    return this.asking(
      (rows) => rows.first <= last && rows.last >= first,
      // Days on market follow from a single day.
      (segment) => ({ ...segment.between(first, last), day: sql`NULL::INTEGER` }),
    );
  }

  /** Asks the listings in some files of `sold`, and perhaps others that were sold. */
  soldIn(files: readonly LakeFile[]): AskListings {
    const paths = new Set(files.map(({ path }) => path));
    return this.asking(
      ({ sold }) => sold.some(({ path }) => paths.has(path)),
      ({ sold }) => sold,
    );
  }

  /** Returns `ListingSource.measureGroups` of the listings of an inventory. */
  measureGroups(parts: readonly SegmentRows[], engine: Engine, request: MeasureRequest): Promise<MeasureResult> {
    const { supplyDay } = request;
    if (supplyDay === undefined) return measureGroups(parts, [], engine, request);
    const files = soldFilesSince(this.options.manifest, plusDays(supplyWindowStart(supplyDay), -1));
    return this.soldIn(files)((sales) => measureGroups(parts, sales, engine, request));
  }

  /** Runs a request on the market; undefined if the version has no listings. With a day, filters match the listings that were sold from it on too. */
  ofMarket<T>(request: (market: ServedMarket) => Promise<T>, soldFrom?: string): Promise<T | undefined> {
    const parts = this.partsOf(
      ({ today, last }) => today !== undefined || (soldFrom !== undefined && last >= soldFrom),
    );
    return this.runOnIndexes(parts, async (segments) => {
      const [segment] = segments;
      if (segment === undefined || parts[0]?.of.today === undefined) return undefined;
      const newest = segments.map((one) => one.newest());
      return request({ catalog: segment.catalog, idsOf: (filters) => idsIn(newest, filters) });
    });
  }

  /** Returns `TrendSource.measureLevels`. How many listings a day has in all is known. */
  async measureLevels(request: LevelRequest, engine: Engine): Promise<readonly Level[]> {
    const { days, filters, attribute, statistics } = request;
    if (filters.length === 0 && attribute === undefined && statistics.length === 0)
      return days.flatMap((day) => {
        const count = this.options.manifest.days[day] ?? 0;
        return count === 0 ? [] : [{ day, key: "", value: "", count, statistics: [] }];
      });
    const needed = this.parts.flatMap((part) => {
      const daysOfPart = days.filter((day) => hasDay(part.of, day));
      return daysOfPart.length === 0 ? [] : [{ part, days: daysOfPart }];
    });
    return this.runOnIndexes(
      needed.map(({ part }) => part),
      (segments) => {
        const indexed = segments.map((segment, n) => ({ days: needed[n]?.days ?? [], segment }));
        return measureLevels(indexed, engine, request);
      },
    );
  }

  /** Returns `TrendSource.countEvents`. */
  async countEvents(request: EventRequest, engine: Engine): Promise<readonly EventCount[]> {
    const [start] = request.windows.map((window) => window.start).sort();
    if (start === undefined) return [];
    // A listing that had an event is active, or has left since. That it was sold became known up to `life.soldAfterDays` later.
    const first = plusDays(start, 1 - life.soldAfterDays);
    const parts = this.partsOf(({ last }) => last >= first);
    return this.runOnIndexes(parts, (segments) => countEvents(segments, engine, request));
  }

  /**
   * Returns the dictionaries of all indexes: the values of listings on every day and in every state. Refuses with `data_unavailable` if an index has
   * to be built from a damaged file.
   */
  dictionaries(): Promise<readonly Dictionary[]> {
    return this.runOnIndexes(this.parts, async (segments) => segments.map(({ dictionary }) => dictionary));
  }

  private partsOf(isNeeded: (rows: IndexedRows) => boolean): readonly IndexPart[] {
    return this.parts.filter(({ of }) => isNeeded(of));
  }

  private asking(isNeeded: (rows: IndexedRows) => boolean, rowsOf: (segment: Segment) => SegmentRows): AskListings {
    const parts = this.partsOf(isNeeded);
    return (request) => this.runOnIndexes(parts, (segments) => request(segments.map(rowsOf)));
  }
}

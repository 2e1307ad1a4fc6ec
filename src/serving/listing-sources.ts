/** The listing sources of a version, answered by its search indexes: of a day, of days, and of what was sold. */
import { plusDays } from "../base/day.ts";
import type { Engine } from "../db/session-pool.ts";
import type { Sql } from "../db/sql.ts";
import type { LakeFile } from "../lake/manifest.ts";
import { life } from "../listing/life.ts";
import type { ListingSource, PageRequest } from "../listing/source.ts";
import type { EventCount, EventRequest, Level, LevelRequest } from "../listing/trend-source.ts";
import { hasDay, type Part, type ServingOptions } from "./files/serving-parts.ts";
import type { Dictionary } from "./index/dictionary.ts";
import { countEvents } from "./index/events.ts";
import { IndexSource } from "./index/index-source.ts";
import type { IndexedRows } from "./index/indexed-rows.ts";
import { measureLevels } from "./index/levels.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { IndexContext } from "./index/where.ts";

/** The number of listings of an inventory, and whose statements answer for it. */
export interface SourceOptions {
  readonly count: number;
  readonly engine: Engine;
}

/** A listing source that can also select its matches. */
export interface IndexedSource extends ListingSource {
  /** Calls `use` with all matches as a relation: see `IndexSource.orderedMatches`. */
  withMatches<T>(request: Pick<PageRequest, "filters" | "order">, use: (matches: Sql) => Promise<T>): Promise<T>;
}

/** Runs a request on the indexes of some parts. */
type AskIndexes = <T>(parts: readonly Part[], request: (indexes: readonly SearchIndex[]) => Promise<T>) => Promise<T>;

export class ListingSources {
  constructor(
    private readonly parts: readonly Part[],
    private readonly options: Pick<ServingOptions, "manifest" | "fetchedMatches">,
    private readonly ask: AskIndexes,
  ) {}

  /** Returns the listings of a day. */
  on(day: string, { count, engine }: SourceOptions): IndexedSource {
    const { manifest, fetchedMatches } = this.options;
    if (day !== manifest.as_of) {
      const parts = this.partsOf((rows) => hasDay(rows, day));
      return this.sourceOf(parts, count, (indexes) =>
        this.indexed(
          indexes.map((index) => index.on(day)),
          { count, engine },
        ),
      );
    }
    const parts = this.partsOf(({ today }) => today !== undefined);
    return this.sourceOf(
      parts,
      count,
      ([index]) => index?.today(engine, fetchedMatches) ?? this.indexed([], { count, engine }),
    );
  }

  /** Returns the intervals that hold on a day from `first` to `last`. */
  between(first: string, last: string, options: SourceOptions): IndexedSource {
    const parts = this.partsOf((rows) => rows.first <= last && rows.last >= first);
    return this.sourceOf(parts, options.count, (indexes) =>
      this.indexed(
        indexes.map((index) => index.between(first, last)),
        options,
      ),
    );
  }

  /** Returns the listings in some files of `sold`, and perhaps others that were sold. */
  soldIn(files: readonly LakeFile[], options: SourceOptions): IndexedSource {
    const paths = new Set(files.map(({ path }) => path));
    const parts = this.partsOf(({ sold }) => sold.some(({ path }) => paths.has(path)));
    return this.sourceOf(parts, options.count, (indexes) =>
      this.indexed(
        indexes.map(({ sold }) => sold),
        options,
      ),
    );
  }

  /** Returns `TrendSource.measureLevels`. */
  measureLevels(request: LevelRequest, engine: Engine): Promise<readonly Level[]> {
    const daysOf = (rows: IndexedRows): readonly string[] => request.days.filter((day) => hasDay(rows, day));
    const parts = this.partsOf((rows) => daysOf(rows).length > 0);
    return this.ask(parts, (indexes) => {
      const indexed = indexes.map((index, place) => {
        const { of } = parts[place] ?? {};
        const days = of === undefined ? [] : daysOf(of);
        return { days, context: index.between(days[0] ?? "", days.at(-1) ?? "") };
      });
      return measureLevels(indexed, engine, request);
    });
  }

  /** Returns `TrendSource.countEvents`. */
  async countEvents(request: EventRequest, engine: Engine): Promise<readonly EventCount[]> {
    const [start] = request.windows.map((window) => window.start).sort();
    if (start === undefined) return [];
    // A listing that had an event is active, or has left since. That it was sold became known up to `life.soldAfterDays` later.
    const first = plusDays(start, 1 - life.soldAfterDays);
    const parts = this.partsOf(({ last }) => last >= first);
    return this.ask(parts, (indexes) => countEvents(indexes, engine, request));
  }

  /**
   * Returns the dictionaries of all indexes: the values of listings on every day and in every state. Refuses with `data_unavailable` if an index has
   * to be built from a damaged file.
   */
  dictionaries(): Promise<readonly Dictionary[]> {
    return this.ask(
      this.partsOf(() => true),
      async (indexes) => indexes.map(({ sold: { dictionary } }) => dictionary),
    );
  }

  private partsOf(isNeeded: (rows: IndexedRows) => boolean): readonly Part[] {
    return this.parts.filter(({ of }) => of !== undefined && isNeeded(of));
  }

  private indexed(contexts: readonly IndexContext[], { count, engine }: SourceOptions): IndexSource {
    return new IndexSource({ contexts, engine, count, fetchedMatches: this.options.fetchedMatches });
  }

  /** Returns the source that `sourceIn` returns for the indexes of some parts. */
  private sourceOf(
    parts: readonly Part[],
    count: number,
    sourceIn: (indexes: readonly SearchIndex[]) => IndexSource,
  ): IndexedSource {
    const ask = <T>(request: (source: IndexSource) => Promise<T>): Promise<T> =>
      this.ask(parts, (indexes) => request(sourceIn(indexes)));
    return {
      count,
      findPage: (request) => ask((source) => source.findPage(request)),
      countValues: (request) => ask((source) => source.countValues(request)),
      measureValues: (request) => ask((source) => source.measureValues(request)),
      withMatches: (request, use) => ask((source) => use(source.orderedMatches(request))),
    };
  }
}

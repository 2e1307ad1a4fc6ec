/**
 * A published version of the lake, open for queries: dimensions in memory, search indexes that find and count listings, and a row store
 * that holds their rows.
 *
 * All results come from this one version. It never writes, and its DuckDB can read no file outside the lake. A request that needs a damaged Parquet file is refused.
 */
import { resolve } from "node:path";
import { LRUCache } from "lru-cache";
import { createOnce } from "../base/concurrency.ts";
import { epochDay, plusDays } from "../base/day.ts";
import type { Row } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import { refuse } from "../contract/errors.ts";
import { type DatabaseOptions, DuckDatabase, endingSettings, type Session } from "../db/duckdb.ts";
import type { WorkCounts } from "../db/fair-pool.ts";
import { type Job, serviceJob } from "../db/job.ts";
import { type Engine, type PoolOptions, SessionPool } from "../db/session-pool.ts";
import { ident, type Sql, sql } from "../db/sql.ts";
import { buildRanks, dealerProfiles, rowsOfFiles } from "../lake/derived-relations.ts";
import type { JsonRow } from "../lake/json-row.ts";
import { currentManifest, type LakeFile, type Manifest, readManifest } from "../lake/manifest.ts";
import {
  activeOn,
  goneIn,
  type Inventory,
  intervalsBetween,
  listingsOfMatches,
  unorderedListings,
} from "../lake/market.ts";
import { listingRow, type ServedColumn, withoutValues } from "../lake/served-columns.ts";
import { supplyWindowStart } from "../listing/aggregates.ts";
import type { Filter } from "../listing/filter.ts";
import { life } from "../listing/lifecycle-rules.ts";
import type { CountedName } from "../listing/schema.ts";
import type {
  CountRequest,
  CountResult,
  EventCount,
  EventRequest,
  Level,
  LevelRequest,
  MeasureRequest,
  MeasureResult,
  PageRequest,
  PageResult,
  RowKey,
} from "../listing/source.ts";
import { vinPatternsPath } from "../listing/vins.ts";
import { DayColumns } from "./day-columns.ts";
import { DealerDirectory } from "./dealer-directory.ts";
import { Dimensions } from "./dimensions.ts";
import { FeedRecords } from "./feed-records.ts";
import { rebuildServingFiles } from "./files/build-serving-files.ts";
import { newRebuiltFolder, ServingFiles, type ServingOptions } from "./files/open-serving-files.ts";
import { checkFiles, filesOfOpening, VerifiedFiles, VersionFiles } from "./files/verified-files.ts";
import { idsIn, orderedMatches } from "./index/conditions.ts";
import { countValues } from "./index/count-values.ts";
import { findPageIn } from "./index/find-page.ts";
import { measureGroups } from "./index/groups.ts";
import { hasDay, type IndexedRows } from "./index/indexed-rows.ts";
import { ColumnCache, type Segment, type SegmentRows } from "./index/segment.ts";
import { countEvents } from "./index/trends/events.ts";
import { measureLevels } from "./index/trends/levels.ts";
import { type FoundListing, soldFilesSince } from "./listing-files.ts";

export interface LakeVersionOptions extends DatabaseOptions, PoolOptions, ServingOptions {
  /** Maximum memory of the columns of search indexes, in bytes. */
  readonly columnBytes?: number;
  /** The verified files of earlier versions, so that each file is hashed once per process. */
  readonly verified?: VerifiedFiles;
  /** Folders that statements may write to. None by default. */
  readonly writableFolders?: readonly string[];
}

/** What all jobs of a version share. */
interface Resources {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly pool: SessionPool;
  readonly serving: ServingFiles;
  /** Those of the days that were read most recently. */
  readonly dayColumns: LRUCache<string, Promise<DayColumns>>;
}

const keptDaysMax = 16;

/** The listings of an inventory: those of a day, intervals of several days, or sold ones. */
export interface Listings {
  /** Returns the number of matches and the keys of one page of them. */
  findPage(request: PageRequest): Promise<PageResult>;
  /** Counts the matches by value and by range, and summarizes their numbers. */
  countValues(request: CountRequest): Promise<CountResult>;
  /** Groups the matches by the values of attributes, and measures each group. */
  measureGroups(request: MeasureRequest): Promise<MeasureResult>;
  /**
   * Passes the rows with the given keys to `toItem` and returns its items, in that order. At least the given columns are filled. The rows of a page in
   * memory until another turn would make the next collection of garbage long.
   */
  read<T>(keys: readonly RowKey[], columns: readonly string[], toItem: (row: JsonRow) => T): Promise<readonly T[]>;
  /**
   * Runs a statement over all matches, beside the tables `builds`, `dealers`, `tokens` and `options`. Matches have `sort_key`, an integer by which they
   * are in order; `listingsOf` adds the columns of listings to some of them, to intervals also `valid_from` and `valid_to`.
   */
  runOverMatches(
    request: Pick<PageRequest, "filters" | "order">,
    statementOf: (matches: Sql, listingsOf: (matches: Sql) => Sql) => Sql,
  ): Promise<readonly Row[]>;
}

/** Which indexes have listings of an inventory, and which of their rows these are. */
interface IndexChoice {
  readonly isNeeded: (rows: IndexedRows) => boolean;
  readonly rowsOf: (segment: Segment) => SegmentRows;
}

/** The catalog with the tables `comparables` and `price_effects`, and a query for the ids of the listings that match filters as they were last observed. */
interface ServedMarket {
  readonly catalog: string;
  readonly idsOf: (filters: readonly Filter[]) => Sql;
}

export class LakeVersion {
  readonly manifest: Manifest;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  readonly folder: string;
  private readonly engine: Engine;

  private constructor(
    private readonly resources: Resources,
    private readonly job: Job,
  ) {
    this.engine = resources.pool.engineOf(job);
    this.manifest = resources.manifest;
    this.dimensions = resources.dimensions;
    this.dealers = resources.dealers;
    this.folder = resources.folder;
  }

  /** Opens a version and loads its dimensions. Throws if a dimension or the current snapshot does not match the manifest. */
  static async open(lake: string, version: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
    const manifest = await readManifest(lake, version);
    const folder = resolve(lake);
    const files = new VersionFiles(options.verified ?? new VerifiedFiles(folder));
    await checkFiles(files, manifest);
    const database = await DuckDatabase.open(options);
    try {
      const resources = await openResources({ manifest, folder, files, database }, options);
      return new LakeVersion(resources, serviceJob());
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  /** Returns this version for a job: its queries wait in turn with those of other accounts, and end with the job. */
  withJob(job: Job): LakeVersion {
    return new LakeVersion(this.resources, job);
  }

  /** The numbers of statements that wait and run. */
  get statements(): WorkCounts {
    return this.resources.pool.statements;
  }

  /** Runs a query on the in-memory tables `builds`, `dealers`, `tokens` and `options`. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.engine.rows(query);
  }

  /** The version part of a response's `meta`. */
  get meta(): { readonly as_of: string; readonly currency: string; readonly data_version: string } {
    const { as_of, currency, version } = this.manifest;
    return { as_of, currency, data_version: version };
  }

  /** Whether the search index of the published day, and the row store, are read from the files of the lake, and not from rebuilt ones. */
  get served(): { readonly index: boolean; readonly rows: boolean } {
    return this.resources.serving.state;
  }

  /** The damaged and rebuilt files, for operators; empty if the version is intact. */
  get faults(): readonly string[] {
    const { files, serving } = this.resources;
    return [...serving.faults, ...files.damagedPaths.map((path) => `damaged file ${path}`)];
  }

  /**
   * Returns whether the version should be opened again: its engine has failed, a serving file in use has turned out to be damaged, or a damaged file is
   * intact again.
   */
  async isOutdated(): Promise<boolean> {
    const { pool, serving, files } = this.resources;
    return pool.hasFailed || serving.isDamaged || (await files.isRepaired());
  }

  /** Opens the serving files that are not open yet, so that no request waits for them. */
  openRest(): Promise<void> {
    return this.resources.serving.openRest();
  }

  /** Reads what another version has in memory of its published day, so that no request waits for it. Faults show when a request needs it. */
  async loadAsIn(other: LakeVersion): Promise<void> {
    const { segmentOfToday } = other.resources.serving;
    if (segmentOfToday === undefined) return;
    await this.resources.serving.segmentOfToday?.loadAsIn(segmentOfToday).catch(() => undefined);
  }

  activeOn(day: string): Listings {
    const { manifest } = this;
    const isToday = day === manifest.as_of;
    if (manifest.days[day] === undefined && !isToday) throw this.unavailable(day);
    return this.listingsOf(activeOn(manifest, day), {
      isNeeded: (rows) => (isToday ? rows.today !== undefined : hasDay(rows, day)),
      rowsOf: (segment) => (isToday ? segment.today : segment.on(day)),
    });
  }

  /** Returns the intervals of listings that hold on a day from `first` to `last`: see `intervalsBetween`. */
  between(first: string, last: string): Listings {
    return this.listingsOf(intervalsBetween(this.manifest, first, last), {
      isNeeded: (rows) => rows.first <= last && rows.last >= first,
      // Days on market follow from a single day.
      rowsOf: (segment) => ({ ...segment.between(first, last), day: sql`NULL::INTEGER` }),
    });
  }

  /** Returns all sold listings; with a day, at least those whose sale became known after it. */
  soldSince(day: string | undefined): Listings {
    const files = day === undefined ? this.manifest.tables.sold : soldFilesSince(this.manifest, day);
    return this.listingsOf(goneIn(files), soldIn(files));
  }

  /** The number of listings of each published day, in the order of days. */
  get snapshotSizes(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.manifest.days));
  }

  /** Returns the levels of many days, most frequent values first. Values without listings on a day are absent. */
  async measureLevels(request: LevelRequest): Promise<readonly Level[]> {
    const { days, filters, attribute, statistics } = request;
    // How many listings a day has in all is known.
    if (filters.length === 0 && attribute === undefined && statistics.length === 0)
      return days.flatMap((day) => {
        const count = this.manifest.days[day] ?? 0;
        return count === 0 ? [] : [{ day, key: "", value: "", count, statistics: [] }];
      });
    const daysIn = (rows: IndexedRows): readonly string[] => days.filter((day) => hasDay(rows, day));
    return this.resources.serving.ask(
      (rows) => daysIn(rows).length > 0,
      (segments) => {
        const indexed = segments.map((segment) => ({ days: daysIn(segment.rows), segment }));
        return measureLevels(indexed, this.engine, request);
      },
    );
  }

  /** Counts events of all listings, past ones included. Filters apply to a listing as it was last observed. Zeros are absent. */
  async countEvents(request: EventRequest): Promise<readonly EventCount[]> {
    const [start] = request.windows.map((window) => window.start).sort();
    if (start === undefined) return [];
    // A listing that had an event is active, or has left since. That it was sold became known up to `life.soldAfterDays` later.
    const first = plusDays(start, 1 - life.soldAfterDays);
    return this.resources.serving.ask(
      ({ last }) => last >= first,
      (segments) => countEvents(segments, this.engine, request),
    );
  }

  /** Whether prices were fitted to its published day. */
  get hasFit(): boolean {
    return this.manifest.tables.price_effects.length > 0;
  }

  /**
   * Runs a statement over the fit of the published day; returns no rows if the version has no listings. With a day, filters match the listings that were
   * sold from it on too.
   */
  marketRows(statementOf: (market: ServedMarket) => Sql, soldFrom?: string): Promise<readonly Row[]> {
    return this.resources.serving.ask(
      ({ today, last }) => today !== undefined || (soldFrom !== undefined && last >= soldFrom),
      async (segments) => {
        const [segment] = segments;
        if (segment?.rows.today === undefined) return [];
        const newest = segments.map((one) => one.newest());
        return this.rows(statementOf({ catalog: segment.catalog, idsOf: (filters) => idsIn(newest, filters) }));
      },
    );
  }

  /** Returns whether a listing of the published day has a value. */
  isIndexed(attribute: CountedName, value: string): boolean {
    return (this.resources.serving.segmentOfToday?.dictionary.idsOf(attribute, value).length ?? 0) > 0;
  }

  /** Returns the dictionaries of all indexes: the values of listings on every day and in every state. */
  dictionaries(): Promise<readonly Segment["dictionary"][]> {
    return this.resources.serving.ask(
      () => true,
      async (segments) => segments.map(({ dictionary }) => dictionary),
    );
  }

  /** Records of the ingests of its days. */
  get feeds(): FeedRecords {
    return new FeedRecords(this);
  }

  /** Returns the listings of a VIN, or the listing with an id (32 hexadecimal digits), in any state; empty if there are none. */
  async lookUp(key: "vin" | "id", value: string, columns: readonly ServedColumn[]): Promise<readonly FoundListing[]> {
    const stored = await this.resources.serving.readRows((store) => store.find(key, value));
    if (stored.length > 0) this.job.begin();
    const { manifest } = this;
    const isActive = stored.some(({ state }) => state === "active");
    const day = isActive ? await this.columnsOn(activeOn(manifest, manifest.as_of), columns) : undefined;
    return stored.map(({ state, row }) => ({
      state,
      row: listingRow.decode(state === "active" ? (day?.complete(row) ?? row) : row, columns),
    }));
  }

  /**
   * Returns the columns of active listings that follow from their day; undefined for listings that have left. They are read on behalf of all requests,
   * so that no request that ends early takes them with it.
   */
  private async columnsOn({ day, feeds }: Inventory, columns: readonly string[]): Promise<DayColumns | undefined> {
    if (day === undefined) return undefined;
    const { dayColumns, folder } = this.resources;
    if (!DayColumns.ofFeeds.some((column) => columns.includes(column))) return new DayColumns(epochDay(day));
    return createOnce(dayColumns, day, () => {
      const service = this.withJob(serviceJob());
      return DayColumns.read(day, feeds, folder, (query) => service.rowsFrom(feeds, query));
    });
  }

  /** Closes the version. No query may be running. */
  close(): void {
    const { serving, pool, database } = this.resources;
    serving.close();
    pool.close();
    // To free an index takes a tenth of a second, as do the engine's threads, so statements do it, in other threads.
    const ended = serving.detach().then(() => database.endThreads());
    void ended.catch(() => undefined).finally(() => database.close());
  }

  private listingsOf(inventory: Inventory, choice: IndexChoice): Listings {
    const { folder } = this.resources;
    return {
      findPage: (request) => this.ask(choice, (parts) => findPageIn(parts, request)),
      countValues: (request) => this.ask(choice, (parts) => countValues(parts, this.engine, request)),
      measureGroups: (request) =>
        this.ask(choice, (parts) => {
          const { supplyDay } = request;
          if (supplyDay === undefined) return measureGroups(parts, [], this.engine, request);
          const files = soldFilesSince(this.manifest, plusDays(supplyWindowStart(supplyDay), -1));
          return this.ask(soldIn(files), (sales) => measureGroups(parts, sales, this.engine, request));
        }),
      read: (keys, columns, toItem) => this.read(inventory, keys, columns, toItem),
      runOverMatches: (request, statementOf) =>
        this.ask(choice, (parts) => {
          const { files, feeds, valuations } = inventory;
          const listingsOf = (some: Sql): Sql => listingsOfMatches(inventory, folder, some);
          const statement = statementOf(orderedMatches(parts, request), listingsOf);
          return this.rowsFrom([...files, ...feeds, ...valuations], statement);
        }),
    };
  }

  /** Runs a request on the listings of an inventory, in the segments that have some of them. */
  private async ask<T>(
    { isNeeded, rowsOf }: IndexChoice,
    request: (parts: readonly SegmentRows[]) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.job;
    signal.throwIfAborted();
    const answer = await this.resources.serving.ask(isNeeded, (segments) => request(segments.map(rowsOf)));
    signal.throwIfAborted();
    return answer;
  }

  /** Reads listings of an inventory: see `Listings.read`. */
  async read<T>(
    inventory: Inventory,
    keys: readonly RowKey[],
    columns: readonly string[],
    toItem: (row: JsonRow) => T,
  ): Promise<readonly T[]> {
    if (keys.length === 0) return [];
    const { files, day, isWhole } = inventory;
    const completing = await this.columnsOn(inventory, columns);
    this.job.begin();
    const items: T[] = [];
    await this.resources.serving.readRows((store) =>
      forEachInTurns(partsOf(keys), (part) => {
        for (const row of store.rowsAt(files, part, day)) {
          const completed = completing?.complete(row) ?? row;
          items.push(toItem(isWhole ? completed : withoutValues(completed)));
        }
      }),
    );
    return items;
  }

  /** Runs a query that reads Parquet files of the lake. Refuses with `data_unavailable` if one of them is damaged: see `VersionFiles.reading`. */
  rowsFrom(parquet: readonly LakeFile[], query: Sql): Promise<readonly Row[]> {
    return this.reading(parquet, () => this.rows(query));
  }

  /** Runs a query of another process that reads Parquet files of the lake: see `VersionFiles.reading`. */
  reading<T>(parquet: readonly LakeFile[], query: () => Promise<T>): Promise<T> {
    return this.resources.files.reading(parquet, query);
  }

  private unavailable(day: string): Error {
    const days = [...this.snapshotSizes.keys()];
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }
}

/** The rows of a part are read in one turn of the event loop. */
const partRows = 25;

function* partsOf(keys: readonly RowKey[]): Generator<readonly RowKey[]> {
  for (let from = 0; from < keys.length; from += partRows) yield keys.slice(from, from + partRows);
}

/** Chooses the listings in some files of `sold`, and perhaps others that were sold. */
function soldIn(files: readonly LakeFile[]): IndexChoice {
  const paths = new Set(files.map(({ path }) => path));
  return { isNeeded: ({ sold }) => sold.some(({ path }) => paths.has(path)), rowsOf: ({ sold }) => sold };
}

async function openResources(
  lake: Pick<Resources, "manifest" | "folder" | "files" | "database">,
  options: LakeVersionOptions,
): Promise<Resources> {
  const { manifest, folder, files, database } = lake;
  const [dimensions, dealers] = await files.reading(filesOfOpening(manifest), () =>
    database.using((session) => readDimensions(session, manifest, folder)),
  );
  const rebuiltFolder = newRebuiltFolder();
  await database.lockDown([folder, rebuiltFolder, ...(options.writableFolders ?? [])], {
    files: [vinPatternsPath],
    unlocked: endingSettings,
  });
  const pool = await SessionPool.open(database, options);
  const opening = ServingFiles.open({
    hasServingFiles: true,
    opensAhead: true,
    isIntact: false,
    rebuild: (order) => rebuildServingFiles(order, options),
    columns: new ColumnCache(options.columnBytes),
    onRebuild: () => undefined,
    ...options,
    ...lake,
    published: (await currentManifest(folder).catch(() => undefined)) ?? manifest,
    rebuiltFolder,
    engine: pool.engineOf(serviceJob()),
  });
  // Open sessions keep the engine of a version that does not open.
  const serving = await opening.catch((thrown: unknown) => {
    pool.close();
    throw thrown;
  });
  return { ...lake, dimensions, dealers, pool, serving, dayColumns: new LRUCache({ max: keptDaysMax }) };
}

/** Creates the in-memory tables and reads the dimensions from them. */
async function readDimensions(
  session: Session,
  manifest: Manifest,
  folder: string,
): Promise<readonly [Dimensions, DealerDirectory]> {
  for (const table of ["builds", "dealers", "tokens", "options"] as const) {
    await session.run(sql`CREATE TABLE ${ident(table)} AS ${rowsOfFiles(table, manifest.tables[table], folder)}`);
  }
  await session.run(sql`CREATE TABLE build_ranks AS ${buildRanks}`);
  // Joining market values takes ten times as long as counting listings.
  const inventory = { ...activeOn(manifest, manifest.as_of), valuations: [] };
  const active = unorderedListings(inventory, { folder, hasFeeds: false });
  return [await Dimensions.read(session), await DealerDirectory.read(session, dealerProfiles(active))];
}

/**
 * A published version of the lake, open for queries: dimensions in memory, search indexes that find and count listings, and a row store
 * that holds their rows.
 *
 * All results come from this one version. It never writes, and its DuckDB can read no file outside the lake. A request that needs a damaged Parquet file is refused.
 */
import { createOnce } from "../base/concurrency.ts";
import type { Row } from "../base/json.ts";
import { Refusal, refuse } from "../contract/errors.ts";
import type { RunningWork, WorkCounts } from "../db/fair-pool.ts";
import { type Job, serviceJob } from "../db/job.ts";
import type { Engine } from "../db/session-pool.ts";
import type { Sql } from "../db/sql.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { activeOn, goneIn, type Inventory, intervalsBetween, listingsOfMatches } from "../lake/market.ts";
import { listingRow, type ServedColumn, withoutValues } from "../lake/served-columns.ts";
import type { ListingSource, PageRequest, RowKey, TrendSource } from "../listing/source.ts";
import { DayColumns } from "./day-columns.ts";
import type { DealerDirectory } from "./dealer-directory.ts";
import type { Dimensions } from "./dimensions.ts";
import { FeedRecords } from "./feed-records.ts";
import type { VersionFiles } from "./files/version-files.ts";
import { countValues } from "./index/count-values.ts";
import { findPageIn } from "./index/find-page.ts";
import { orderedMatches } from "./index/ordered-matches.ts";
import { type FoundListing, soldFilesSince } from "./listing-files.ts";
import type { AskListings, ListingSources, ServedMarket } from "./listing-sources.ts";
import { closeResources, type LakeVersionOptions, openResources, type VersionResources } from "./version-resources.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A listing source whose rows can be read. */
export interface Listings extends ListingSource {
  /** Returns the rows with the given keys, in that order. At least the given columns are filled. */
  read(keys: readonly RowKey[], columns: readonly ServedColumn[]): Promise<readonly JsonRow[]>;
  /**
   * Runs a statement over all matches, beside the tables `builds`, `dealers`, `tokens` and `options`. Matches have `sort_key`, an integer by which they
   * are in order; `listingsOf` adds the columns of listings to some of them, to intervals also `valid_from` and `valid_to`.
   */
  runOverMatches(
    request: Pick<PageRequest, "filters" | "order">,
    statementOf: (matches: Sql, listingsOf: (matches: Sql) => Sql) => Sql,
  ): Promise<readonly Row[]>;
}

/** The files that the columns of listings come from. */
const filesOf = ({ files, feeds, valuations }: Inventory): readonly LakeFile[] => [...files, ...feeds, ...valuations];

export class LakeVersion {
  readonly manifest: Manifest;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  readonly vocabulary: Vocabulary;
  readonly folder: string;
  private readonly engine: Engine;

  private constructor(
    private readonly resources: VersionResources,
    private readonly job: Job,
  ) {
    this.engine = resources.pool.engineOf(job);
    this.manifest = resources.manifest;
    this.dimensions = resources.dimensions;
    this.dealers = resources.dealers;
    this.vocabulary = resources.vocabulary;
    this.folder = resources.folder;
  }

  /** Opens a version and loads its dimensions. Throws if a dimension or the current snapshot does not match the manifest. */
  static async open(lake: string, version: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
    const resources = await openResources(lake, version, options);
    return new LakeVersion(resources, serviceJob());
  }

  /** Returns this version for a job: its queries wait in turn with those of other accounts, and end with the job. */
  withJob(job: Job): LakeVersion {
    return new LakeVersion(this.resources, job);
  }

  /** The numbers of statements that wait and run. */
  get statements(): WorkCounts {
    return this.resources.pool.statements;
  }

  get runningStatements(): readonly RunningWork[] {
    return this.resources.pool.runningStatements;
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

  /** Its files: see `VersionFiles`. */
  get files(): Pick<VersionFiles, "count" | "isRepaired"> {
    return this.resources.files;
  }

  /** Whether a serving file in use has turned out to be damaged, so that the version should be opened again. */
  get isDamaged(): boolean {
    return this.resources.serving.isDamaged;
  }

  /** Opens the serving files that are not open yet, so that no request waits for them. */
  openRest(): Promise<void> {
    return this.resources.serving.openRest();
  }

  activeOn(day: string): Listings {
    if (this.manifest.days[day] === undefined && day !== this.manifest.as_of) throw this.unavailable(day);
    return this.listingsOf(activeOn(this.manifest, day), (sources) => sources.on(day));
  }

  /** Returns the intervals of listings that hold on a day from `first` to `last`: see `intervalsBetween`. */
  between(first: string, last: string): Listings {
    const inventory = intervalsBetween(this.manifest, first, last);
    return this.listingsOf(inventory, (sources) => sources.between(first, last));
  }

  /** Returns all sold listings; with a day, at least those whose sale became known after it. */
  soldSince(day: string | undefined): Listings {
    const files = day === undefined ? this.manifest.tables.sold : soldFilesSince(this.manifest, day);
    return this.listingsOf(goneIn(files), (sources) => sources.soldIn(files));
  }

  /** The number of listings of each published day, in the order of days. */
  get snapshotSizes(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.manifest.days));
  }

  /** The listings of many days at once, and their events. */
  get trends(): TrendSource {
    const { serving } = this.resources;
    return {
      measureLevels: (request) => serving.listings.measureLevels(request, this.engine),
      countEvents: (request) => serving.listings.countEvents(request, this.engine),
    };
  }

  /** Whether prices were fitted to its published day. */
  get hasFit(): boolean {
    return this.manifest.tables.price_effects.length > 0;
  }

  /** Runs a statement over the fit of the published day: see `ListingSources.ofMarket`. */
  async marketRows(statementOf: (market: ServedMarket) => Sql, soldFrom?: string): Promise<readonly Row[]> {
    const { listings } = this.resources.serving;
    return (await listings.ofMarket((market) => this.rows(statementOf(market)), soldFrom)) ?? [];
  }

  /** Records of the ingests of its days. */
  get feeds(): FeedRecords {
    return new FeedRecords(this.manifest, this.folder, (files, query) => this.rowsFrom(files, query));
  }

  /** Returns the listings of a VIN, or the listing with an id (32 hexadecimal digits), in any state; empty if there are none. */
  async lookUp(key: "vin" | "id", value: string, columns: readonly ServedColumn[]): Promise<readonly FoundListing[]> {
    const stored = await this.resources.serving.lookUp(key, value);
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
  private async columnsOn(
    { day, feeds }: Inventory,
    columns: readonly ServedColumn[],
  ): Promise<DayColumns | undefined> {
    if (day === undefined) return undefined;
    const { dayColumns, folder } = this.resources;
    if (!DayColumns.ofFeeds.some((column) => columns.includes(column))) return DayColumns.withoutFeeds(day);
    const service = this.withJob(serviceJob());
    return createOnce(dayColumns, day, () =>
      DayColumns.read(day, feeds, folder, (query) => service.rowsFrom(feeds, query)),
    );
  }

  /** Closes the version. No query may be running. */
  close(): void {
    closeResources(this.resources);
  }

  private listingsOf(inventory: Inventory, askOf: (sources: ListingSources) => AskListings): Listings {
    const { folder, serving } = this.resources;
    const { signal } = this.job;
    const askParts = askOf(serving.listings);
    const ask: AskListings = async (request) => {
      signal.throwIfAborted();
      const answer = await askParts(request);
      signal.throwIfAborted();
      return answer;
    };
    return {
      findPage: (request) => ask((parts) => findPageIn(parts, request)),
      countValues: (request) => ask((parts) => countValues(parts, this.engine, request)),
      measureGroups: (request) => ask((parts) => serving.listings.measureGroups(parts, this.engine, request)),
      read: (keys, columns) => this.read(inventory, keys, columns),
      runOverMatches: (request, statementOf) =>
        ask((parts) => {
          const listingsOf = (some: Sql): Sql => listingsOfMatches(inventory, folder, some);
          return this.rowsFrom(filesOf(inventory), statementOf(orderedMatches(parts, request), listingsOf));
        }),
    };
  }

  /** Reads listings of an inventory: see `Listings.read`. */
  async read(
    inventory: Inventory,
    keys: readonly RowKey[],
    columns: readonly ServedColumn[],
  ): Promise<readonly JsonRow[]> {
    if (keys.length === 0) return [];
    const { files, day } = inventory;
    const completing = await this.columnsOn(inventory, columns);
    this.job.begin();
    const stored = await this.resources.serving.rowsAt(files, keys, day);
    const completed = completing === undefined ? stored : stored.map((row) => completing.complete(row));
    return inventory.isWhole ? completed : completed.map(withoutValues);
  }

  /** Runs a query that reads Parquet files of the lake. Refuses with `data_unavailable` if one of them is damaged. */
  async rowsFrom(parquet: readonly LakeFile[], query: Sql): Promise<readonly Row[]> {
    const { files } = this.resources;
    await files.require(parquet);
    try {
      return await this.rows(query);
    } catch (thrown) {
      if (thrown instanceof Refusal) throw thrown;
      await files.recheckFailed(parquet);
      await files.require(parquet);
      throw thrown;
    }
  }

  private unavailable(day: string): Error {
    const days = [...this.snapshotSizes.keys()];
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }
}

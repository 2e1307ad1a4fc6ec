/**
 * One published version, open for questions: dimensions in memory, listings in their Parquet files.
 *
 * Everything a market answers is of its version. It never writes, and reaches no file outside of its lake.
 */
import { resolve } from "node:path";
import { bounds } from "../base/bounds.ts";
import type { Row } from "../base/json.ts";
import { name, type Sql, sql } from "../base/sql.ts";
import { refuse } from "../contract/errors.ts";
import { Dimensions } from "./dimensions.ts";
import { Database, type DatabaseOptions } from "./duckdb.ts";
import { HotCopy, hotListings, hotListingsAt, hotListingsBy } from "./hot-copy.ts";
import type { TokenColumn } from "./layout.ts";
import { type ListingState, listingAt, placesOf, readPlace } from "./lookups.ts";
import { type LakeFile, type Manifest, readManifest } from "./manifest.ts";
import { Pool, type PoolBounds } from "./pool.ts";
import { buildValues, buildWords, dealerProfiles, filesIn, listingsAt, positioned, rowsOfFiles } from "./views.ts";

/** Some listings of the star, as relations with their `row_number`. */
export interface Listings {
  readonly all: Sql;
  /** All of them without their `row_number`, in no order: cheaper where there are many files. */
  readonly unordered: Sql;
  readonly count: number;
  /** Those at some row numbers. */
  readonly at: (positions: readonly number[]) => Sql;
  /** The columns of which the listings carry the key of a set too: `hot.<column>_sets` tells what is in it. */
  readonly sets: readonly TokenColumn[];
}

/** A listing that was looked up. */
export interface Found {
  /** As a UUID. */
  readonly id: string;
  readonly state: ListingState;
  /** The listing alone, as a relation with its `row_number`. */
  readonly listing: Sql;
}

export interface MarketOptions extends DatabaseOptions, Partial<PoolBounds> {
  /** Whether to make a hot copy of the active listings; it is made unless this is false. */
  readonly hasHotCopy?: boolean;
  /** Called when the hot copy cannot be made; the Parquet files then go on answering. */
  readonly onNoHotCopy?: (message: string) => void;
}

export class Market {
  private constructor(
    readonly manifest: Manifest,
    readonly dimensions: Dimensions,
    private readonly folder: string,
    private readonly database: Database,
    private readonly pool: Pool,
    private readonly hot: HotCopy | undefined,
  ) {}

  /** Opens a version of a lake and reads its dimensions; fails when a file is not there or not readable. */
  static async open(lake: string, version: string, options: MarketOptions = {}): Promise<Market> {
    const manifest = await readManifest(lake, version);
    const folder = resolve(lake);
    const database = await Database.open(options);
    try {
      const dimensions = await database.using(async (session) => {
        for (const table of ["builds", "dealers", "tokens", "options"] as const) {
          const rows = rowsOfFiles(table, manifest.tables[table], folder);
          await session.run(sql`CREATE TABLE ${name(table)} AS ${rows}`);
        }
        await session.run(sql`CREATE TABLE build_words AS ${buildWords}`);
        await session.run(sql`CREATE TABLE build_values AS ${buildValues}`);
        const active = positioned(filesIn(manifest.tables, "snapshots", manifest.as_of), folder);
        await session.run(sql`SELECT count(*), max(days_on_market) FROM (${active})`);
        await session.run(sql`CREATE TABLE dealer_profiles AS ${dealerProfiles(active)}`);
        return await Dimensions.read(session);
      });
      await database.lockDown([folder]);
      const pool = await Pool.open(database, { ...bounds, ...options });
      return new Market(manifest, dimensions, folder, database, pool, hotCopyOf(database, folder, manifest, options));
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  /**
   * The rows of a query over `builds`, `dealers`, `tokens`, `options`, what is made of them when a version is opened (`build_words`,
   * `build_values`, `dealer_profiles`), and relations that this market gives.
   */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.pool.rows(query);
  }

  /** What collections say of where their answer comes from. */
  get meta(): { readonly as_of: string; readonly version: string } {
    return { as_of: this.manifest.as_of, version: this.manifest.version };
  }

  /** The active inventory as of a day. Refuses a day without a snapshot. */
  activeOn(day: string): Listings {
    const files = filesIn(this.manifest.tables, "snapshots", day);
    if (files.length === 0 && day !== this.manifest.as_of) throw this.unavailable(day);
    const listings = this.listingsOf(files);
    if (day !== this.manifest.as_of || this.hot?.isReady !== true) return listings;
    const { sets } = this.hot;
    return { ...listings, all: hotListings, unordered: sql`FROM hot.listings`, at: hotListingsAt, sets };
  }

  /** All sold listings, or those of the months since a day. */
  soldSince(day: string | undefined): Listings {
    return this.listingsOf(
      this.manifest.tables.sold.filter(({ partition }) => day === undefined || (partition ?? "") >= day.slice(0, 7)),
    );
  }

  private listingsOf(files: readonly LakeFile[]): Listings {
    return {
      all: positioned(files, this.folder),
      unordered: rowsOfFiles("snapshots", files, this.folder),
      count: files.reduce((sum, { rows }) => sum + rows, 0),
      at: (positions) => listingsAt(files, this.folder, positions),
      sets: [],
    };
  }

  /**
   * The listing of an id, or the only one that a VIN ever had, where it is active: a relation with its `row_number`, found by an
   * index of the hot copy. It is empty where it is not so, and there is none while there is no hot copy.
   */
  activeBy(by: "vin" | "id", wanted: string): Sql | undefined {
    return this.hot?.isReady === true ? hotListingsBy(by, wanted) : undefined;
  }

  /** All listings of a VIN, or the listing of an id (32 hex digits), in whatever state; none when there is none. */
  async lookUp(by: "vin" | "id", wanted: string): Promise<readonly Found[]> {
    const places = (await this.rows(placesOf(this.manifest, this.folder, by, wanted))).map(readPlace);
    return places.map((place) => {
      const { id, state } = place;
      const active = state === "active" ? this.activeBy("id", id) : undefined;
      return { id, state, listing: active ?? listingAt(this.manifest, this.folder, place) };
    });
  }

  private unavailable(day: string): Error {
    const days = this.manifest.tables.snapshots.map((file) => file.partition ?? "").sort();
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }

  /** Resolves when the hot copy is ready, or will not be made. */
  async warm(): Promise<void> {
    await this.hot?.settled();
  }

  /** Closes the version, on which no query may run any more. */
  async close(): Promise<void> {
    await this.hot?.stop();
    this.pool.close();
    this.database.close();
  }
}

function hotCopyOf(
  database: Database,
  folder: string,
  { version, tables, as_of }: Manifest,
  { hasHotCopy = true, onNoHotCopy = () => {} }: MarketOptions,
): HotCopy | undefined {
  const files = filesIn(tables, "snapshots", as_of);
  if (!hasHotCopy || files.length === 0) return undefined;
  const listings = positioned(files, folder);
  const past = sql`SELECT vin FROM (${rowsOfFiles("past_by_vin", tables.past_by_vin, folder)})`;
  return new HotCopy(database, folder, version, { listings, past }, onNoHotCopy);
}

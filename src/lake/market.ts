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
import { rowsOfFiles } from "./file-rows.ts";
import { HotCopy, hotCounts, hotFirsts, hotListings } from "./hot-copy.ts";
import type { ListingKey } from "./hot-tables.ts";
import type { RepeatingColumn } from "./layout.ts";
import type { Lines } from "./lines.ts";
import { knownFiles, placesOf, readPlace, rowAt } from "./lookups.ts";
import { type LakeFile, type Manifest, readManifest } from "./manifest.ts";
import type { OrderName } from "./orders.ts";
import { Pool, type PoolBounds } from "./pool.ts";
import { listingLines, type Reading } from "./readings.ts";
import { type FoundRow, RowCopies } from "./row-copies.ts";
import { buildValues, buildWords, dealerProfiles, filesIn, positioned, rowsAt } from "./views.ts";

/** Some listings of the star, as relations with their `row_number`. */
export interface Listings {
  readonly all: Sql;
  /** All of them without their `row_number`, in no order: cheaper where there are many files. */
  readonly unordered: Sql;
  readonly count: number;
  /** The first of them in an order, with their `row_number`, where that is known. */
  readonly firsts: ((order: OrderName) => Sql) | undefined;
  /** How many `listings` have which key, where that is known. */
  readonly counts: ((key: ListingKey) => Sql) | undefined;
  /** Those at some row numbers, in the order of these, with what is to be read of them. */
  readonly read: (positions: readonly number[], names: readonly Reading[]) => Promise<readonly Lines[]>;
  /** The columns of which the listings carry the key of the value too: `hot.<column>_values` tells what it stands for. */
  readonly numbered: readonly RepeatingColumn[];
}

export interface MarketOptions extends DatabaseOptions, Partial<PoolBounds> {
  /** Whether to make the hot copy of the active listings and the row copies of all; they are made unless this is false. */
  readonly hasCopies?: boolean;
  /** Called when one of them cannot be made; the Parquet files then go on answering. */
  readonly onNoCopies?: (message: string) => void;
}

export class Market {
  private constructor(
    readonly manifest: Manifest,
    readonly dimensions: Dimensions,
    private readonly folder: string,
    private readonly database: Database,
    private readonly pool: Pool,
    private readonly copies: Copies | undefined,
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
      return new Market(manifest, dimensions, folder, database, pool, copiesOf(database, folder, manifest, options));
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
    const hot = this.copies?.hot;
    if (day !== this.manifest.as_of || hot?.isReady !== true) return listings;
    return {
      ...listings,
      all: hotListings,
      unordered: sql`FROM hot.listings`,
      firsts: hotFirsts,
      counts: hotCounts,
      numbered: hot.numbered,
    };
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
      firsts: undefined,
      counts: undefined,
      read: (positions, names) => this.read(files, positions, names),
      numbered: [],
    };
  }

  private async read(
    files: readonly LakeFile[],
    positions: readonly number[],
    names: readonly Reading[],
  ): Promise<readonly Lines[]> {
    if (positions.length === 0) return [];
    const copied = this.copies?.rows.at(files, positions);
    if (copied !== undefined) return copied;
    const rows = await this.rows(rowsAt(files, this.folder, positions, names));
    const byPosition = new Map(rows.map((row) => [row.row_number, row]));
    return positions.map((position) => listingLines.linesOf(byPosition.get(position) ?? {}));
  }

  /** All listings of a VIN, or the listing of an id (32 hex digits), in whatever state; none when there is none. */
  async lookUp(by: "vin" | "id", wanted: string, names: readonly Reading[]): Promise<readonly FoundRow[]> {
    const copied = this.copies?.rows.by(by, wanted, names);
    if (copied !== undefined) return copied;
    const places = (await this.rows(placesOf(this.manifest, this.folder, by, wanted))).map(readPlace);
    const found = places.map(async (place): Promise<FoundRow> => {
      const [row] = await this.rows(rowAt(this.manifest, this.folder, place, names));
      if (row === undefined) throw new Error(`The look-ups have the listing ${place.id}, and its table has not.`);
      return { state: place.state, row };
    });
    return Promise.all(found);
  }

  private unavailable(day: string): Error {
    const days = this.manifest.tables.snapshots.map((file) => file.partition ?? "").sort();
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }

  /** Resolves when all copies are ready, or will not be made. */
  async warm(): Promise<void> {
    await this.copies?.hot?.settled();
    await this.copies?.rows.settled();
  }

  /** Closes the version, on which no query may run any more. */
  async close(): Promise<void> {
    await this.copies?.hot?.stop();
    await this.copies?.rows.stop();
    this.pool.close();
    this.database.close();
  }
}

/** What is made of a version's files after it has been opened, and can be deleted at any time. */
interface Copies {
  /** There is none of no active listings. */
  readonly hot: HotCopy | undefined;
  readonly rows: RowCopies;
}

function copiesOf(
  database: Database,
  folder: string,
  manifest: Manifest,
  { hasCopies = true, onNoCopies = () => {} }: MarketOptions,
): Copies | undefined {
  if (!hasCopies) return undefined;
  const files = filesIn(manifest.tables, "snapshots", manifest.as_of);
  const listings = positioned(files, folder);
  const hot = files.length === 0 ? undefined : new HotCopy(database, folder, manifest.version, listings, onNoCopies);
  return { hot, rows: new RowCopies(folder, knownFiles(manifest), hot?.settled() ?? Promise.resolve(), onNoCopies) };
}

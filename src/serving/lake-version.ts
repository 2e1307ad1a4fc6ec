/**
 * A published version of the lake, open for queries: dimensions in memory, search index and row store if the publisher built them, past
 * indexes if the service built them, and Parquet files for everything else.
 *
 * All results come from this one version. It never writes, and its DuckDB can read no file outside the lake and the folder of past indexes.
 * A request that needs a damaged Parquet file is refused.
 */
import { resolve } from "node:path";
import { bounds } from "../base/bounds.ts";
import type { Pace } from "../base/files.ts";
import { type Row, textIn } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { Refusal, refuse } from "../contract/errors.ts";
import { type DatabaseOptions, DuckDatabase } from "../db/duckdb.ts";
import { type Job, serviceJob } from "../db/job.ts";
import { type Engine, type PoolBounds, SessionPool, type StatementCounts } from "../db/session-pool.ts";
import { ident, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { JsonRow } from "../lake/json-row.ts";
import { type LakeFile, type Manifest, readManifest } from "../lake/manifest.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import { buildValues, buildValuesDictionary, dealerProfiles, filesIn, rowsAt, withRowNumbers } from "../lake/views.ts";
import { type ListingSource, soldHistory } from "../listing/source.ts";
import { DealerDirectory } from "./dealer-directory.ts";
import { Dimensions } from "./dimensions.ts";
import { type FoundListing, type ListingState, listingFiles, lookUpStatement } from "./listing-files.ts";
import { ServingFiles } from "./open-serving-files.ts";
import { ParquetSource } from "./parquet/parquet-source.ts";
import { AttachedIndexes } from "./past/attached-indexes.ts";
import type { PastIndexes } from "./past/past-indexes.ts";
import { type ListedFile, VerifiedFiles } from "./verified-files.ts";
import { VersionFiles } from "./version-files.ts";

/** A listing source whose rows can be read. */
export interface Listings extends ListingSource {
  /** Returns the rows at the given positions, in that order. At least the given columns are filled. */
  read(positions: readonly number[], columns: readonly ServedColumn[]): Promise<readonly JsonRow[]>;
}

export interface LakeVersionOptions extends DatabaseOptions, Partial<PoolBounds> {
  /** Whether to use serving files (default true). If false, all queries read the Parquet files. */
  readonly hasServingFiles?: boolean;
  /** Maximum number of facet matches that are fetched from the search index and counted in memory; DuckDB counts more. */
  readonly fetchedMatches?: number;
  /** The verified files of earlier versions, so that each file is hashed once per process. */
  readonly verified?: VerifiedFiles;
  /** The indexes of past days and of the sold history, shared by all versions. Without them, Parquet answers. */
  readonly pastIndexes?: PastIndexes | undefined;
  /** Called once when the search index fails, and once when the row store fails; the Parquet files answer instead. */
  readonly onFallback?: (message: string) => void;
}

/** What a version holds while it is open. */
interface Resources {
  readonly manifest: Manifest;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly pool: SessionPool;
  readonly serving: ServingFiles;
  readonly past: AttachedIndexes | undefined;
}

export class LakeVersion {
  readonly manifest: Manifest;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;

  private constructor(
    private readonly resources: Resources,
    private readonly engine: Engine,
  ) {
    this.manifest = resources.manifest;
    this.dimensions = resources.dimensions;
    this.dealers = resources.dealers;
  }

  /** Opens a version and loads its dimensions. Throws if a dimension or the current snapshot does not match the manifest. */
  static async open(lake: string, version: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
    const manifest = await readManifest(lake, version);
    const folder = resolve(lake);
    const files = new VersionFiles(manifest, options.verified ?? new VerifiedFiles(folder));
    await checkFiles(files, manifest);
    const database = await DuckDatabase.open(options);
    try {
      const [dimensions, dealers] = await database.using((session) => readDimensions(session, manifest, folder));
      const { pastIndexes, fetchedMatches } = options;
      await database.lockDown([folder, ...(pastIndexes === undefined ? [] : [pastIndexes.folder])]);
      const pool = await SessionPool.open(database, { ...bounds, ...options });
      const engine = pool.engineOf(serviceJob());
      const onFallback = options.onFallback ?? (() => {});
      const shared = { manifest, database, engine, dimensions, fetchedMatches };
      const serving =
        options.hasServingFiles === false
          ? ServingFiles.none
          : await ServingFiles.open({ ...shared, folder, files, onFallback });
      const past = pastIndexes && (await AttachedIndexes.open({ ...shared, past: pastIndexes }));
      return new LakeVersion({ manifest, dimensions, dealers, folder, files, database, pool, serving, past }, engine);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  /** Returns this version for a job: its queries wait in turn with those of other accounts, and end with the job. */
  withJob(job: Job): LakeVersion {
    return new LakeVersion(this.resources, this.resources.pool.engineOf(job));
  }

  /** The numbers of statements that wait and run. */
  get statements(): StatementCounts {
    return this.resources.pool.statements;
  }

  /** Runs a query on the in-memory tables `builds`, `dealers`, `tokens` and `options`. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.engine.rows(query);
  }

  /** The version part of a response's `meta`. */
  get meta(): { readonly as_of: string; readonly version: string } {
    return { as_of: this.manifest.as_of, version: this.manifest.version };
  }

  /** Whether the search index and the row store are in use; otherwise queries read the Parquet files. */
  get served(): { readonly index: boolean; readonly rows: boolean } {
    return this.resources.serving.state;
  }

  /** What is damaged or not in use, for operators; empty if the version is intact. */
  get faults(): readonly string[] {
    const { files, serving } = this.resources;
    return [...serving.faults, ...files.damagedPaths.map((path) => `damaged file ${path}`)];
  }

  /** Its files: see `VersionFiles`. */
  get files(): Pick<VersionFiles, "counts" | "leastRecentlyChecked" | "isRepaired"> {
    return this.resources.files;
  }

  /** Resolves when look-ups by id and VIN need not wait for a check any more. */
  get rowsChecked(): Promise<void> {
    return this.resources.serving.rowsChecked;
  }

  /** Hashes a file again and stops using it if it is damaged. Rejects if `pace` is aborted. */
  async recheck(file: ListedFile, pace?: Pace): Promise<void> {
    const { files, serving } = this.resources;
    const fault = await files.recheck(file, pace);
    if (fault !== undefined) serving.giveUp(file.path, fault);
  }

  /** Returns the active listings of a day. Refuses a day without a snapshot. */
  activeOn(day: string): Listings {
    const files = filesIn(this.manifest.tables, "snapshots", day);
    const isToday = day === this.manifest.as_of;
    if (files.length === 0 && !isToday) throw this.unavailable(day);
    if (!isToday) return this.pastListings(day, files);
    return this.listingsOf(files, (parquet) => this.resources.serving.sourceOr(parquet, this.engine));
  }

  /** Returns all sold listings; with a day, at least those of its month and later months. */
  soldSince(day: string | undefined): Listings {
    const { sold } = this.manifest.tables;
    const files = sold.filter(({ partition }) => day === undefined || (partition ?? "") >= day.slice(0, 7));
    return this.pastListings(soldHistory, files);
  }

  /** Returns the listings of a VIN, or the listing with an id (32 hexadecimal digits), in any state; empty if there are none. */
  async lookUp(key: "vin" | "id", value: string, columns: readonly ServedColumn[]): Promise<readonly FoundListing[]> {
    const { serving, folder } = this.resources;
    const stored = await serving.lookUp(key, value, columns);
    if (stored !== undefined) return stored;
    const files = listingFiles(this.manifest).map(({ file }) => file);
    const rows = await this.rowsFrom(files, lookUpStatement(this.manifest, folder, { key, value, columns }));
    return rows.map(({ state, ...row }) => ({ state: textIn({ state: state ?? null }, "state") as ListingState, row }));
  }

  /** Closes the version. No query may be running. */
  close(): void {
    const { serving, past, pool, database } = this.resources;
    past?.close();
    serving.close();
    pool.close();
    database.close();
  }

  /** Returns listings of a past index, if there is one, else those of some files. */
  private pastListings(name: string, files: readonly LakeFile[]): Listings {
    const index = this.resources.past?.use(name);
    if (index === undefined) return this.listingsOf(files);
    const { read, ...listings } = this.listingsOf(index.files, (parquet) => index.sourceOr(parquet, this.engine));
    return { ...listings, read: async (positions, columns) => index.rowsAt(positions) ?? read(positions, columns) };
  }

  private listingsOf(
    files: readonly LakeFile[],
    preferredSource: (parquet: ListingSource) => ListingSource = (parquet) => parquet,
  ): Listings {
    const parquet = new ParquetSource(files, this.resources.folder, this.dimensions, (query) =>
      this.rowsFrom(files, query),
    );
    const source = preferredSource(parquet);
    return {
      count: source.count,
      findPage: (request) => source.findPage(request),
      countValues: (request) => source.countValues(request),
      measureValues: (request) => source.measureValues(request),
      read: (positions, columns) => this.read(files, positions, columns),
    };
  }

  private async read(
    files: readonly LakeFile[],
    positions: readonly number[],
    columns: readonly ServedColumn[],
  ): Promise<readonly JsonRow[]> {
    if (positions.length === 0) return [];
    const { serving, folder } = this.resources;
    const stored = serving.rowsAt(files, positions);
    if (stored !== undefined) return stored;
    const rows = await this.rowsFrom(files, rowsAt(files, folder, positions, columns));
    const byPosition = new Map(rows.map((row) => [row.row_number, row]));
    return positions.map((position) => listingRow.encode(byPosition.get(position) ?? {}));
  }

  /** Runs a query that reads Parquet files. Refuses with `data_unavailable` if one of them is damaged. */
  private async rowsFrom(parquet: readonly LakeFile[], query: Sql): Promise<readonly Row[]> {
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
    const days = this.manifest.tables.snapshots.map((file) => file.partition ?? "").sort();
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }
}

/** Creates the in-memory tables and reads the dimensions from them. */
async function readDimensions(
  session: Parameters<typeof Dimensions.read>[0],
  { tables, as_of }: Manifest,
  folder: string,
): Promise<readonly [Dimensions, DealerDirectory]> {
  for (const table of ["builds", "dealers", "tokens", "options"] as const) {
    await session.run(sql`CREATE TABLE ${ident(table)} AS ${rowsOfFiles(table, tables[table], folder)}`);
  }
  await session.run(sql`CREATE TABLE build_words AS ${buildValuesDictionary}`);
  await session.run(sql`CREATE TABLE build_values AS ${buildValues}`);
  const active = withRowNumbers(filesIn(tables, "snapshots", as_of), folder);
  return [await Dimensions.read(session), await DealerDirectory.read(session, dealerProfiles(active))];
}

/**
 * Checks the content of the files that every query depends on (dimensions and current snapshot), and throws if one is damaged. Checks the
 * size of all others: requests that need a damaged one are refused.
 */
async function checkFiles(files: VersionFiles, { tables, as_of }: Manifest): Promise<void> {
  const dimensions = [...tables.builds, ...tables.dealers, ...tables.tokens, ...tables.options];
  const needed = new Set<ListedFile>([...dimensions, ...filesIn(tables, "snapshots", as_of)]);
  for (const file of needed) {
    const fault = await files.faultOf(file);
    if (fault !== undefined) throw new UserError(fault);
  }
  for (const file of Object.values(tables).flat()) if (!needed.has(file)) await files.faultOf(file, "size");
}

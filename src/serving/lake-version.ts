/**
 * One published version, open for questions: dimensions in memory, the search index and the row store where the publisher built them, and
 * the Parquet files for everything else.
 *
 * Every answer of a version is of that version. It never writes, and reaches no file outside of its lake.
 */
import { join, resolve } from "node:path";
import { bounds } from "../base/bounds.ts";
import { type Row, textIn } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import { type DatabaseOptions, DuckDatabase } from "../db/duckdb.ts";
import { type PoolBounds, SessionPool } from "../db/session-pool.ts";
import { ident, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { JsonRow } from "../lake/json-row.ts";
import { type LakeFile, type Manifest, readManifest } from "../lake/manifest.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import { buildValues, buildWords, dealerProfiles, filesIn, positioned, rowsAt } from "../lake/views.ts";
import type { ListingSource } from "../listing/source.ts";
import { DealerDirectory } from "./dealer-directory.ts";
import { Dimensions } from "./dimensions.ts";
import { type FoundListing, type ListingState, lookUpStatement } from "./listing-files.ts";
import { ParquetSource } from "./parquet/parquet-source.ts";
import { ServingFiles } from "./serving.ts";
import { checkFile } from "./serving-files.ts";

/** A source of listings, and their rows. */
export interface Listings extends ListingSource {
  /** The listings at some positions, in the order of these, with what is to be read of them. */
  read(positions: readonly number[], names: readonly ServedColumn[]): Promise<readonly JsonRow[]>;
}

export interface LakeVersionOptions extends DatabaseOptions, Partial<PoolBounds> {
  /** Whether serving files are opened; they are unless this is false, and then the Parquet files answer. */
  readonly hasServingFiles?: boolean;
  /** Up to so many matches of facets are fetched from the index to be counted; more are counted by the engine. */
  readonly fetchedMatches?: number;
  /** Called once for each serving file that is missing or damaged; the Parquet files answer in its place. */
  readonly onFallback?: (message: string) => void;
}

export class LakeVersion {
  private constructor(
    readonly manifest: Manifest,
    readonly dimensions: Dimensions,
    readonly dealers: DealerDirectory,
    private readonly folder: string,
    private readonly database: DuckDatabase,
    private readonly pool: SessionPool,
    private readonly serving: ServingFiles,
  ) {}

  /** Opens a version of a lake and reads its dimensions; fails if a file is missing, or is not what the manifest says. */
  static async open(lake: string, version: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
    const manifest = await readManifest(lake, version);
    const folder = resolve(lake);
    await checkFiles(folder, manifest);
    const database = await DuckDatabase.open(options);
    try {
      const [dimensions, dealers] = await database.using((session) => readDimensions(session, manifest, folder));
      await database.lockDown([folder]);
      const pool = await SessionPool.open(database, { ...bounds, ...options });
      const onFallback = options.onFallback ?? (() => {});
      const serving =
        options.hasServingFiles === false
          ? ServingFiles.none
          : await ServingFiles.open({
              manifest,
              folder,
              database,
              engine: pool,
              dimensions,
              fetchedMatches: options.fetchedMatches,
              onFallback,
            });
      return new LakeVersion(manifest, dimensions, dealers, folder, database, pool, serving);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  /** The rows of a query over `builds`, `dealers`, `tokens` and `options`. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.pool.rows(query);
  }

  /** Where an answer comes from. */
  get meta(): { readonly as_of: string; readonly version: string } {
    return { as_of: this.manifest.as_of, version: this.manifest.version };
  }

  /** Whether the active listings are searched by the index, and rows come from the row store; if not, Parquet files answer. */
  get served(): { readonly index: boolean; readonly rows: boolean } {
    return this.serving.state;
  }

  /** The active listings as of a day. Refuses a day without a snapshot. */
  activeOn(day: string): Listings {
    const files = filesIn(this.manifest.tables, "snapshots", day);
    const isToday = day === this.manifest.as_of;
    if (files.length === 0 && !isToday) throw this.unavailable(day);
    return this.listingsOf(files, isToday ? (parquet) => this.serving.sourceOr(parquet) : undefined);
  }

  /** All sold listings, or those of the months since a day. */
  soldSince(day: string | undefined): Listings {
    return this.listingsOf(
      this.manifest.tables.sold.filter(({ partition }) => day === undefined || (partition ?? "") >= day.slice(0, 7)),
    );
  }

  /** All listings of a VIN, or the listing of an id (32 hex digits), in whatever state; none when there is none. */
  async lookUp(by: "vin" | "id", wanted: string, names: readonly ServedColumn[]): Promise<readonly FoundListing[]> {
    const stored = this.serving.lookUp(by, wanted, names);
    if (stored !== undefined) return stored;
    const rows = await this.rows(lookUpStatement(this.manifest, this.folder, by, wanted, names));
    return rows.map(({ state, ...row }) => ({ state: textIn({ state: state ?? null }, "state") as ListingState, row }));
  }

  /** Closes the version, on which no query may run any more. */
  close(): void {
    this.serving.close();
    this.pool.close();
    this.database.close();
  }

  private listingsOf(
    files: readonly LakeFile[],
    preferred: (parquet: ListingSource) => ListingSource = (one) => one,
  ): Listings {
    const parquet = new ParquetSource(files, this.folder, this.dimensions, (query) => this.rows(query));
    const source = preferred(parquet);
    return {
      count: source.count,
      findPage: (request) => source.findPage(request),
      countValues: (request) => source.countValues(request),
      measureValues: (request) => source.measureValues(request),
      read: (positions, names) => this.read(files, positions, names),
    };
  }

  private async read(
    files: readonly LakeFile[],
    positions: readonly number[],
    names: readonly ServedColumn[],
  ): Promise<readonly JsonRow[]> {
    if (positions.length === 0) return [];
    const stored = this.serving.rowsAt(files, positions);
    if (stored !== undefined) return stored;
    const rows = await this.rows(rowsAt(files, this.folder, positions, names));
    const byPosition = new Map(rows.map((row) => [row.row_number, row]));
    return positions.map((position) => listingRow.encode(byPosition.get(position) ?? {}));
  }

  private unavailable(day: string): Error {
    const days = this.manifest.tables.snapshots.map((file) => file.partition ?? "").sort();
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }
}

/** Reads the dimensions into tables and memory. */
async function readDimensions(
  session: Parameters<typeof Dimensions.read>[0],
  { tables, as_of }: Manifest,
  folder: string,
): Promise<readonly [Dimensions, DealerDirectory]> {
  for (const table of ["builds", "dealers", "tokens", "options"] as const) {
    await session.run(sql`CREATE TABLE ${ident(table)} AS ${rowsOfFiles(table, tables[table], folder)}`);
  }
  await session.run(sql`CREATE TABLE build_words AS ${buildWords}`);
  await session.run(sql`CREATE TABLE build_values AS ${buildValues}`);
  const active = positioned(filesIn(tables, "snapshots", as_of), folder);
  return [await Dimensions.read(session), await DealerDirectory.read(session, dealerProfiles(active))];
}

/** Files whose content this process has compared with their SHA-256. */
const verified = new Set<string>();

/** Fails unless all files have their sizes, and those that are read at once their content; a file is read once for that in a process. */
async function checkFiles(folder: string, { tables, as_of }: Manifest): Promise<void> {
  const dimensions = [...tables.builds, ...tables.dealers, ...tables.tokens, ...tables.options];
  const eager = new Set([...dimensions, ...filesIn(tables, "snapshots", as_of)]);
  for (const file of Object.values(tables).flat()) {
    const content = `${join(folder, file.path)} ${file.sha256}`;
    const isNew = eager.has(file) && !verified.has(content);
    await checkFile(folder, file, isNew ? "content" : "size");
    if (isNew) verified.add(content);
  }
}

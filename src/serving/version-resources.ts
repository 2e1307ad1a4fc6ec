/** The resources of an open version: opens and closes them. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LRUCache } from "lru-cache";
import { type DatabaseOptions, DuckDatabase, type Session } from "../db/duckdb.ts";
import { serviceJob } from "../db/job.ts";
import { type PoolOptions, SessionPool } from "../db/session-pool.ts";
import { ident, sql } from "../db/sql.ts";
import {
  buildRanks,
  buildValues,
  buildValuesDictionary,
  dealerProfiles,
  rowsOfFiles,
} from "../lake/derived-relations.ts";
import { currentManifest, type Manifest, readManifest } from "../lake/manifest.ts";
import { activeOn, unorderedListings } from "../lake/market.ts";
import { vinPatternsPath } from "../listing/vins.ts";
import type { DayColumns } from "./day-columns.ts";
import { DealerDirectory } from "./dealer-directory.ts";
import { Dimensions } from "./dimensions.ts";
import { rebuildServingFiles } from "./files/build-serving-files.ts";
import { ServingFiles } from "./files/open-serving-files.ts";
import type { Rebuild } from "./files/serving-parts.ts";
import { VerifiedFiles } from "./files/verified-files.ts";
import { checkFiles, VersionFiles } from "./files/version-files.ts";
import { ColumnCache } from "./index/columns.ts";
import { Vocabulary } from "./vocabulary.ts";

const keptDaysMax = 16;

export interface LakeVersionOptions extends DatabaseOptions, PoolOptions {
  /** Whether to use the serving files of the lake (default true). If false, all are rebuilt from Parquet files. */
  readonly hasServingFiles?: boolean;
  /** Whether to open and hash all serving files before the version is used (default true); else when a request needs them. */
  readonly opensAhead?: boolean;
  /** Whether the version does not open if it lacks an intact serving file (default false); else the file is rebuilt. */
  readonly isIntact?: boolean;
  /** Rebuilds serving files; by default in this process. */
  readonly rebuild?: Rebuild;
  /** Maximum memory of the columns of search indexes, in bytes. */
  readonly columnBytes?: number;
  /** These columns, of all versions that a process opens. */
  readonly columns?: ColumnCache;
  /** The verified files of earlier versions, so that each file is hashed once per process. */
  readonly verified?: VerifiedFiles;
  /** Folders that statements may write to. None by default. */
  readonly writableFolders?: readonly string[];
  /** Called once for each search index that is rebuilt, and once when the row store is. */
  readonly onRebuild?: (message: string) => void;
}

export interface VersionResources {
  readonly manifest: Manifest;
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  readonly vocabulary: Vocabulary;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly pool: SessionPool;
  readonly serving: ServingFiles;
  /** Those of the days that were read most recently. */
  readonly dayColumns: LRUCache<string, Promise<DayColumns>>;
}

/** Opens the resources of a version. Throws if a dimension or the current snapshot does not match the manifest. */
export async function openResources(
  lake: string,
  version: string,
  options: LakeVersionOptions,
): Promise<VersionResources> {
  const manifest = await readManifest(lake, version);
  const folder = resolve(lake);
  const files = new VersionFiles(manifest, options.verified ?? new VerifiedFiles(folder));
  await checkFiles(files, manifest);
  const database = await DuckDatabase.open(options);
  try {
    const [dimensions, dealers] = await database.using((session) => readDimensions(session, manifest, folder));
    const { columnBytes, columns = new ColumnCache(columnBytes), onRebuild = () => {} } = options;
    const { hasServingFiles = true, opensAhead = true, isIntact = false } = options;
    const { rebuild = (order) => rebuildServingFiles(order, options) } = options;
    const rebuiltFolder = join(tmpdir(), `carquet-serving-${process.pid}-${randomUUID()}`);
    await database.lockDown([folder, rebuiltFolder, ...(options.writableFolders ?? [])], [vinPatternsPath]);
    const pool = await SessionPool.open(database, options);
    const engine = pool.engineOf(serviceJob());
    const serving = await ServingFiles.open({
      manifest,
      published: (await currentManifest(lake).catch(() => undefined)) ?? manifest,
      folder,
      files,
      database,
      engine,
      columns,
      hasServingFiles,
      opensAhead,
      isIntact,
      rebuild,
      rebuiltFolder,
      onRebuild,
    });
    const vocabulary = new Vocabulary({
      dimensions,
      dealers,
      dictionaries: () => serving.listings.dictionaries(),
      isIndexed: (attribute, value) => serving.hasValue(attribute, value),
    });
    return {
      manifest,
      dimensions,
      dealers,
      vocabulary,
      folder,
      files,
      database,
      pool,
      serving,
      dayColumns: new LRUCache({ max: keptDaysMax }),
    };
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Closes the resources of a version. No query may be running. */
export function closeResources({ serving, pool, database }: VersionResources): void {
  serving.close();
  pool.close();
  database.close();
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
  await session.run(sql`CREATE TABLE build_words AS ${buildValuesDictionary}`);
  await session.run(sql`CREATE TABLE build_values AS ${buildValues}`);
  await session.run(sql`CREATE TABLE build_ranks AS ${buildRanks}`);
  // Joining market values takes ten times as long as counting listings.
  const inventory = { ...activeOn(manifest, manifest.as_of), valuations: [] };
  const active = unorderedListings(inventory, { folder, hasFeeds: false });
  return [await Dimensions.read(session), await DealerDirectory.read(session, dealerProfiles(active))];
}

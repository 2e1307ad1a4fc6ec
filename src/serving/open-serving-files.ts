/**
 * Opens the serving files of a version and falls back to Parquet when they fail.
 *
 * A file that is missing, damaged or of another format is closed and reported once. The Parquet files answer from then on, including the
 * request that hit the failure. A later version with an intact file uses it again.
 */
import { join } from "node:path";
import { messageOf } from "../base/user-error.ts";
import { Refusal } from "../contract/errors.ts";
import type { DuckDatabase } from "../db/duckdb.ts";
import { fileLiteral, sql } from "../db/sql.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { ListingSource } from "../listing/source.ts";
import type { Dimensions } from "./dimensions.ts";
import { type Engine, SearchIndex } from "./index/search-index.ts";
import { type FoundListing, listingFiles } from "./listing-files.ts";
import { RowStore } from "./rows/row-store.ts";
import { checkFile, neededSources, usableFiles } from "./serving-files.ts";

export interface ServingOptions {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  readonly dimensions: Dimensions;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
  /** Called once when the search index fails, and once when the row store fails. */
  readonly onFallback: (message: string) => void;
}

export class ServingFiles {
  /** No serving files: Parquet answers everything. */
  static readonly none = new ServingFiles(undefined, undefined, () => {});

  private constructor(
    private index: SearchIndex | undefined,
    private rows: RowStore | undefined,
    private readonly onFallback: (message: string) => void,
  ) {}

  /** Opens the serving files that a manifest lists. Reports those that do not open; never throws because of them. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const { onFallback } = options;
    const openOrReport = async <T>(name: string, open: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await open();
      } catch (thrown) {
        onFallback(`${name}: falling back to Parquet; run carquet index to rebuild it. ${messageOf(thrown)}`);
        return undefined;
      }
    };
    const needsIndex = neededSources(options.manifest).some(({ kind }) => kind === "index");
    const index = needsIndex ? await openOrReport("search index", () => openIndex(options)) : undefined;
    return new ServingFiles(index, await openOrReport("row store", () => openRows(options)), onFallback);
  }

  /** Whether the search index and the row store are in use. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    return { index: this.index !== undefined, rows: this.rows !== undefined };
  }

  /** Returns the search index as a listing source that falls back to `parquet`; `parquet` if there is no index. */
  sourceOr(parquet: ListingSource): ListingSource {
    const { index } = this;
    if (index === undefined) return parquet;
    const withFallback = <T>(request: (source: ListingSource) => Promise<T>): Promise<T> =>
      request(index).catch((thrown: unknown) => {
        if (thrown instanceof Refusal) throw thrown;
        if (this.index !== undefined) this.onFallback(`search index: falling back to Parquet. ${messageOf(thrown)}`);
        this.index = undefined;
        return request(parquet);
      });
    return {
      count: index.count,
      findPage: (request) => withFallback((source) => source.findPage(request)),
      countValues: (request) => withFallback((source) => source.countValues(request)),
      measureValues: (request) => withFallback((source) => source.measureValues(request)),
    };
  }

  /** Returns the rows at positions of the concatenated files; undefined if the row store cannot read them. */
  rowsAt(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    return this.readRows((store) => store.rowsAt(files, positions));
  }

  /** Returns the listings with an id or a VIN; undefined if the row store cannot read them. */
  lookUp(key: "id" | "vin", value: string, columns: readonly ServedColumn[]): readonly FoundListing[] | undefined {
    return this.readRows((store) => store.find(key, value, columns));
  }

  close(): void {
    this.rows?.close();
    this.rows = undefined;
  }

  private readRows<T>(read: (store: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      this.onFallback(`row store: falling back to Parquet. ${messageOf(thrown)}`);
      this.close();
      return undefined;
    }
  }
}

async function openIndex(options: ServingOptions): Promise<SearchIndex> {
  const { manifest, folder, database, engine, dimensions, fetchedMatches } = options;
  const file = usableFiles(manifest).find(({ kind }) => kind === "index");
  if (file === undefined) throw new Error("The manifest lists no search index of this release's format.");
  await checkFile(folder, file, "content");
  return database.using(async (session) => {
    await session.run(sql`ATTACH ${fileLiteral(join(folder, file.path))} AS search_index (READ_ONLY)`);
    return SearchIndex.open(
      session,
      engine,
      (attribute, value) => dimensions.isKnown(attribute, value),
      fetchedMatches,
    );
  });
}

async function openRows({ manifest, folder }: ServingOptions): Promise<RowStore> {
  const files = usableFiles(manifest).filter(({ kind }) => kind === "rows");
  const needed = listingFiles(manifest);
  if (files.length < needed.length) {
    const expected = `expected ${needed.length}, found ${files.length}`;
    throw new Error(`The manifest lists too few row files of this release's format: ${expected}.`);
  }
  for (const file of files) await checkFile(folder, file, "size");
  return RowStore.open(
    needed,
    files.map(({ path, source }) => ({ source, path: join(folder, path) })),
  );
}

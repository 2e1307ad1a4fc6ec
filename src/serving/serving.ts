/**
 * The serving files of a version, open: its search index and its row store.
 *
 * A file that is missing, of another format or damaged is given up, which is reported once; the Parquet files then answer, the request that
 * found out included. It is used again when a version lists a sound one.
 */
import { join } from "node:path";
import { messageOf } from "../base/user-error.ts";
import { Refusal } from "../contract/errors.ts";
import type { DuckDatabase } from "../db/duckdb.ts";
import { literal, sql } from "../db/sql.ts";
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
  /** Up to so many matches are fetched to be counted. */
  readonly fetchedMatches?: number | undefined;
  /** Called once for each of the two that is given up. */
  readonly onFallback: (message: string) => void;
}

export class ServingFiles {
  /** Nothing is served from files of its own. */
  static readonly none = new ServingFiles(undefined, undefined, () => {});

  private constructor(
    private index: SearchIndex | undefined,
    private rows: RowStore | undefined,
    private readonly onFallback: (message: string) => void,
  ) {}

  /** Opens the files that a version's manifest lists. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const { onFallback } = options;
    const opened = async <T>(what: string, open: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await open();
      } catch (thrown) {
        onFallback(`${what}: ${messageOf(thrown)} The Parquet files answer; run carquet index to build it.`);
        return undefined;
      }
    };
    const needsIndex = neededSources(options.manifest).some(({ kind }) => kind === "index");
    const index = needsIndex ? await opened("search index", () => openIndex(options)) : undefined;
    return new ServingFiles(index, await opened("row store", () => openRows(options)), onFallback);
  }

  get state(): { readonly index: boolean; readonly rows: boolean } {
    return { index: this.index !== undefined, rows: this.rows !== undefined };
  }

  /** The search index, with another source in its place where it fails; that source where there is none. */
  sourceOr(parquet: ListingSource): ListingSource {
    const { index } = this;
    if (index === undefined) return parquet;
    const first = <T>(ask: (source: ListingSource) => Promise<T>): Promise<T> =>
      ask(index).catch((thrown: unknown) => {
        if (thrown instanceof Refusal) throw thrown;
        if (this.index !== undefined) this.onFallback(`search index: ${messageOf(thrown)}; the Parquet files answer.`);
        this.index = undefined;
        return ask(parquet);
      });
    return {
      count: index.count,
      findPage: (request) => first((source) => source.findPage(request)),
      countValues: (request) => first((source) => source.countValues(request)),
      measureValues: (request) => first((source) => source.measureValues(request)),
    };
  }

  /** The rows at some positions of some files; undefined where the row store does not have them. */
  rowsAt(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    return this.stored((rows) => rows.at(files, positions));
  }

  /** The listings of an id or a VIN; undefined where there is no row store. */
  lookUp(by: "id" | "vin", wanted: string, names: readonly ServedColumn[]): readonly FoundListing[] | undefined {
    return this.stored((rows) => rows.by(by, wanted, names));
  }

  close(): void {
    this.rows?.close();
    this.rows = undefined;
  }

  private stored<T>(read: (rows: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      this.onFallback(`row store: ${messageOf(thrown)}; the Parquet files answer.`);
      this.close();
      return undefined;
    }
  }
}

async function openIndex({
  manifest,
  folder,
  database,
  engine,
  dimensions,
  fetchedMatches,
}: ServingOptions): Promise<SearchIndex> {
  const file = usableFiles(manifest).find(({ kind }) => kind === "index");
  if (file === undefined) throw new Error("the manifest lists none of this format.");
  await checkFile(folder, file, "content");
  return database.using(async (session) => {
    await session.run(sql`ATTACH ${literal(join(folder, file.path))} AS search_index (READ_ONLY)`);
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
  if (files.length < needed.length)
    throw new Error(`the manifest lists ${files.length} of ${needed.length} files of this format.`);
  for (const file of files) await checkFile(folder, file, "size");
  return RowStore.open(
    needed,
    files.map(({ path, source }) => ({ source, path: join(folder, path) })),
  );
}

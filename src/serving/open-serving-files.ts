/**
 * Opens the serving files of a version and falls back to Parquet when they fail.
 *
 * A file that is missing, damaged or of another format is closed and reported once. The Parquet files answer from then on, including the
 * request that hit the failure. A version that is opened later uses an intact file again.
 *
 * The index is hashed before it opens. Row files are hashed after they open, because they are large: a row proves itself by its checksum,
 * and look-ups by id or VIN, from which damage could hide a listing, wait for the hash.
 */
import { join } from "node:path";
import { messageOf, UserError } from "../base/user-error.ts";
import type { DuckDatabase } from "../db/duckdb.ts";
import type { Engine } from "../db/session-pool.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile, Manifest, ServingFile } from "../lake/manifest.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { CategoryName } from "../listing/schema.ts";
import type { ListingSource } from "../listing/source.ts";
import { sourceWithFallback } from "./fallback-source.ts";
import { SearchIndex } from "./index/search-index.ts";
import { type FoundListing, listingFiles } from "./listing-files.ts";
import { RowStore } from "./rows/row-store.ts";
import { neededSources, usableFiles } from "./serving-files.ts";
import type { VersionFiles } from "./version-files.ts";

export interface ServingOptions {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
  /** Called once when the search index fails, and once when the row store fails. */
  readonly onFallback: (message: string) => void;
}

type Kind = ServingFile["kind"];

const names: Readonly<Record<Kind, string>> = { index: "search index", rows: "row store" };

/** What answers if it is not given up. */
interface Open {
  readonly index: SearchIndex | undefined;
  readonly rows: RowStore | undefined;
}

export class ServingFiles {
  /** No serving files: Parquet answers everything. */
  static readonly none = new ServingFiles({ index: undefined, rows: undefined }, []);

  /** Resolves when the row files have been hashed, whatever the result. */
  readonly rowsChecked: Promise<void>;
  private index: SearchIndex | undefined;
  private rows: RowStore | undefined;
  private isClosed = false;

  /** `unused` collects the kinds that are needed and not in use. */
  private constructor(
    open: Open,
    private readonly unused: Kind[],
    private readonly options?: ServingOptions,
  ) {
    this.index = open.index;
    this.rows = open.rows;
    this.rowsChecked = this.checkRows();
  }

  /** Opens the serving files that a manifest lists. Reports those that do not open; never throws because of them. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const unused: Kind[] = [];
    const openOrReport = async <T>(kind: Kind, open: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await open();
      } catch (thrown) {
        unused.push(kind);
        const advice = "falling back to Parquet; run carquet index to rebuild it";
        options.onFallback(`${names[kind]}: ${advice}. ${messageOf(thrown)}`);
        return undefined;
      }
    };
    const needsIndex = neededSources(options.manifest).some(({ kind }) => kind === "index");
    const index = needsIndex ? await openOrReport("index", () => openIndex(options)) : undefined;
    const rows = await openOrReport("rows", () => openRows(options));
    return new ServingFiles({ index, rows }, unused, options);
  }

  /** Whether the search index and the row store are in use. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    return { index: this.index !== undefined, rows: this.rows !== undefined };
  }

  /** What is needed and not in use, for operators. */
  get faults(): readonly string[] {
    return this.unused.map((kind) => `${names[kind]} not in use`);
  }

  /** Returns whether an active listing has a value; false if there is no search index. */
  hasValue(attribute: CategoryName, value: string): boolean {
    return this.index?.has(attribute, value) ?? false;
  }

  /** Returns the search index on an engine as a listing source that falls back to `parquet`; `parquet` if there is no index. */
  sourceOr(parquet: ListingSource, engine: Engine): ListingSource {
    const index = this.index?.with(engine);
    if (index === undefined) return parquet;
    return sourceWithFallback(index, parquet, (fault) => this.fail("index", fault));
  }

  /** Returns the rows at positions of the concatenated files; undefined if the row store cannot read them. */
  rowsAt(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    return this.readRows((store) => store.rowsAt(files, positions));
  }

  /** Returns the listings with an id or a VIN; undefined if the row store cannot read them. */
  async lookUp(
    key: "id" | "vin",
    value: string,
    columns: readonly ServedColumn[],
  ): Promise<readonly FoundListing[] | undefined> {
    await this.rowsChecked;
    return this.readRows((store) => store.find(key, value, columns));
  }

  /** Stops using the search index or the row store if the damaged file at a path is part of it. */
  giveUp(path: string, fault: string): void {
    const file = this.options?.manifest.serving.find((candidate) => candidate.path === path);
    if (file !== undefined) this.stopUsing(file.kind, fault);
  }

  close(): void {
    this.isClosed = true;
    this.rows?.close();
    this.rows = undefined;
  }

  private readRows<T>(read: (store: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      this.fail("rows", messageOf(thrown));
      return undefined;
    }
  }

  private async checkRows(): Promise<void> {
    if (this.rows === undefined || this.options === undefined) return;
    const { files, manifest } = this.options;
    for (const file of filesOf(manifest, "rows")) {
      const fault = await files.faultOf(file);
      if (fault !== undefined) this.stopUsing("rows", fault);
    }
  }

  /** Stops using files that failed a request, and hashes them. */
  private fail(kind: Kind, fault: string): void {
    if (!this.stopUsing(kind, fault) || this.options === undefined) return;
    const { files, manifest } = this.options;
    void filesOf(manifest, kind).reduce((before, file) => before.then(() => files.giveUp(file)), Promise.resolve());
  }

  /** Returns false if the kind was not in use. */
  private stopUsing(kind: Kind, fault: string): boolean {
    if (this.isClosed || this[kind] === undefined) return false;
    this.options?.onFallback(`${names[kind]}: falling back to Parquet. ${fault}`);
    this.unused.push(kind);
    if (kind === "rows") this.rows?.close();
    this[kind] = undefined;
    return true;
  }
}

const filesOf = (manifest: Manifest, kind: Kind): readonly ServingFile[] =>
  usableFiles(manifest).filter((file) => file.kind === kind);

/** Throws if a file is damaged. */
async function requireIntact(files: VersionFiles, file: ServingFile, check: "size" | "content"): Promise<void> {
  const fault = await files.faultOf(file, check);
  if (fault !== undefined) throw new UserError(fault);
}

async function openIndex(options: ServingOptions): Promise<SearchIndex> {
  const { manifest, folder, files, database, engine, fetchedMatches } = options;
  const [file] = filesOf(manifest, "index");
  if (file === undefined) throw new Error("The manifest lists no search index of this release's format.");
  await requireIntact(files, file, "content");
  const path = join(folder, file.path);
  return database.using((session) =>
    SearchIndex.attach(session, { path, catalog: "search_index", engine, fetchedMatches }),
  );
}

async function openRows({ manifest, folder, files }: ServingOptions): Promise<RowStore> {
  const rowFiles = filesOf(manifest, "rows");
  const needed = listingFiles(manifest);
  if (rowFiles.length < needed.length) {
    const expected = `expected ${needed.length}, found ${rowFiles.length}`;
    throw new Error(`The manifest lists too few row files of this release's format: ${expected}.`);
  }
  for (const file of rowFiles) await requireIntact(files, file, "size");
  return RowStore.open(
    needed,
    rowFiles.map(({ path, source }) => ({ source, path: join(folder, path) })),
  );
}

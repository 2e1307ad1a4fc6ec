/**
 * Opens the serving files of a version and falls back to Parquet when they fail.
 *
 * A file that is missing, damaged or of another format is closed and reported once. The Parquet files answer from then on, including the
 * request that hit the failure. A version that is opened later uses an intact file again.
 *
 * The index of the published month opens with the version, those of earlier months soon after, or when they are asked for. An index is hashed
 * before it opens. Row files are hashed after they open, because they are large: a row proves itself by its checksum, and look-ups by id or VIN, from
 * which damage could hide a listing, wait for the hash.
 */
import { join } from "node:path";
import { calendarMonth } from "../base/day.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { DuckDatabase } from "../db/duckdb.ts";
import type { Engine } from "../db/session-pool.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile, Manifest, ServingFile } from "../lake/manifest.ts";
import type { CategoryName } from "../listing/schema.ts";
import type { ListingSource, Place } from "../listing/source.ts";
import { sourceWithFallback } from "./fallback-source.ts";
import { SearchIndex } from "./index/search-index.ts";
import { listingFiles } from "./listing-files.ts";
import { RowStore, type StoredListing } from "./rows/row-store.ts";
import { neededFiles, usableFiles } from "./serving-files.ts";
import type { VersionFiles } from "./version-files.ts";

export interface ServingOptions {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
  /** Called once when a search index fails, and once when the row store fails. */
  readonly onFallback: (message: string) => void;
}

/** What is in use or not as a whole: the search index of a month, or the row store. */
interface Part {
  readonly name: string;
  readonly kind: ServingFile["kind"];
  /** Of an index. */
  readonly month?: string;
  /** The listed files of it that this release can read. */
  readonly files: readonly ServingFile[];
}

/** Returns the parts that a version needs, the index of the published month first. */
function partsOf(manifest: Manifest): readonly Part[] {
  const usable = usableFiles(manifest);
  const published = calendarMonth(manifest.as_of);
  const indexes = neededFiles(manifest).flatMap((needed): readonly Part[] => {
    if (needed.kind !== "index") return [];
    const { month } = needed.of;
    const files = usable.filter(({ kind, source }) => kind === "index" && source === needed.source);
    return [{ name: month === published ? "search index" : `search index of ${month}`, kind: "index", month, files }];
  });
  return [...indexes, { name: "row store", kind: "rows", files: usable.filter(({ kind }) => kind === "rows") }];
}

export class ServingFiles {
  /** No serving files: Parquet answers everything. */
  static readonly none = new ServingFiles([]);

  /** Resolves when the row files have been hashed, whatever the result. */
  rowsChecked: Promise<void> = Promise.resolve();
  private index: SearchIndex | undefined;
  private rows: RowStore | undefined;
  private isClosed = false;
  /** Indexes of earlier months that are open, or are being opened. */
  private readonly earlier = new Map<string, Promise<SearchIndex>>();
  /** Parts that are needed and not in use. */
  private readonly unused = new Set<Part>();

  private constructor(
    private readonly parts: readonly Part[],
    private readonly options?: ServingOptions,
  ) {}

  /** Opens the serving files that a manifest lists. Reports those that do not open; never throws because of them. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const serving = new ServingFiles(partsOf(options.manifest), options);
    const published = calendarMonth(options.manifest.as_of);
    for (const part of serving.parts) {
      try {
        if (part.kind === "rows") serving.rows = await openRows(options, part);
        else if (part.month === published) serving.index = await openIndex(options, part);
        else requireListed(part);
      } catch (thrown) {
        serving.unused.add(part);
        const advice = "falling back to Parquet; run carquet index to rebuild it";
        options.onFallback(`${part.name}: ${advice}. ${messageOf(thrown)}`);
      }
    }
    serving.rowsChecked = serving.checkRows();
    void serving.openEarlier();
    return serving;
  }

  /** Whether the search index of the published day and the row store are in use. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    return { index: this.index !== undefined, rows: this.rows !== undefined };
  }

  /** What is needed and not in use, for operators. */
  get faults(): readonly string[] {
    return [...this.unused].map(({ name }) => `${name} not in use`);
  }

  /** Returns whether an active listing has a value; false if there is no search index. */
  hasValue(attribute: CategoryName, value: string): boolean {
    return this.index?.has(attribute, value) ?? false;
  }

  /** Returns the listings of a day on an engine, from the search index of its month. They fall back to `parquet`, which is returned if there is no index. */
  listingsOn(day: string, parquet: ListingSource, engine: Engine): ListingSource {
    const part = this.parts.find(({ month }) => month === calendarMonth(day));
    if (part === undefined || this.unused.has(part)) return parquet;
    const isPublished = day === this.options?.manifest.as_of;
    const open = async (): Promise<ListingSource> => {
      const index = (await this.indexOf(part)).with(engine);
      return isPublished ? index : index.on(day, parquet.count);
    };
    return sourceWithFallback(open, parquet, (fault) => this.fail(part, fault));
  }

  /** Returns the rows at places of the concatenated files; undefined if the row store cannot read them. */
  rowsAt(
    files: readonly LakeFile[],
    places: readonly Place[],
    day: string | undefined,
  ): readonly JsonRow[] | undefined {
    return this.readRows((store) => store.rowsAt(files, places, day));
  }

  /** Returns the listings with an id or a VIN; undefined if the row store cannot read them. */
  async lookUp(key: "id" | "vin", value: string): Promise<readonly StoredListing[] | undefined> {
    await this.rowsChecked;
    return this.readRows((store) => store.find(key, value));
  }

  /** Stops using the search index or the row store if the damaged file at a path is part of it. */
  giveUp(path: string, fault: string): void {
    const part = this.parts.find(({ files }) => files.some((file) => file.path === path));
    if (part !== undefined) this.stopUsing(part, fault);
  }

  close(): void {
    this.isClosed = true;
    this.rows?.close();
    this.rows = undefined;
  }

  /** Returns the index of a month, which it opens if that was not asked for before. */
  private async indexOf(part: Part): Promise<SearchIndex> {
    if (this.index !== undefined && part.month === calendarMonth(this.options?.manifest.as_of ?? "")) return this.index;
    const { month = "" } = part;
    const { options } = this;
    if (options === undefined) throw new Error(`No serving files are open: expected the index of ${month}.`);
    const opened = this.earlier.get(month) ?? openIndex(options, part);
    this.earlier.set(month, opened);
    opened.catch(() => this.earlier.delete(month));
    return opened;
  }

  /** Opens the indexes of earlier months one after another, so that the first request for a day in one does not wait for it. */
  private async openEarlier(): Promise<void> {
    for (const part of this.parts) {
      if (part.kind !== "index" || this.isClosed || this.unused.has(part)) continue;
      await this.indexOf(part).catch((thrown: unknown) => this.stopUsing(part, messageOf(thrown)));
    }
  }

  private readRows<T>(read: (store: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      const part = this.parts.find(({ kind }) => kind === "rows");
      if (part !== undefined) this.fail(part, messageOf(thrown));
      return undefined;
    }
  }

  private async checkRows(): Promise<void> {
    const { rows, options } = this;
    const part = this.parts.find(({ kind }) => kind === "rows");
    if (rows === undefined || options === undefined || part === undefined) return;
    for (const file of part.files) {
      const fault = await options.files.faultOf(file);
      if (fault !== undefined) this.stopUsing(part, fault);
    }
  }

  /** Stops using a part that failed a request, and hashes its files. */
  private fail(part: Part, fault: string): void {
    if (!this.stopUsing(part, fault) || this.options === undefined) return;
    const { files } = this.options;
    void part.files.reduce((before, file) => before.then(() => files.giveUp(file)), Promise.resolve());
  }

  /** Returns false if the part was not in use. */
  private stopUsing(part: Part, fault: string): boolean {
    if (this.isClosed || this.unused.has(part)) return false;
    this.options?.onFallback(`${part.name}: falling back to Parquet. ${fault}`);
    this.unused.add(part);
    if (part.kind === "rows") {
      this.rows?.close();
      this.rows = undefined;
    } else if (part.month === calendarMonth(this.options?.manifest.as_of ?? "")) this.index = undefined;
    return true;
  }
}

/** Throws if a file is damaged. */
async function requireIntact(files: VersionFiles, file: ServingFile, check: "size" | "content"): Promise<void> {
  const fault = await files.faultOf(file, check);
  if (fault !== undefined) throw new UserError(fault);
}

/** Returns the file of an index. Throws if it is not listed. */
function requireListed({ files: [file] }: Part): ServingFile {
  if (file === undefined) throw new Error("The manifest lists no search index of this release's format.");
  return file;
}

async function openIndex(options: ServingOptions, part: Part): Promise<SearchIndex> {
  const { folder, files, database, engine, fetchedMatches } = options;
  const file = requireListed(part);
  await requireIntact(files, file, "content");
  const path = join(folder, file.path);
  return database.using((session) => SearchIndex.attach(session, { path, catalog: part.name, engine, fetchedMatches }));
}

async function openRows({ manifest, folder, files }: ServingOptions, part: Part): Promise<RowStore> {
  const needed = listingFiles(manifest);
  if (part.files.length < needed.length) {
    const expected = `expected ${needed.length}, found ${part.files.length}`;
    throw new Error(`The manifest lists too few row files of this release's format: ${expected}.`);
  }
  for (const file of part.files) await requireIntact(files, file, "size");
  return RowStore.open(
    needed,
    part.files.map(({ path, source }) => ({ source, path: join(folder, path) })),
  );
}

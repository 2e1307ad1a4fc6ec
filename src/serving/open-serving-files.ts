/**
 * The serving files of an open version, which fall back to Parquet when they fail.
 *
 * A file that is missing, damaged or of another format is closed and reported once. The Parquet files answer from then on, including the
 * request that hit the failure. A version that is opened later uses an intact file again.
 *
 * The index of today opens with the version, the others soon after, or when they are asked for. An index is hashed before it opens. Row files are
 * hashed after they open, because they are large: a row proves itself by its checksum, and look-ups by id or VIN, from which damage could hide a
 * listing, wait for the hash.
 */
import { bounds } from "../base/bounds.ts";
import { messageOf } from "../base/user-error.ts";
import type { Engine } from "../db/session-pool.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile } from "../lake/manifest.ts";
import type { CategoryName } from "../listing/schema.ts";
import type { ListingSource, Place } from "../listing/source.ts";
import type { Level, LevelRequest, TrendSource } from "../listing/trend-source.ts";
import { sourceWithFallback, withFallback } from "./fallback-source.ts";
import { IndexSource } from "./index/index-source.ts";
import type { IndexedRows } from "./index/indexed-rows.ts";
import { measureLevels } from "./index/levels.ts";
import type { SearchIndex } from "./index/search-index.ts";
import type { IndexContext } from "./index/where.ts";
import type { RowStore, StoredListing } from "./rows/row-store.ts";
import {
  hasDay,
  openIndex,
  openRows,
  type Part,
  requireListed,
  type ServingOptions,
  servingPartsOf,
} from "./serving-parts.ts";

/** The number of listings of an inventory, and whose statements answer for it. */
export interface SourceOptions {
  readonly parquet: ListingSource;
  readonly engine: Engine;
}

export class ServingFiles {
  /** No serving files: Parquet answers everything. */
  static readonly none = new ServingFiles([]);

  /** Resolves when the row files have been hashed, whatever the result. */
  rowsChecked: Promise<void> = Promise.resolve();
  private rows: RowStore | undefined;
  private isClosed = false;
  /** Indexes that are open, or are being opened. */
  private readonly indexes = new Map<Part, Promise<SearchIndex>>();
  /** The index of today, if it is in use. */
  private index: SearchIndex | undefined;
  /** Parts that are needed and not in use. */
  private readonly unused = new Set<Part>();

  private constructor(
    private readonly parts: readonly Part[],
    private readonly options?: ServingOptions,
  ) {}

  /** Opens the serving files that a manifest lists. Reports those that do not open; never throws because of them. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const serving = new ServingFiles(servingPartsOf(options.manifest), options);
    for (const part of serving.parts) {
      try {
        if (part.of === undefined) serving.rows = await openRows(options, part);
        else if (part.of.today === undefined) requireListed(part);
        else serving.index = await serving.indexOf(part);
      } catch (thrown) {
        serving.unused.add(part);
        const advice = "falling back to Parquet; run carquet index to rebuild it";
        options.onFallback(`${part.name}: ${advice}. ${messageOf(thrown)}`);
      }
    }
    serving.rowsChecked = serving.checkRows();
    void serving.openOthers();
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

  /** Returns the listings of a day from search indexes. They fall back to `parquet`, which is returned if an index is not in use. */
  listingsOn(day: string, { parquet, engine }: SourceOptions): ListingSource {
    const { as_of, former } = this.options?.manifest ?? {};
    const isPublished = day === as_of;
    // Of the past days of a former format, which are copies, there is no index.
    if (!isPublished && former !== undefined) return parquet;
    const parts = isPublished
      ? this.partsOf(({ today }) => today !== undefined)
      : this.partsOf((rows) => hasDay(rows, day));
    const { fetchedMatches } = this.options ?? {};
    return this.sourceOf(parts, parquet, (indexes) =>
      isPublished && indexes[0] !== undefined
        ? indexes[0].today(engine, fetchedMatches)
        : this.indexed(
            indexes.map((index) => index.on(day)),
            { parquet, engine },
          ),
    );
  }

  /** Returns the listings in some files of `sold`, and perhaps others that were sold, as `listingsOn` does. */
  listingsSold(files: readonly LakeFile[], { parquet, engine }: SourceOptions): ListingSource {
    const paths = new Set(files.map(({ path }) => path));
    const parts = this.partsOf(({ sold }) => sold.some(({ path }) => paths.has(path)));
    return this.sourceOf(parts, parquet, (indexes) =>
      this.indexed(
        indexes.map(({ sold }) => sold),
        { parquet, engine },
      ),
    );
  }

  /** Returns the levels of many days from search indexes, else from `parquet`. */
  async measureLevels(
    request: LevelRequest,
    { parquet, engine }: { readonly parquet: Pick<TrendSource, "measureLevels">; readonly engine: Engine },
  ): Promise<readonly Level[]> {
    const needed = this.partsOf((rows) => request.days.some((day) => hasDay(rows, day)));
    if (this.options?.manifest.former !== undefined || !this.areUsed(needed)) return parquet.measureLevels(request);
    const { open, onDamage } = this.opening(needed);
    const source = async (): Promise<Pick<TrendSource, "measureLevels">> => {
      const indexed = (await open()).flatMap((index, place) => {
        const { of } = needed[place] ?? {};
        const days = request.days.filter((day) => of !== undefined && hasDay(of, day));
        return [{ days, context: index.between(days[0] ?? "", days.at(-1) ?? "") }];
      });
      return { measureLevels: (asked) => measureLevels(indexed, engine, asked) };
    };
    return withFallback(source, parquet, onDamage)((levels) => levels.measureLevels(request));
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

  private partsOf(isNeeded: (rows: IndexedRows) => boolean): readonly Part[] {
    return this.parts.filter(({ of }) => of !== undefined && isNeeded(of));
  }

  private indexed(contexts: readonly IndexContext[], { parquet, engine }: SourceOptions): ListingSource {
    const { fetchedMatches = bounds.fetchedMatches } = this.options ?? {};
    return new IndexSource({ contexts, engine, count: parquet.count, fetchedMatches });
  }

  /** Returns what `source` returns for the indexes of some parts, with `parquet` behind it; `parquet` alone if a part is not in use. */
  private sourceOf(
    parts: readonly Part[],
    parquet: ListingSource,
    source: (indexes: readonly SearchIndex[]) => ListingSource,
  ): ListingSource {
    if (!this.areUsed(parts)) return parquet;
    const { open, onDamage } = this.opening(parts);
    return sourceWithFallback(async () => source(await open()), parquet, onDamage);
  }

  private areUsed(parts: readonly Part[]): boolean {
    return parts.length > 0 && !parts.some((part) => this.unused.has(part));
  }

  /** Returns how to open the indexes of some parts, and what to do when one of them is damaged: those that do not open are given up, else all. */
  private opening(parts: readonly Part[]) {
    let failed = parts;
    return {
      open: async (): Promise<readonly SearchIndex[]> => {
        const opened = await Promise.allSettled(parts.map((part) => this.indexOf(part)));
        const broken = parts.filter((_, index) => opened[index]?.status === "rejected");
        if (broken.length > 0) failed = broken;
        return opened.map(settledValue);
      },
      onDamage: (fault: string): void => {
        for (const part of failed) this.fail(part, fault);
      },
    };
  }

  /** Returns an index, which it opens if that was not asked for before. */
  private indexOf(part: Part): Promise<SearchIndex> {
    const { options } = this;
    if (options === undefined) throw new Error(`No serving files are open: expected the ${part.name}.`);
    const opened = this.indexes.get(part) ?? openIndex(options, part);
    this.indexes.set(part, opened);
    opened.catch(() => this.indexes.delete(part));
    return opened;
  }

  /** Opens the other indexes one after another, so that the first request that needs one does not wait for it. */
  private async openOthers(): Promise<void> {
    for (const part of this.parts) {
      if (part.of === undefined || this.isClosed || this.unused.has(part)) continue;
      await this.indexOf(part).catch((thrown: unknown) => this.stopUsing(part, messageOf(thrown)));
    }
  }

  private readRows<T>(read: (store: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      const part = this.parts.find(({ of }) => of === undefined);
      if (part !== undefined) this.fail(part, messageOf(thrown));
      return undefined;
    }
  }

  private async checkRows(): Promise<void> {
    const { rows, options } = this;
    const part = this.parts.find(({ of }) => of === undefined);
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
    if (part.of === undefined) {
      this.rows?.close();
      this.rows = undefined;
    } else if (part.of.today !== undefined) this.index = undefined;
    return true;
  }
}

/** Returns the value of a promise that was settled, or throws its error. */
function settledValue<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

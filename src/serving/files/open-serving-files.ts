/**
 * The serving files of an open version, and their replacements when they fail.
 *
 * A file that is missing, damaged or of another format is closed and reported once. Its index is then built from Parquet files in memory, and rows
 * are read from Parquet files, also for the request that hit the failure. A version that is opened later uses an intact file again. So it is with a
 * file that cannot be read when it opens; an I/O error later on affects the request that meets it. Every other fault is that of the request.
 *
 * The index of today opens with the version, the others soon after, or when a request needs them. An index is hashed before it opens. Row files are
 * hashed after they open, because they are large: a row proves itself by its checksum, and look-ups by id or VIN, from which damage could hide a
 * listing, wait for the hash.
 */
import { createOnce } from "../../base/concurrency.ts";
import { messageOf } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import type { CategoryName } from "../../listing/schema.ts";
import type { RowKey } from "../../listing/source.ts";
import type { Segment } from "../index/segment.ts";
import { ListingSources, type RunOnIndexes } from "../listing-sources.ts";
import type { RowStore, StoredListing } from "../rows/row-store.ts";
import {
  buildIndex,
  type IndexPart,
  openIndex,
  openRows,
  type ServingOptions,
  type ServingPart,
  type ServingParts,
  servingPartsOf,
  unlistedIndex,
} from "./serving-parts.ts";

/** Runs a request. If a file turns out to be damaged, calls `onDamage` and runs the request once more. Rethrows other faults. */
export async function retryOnDamage<T>(request: () => Promise<T>, onDamage: (fault: string) => void): Promise<T> {
  try {
    return await request();
  } catch (thrown) {
    if (classifyFault(thrown) !== "damaged") throw thrown;
    onDamage(messageOf(thrown));
    return request();
  }
}

export class ServingFiles {
  private rows: RowStore | undefined;
  private checkedRows: Promise<void> | undefined;
  private isClosed = false;
  /** Indexes that are open, or are being opened or built. */
  private readonly indexes = new Map<IndexPart, Promise<Segment>>();
  private today: Segment | undefined;
  private readonly disabled = new Set<ServingPart>();
  private readonly parts: ServingParts;
  readonly listings: ListingSources;

  private constructor(private readonly options: ServingOptions) {
    this.parts = servingPartsOf(options.manifest);
    this.listings = new ListingSources(this.parts.indexes, options, this.runOnIndexes);
  }

  /** Opens the serving files that a manifest lists. Reports those that do not open; never throws because of them. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const serving = new ServingFiles(options);
    const { indexes, rows } = serving.parts;
    if (!options.hasServingFiles) for (const part of [...indexes, rows]) serving.disabled.add(part);
    for (const part of indexes) {
      if (part.of.today !== undefined) await serving.openAhead(part);
      else if (part.files.length === 0) serving.disable(part, unlistedIndex);
    }
    await serving.openRowStore();
    if (options.opensAhead) {
      void serving.rowsChecked;
      void serving.openOthers();
    }
    return serving;
  }

  /** Resolves when the row files have been hashed, even if one is damaged. */
  get rowsChecked(): Promise<void> {
    this.checkedRows ??= this.checkRows();
    return this.checkedRows;
  }

  /** Whether the file of the search index of the published day, and the row store, are in use. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    return {
      index: this.parts.indexes.some((part) => part.of.today !== undefined && !this.disabled.has(part)),
      rows: this.rows !== undefined,
    };
  }

  /** The disabled parts, for operators. */
  get faults(): readonly string[] {
    return this.options.hasServingFiles ? [...this.disabled].map(({ name }) => `${name} not in use`) : [];
  }

  /** Returns whether a listing of the index of today has a value; false without one. */
  hasValue(attribute: CategoryName, value: string): boolean {
    return (this.today?.dictionary.idsOf(attribute, value).length ?? 0) > 0;
  }

  /** Returns the rows with keys in the concatenated files; undefined if the row store cannot read them. */
  rowsAt(files: readonly LakeFile[], keys: readonly RowKey[], day: string | undefined): readonly JsonRow[] | undefined {
    return this.readRows((store) => store.rowsAt(files, keys, day));
  }

  /** Returns the listings with an id or a VIN; undefined if the row store cannot read them. */
  async lookUp(key: "id" | "vin", value: string): Promise<readonly StoredListing[] | undefined> {
    await this.rowsChecked;
    return this.readRows((store) => store.find(key, value));
  }

  close(): void {
    this.isClosed = true;
    // Indexes of months that are over are those of the next version too.
    this.today?.forget();
    this.rows?.close();
    this.rows = undefined;
  }

  /** Runs a request on the indexes of some parts. If one of their files turns out to be damaged, runs it again on rebuilt indexes. */
  private readonly runOnIndexes: RunOnIndexes = (parts, request) => {
    let inFiles: readonly IndexPart[] = [];
    return retryOnDamage(
      async () => {
        const indexes = await Promise.all(parts.map((part) => this.indexOf(part)));
        inFiles = parts.filter((part) => !this.disabled.has(part));
        return request(indexes);
      },
      (fault) => {
        for (const part of inFiles) if (this.disableIndex(part, fault)) this.rehash(part);
      },
    );
  };

  /** Returns an index; opens or builds it on first use. */
  private indexOf(part: IndexPart): Promise<Segment> {
    return createOnce(this.indexes, part, async () => {
      const index = await this.openOrBuild(part);
      if (part.of.today !== undefined) this.today = index;
      return index;
    });
  }

  private async openOrBuild(part: IndexPart): Promise<Segment> {
    if (!this.disabled.has(part)) {
      try {
        return await openIndex(this.options, part);
      } catch (thrown) {
        this.disableUnopened(part, thrown);
      }
    }
    return buildIndex(this.options, part);
  }

  private async openRowStore(): Promise<void> {
    const { rows } = this.parts;
    if (this.disabled.has(rows)) return;
    try {
      this.rows = await openRows(this.options, rows);
    } catch (thrown) {
      this.disableUnopened(rows, thrown);
    }
  }

  /** Opens the files of the other indexes one after another, so that the first request that needs one does not wait for it. */
  private async openOthers(): Promise<void> {
    for (const part of this.parts.indexes) {
      if (!this.isClosed && !this.disabled.has(part)) await this.openAhead(part);
    }
  }

  /** Opens or builds an index. Reports a failure: the request that needs the index tries again. */
  private async openAhead(part: IndexPart): Promise<void> {
    await this.indexOf(part).catch((thrown: unknown) => {
      if (!this.isClosed) this.options.onFallback(`${part.name}: not open yet. ${messageOf(thrown)}`);
    });
  }

  /** Reads the row store. Returns undefined if it is not in use, or if its file turns out to be damaged, or cannot be read. */
  private readRows<T>(read: (store: RowStore) => T): T | undefined {
    if (this.rows === undefined) return undefined;
    try {
      return read(this.rows);
    } catch (thrown) {
      const fault = classifyFault(thrown);
      if (fault !== "damaged" && fault !== "io error") throw thrown;
      const { rows } = this.parts;
      if (fault === "damaged" && this.disable(rows, messageOf(thrown))) this.rehash(rows);
      return undefined;
    }
  }

  private async checkRows(): Promise<void> {
    if (this.rows === undefined) return;
    const { rows } = this.parts;
    for (const file of rows.files) {
      if (this.isClosed) return;
      try {
        const fault = await this.options.files.faultOf(file);
        if (fault !== undefined) this.disable(rows, fault);
      } catch (thrown) {
        this.disableUnopened(rows, thrown);
      }
    }
  }

  /** Disables a part whose files are missing or damaged; for a time, if they cannot be read. Throws every other fault of opening it. */
  private disableUnopened(part: ServingPart, thrown: unknown): void {
    const fault = classifyFault(thrown);
    if (fault !== "damaged" && fault !== "missing" && fault !== "io error") throw thrown;
    if (this.disable(part, messageOf(thrown)) && fault === "io error") this.rehash(part);
  }

  /** Hashes the files of a part that failed a request. */
  private rehash({ files }: ServingPart): void {
    void files.reduce((before, file) => before.then(() => this.options.files.disable(file)), Promise.resolve());
  }

  /** Disables the file of an index; the next request builds it. Returns false if it was already disabled. */
  private disableIndex(part: IndexPart, fault: string): boolean {
    return this.disable(part, fault) && this.indexes.delete(part);
  }

  /** Returns false if the part was already disabled. */
  private disable(part: ServingPart, fault: string): boolean {
    if (this.isClosed || this.disabled.has(part)) return false;
    this.options.onFallback(`${part.name}: not in use; run carquet index to build it again. ${fault}`);
    this.disabled.add(part);
    if (part === this.parts.rows) {
      this.rows?.close();
      this.rows = undefined;
    }
    return true;
  }
}

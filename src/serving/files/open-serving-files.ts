/**
 * The serving files of an open version: all of them, each read from the lake or rebuilt.
 *
 * A file that is missing, damaged, unreadable or of another format when it is opened is reported and rebuilt from Parquet files, in a folder that is
 * removed when the version is closed; a version that must be intact does not open instead. Damage that shows later fails the request that meets it,
 * and the version has to be opened again.
 *
 * The index of today opens with the version, the others when a request needs them; each is hashed before. Row files can be hashed after they open, because they are
 * large: a row proves itself by its checksum, and look-ups by id or VIN, from which damage could hide a listing, wait for the hash.
 */
import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createOnce } from "../../base/concurrency.ts";
import { DamagedFile, messageOf } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile, ServingFile } from "../../lake/manifest.ts";
import type { CategoryName } from "../../listing/schema.ts";
import type { RowKey } from "../../listing/source.ts";
import { Segment } from "../index/segment.ts";
import { listingFiles } from "../listing-files.ts";
import { ListingSources, type RunOnIndexes } from "../listing-sources.ts";
import { RowStore, type StoredListing } from "../rows/row-store.ts";
import {
  type IndexPart,
  inputsOf,
  type PartFile,
  rebuiltPath,
  type ServingOptions,
  type ServingPart,
  type ServingParts,
  servingPartsOf,
} from "./serving-parts.ts";
import { damagedData } from "./version-files.ts";

/** Folders of rebuilt files. */
const folders = new Set<string>();

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export class ServingFiles {
  private rows: RowStore | undefined;
  private rowsHash: Promise<void> | undefined;
  private isOpen = false;
  private isClosed = false;
  /** Parts of which a file in use has turned out to be damaged. */
  private readonly damaged = new Set<ServingPart>();
  /** Indexes that are open, or being opened. */
  private readonly indexes = new Map<IndexPart, Promise<Segment>>();
  private today: Segment | undefined;
  /** Parts with rebuilt files. */
  private readonly rebuilt = new Set<ServingPart>();
  private readonly parts: ServingParts;
  readonly listings: ListingSources;

  private constructor(private readonly options: ServingOptions) {
    this.parts = servingPartsOf(options.manifest, options.published);
    this.listings = new ListingSources(this.parts.indexes, options, this.runOnIndexes);
  }

  /** Opens all serving files of a version. Throws a DamagedFile if one cannot be used and the version must be intact. */
  static async open(options: ServingOptions): Promise<ServingFiles> {
    const serving = new ServingFiles(options);
    const { indexes, rows } = serving.parts;
    try {
      for (const part of indexes)
        if (part.of.today !== undefined || options.opensAhead || (await serving.lacks(part)))
          await serving.indexOf(part);
      const files = listingFiles(options.manifest);
      serving.rows = await serving.openPart(rows, async (paths) => RowStore.open(files, paths));
      serving.isOpen = true;
      return serving;
    } catch (thrown) {
      serving.close();
      throw thrown;
    }
  }

  /** Opens what is not open yet, so that no request waits for it. Faults show when a request needs it. */
  async openRest(): Promise<void> {
    for (const part of this.parts.indexes) if (!this.isClosed) await this.indexOf(part).catch(() => undefined);
    await this.rowsChecked;
  }

  /** Resolves when the row files have been hashed, even if one is damaged. */
  get rowsChecked(): Promise<void> {
    this.rowsHash ??= this.hashRows();
    return this.rowsHash;
  }

  /** Whether the search index of the published day, and the row store, are read from the files of the lake. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    const isRebuilt = (part: ServingPart): boolean => this.rebuilt.has(part);
    return {
      index: this.parts.indexes.some((part) => part.of.today !== undefined && !isRebuilt(part)),
      rows: !isRebuilt(this.parts.rows),
    };
  }

  /** The parts that are not read from the files of the lake, for operators. */
  get faults(): readonly string[] {
    return this.options.hasServingFiles ? [...this.rebuilt].map(({ name }) => `${name} not in use`) : [];
  }

  /** Whether a file in use has turned out to be damaged, so that the version should be opened again. */
  get isDamaged(): boolean {
    return this.damaged.size > 0;
  }

  /** Returns whether a listing of the index of today has a value; false without one. */
  hasValue(attribute: CategoryName, value: string): boolean {
    return (this.today?.dictionary.idsOf(attribute, value).length ?? 0) > 0;
  }

  /** Returns the rows with keys in the concatenated files. */
  rowsAt(files: readonly LakeFile[], keys: readonly RowKey[], day: string | undefined): Promise<readonly JsonRow[]> {
    return this.readRows((store) => store.rowsAt(files, keys, day));
  }

  /** Returns the listings with an id or a VIN. */
  async lookUp(key: "id" | "vin", value: string): Promise<readonly StoredListing[]> {
    await this.rowsChecked;
    if (this.damaged.has(this.parts.rows)) throw damagedData();
    return this.readRows((store) => store.find(key, value));
  }

  close(): void {
    this.isClosed = true;
    // Indexes of months that are over are those of the next version too.
    this.today?.forget();
    this.rows?.close();
    folders.delete(this.options.rebuiltFolder);
    if (folders.size === 0) process.off("exit", removeFolders);
    rmSync(this.options.rebuiltFolder, { recursive: true, force: true });
  }

  private readonly runOnIndexes: RunOnIndexes = async (parts, request) => {
    try {
      return await request(await Promise.all(parts.map((part) => this.indexOf(part))));
    } catch (thrown) {
      throw await this.noted(thrown, parts);
    }
  };

  private async readRows<T>(read: (store: RowStore) => T): Promise<T> {
    try {
      if (this.rows === undefined) throw new TypeError("Invalid use of a version that is not open.");
      return read(this.rows);
    } catch (thrown) {
      throw await this.noted(thrown, [this.parts.rows]);
    }
  }

  /** Returns an index; opens it on first use. */
  private indexOf(part: IndexPart): Promise<Segment> {
    return createOnce(this.indexes, part, async () => {
      const index = await this.openPart(part, ([path = ""], name) => this.attach(path, name));
      if (part.of.today !== undefined) this.today = index;
      return index;
    });
  }

  private attach(path: string, catalog: string): Promise<Segment> {
    const { database, engine, columns } = this.options;
    return database.using(async (session) => {
      await session.run(sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (READ_ONLY)`);
      return Segment.open(session, { catalog, name: path }, engine, columns).catch(async (thrown: unknown) => {
        await session.run(sql`DETACH ${ident(catalog)}`);
        throw thrown;
      });
    });
  }

  /** Opens the files of a part; if one of them cannot be used, the rebuilt ones. `name` is new for each attempt. */
  private async openPart<T>(
    part: ServingPart,
    open: (paths: readonly string[], name: string) => Promise<T>,
  ): Promise<T> {
    try {
      return await open(await this.listedPaths(part), part.name);
    } catch (thrown) {
      if (!["damaged", "missing", "io error"].includes(classifyFault(thrown))) throw thrown;
      const { isIntact, hasServingFiles, onRebuild } = this.options;
      const fault = messageOf(thrown);
      if (isIntact && !this.isOpen) throw new DamagedFile(`${part.name}: ${fault}`);
      if (hasServingFiles) onRebuild(`${part.name}: not in use; run carquet index to build it again. ${fault}`);
      this.rebuilt.add(part);
      return open(await this.rebuiltPaths(part), `${part.name}, rebuilt`);
    }
  }

  /** Returns the paths of a part's files in the lake. Throws a DamagedFile if one is not listed, or damaged. */
  private async listedPaths({ files }: ServingPart): Promise<readonly string[]> {
    const { folder, opensAhead } = this.options;
    return Promise.all(
      files.map(async (file) => {
        const check = file.needed.kind === "rows" && !opensAhead ? "size" : "content";
        return join(folder, (await this.requireListed(file, check)).path);
      }),
    );
  }

  /** Returns whether a file of a part is missing, or has another size. */
  private async lacks({ files }: ServingPart): Promise<boolean> {
    const checks = await Promise.allSettled(files.map((file) => this.requireListed(file, "size")));
    return checks.some(({ status }) => status === "rejected");
  }

  private async requireListed({ listed }: PartFile, check: "size" | "content"): Promise<ServingFile> {
    const isListed = listed !== undefined && this.options.hasServingFiles;
    if (!isListed) throw new DamagedFile("The manifest lists no file of this release's format.");
    const fault = await this.options.files.faultOf(listed, check);
    if (fault !== undefined) throw new DamagedFile(fault);
    return listed;
  }

  /** Rebuilds the files of a part that cannot be used; all, if none is damaged. Refuses with `data_unavailable` if a Parquet file is damaged. */
  private async rebuiltPaths({ files }: ServingPart): Promise<readonly string[]> {
    const { manifest, folder, rebuild, rebuiltFolder: into, files: versionFiles } = this.options;
    const intact = await Promise.all(files.map((file) => this.requireListed(file, "content").catch(() => undefined)));
    const isKept = intact.includes(undefined);
    const pathOf = (n: number): string | undefined => (isKept ? intact[n]?.path : undefined);
    const needed = files.flatMap((file, n) => (pathOf(n) === undefined ? [file.needed] : []));
    await versionFiles.require(needed.flatMap(inputsOf));
    await mkdir(into, { recursive: true, mode: 0o700 });
    if (folders.size === 0) process.once("exit", removeFolders);
    folders.add(into);
    await rebuild({ lake: folder, manifest, files: needed, into });
    return files.map((file, n) => {
      const path = pathOf(n);
      return path === undefined ? rebuiltPath(into, file.needed) : join(folder, path);
    });
  }

  private async hashRows(): Promise<void> {
    const { rows } = this.parts;
    if (!this.rebuilt.has(rows)) await this.noteDamage(rows);
  }

  /** Returns the error of a request: the refusal of one that met a damaged file, whose version is then damaged. */
  private async noted(thrown: unknown, parts: readonly ServingPart[]): Promise<unknown> {
    if (classifyFault(thrown) !== "damaged") return thrown;
    for (const part of parts.filter((one) => !this.rebuilt.has(one))) {
      for (const { listed } of part.files) if (listed !== undefined) await this.options.files.disable(listed);
      await this.noteDamage(part);
    }
    return damagedData();
  }

  private async noteDamage(part: ServingPart): Promise<void> {
    for (const { listed } of part.files) {
      // A file that cannot be read can be intact.
      const fault = listed && (await this.options.files.faultOf(listed).catch(() => undefined));
      if (fault !== undefined) this.damaged.add(part);
    }
  }
}

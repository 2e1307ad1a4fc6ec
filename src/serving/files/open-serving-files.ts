/**
 * The serving files of an open version: all of them, each read from the lake or rebuilt.
 *
 * A file that is missing, damaged, unreadable or of another format when it is opened is reported and rebuilt from Parquet files, in a folder that is
 * removed when the version is closed; a version that must be intact does not open instead. Damage that shows later fails the request that meets it,
 * and the version has to be opened again.
 *
 * The index of today opens with the version, the others when a request needs them; each is hashed before. Row files can be hashed after they open, because they are
 * large, and prove what they answer by checksums.
 */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOnce } from "../../base/concurrency.ts";
import { removeAtExit } from "../../base/files.ts";
import { DamagedFile, messageOf } from "../../base/user-error.ts";
import type { DuckDatabase } from "../../db/duckdb.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { Engine } from "../../db/session-pool.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import type { Manifest, ServingFile } from "../../lake/manifest.ts";
import type { IndexedRows } from "../index/indexed-rows.ts";
import { type ColumnCache, Segment } from "../index/segment.ts";
import { listingFiles } from "../listing-files.ts";
import { RowStore } from "../rows/row-store.ts";
import {
  contentKeyOf,
  inputsOf,
  type NeededFile,
  type NeededIndex,
  neededFiles,
  type Rebuild,
  rebuiltPath,
  rowStorePart,
  usableFiles,
} from "./serving-parts.ts";
import { damagedData, type FileCheck, type VersionFiles } from "./verified-files.ts";

export interface ServingOptions {
  /** Whether to use the serving files of the lake (default true). If false, all are rebuilt from Parquet files. */
  readonly hasServingFiles?: boolean;
  /** Whether to open and hash all serving files before the version is used (default true); else when a request needs them. */
  readonly opensAhead?: boolean;
  /** Whether the version does not open if it lacks an intact serving file (default false); else the file is rebuilt. */
  readonly isIntact?: boolean;
  /** Rebuilds serving files; by default in this process. */
  readonly rebuild?: Rebuild;
  /** The columns of all versions that a process opens. */
  readonly columns?: ColumnCache;
  /** Called once for each search index that is rebuilt, and once when the row store is. */
  readonly onRebuild?: (message: string) => void;
}

/** The version whose files are opened. */
interface ServedVersion extends Required<ServingOptions> {
  readonly manifest: Manifest;
  /** The manifest of the published version, whose files of the same content are shared. */
  readonly published: Manifest;
  readonly folder: string;
  /** The folder of rebuilt files, which does not exist until one is: see `newRebuiltFolder`. */
  readonly rebuiltFolder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  /** Runs statements on behalf of all requests. */
  readonly engine: Engine;
}

export const newRebuiltFolder = (): string => join(tmpdir(), `carquet-serving-${process.pid}-${randomUUID()}`);

export class ServingFiles {
  private rows: RowStore | undefined;
  private isOpen = false;
  private isClosed = false;
  /** The index of today; undefined without one. */
  segmentOfToday: Segment | undefined;
  /** Indexes that are open, or being opened. */
  private readonly segments = new Map<NeededIndex, Promise<Segment>>();
  /** Parts with rebuilt files, and parts of which a file in use has turned out to be damaged. */
  private readonly rebuilt = new Set<string>();
  private removeRebuilt: (() => void) | undefined;
  private readonly damaged = new Set<string>();
  private readonly indexes: readonly NeededIndex[];
  private readonly rowFiles: readonly NeededFile[];
  /** The listed files that can be used, by content. */
  private readonly listed: ReadonlyMap<string, ServingFile>;

  private constructor(private readonly options: ServedVersion) {
    const { manifest, published, hasServingFiles } = options;
    const serving = hasServingFiles ? [...published.serving, ...manifest.serving] : [];
    const needed = neededFiles(manifest);
    this.indexes = needed.filter((file) => file.kind === "index");
    this.rowFiles = needed.filter((file) => file.kind === "rows");
    this.listed = new Map(usableFiles({ ...manifest, serving }).map((file) => [contentKeyOf(file), file]));
  }

  /** Opens all serving files of a version. Throws a DamagedFile if one cannot be used and the version must be intact. */
  static async open(options: ServedVersion): Promise<ServingFiles> {
    const serving = new ServingFiles(options);
    try {
      for (const index of serving.indexes)
        if (index.of.today !== undefined || options.opensAhead || (await serving.sizeFaultOf(index)) !== undefined)
          await serving.segmentOf(index);
      const files = listingFiles(options.manifest);
      serving.rows = await serving.openPart(serving.rowFiles, async (paths) => new RowStore(files, paths));
      serving.isOpen = true;
      return serving;
    } catch (thrown) {
      serving.close();
      throw thrown;
    }
  }

  /** Opens what is not open yet, so that no request waits for it. Faults show when a request needs it. */
  async openRest(): Promise<void> {
    for (const index of this.indexes) if (!this.isClosed) await this.segmentOf(index).catch(() => undefined);
    await this.noteDamage(this.rowFiles, "content");
  }

  /** Whether the search index of the published day, and the row store, are read from the files of the lake. */
  get state(): { readonly index: boolean; readonly rows: boolean } {
    return {
      index: this.indexes.some(({ of, part }) => of.today !== undefined && !this.rebuilt.has(part)),
      rows: !this.rebuilt.has(rowStorePart),
    };
  }

  /** The parts that are not read from the files of the lake, for operators. */
  get faults(): readonly string[] {
    return this.options.hasServingFiles ? [...this.rebuilt].map((part) => `${part} not in use`) : [];
  }

  /** Whether a file in use has turned out to be damaged, so that the version should be opened again. */
  get isDamaged(): boolean {
    return this.damaged.size > 0;
  }

  /** Runs a request on the indexes whose rows `isNeeded` accepts. Refuses with `data_unavailable` if one has to be built from a damaged file. */
  async ask<T>(
    isNeeded: (rows: IndexedRows) => boolean,
    request: (segments: readonly Segment[]) => Promise<T>,
  ): Promise<T> {
    const needed = this.indexes.filter(({ of }) => isNeeded(of));
    try {
      return await request(await Promise.all(needed.map((index) => this.segmentOf(index))));
    } catch (thrown) {
      throw await this.noted(thrown, needed);
    }
  }

  /** Reads from the row store. */
  async readRows<T>(read: (store: RowStore) => T | Promise<T>): Promise<T> {
    try {
      if (this.rows === undefined) throw new TypeError("Invalid use of a version that is not open.");
      return await read(this.rows);
    } catch (thrown) {
      throw await this.noted(thrown, this.rowFiles);
    }
  }

  /** Frees the memory of the indexes. Never rejects. */
  async detach(): Promise<void> {
    const opened = await Promise.allSettled(this.segments.values());
    const segments = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const detaching = this.options.database.using(async (session) => {
      for (const { catalog } of segments) await session.run(sql`DETACH ${ident(catalog)}`);
    });
    await detaching.catch(() => undefined);
  }

  close(): void {
    this.isClosed = true;
    // Indexes of months that are over are those of the next version too.
    this.segmentOfToday?.countUser(-1);
    this.segmentOfToday = undefined;
    this.rows?.close();
    this.removeRebuilt?.();
  }

  /** Returns an index; opens it on first use. */
  private segmentOf(index: NeededIndex): Promise<Segment> {
    return createOnce(this.segments, index, async () => {
      const segment = await this.openPart([index], ([path = ""], catalog) => this.attach(index.of, path, catalog));
      if (index.of.today !== undefined && !this.isClosed) {
        this.segmentOfToday = segment;
        segment.countUser(1);
      }
      return segment;
    });
  }

  private attach(rows: IndexedRows, path: string, catalog: string): Promise<Segment> {
    const { database, engine, columns: cache } = this.options;
    return database.using(async (session) => {
      await session.run(sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (READ_ONLY)`);
      return Segment.open(session, { catalog, rows, name: path, engine, cache }).catch(async (thrown: unknown) => {
        await session.run(sql`DETACH ${ident(catalog)}`);
        throw thrown;
      });
    });
  }

  /** Opens the files of a part; if one of them cannot be used, the rebuilt ones. `name` is new for each attempt. */
  private async openPart<T>(
    files: readonly NeededFile[],
    open: (paths: readonly string[], name: string) => Promise<T>,
  ): Promise<T> {
    const [{ part } = { part: rowStorePart }] = files;
    try {
      return await open(await Promise.all(files.map((file) => this.listedPath(file))), part);
    } catch (thrown) {
      if (!["damaged", "missing", "io error"].includes(classifyFault(thrown))) throw thrown;
      const { isIntact, hasServingFiles, onRebuild } = this.options;
      const fault = messageOf(thrown);
      if (isIntact && hasServingFiles && !this.isOpen) throw new DamagedFile(`${part}: ${fault}`);
      if (hasServingFiles) onRebuild(`${part}: not in use; run carquet index to build it again. ${fault}`);
      this.rebuilt.add(part);
      return open(await this.rebuiltPaths(files), `${part}, rebuilt`);
    }
  }

  /** Returns the path of a file in the lake. Throws a DamagedFile if it is not listed, or damaged. By default, checks the content of what is opened ahead. */
  private async listedPath(file: NeededFile, check?: "size" | "content"): Promise<string> {
    const { folder, files, opensAhead } = this.options;
    const listed = this.listed.get(contentKeyOf(file));
    if (listed === undefined) throw new DamagedFile("The manifest lists no file of this release's format.");
    const fault = await files.faultOf(listed, check ?? (file.kind === "rows" && !opensAhead ? "size" : "content"));
    if (fault !== undefined) throw new DamagedFile(fault);
    return join(folder, listed.path);
  }

  /** Returns why a file is not in the lake with its size; undefined if it is. */
  private sizeFaultOf(file: NeededFile): Promise<string | undefined> {
    return this.listedPath(file, "size").then(() => undefined, messageOf);
  }

  /** Rebuilds the files of a part that cannot be used; all, if none is damaged. Refuses with `data_unavailable` if a Parquet file is damaged. */
  private async rebuiltPaths(files: readonly NeededFile[]): Promise<readonly string[]> {
    const { manifest, folder, rebuild, rebuiltFolder: into, files: versionFiles } = this.options;
    const intact = await Promise.all(files.map((file) => this.listedPath(file, "content").catch(() => undefined)));
    const kept = intact.includes(undefined) ? intact : [];
    const needed = files.filter((_, n) => kept[n] === undefined);
    if (this.isClosed) throw new Error("The version has been closed.");
    this.removeRebuilt ??= removeAtExit(into);
    await mkdir(into, { recursive: true, mode: 0o700 });
    await versionFiles
      .reading(needed.flatMap(inputsOf), () => rebuild({ lake: folder, manifest, files: needed, into }))
      .finally(() => this.isClosed && this.removeRebuilt?.());
    return files.map((file, n) => kept[n] ?? rebuiltPath(into, file));
  }

  /** Returns the error of a request: the refusal of one that met a damaged file, whose version is then damaged. */
  private async noted(thrown: unknown, files: readonly NeededFile[]): Promise<unknown> {
    if (classifyFault(thrown) !== "damaged") return thrown;
    // Hashing takes seconds, and what is known to be damaged will be opened again.
    if (files.some(({ part }) => !this.damaged.has(part))) await this.noteDamage(files, "again");
    return damagedData();
  }

  /** Notes which of some files in use are damaged. */
  private async noteDamage(files: readonly NeededFile[], check: FileCheck): Promise<void> {
    for (const file of files) {
      const listed = this.rebuilt.has(file.part) ? undefined : this.listed.get(contentKeyOf(file));
      // A file that cannot be read can be intact.
      const fault = listed && (await this.options.files.faultOf(listed, check).catch(() => undefined));
      if (fault !== undefined) this.damaged.add(file.part);
    }
  }
}

/**
 * The past indexes that a version has open. A request uses an index only if it is attached when the request begins; requests that began
 * before an index is detached finish with it, or with Parquet.
 */
import { join } from "node:path";
import { bounds } from "../../base/bounds.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { DuckDatabase } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, sql } from "../../db/sql.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { type ListingSource, soldHistory } from "../../listing/source.ts";
import { sourceWithFallback } from "../fallback-source.ts";
import { SearchIndex } from "../index/search-index.ts";
import { RowStore } from "../rows/row-store.ts";
import { fingerprintUpTo } from "./dimension-rows.ts";
import { indexFiles, rowFileName } from "./index-cache.ts";
import type { PastIndexes, PastIndexUser } from "./past-indexes.ts";
import { type PastSource, pastSourceOf } from "./past-source.ts";

export interface AttachOptions {
  readonly past: PastIndexes;
  readonly manifest: Manifest;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
}

interface AttachedIndex {
  readonly source: PastSource;
  /** Its name in the database. */
  readonly catalog: string;
  readonly index: SearchIndex;
  /** The rows of a day; undefined for the sold history. */
  readonly rows: RowStore | undefined;
  inFlight: number;
}

/** An index for one request. */
export interface UsableIndex {
  /** The files whose concatenated rows the positions of the index count. */
  readonly files: readonly LakeFile[];
  /** Returns the index on an engine as a listing source that falls back to `parquet`, a source over the same files. */
  sourceOr(parquet: ListingSource, engine: Engine): ListingSource;
  /** Returns the rows at positions; undefined if the index has no rows. */
  rowsAt(positions: readonly number[]): readonly JsonRow[] | undefined;
}

export class AttachedIndexes implements PastIndexUser {
  readonly pinned: readonly PastSource[];
  private readonly sources = new Map<string, PastSource>();
  /** By key, least recently used first. */
  private readonly attached = new Map<string, AttachedIndex>();
  /** Keys of indexes that are being attached. */
  private readonly attaching = new Set<string>();
  /** Keys of intact indexes that failed a request. */
  private readonly failed = new Set<string>();
  private lastCatalog = 0;
  private isClosed = false;

  private constructor(private readonly options: AttachOptions) {
    const { past, manifest } = options;
    this.pinned = past.pinnedNames.filter((name) => name !== manifest.as_of).map((name) => this.sourceOf(name));
  }

  /** Attaches the indexes that the versions before use and that this one can use too. */
  static async open(options: AttachOptions): Promise<AttachedIndexes> {
    const indexes = new AttachedIndexes(options);
    const sources = [...options.past.attachedNames].map((name) => indexes.sourceOf(name));
    for (const source of sources) if (options.past.isStored(source.key)) await indexes.attach(source);
    options.past.join(indexes);
    return indexes;
  }

  get attachedNames(): readonly string[] {
    return [...this.attached.values()].map(({ source }) => source.name);
  }

  /** Returns the index of a day or of the sold history for a request; undefined if Parquet has to answer. Counts the request. */
  use(name: string): UsableIndex | undefined {
    const { past } = this.options;
    const source = this.sourceOf(name);
    const { key, files } = source;
    const attached = this.attached.get(key);
    if (attached === undefined) {
      if (past.isStored(key)) void this.attach(source);
      else past.countMiss(source);
      return undefined;
    }
    past.countHit(key);
    this.attached.delete(key);
    this.attached.set(key, attached);
    return {
      files,
      sourceOr: (parquet, engine) => this.sourceOr(attached, parquet, engine),
      rowsAt: (positions) => this.rowsAt(attached, positions),
    };
  }

  async attach(source: PastSource): Promise<void> {
    const { key } = source;
    const isRefused = this.failed.has(key) || this.attaching.has(key);
    if (this.isClosed || this.attached.has(key) || isRefused || this.sourceOf(source.name).key !== key) return;
    this.attaching.add(key);
    try {
      this.lastCatalog += 1;
      const attached = await this.openIndex(source, `past_index_${this.lastCatalog}`);
      if (this.isClosed) {
        attached.rows?.close();
        return;
      }
      this.attached.set(key, attached);
      this.options.past.reportUse(source);
      const [oldest] = this.attached.keys();
      if (this.attached.size > bounds.pastIndexesOpen && oldest !== undefined) this.detach(oldest);
    } catch (thrown) {
      // A UserError is about this file: another one can be built at once.
      const retryMs = thrown instanceof UserError ? 0 : bounds.recheckMs;
      if (!this.isClosed) await this.options.past.drop(key, messageOf(thrown), retryMs);
    } finally {
      this.attaching.delete(key);
    }
  }

  detach(key: string): void {
    const attached = this.attached.get(key);
    this.attached.delete(key);
    attached?.rows?.close();
    if (attached?.inFlight === 0) this.closeIndex(attached);
  }

  close(): void {
    this.isClosed = true;
    for (const { rows } of this.attached.values()) rows?.close();
    this.attached.clear();
    this.options.past.leave(this);
  }

  private sourceOf(name: string): PastSource {
    const known = this.sources.get(name);
    if (known !== undefined) return known;
    const source = pastSourceOf(this.options.manifest, name);
    this.sources.set(name, source);
    return source;
  }

  private async openIndex(source: PastSource, catalog: string): Promise<AttachedIndex> {
    const { key } = source;
    const { past, database, engine, fetchedMatches } = this.options;
    const { keys, fingerprint } = (await past.verify(key)).dimensions;
    return database.using(async (session) => {
      if ((await fingerprintUpTo(session, keys)) !== fingerprint)
        throw new UserError("Other builds, dealers or tokens than in this version.");
      const path = join(past.folder, key, indexFiles.index);
      try {
        const index = await SearchIndex.attach(session, { path, catalog, engine, fetchedMatches });
        return { source, catalog, index, rows: this.openRows(source), inFlight: 0 };
      } catch (thrown) {
        // Another file at the same path cannot be attached before.
        await session.run(sql`DETACH DATABASE IF EXISTS ${ident(catalog)}`);
        throw thrown;
      }
    });
  }

  private openRows({ name, key, files }: PastSource): RowStore | undefined {
    if (name === soldHistory) return undefined;
    return RowStore.open(
      files.map((file) => ({ state: "active", file })),
      files.map(({ sha256 }, n) => ({ source: sha256, path: join(this.options.past.folder, key, rowFileName(n)) })),
    );
  }

  private rowsAt({ source, rows }: AttachedIndex, positions: readonly number[]): readonly JsonRow[] | undefined {
    if (this.attached.get(source.key)?.rows !== rows) return undefined;
    try {
      return rows?.rowsAt(source.files, positions);
    } catch (thrown) {
      void this.fail(source.key, messageOf(thrown));
      return undefined;
    }
  }

  private sourceOr(attached: AttachedIndex, parquet: ListingSource, engine: Engine): ListingSource {
    const { key } = attached.source;
    const index = attached.index.with(engine);
    const whileAttached = async <T>(request: (source: ListingSource) => Promise<T>): Promise<T> => {
      if (this.attached.get(key) !== attached) return request(parquet);
      attached.inFlight += 1;
      try {
        return await request(index);
      } finally {
        attached.inFlight -= 1;
        if (attached.inFlight === 0 && this.attached.get(key) !== attached) this.closeIndex(attached);
      }
    };
    const leased: ListingSource = {
      count: index.count,
      findPage: (request) => whileAttached((source) => source.findPage(request)),
      countValues: (request) => whileAttached((source) => source.countValues(request)),
      measureValues: (request) => whileAttached((source) => source.measureValues(request)),
    };
    return sourceWithFallback(leased, parquet, (fault) => void this.fail(key, fault));
  }

  /** Stops using an index that failed a request. Removes it if it is damaged; else this version uses it no more. */
  private async fail(key: string, fault: string): Promise<void> {
    if (this.isClosed || !this.attached.has(key)) return;
    this.failed.add(key);
    this.detach(key);
    try {
      await this.options.past.verify(key, "again");
    } catch {
      this.failed.delete(key);
      await this.options.past.drop(key, fault);
    }
  }

  private closeIndex({ catalog }: AttachedIndex): void {
    if (this.isClosed) return;
    const detached = this.options.database.using((session) => session.run(sql`DETACH ${ident(catalog)}`));
    // The database of a version that is closed meanwhile has no catalogs.
    detached.catch(() => undefined);
  }
}

/**
 * Past indexes: search indexes of past days and of the sold history, which the service builds in a folder of its own because they are
 * asked for repeatedly, or because the operator has pinned them. That of a day has row files, too; the row store has the sold listings.
 *
 * One process at a time builds one. The least recently used index is removed when all together exceed their size. Nothing here is needed to
 * answer a request: Parquet answers what has no index.
 */
import { join, resolve } from "node:path";
import { bounds } from "../../base/bounds.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { VerifiedFiles } from "../verified-files.ts";
import { BuildRunner } from "./build-runner.ts";
import { type CacheEntry, IndexCache, type IndexRecord, sizeOfFolder, touch } from "./index-cache.ts";
import type { PastSource } from "./past-source.ts";

export interface PastIndexSettings {
  /** The folder of the indexes; created if it does not exist. */
  readonly folder: string;
  /** The size of all indexes together. */
  readonly bytesMost: number;
  /** Days, or `soldHistory`, whose index is built without a request and never removed for another one. */
  readonly pinned: readonly string[];
  /** An index is built after this many requests within `bounds.pastIndexWindowMs`; with 0, only pinned ones are built. */
  readonly requestsMin: number;
}

/** What happened to an index, for the log. */
export type PastIndexEvent =
  | { readonly what: "built"; readonly name: string; readonly key: string; readonly bytes: number; readonly ms: number }
  | { readonly what: "in use"; readonly name: string; readonly key: string }
  | { readonly what: "removed" | "not removed" | "not built"; readonly key: string; readonly message: string }
  | { readonly what: "off"; readonly message: string };

export interface PastIndexesOptions extends PastIndexSettings {
  readonly lake: string;
  readonly onEvent: (event: PastIndexEvent) => void;
}

/** An open version that uses past indexes. */
export interface PastIndexUser {
  /** The pinned sources of the version. */
  readonly pinned: readonly PastSource[];
  /** The names of the sources whose index is attached. */
  readonly attachedNames: readonly string[];
  /** Starts to use an index that has been built. */
  attach(source: PastSource): Promise<void>;
  /** Stops using an index that has been removed. */
  detach(key: string): void;
}

export class PastIndexes {
  /** How many have been built, and how many requests were answered from one, since the start. */
  readonly counts = { builds: 0, hits: 0 };
  private entries: readonly CacheEntry[] = [];
  private readonly users = new Set<PastIndexUser>();
  private readonly requestTimes = new Map<string, readonly number[]>();
  private readonly touchedAt = new Map<string, number>();
  /** When a build that failed may be repeated. */
  private readonly retryAt = new Map<string, number>();
  private readonly queue = new Map<string, PastSource>();
  private processing: Promise<void> | undefined;
  private readonly runner = new BuildRunner();
  private readonly verified: VerifiedFiles;

  private constructor(
    private readonly cache: IndexCache,
    private readonly options: PastIndexesOptions,
  ) {
    this.verified = new VerifiedFiles(cache.folder);
  }

  /** Opens the folder. Returns undefined, and reports why, if it cannot be used. */
  static async open(options: PastIndexesOptions): Promise<PastIndexes | undefined> {
    try {
      const indexes = new PastIndexes(await IndexCache.open(options.folder), options);
      await indexes.refresh();
      return indexes;
    } catch (thrown) {
      options.onEvent({ what: "off", message: messageOf(thrown) });
      return undefined;
    }
  }

  get folder(): string {
    return this.cache.folder;
  }

  /** The pinned names. */
  get pinnedNames(): readonly string[] {
    return this.options.pinned;
  }

  /** The number of finished indexes, and their size. */
  get stored(): { readonly indexes: number; readonly bytes: number } {
    return { indexes: this.entries.length, bytes: sizeOf(this.entries) };
  }

  /** The names of the sources whose index a version has attached. */
  get attachedNames(): ReadonlySet<string> {
    return new Set([...this.users].flatMap((user) => user.attachedNames));
  }

  /** Adds a version that uses indexes. Builds those that are pinned. */
  join(user: PastIndexUser): void {
    this.users.add(user);
    for (const source of user.pinned) this.enqueue(source);
  }

  leave(user: PastIndexUser): void {
    this.users.delete(user);
  }

  isStored(key: string): boolean {
    return this.entries.some((entry) => entry.key === key);
  }

  /** Counts a request that Parquet answers, and builds the index if there were enough of them. */
  countMiss(source: PastSource): void {
    const { requestsMin } = this.options;
    if (requestsMin === 0) return;
    const nowMs = performance.now();
    const times = [...(this.requestTimes.get(source.key) ?? []), nowMs]
      .filter((atMs) => atMs > nowMs - bounds.pastIndexWindowMs)
      .slice(-requestsMin);
    this.requestTimes.set(source.key, times);
    if (times.length === requestsMin) this.enqueue(source);
  }

  /** Counts a request that an index answers, and records its use. */
  countHit(key: string): void {
    this.counts.hits += 1;
    const nowMs = performance.now();
    if (nowMs - (this.touchedAt.get(key) ?? Number.NEGATIVE_INFINITY) < bounds.pastIndexTouchMs) return;
    this.touchedAt.set(key, nowMs);
    touch(join(this.folder, key)).catch(() => undefined);
  }

  /** Reports that a version uses an index from now on. */
  reportUse({ name, key }: PastSource): void {
    this.options.onEvent({ what: "in use", name, key });
  }

  /** Returns the record of an index, whose files are verified. Throws a UserError if it is damaged. */
  async verify(key: string, check: "known" | "again" = "known"): Promise<IndexRecord> {
    const record = await this.cache.record(key).catch((thrown: unknown) => {
      throw new UserError(messageOf(thrown));
    });
    for (const { path, ...content } of record.files) {
      const file = { path: join(key, path), ...content };
      const fault = await (check === "known" ? this.verified.faultOf(file) : this.verified.recheck(file));
      if (fault !== undefined) throw new UserError(fault);
    }
    return record;
  }

  /** Removes an index that cannot be used. It is built again when it is asked for, after `retryMs` at the earliest. Never throws. */
  async drop(key: string, message: string, retryMs = 0): Promise<void> {
    if (retryMs > 0) this.retryAt.set(key, performance.now() + retryMs);
    await this.remove(key, message).catch((thrown: unknown) => {
      this.entries = this.entries.filter((entry) => entry.key !== key);
      this.retryAt.set(key, performance.now() + bounds.recheckMs);
      this.options.onEvent({ what: "not removed", key, message: `${message} ${messageOf(thrown)}` });
    });
    for (const user of this.users) for (const source of user.pinned) if (source.key === key) this.enqueue(source);
  }

  /** Ends the running build and starts no other. */
  async stop(): Promise<void> {
    this.runner.stop();
    this.queue.clear();
    await this.processing;
  }

  private async refresh(): Promise<void> {
    this.entries = await this.cache.list();
  }

  private enqueue(source: PastSource): void {
    const { key } = source;
    if (this.runner.isStopped || source.files.length === 0 || (this.retryAt.get(key) ?? 0) > performance.now()) return;
    this.requestTimes.delete(key);
    this.queue.set(key, source);
    this.processing ??= this.processQueue().finally(() => {
      this.processing = undefined;
    });
  }

  private async processQueue(): Promise<void> {
    for (let [next] = this.queue; next !== undefined; [next] = this.queue) {
      const [key, source] = next;
      this.queue.delete(key);
      await this.buildIfMissing(source).catch((thrown: unknown) => {
        if (this.runner.isStopped) return;
        this.retryAt.set(key, Math.max(this.retryAt.get(key) ?? 0, performance.now() + bounds.recheckMs));
        this.options.onEvent({ what: "not built", key, message: messageOf(thrown) });
      });
    }
  }

  /** Builds an index unless it exists, and attaches it to all versions. */
  private async buildIfMissing(source: PastSource): Promise<void> {
    await this.cache.removeLeftOvers();
    await this.refresh();
    if (!this.isStored(source.key)) await this.build(source);
    for (const user of this.users) await user.attach(source);
  }

  private async build({ key, name, version }: PastSource): Promise<void> {
    const startedMs = performance.now();
    const unfinished = await this.cache.createUnfinished(key);
    try {
      await this.runner.run({ lake: resolve(this.options.lake), version, name, folder: unfinished });
      await this.makeRoom(key, await sizeOfFolder(unfinished));
      await this.cache.add(unfinished, key);
    } catch (thrown) {
      await this.cache.discard(unfinished);
      throw thrown;
    }
    await this.refresh();
    this.counts.builds += 1;
    const bytes = this.entries.find((entry) => entry.key === key)?.bytes ?? 0;
    this.options.onEvent({ what: "built", name, key, bytes, ms: Math.round(performance.now() - startedMs) });
  }

  /** Removes the least recently used indexes that are not pinned until another one fits. Throws if it cannot fit; it is not built again. */
  private async makeRoom(key: string, bytes: number): Promise<void> {
    const { bytesMost } = this.options;
    const pinnedKeys = new Set([...this.users].flatMap((user) => user.pinned.map(({ key }) => key)));
    await this.refresh();
    const pinnedBytes = sizeOf(this.entries.filter(({ key }) => pinnedKeys.has(key)));
    if (pinnedBytes + bytes > bytesMost) {
      this.retryAt.set(key, Number.POSITIVE_INFINITY);
      throw new UserError(`Index of ${bytes} bytes: expected at most ${bytesMost - pinnedBytes} (--past-index-bytes).`);
    }
    for (const { key } of this.entries.filter((entry) => !pinnedKeys.has(entry.key)))
      if (sizeOf(this.entries) + bytes > bytesMost) await this.remove(key, "least recently used");
  }

  private async remove(key: string, message: string): Promise<void> {
    for (const user of this.users) user.detach(key);
    await this.cache.remove(key);
    await this.refresh();
    this.options.onEvent({ what: "removed", key, message });
  }
}

const sizeOf = (entries: readonly CacheEntry[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);

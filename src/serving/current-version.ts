/**
 * The version in service: polls `CURRENT`, opens a newly published version and swaps it in atomically.
 *
 * The previous version is closed when the last request on it has finished. If a version does not open, the previous one stays in service, or the newest
 * one that opens. If a version lacks serving files, a thread rebuilds them meanwhile. A version with damaged files is opened again when one of them has
 * been restored, or has turned out to be damaged while it was in use.
 */
import { resolve } from "node:path";
import { everyAccount } from "../base/fair-shares.ts";
import { DamagedFile, messageOf } from "../base/user-error.ts";
import { refuse } from "../contract/errors.ts";
import { compareVersions, currentVersion, filesOf, versionsIn } from "../lake/manifest.ts";
import { rebuildInThread } from "./files/rebuild-in-thread.ts";
import { damagedData, VerifiedFiles } from "./files/verified-files.ts";
import { ColumnCache } from "./index/segment.ts";
import { PinnedVersions, requireKept, type VersionUser } from "./kept-versions.ts";
import { LakeVersion, type LakeVersionOptions } from "./lake-version.ts";

/** The longest time before a version that does not open is tried again. It doubles with each attempt. */
const retryMsMax = 10_000;

interface CurrentVersionOptions extends LakeVersionOptions {
  /** Interval between polls of `CURRENT`, by default a quarter of a second. */
  readonly pollMs?: number;
  /** Called when a version goes into service, with the serving files in use. */
  readonly onOpen?: (version: string, served: LakeVersion["served"]) => void;
  /** Called once for each reason why a version does not open. */
  readonly onFailure?: (version: string, message: string) => void;
  /** Called once when a file is found damaged. */
  readonly onDamage?: (fault: string) => void;
}

/** A version that does not open. */
interface OpenFailure {
  readonly version: string;
  /** Those that have been reported. */
  readonly reasons: Set<string>;
  readonly delayMs: number;
  /** When it is tried again, in terms of `performance.now`. */
  readonly retryAtMs: number;
}

/** An open version and the requests that use it. */
interface Lease {
  readonly version: LakeVersion;
  readonly uses: Set<Promise<unknown>>;
}

export class CurrentVersion {
  private lease: Lease | undefined;
  /** The version that failed to open last. */
  private failure: OpenFailure | undefined;
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> = Promise.resolve();
  private isClosed = false;
  /** How often a search index or a row store has been rebuilt since the start. */
  rebuilds = 0;
  private readonly closing = new AbortController();
  private readonly verified: VerifiedFiles;
  private readonly columns: ColumnCache;
  private readonly pinned = new PinnedVersions((name) =>
    LakeVersion.open(this.lake, name, { ...this.versionOptions, opensAhead: false }),
  );

  private constructor(
    private readonly lake: string,
    private readonly options: CurrentVersionOptions,
  ) {
    this.verified = new VerifiedFiles(resolve(lake), options.onDamage);
    this.columns = new ColumnCache(options.columnBytes);
  }

  /** Opens the current version, if one is published, and starts polling for new ones. */
  static async watch(lake: string, options: CurrentVersionOptions): Promise<CurrentVersion> {
    const current = new CurrentVersion(lake, options);
    await current.poll();
    const { failure } = current;
    if (failure !== undefined) await current.openEarlier(failure.version);
    if (failure !== undefined && current.lease === undefined) await current.tryOpen(failure.version);
    current.schedulePoll();
    return current;
  }

  /** The name of the version in service; undefined before the first one. */
  get version(): string | undefined {
    return this.lease?.version.manifest.version;
  }

  /** What is known of the version in service without keeping it open; undefined before the first one. */
  get inService(): Pick<LakeVersion, "manifest" | "served" | "statements"> | undefined {
    return this.lease?.version;
  }

  /** The memory of the columns of search indexes, in bytes. */
  get columnBytes(): number {
    return this.columns.bytes;
  }

  /** The number of files of the version in service, and how often one has been found damaged since the start. */
  get fileCounts(): { readonly files: number; readonly damages: number } {
    const version = this.lease?.version;
    return { files: version === undefined ? 0 : filesOf(version.manifest).length, damages: this.verified.damages };
  }

  /** The damaged and rebuilt files, for operators; empty if everything is intact. */
  get faults(): readonly string[] {
    const failed = this.failure === undefined ? [] : [`version ${this.failure.version} cannot be opened`];
    return [...(this.lease?.version.faults ?? []), ...failed];
  }

  /** Calls `work` with the version in service, which stays open until `work` settles. Refuses if no version is published. */
  async use<T>(work: (version: LakeVersion) => Promise<T>): Promise<T> {
    const { lease } = this;
    if (lease === undefined) throw refuse("data_unavailable", { reason: "No inventory has been published yet." });
    const using = work(lease.version);
    lease.uses.add(using);
    try {
      return await using;
    } finally {
      lease.uses.delete(using);
    }
  }

  /**
   * Calls `work` with a kept version, or that in service if none is named. Refuses with `version_unavailable` if the version is not kept; `parameter`
   * names where the request has it. Refuses with `data_unavailable` if a file that it needs is damaged. A version is opened on behalf of `user`.
   */
  async useNamed<T>(
    named: { readonly version: string; readonly parameter: string } | undefined,
    work: (version: LakeVersion) => Promise<T>,
    user: VersionUser = { accountId: everyAccount },
  ): Promise<T> {
    if (named === undefined || named.version === this.version) return this.use(work);
    const require = (): Promise<void> => requireKept(this.lake, named.version, named.parameter);
    await require();
    try {
      return await this.pinned.use(named.version, user, work);
    } catch (thrown) {
      await require(); // Its files can have been removed meanwhile.
      throw thrown instanceof DamagedFile ? damagedData() : thrown;
    }
  }

  /** Stops polling, and closes the version in service when the last request on it has finished. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.closing.abort();
    clearTimeout(this.timer);
    await this.polling;
    this.pinned.close();
    this.swap(undefined);
  }

  private get pollMs(): number {
    return this.options.pollMs ?? 250;
  }

  /** The options of each version that is opened. */
  private get versionOptions(): LakeVersionOptions {
    const { options, verified, columns, closing } = this;
    return {
      rebuild: (order) => rebuildInThread(order, options, closing.signal),
      ...options,
      verified,
      columns,
      onRebuild: (message) => {
        this.rebuilds += 1;
        options.onRebuild?.(message);
      },
    };
  }

  private schedulePoll(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.polling = this.poll().finally(() => this.schedulePoll());
    }, this.pollMs);
  }

  private async poll(): Promise<void> {
    let name: string | undefined;
    try {
      name = await currentVersion(this.lake);
      if (name === undefined || (name === this.version && !(await this.isOutdated()))) return;
      const isDelayed = this.failure?.version === name && performance.now() < this.failure.retryAtMs;
      if (!isDelayed) await this.tryOpen(name);
    } catch (thrown) {
      this.fail(name ?? "CURRENT", messageOf(thrown));
    }
  }

  /** Opens a version and puts it into service. Its first attempt rebuilds nothing, so that the failure shows while a later one does. */
  private async tryOpen(name: string): Promise<void> {
    try {
      await this.open(name, this.failure?.version !== name);
      this.failure = undefined;
    } catch (thrown) {
      this.fail(name, messageOf(thrown));
    }
  }

  /** Opens a version and puts it into service. Throws a DamagedFile if it must be intact and is not. */
  private async open(name: string, isIntact: boolean): Promise<void> {
    // Meanwhile the previous version answers without a wait.
    const previous = this.lease?.version;
    const options = { ...this.versionOptions, opensAhead: previous !== undefined, isIntact };
    const version = await LakeVersion.open(this.lake, name, options);
    if (previous !== undefined) await version.loadAsIn(previous);
    this.swap({ version, uses: new Set() });
    this.options.onOpen?.(name, version.served);
    void version.openRest();
  }

  /** Puts the newest version into service that opens, instead of the published one, which does not. */
  private async openEarlier(published: string): Promise<void> {
    const names = [...(await versionsIn(this.lake))].sort(compareVersions).reverse();
    for (const name of names.filter((one) => one !== published)) {
      try {
        return await this.open(name, true);
      } catch {
        // The reason why the published one does not open has been reported.
      }
    }
  }

  /** Reports a version that does not open, once for each reason. */
  private fail(version: string, reason: string): void {
    const { delayMs, reasons } =
      this.failure?.version === version ? this.failure : { delayMs: 0, reasons: new Set<string>() };
    const nextMs = Math.min(retryMsMax, delayMs * 2 || this.pollMs);
    this.failure = { version, reasons, delayMs: nextMs, retryAtMs: performance.now() + nextMs };
    if (reasons.has(reason)) return;
    reasons.add(reason);
    this.options.onFailure?.(version, reason);
  }

  /** Returns whether the version in service should be opened again. */
  private async isOutdated(): Promise<boolean> {
    if (await this.lease?.version.isOutdated()) return true;
    this.failure = undefined;
    return false;
  }

  /** Puts a version into service, or none. The previous one is closed after the last request on it. */
  private swap(next: Lease | undefined): void {
    const previous = this.lease;
    this.lease = next;
    if (previous !== undefined) void Promise.allSettled(previous.uses).then(() => previous.version.close());
  }
}

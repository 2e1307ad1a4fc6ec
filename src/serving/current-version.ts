/**
 * The current version of a lake: the next one is opened beside it and swapped in at once, and the old one is closed when the last request
 * on it has ended. A version that does not open leaves the one before in service.
 */
import { messageOf } from "../base/user-error.ts";
import { refuse } from "../contract/errors.ts";
import { currentVersion } from "../lake/manifest.ts";
import { LakeVersion, type LakeVersionOptions } from "./lake-version.ts";

export interface CurrentVersionOptions extends LakeVersionOptions {
  /** How often to look for another version. */
  readonly pollMs: number;
  /** Called when a version has come into service, with what it is served from. */
  readonly onOpen?: (version: string, served: LakeVersion["served"]) => void;
  /** Called, once for each version, when one does not open. */
  readonly onFailure?: (version: string, message: string) => void;
}

interface Lease {
  readonly opened: LakeVersion;
  inFlight: number;
  isRetired: boolean;
}

export class CurrentVersion {
  private lease: Lease | undefined;
  private failed: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private isClosed = false;
  private fallbackCount = 0;

  private constructor(
    private readonly lake: string,
    private readonly options: CurrentVersionOptions,
  ) {}

  /** Opens what is current, if anything is, and goes on looking for what comes after it. */
  static async watch(lake: string, options: CurrentVersionOptions): Promise<CurrentVersion> {
    const current = new CurrentVersion(lake, options);
    await current.look();
    current.lookAgain();
    return current;
  }

  /** The version in service; undefined while there is none. */
  get version(): string | undefined {
    return this.lease?.opened.manifest.version;
  }

  /** What the version in service is served from; undefined while there is none. */
  get served(): LakeVersion["served"] | undefined {
    return this.lease?.opened.served;
  }

  /** How many times a search index or a row store was given up since the start. */
  get fallbacks(): number {
    return this.fallbackCount;
  }

  /** Runs some work on the version in service, which stays open until the work has ended. */
  async use<T>(work: (version: LakeVersion) => Promise<T>): Promise<T> {
    const { lease } = this;
    if (lease === undefined) throw refuse("data_unavailable", {});
    lease.inFlight += 1;
    try {
      return await work(lease.opened);
    } finally {
      lease.inFlight -= 1;
      this.closeWhenUnused(lease);
    }
  }

  /** Stops looking, and closes the version in service when the last request on it has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.looking;
    this.swap(undefined);
  }

  private readonly onFallback = (message: string): void => {
    this.fallbackCount += 1;
    this.options.onFallback?.(message);
  };

  private lookAgain(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.looking = this.look().finally(() => this.lookAgain());
    }, this.options.pollMs);
  }

  private async look(): Promise<void> {
    let version: string | undefined;
    try {
      version = await currentVersion(this.lake);
      if (version === undefined || version === this.version) return;
      const opened = await LakeVersion.open(this.lake, version, { ...this.options, onFallback: this.onFallback });
      this.swap({ opened, inFlight: 0, isRetired: false });
      this.failed = undefined;
      this.options.onOpen?.(version, opened.served);
    } catch (thrown) {
      const name = version ?? "CURRENT";
      if (this.failed !== name) this.options.onFailure?.(name, messageOf(thrown));
      this.failed = name;
    }
  }

  private swap(next: Lease | undefined): void {
    const before = this.lease;
    this.lease = next;
    if (before === undefined) return;
    before.isRetired = true;
    this.closeWhenUnused(before);
  }

  private closeWhenUnused(lease: Lease): void {
    if (!lease.isRetired || lease.inFlight > 0) return;
    lease.opened.close();
  }
}

/**
 * The published version, whichever it is: opened beside the one before, swapped in at once, and the old one closed when the
 * last request on it has ended. A version that does not open leaves the one before in service.
 */
import { messageOf } from "../base/failure.ts";
import { refuse } from "../contract/errors.ts";
import { currentVersion } from "./manifest.ts";
import { Market, type MarketOptions } from "./market.ts";

export interface PublishedOptions extends MarketOptions {
  /** How often to look for another version. */
  readonly pollMs: number;
  /** Called when a version has come into service. */
  readonly onOpen?: (version: string) => void;
  /** Called, once for each version, when one does not open. */
  readonly onFailure?: (version: string, message: string) => void;
}

interface Lease {
  readonly market: Market;
  inFlight: number;
  isRetired: boolean;
}

export class Published {
  private lease: Lease | undefined;
  private failed: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private closing: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  private constructor(
    private readonly lake: string,
    private readonly options: PublishedOptions,
  ) {}

  /** Opens what is published, if anything is, and goes on looking for what comes after it. */
  static async watch(lake: string, options: PublishedOptions): Promise<Published> {
    const published = new Published(lake, options);
    await published.look();
    published.lookAgain();
    return published;
  }

  /** The version in service; undefined while there is none. */
  get version(): string | undefined {
    return this.lease?.market.manifest.version;
  }

  /** Runs some work on the version in service, which stays open until the work has ended. */
  async use<T>(work: (market: Market) => Promise<T>): Promise<T> {
    const { lease } = this;
    if (lease === undefined) throw refuse("data_unavailable", {});
    lease.inFlight += 1;
    try {
      return await work(lease.market);
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
    await this.closing;
  }

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
      const market = await Market.open(this.lake, version, this.options);
      this.swap({ market, inFlight: 0, isRetired: false });
      this.failed = undefined;
      this.options.onOpen?.(version);
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
    this.closing = Promise.all([this.closing, lease.market.close()]);
  }
}

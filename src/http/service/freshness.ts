/**
 * Freshness: the published day, which dealers delivered on it, whether the last ingest failed, and whether the next one is overdue. Polls the record that
 * `carquet ingest` leaves in the lake's folder, and logs each change.
 */
import type { Logger } from "pino";
import { messageOf } from "../../base/user-error.ts";
import { type FetchStatus, fetchFaults, readFetchStatus } from "../../ingest/fetch-status.ts";
import { type IngestRecord, readIngestRecord } from "../../lake/ingest-record.ts";
import { publishedAtMs } from "../../lake/manifest.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { countDealers, type DealerCounts, nextDayOf } from "../../serving/published-day.ts";

/** How often the record of the last ingest is read. */
const recordPollMs = 1_000;

export interface FreshnessOptions {
  readonly lake: string;
  /** The queue that sources are fetched into beside the service; undefined if there is none. */
  readonly queue: string | undefined;
  readonly logger: Logger;
  /** How long after the beginning of its as-of date a version is overdue for the next one; 0 for never. By default that follows from the published days. */
  readonly overdueMs: number | undefined;
  readonly now: () => number;
}

const hourMs = 3_600_000;

/** How much later than usual the next delivery is published before it is overdue, unless a setting says from when on it is. */
const graceMs = 12 * hourMs;

/** How fresh the data in service is. */
export interface FreshnessReport {
  /** `failed` if the last ingest failed, else `stale` if the next delivery is overdue, else `fresh`. */
  readonly status: "fresh" | "stale" | "failed";
  readonly day: string | null;
  /** When the manifest of the version was written, as Unix time in milliseconds. */
  readonly publishedAtMs: number | null;
  /** From when on the next delivery is overdue; null if never. */
  readonly dueAtMs: number | null;
  /** Null if the records of the day cannot be read. */
  readonly dealers: DealerCounts | null;
}

export class Freshness {
  private record: IngestRecord | undefined;
  private fetched: FetchStatus | undefined;
  private publication: { readonly version: string; readonly atMs: number } | undefined;
  private dealers: DealerCounts | undefined;
  private wasOverdue = false;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly current: CurrentVersion,
    private readonly options: FreshnessOptions,
  ) {}

  static async watch(current: CurrentVersion, options: FreshnessOptions): Promise<Freshness> {
    const freshness = new Freshness(current, options);
    await freshness.poll();
    freshness.timer = setInterval(() => void freshness.poll(), recordPollMs).unref();
    return freshness;
  }

  get lastIngest(): IngestRecord | undefined {
    return this.record;
  }

  get lastFetch(): FetchStatus | undefined {
    return this.fetched;
  }

  get hasFailed(): boolean {
    return this.record?.error != null;
  }

  get isOverdue(): boolean {
    return this.dueAtMs !== undefined && this.options.now() > this.dueAtMs;
  }

  /** The reasons of a degraded service, for operators. */
  get faults(): readonly string[] {
    return [
      ...(this.hasFailed ? ["the last ingest failed"] : []),
      ...(this.isOverdue ? [`no delivery after ${this.asOf}`] : []),
      ...(this.fetched === undefined ? [] : fetchFaults(this.fetched)),
    ];
  }

  get report(): FreshnessReport {
    return {
      status: this.hasFailed ? "failed" : this.isOverdue ? "stale" : "fresh",
      day: this.asOf ?? null,
      publishedAtMs: this.publication?.atMs ?? null,
      dueAtMs: this.dueAtMs ?? null,
      dealers: this.dealers ?? null,
    };
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private get asOf(): string | undefined {
    return this.current.inService?.manifest.as_of;
  }

  /** From when on the next delivery is overdue; undefined for never. */
  private get dueAtMs(): number | undefined {
    const { overdueMs } = this.options;
    const { manifest } = this.current.inService ?? {};
    if (manifest === undefined || overdueMs === 0) return undefined;
    const asOfMs = Date.parse(manifest.as_of);
    if (overdueMs !== undefined) return asOfMs + overdueMs;
    const next = nextDayOf(Object.keys(manifest.days));
    if (next === undefined || this.publication === undefined) return undefined;
    return this.publication.atMs + Date.parse(next) - asOfMs + graceMs;
  }

  /** Reads, once for each version, when it was published and which dealers delivered. */
  private async readPublication(): Promise<void> {
    const { version } = this.current;
    if (version === undefined || this.publication?.version === version) return;
    this.publication = { version, atMs: await publishedAtMs(this.options.lake, version) };
    this.dealers = undefined;
    this.dealers = await this.current.use(countDealers);
  }

  private async poll(): Promise<void> {
    const { lake, logger } = this.options;
    try {
      const record = await readIngestRecord(lake);
      if (record !== undefined && record.at !== this.record?.at) {
        const { error, ...rest } = record;
        if (error === null) logger.info(rest, "ingest ended");
        else logger.error({ ...rest, error }, "ingest failed");
      }
      this.record = record;
      if (this.options.queue !== undefined) this.fetched = await readFetchStatus(this.options.queue);
      await this.readPublication();
    } catch (thrown) {
      logger.warn({ error: messageOf(thrown) }, "records of the last ingest not readable");
    }
    if (this.isOverdue && !this.wasOverdue)
      logger.error({ asOf: this.asOf, dueAt: isoTime(this.dueAtMs ?? null) }, "ingest overdue");
    this.wasOverdue = this.isOverdue;
  }
}

/** Formats a Unix time in milliseconds as ISO 8601; null if it is unknown. */
export const isoTime = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());

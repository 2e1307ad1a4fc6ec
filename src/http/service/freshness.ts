/**
 * Freshness: whether the last ingest failed, and whether the next one is overdue. Polls the record that `carquet ingest` leaves in the lake's
 * folder, and logs each change.
 */
import type { Logger } from "pino";
import { messageOf } from "../../base/user-error.ts";
import { type IngestRecord, readIngestRecord } from "../../lake/ingest-record.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";

/** How often the record of the last ingest is read. */
const recordPollMs = 1_000;

export interface FreshnessOptions {
  readonly lake: string;
  readonly logger: Logger;
  /** How long after the beginning of its as-of date a version is overdue for the next one; 0 for never. */
  readonly overdueMs: number;
  readonly now: () => number;
}

const hourMs = 3_600_000;

export class Freshness {
  private record: IngestRecord | undefined;
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

  get hasFailed(): boolean {
    return this.record?.error != null;
  }

  get isOverdue(): boolean {
    const { overdueMs, now } = this.options;
    const asOf = this.current.asOf;
    return overdueMs > 0 && asOf !== undefined && now() - Date.parse(asOf) > overdueMs;
  }

  /** The reasons of a degraded service, for operators. */
  get faults(): readonly string[] {
    return [
      ...(this.hasFailed ? ["the last ingest failed"] : []),
      ...(this.isOverdue ? [`no delivery after ${this.current.asOf}`] : []),
    ];
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async poll(): Promise<void> {
    const { lake, logger, overdueMs } = this.options;
    const record = await readIngestRecord(lake).catch((thrown: unknown) => {
      logger.warn({ message: messageOf(thrown) }, "record of the last ingest not readable");
      return this.record;
    });
    if (record !== undefined && record.at !== this.record?.at) {
      const { error, ...rest } = record;
      if (error === null) logger.info(rest, "ingest ended");
      else logger.error({ ...rest, message: error }, "ingest failed");
    }
    this.record = record;
    if (this.isOverdue && !this.wasOverdue)
      logger.error({ asOf: this.current.asOf, hours: overdueMs / hourMs }, "ingest overdue");
    this.wasOverdue = this.isOverdue;
  }
}

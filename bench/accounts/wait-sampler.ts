/** Samples the activity of the connections of a PostgreSQL server, and the bytes that it has written. */
import { integerIn, textIn } from "../../src/base/json.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import { sql } from "../../src/db/sql.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";

/** The activity of a connection: it computes, waits for a lock or the disk, or waits for the next statement of its client. */
export const activities = ["computes", "lock", "disk", "client", "other"] as const;

const everyMs = 50;

export class WaitSampler {
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  private constructor(private readonly database: SqlDatabase) {}

  static async open(url: string): Promise<WaitSampler> {
    return new WaitSampler(await connectPostgres(url, { busyMs: 1000 }));
  }

  /** The bytes that the server has logged so far. */
  async walBytes(): Promise<number> {
    return integerIn(await this.database.one(sql`SELECT (pg_current_wal_lsn() - '0/0')::bigint AS bytes`), "bytes");
  }

  /** Starts to sample. Forgets earlier samples. */
  start(): void {
    this.counts.clear();
    this.timer = setInterval(() => void this.sample(), everyMs);
  }

  /** Ends sampling. Returns the share of each activity in all samples of connections that were in use. */
  stop(): Readonly<Record<string, number>> {
    clearInterval(this.timer);
    const total = [...this.counts.values()].reduce((sum, count) => sum + count, 0);
    return Object.fromEntries(
      activities.map((activity) => [activity, Number(((this.counts.get(activity) ?? 0) / total).toFixed(3))]),
    );
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async sample(): Promise<void> {
    const rows = await this.database.all(sql`
      SELECT   CASE WHEN state = 'active' AND wait_event IS NULL                         THEN 'computes'
                    WHEN wait_event_type = 'Lock'                                        THEN 'lock'
                    WHEN wait_event_type = 'Client'                                      THEN 'client'
                    WHEN wait_event_type = 'IO' OR wait_event IN ('WALWrite', 'WALSync') THEN 'disk'
                    ELSE 'other' END AS activity,
               count(*) AS connections
      FROM     pg_stat_activity
      WHERE    backend_type = 'client backend' AND pid <> pg_backend_pid()
      AND      NOT (state = 'idle' AND clock_timestamp() - state_change > INTERVAL '1 second')
      GROUP BY activity`);
    for (const row of rows) {
      const activity = textIn(row, "activity");
      this.counts.set(activity, (this.counts.get(activity) ?? 0) + integerIn(row, "connections"));
    }
  }
}

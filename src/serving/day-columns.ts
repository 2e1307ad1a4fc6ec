/**
 * The columns of active listings that follow from the day on which a row is read: days on market, and `last_checked_at`, the time of its dealer's
 * last delivery unless the row has another. `market.ts` computes the same in SQL.
 */
import { epochDay } from "../base/day.ts";
import { integerIn, type Row } from "../base/json.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { JsonRow } from "../lake/json-row.ts";
import type { LakeFile } from "../lake/manifest.ts";
import { rowsOfDay } from "../lake/market.ts";
import { listingRow, servedColumns } from "../lake/served-columns.ts";

const [dealerKey, listedAt, daysOnMarket, lastCheckedAt] = (
  ["dealer_key", "listed_at", "days_on_market", "last_checked_at"] as const
).map((column) => listingRow.indexOf(column)) as [number, number, number, number];

/** Selects when each dealer delivered last, from the deliveries of a day. */
const deliveredStatement = (deliveries: readonly LakeFile[], folder: string, day: string): Sql => sql`
  SELECT dealer_key, ${servedColumns.last_checked_at} AS delivered_at
  FROM   (SELECT dealer_key, last_delivered_at AS last_checked_at FROM (${rowsOfDay("deliveries", deliveries, folder, day)})) AS facts
  WHERE  dealer_key IS NOT NULL`;

export class DayColumns {
  /** The columns of a row from which others follow. */
  static readonly needed = ["dealer_key", "listed_at", "last_checked_at"] as const;

  private constructor(
    private readonly day: string,
    /** The JSON line of the last delivery's time, by the JSON line of the dealer's key. */
    private readonly delivered: ReadonlyMap<string, string>,
  ) {}

  /** Reads a day's columns from its deliveries. `rows` runs a statement. */
  static async read(
    day: string,
    deliveries: readonly LakeFile[],
    folder: string,
    rows: (statement: Sql) => Promise<readonly Row[]>,
  ): Promise<DayColumns> {
    const found = deliveries.length === 0 ? [] : await rows(deliveredStatement(deliveries, folder, day));
    const delivered = found.map((row): [string, string] => [
      String(integerIn(row, "dealer_key")),
      JSON.stringify(row.delivered_at ?? null),
    ]);
    return new DayColumns(day, new Map(delivered));
  }

  /** Returns the columns of a day for requests without `last_checked_at`. */
  static withoutDeliveries(day: string): DayColumns {
    return new DayColumns(day, new Map());
  }

  /** Fills the columns in a row as its file has it. */
  complete(row: JsonRow): JsonRow {
    const completed = [...row];
    const listed = row[listedAt] ?? "null";
    if (listed !== "null") {
      const days = epochDay(this.day) - epochDay(listed.slice(1, 1 + this.day.length));
      completed[daysOnMarket] = String(Math.max(0, days));
    }
    if (row[lastCheckedAt] === "null") completed[lastCheckedAt] = this.delivered.get(row[dealerKey] ?? "") ?? "null";
    return completed;
  }
}

const keptDays = 16;

/** The columns of the days that were read most recently. */
export class RecentDays {
  private readonly days = new Map<string, Promise<DayColumns>>();

  /** Returns the columns of a day, which `read` reads if they are not kept. */
  async get(day: string, read: () => Promise<DayColumns>): Promise<DayColumns> {
    const found = this.days.get(day) ?? read();
    this.days.delete(day);
    this.days.set(day, found);
    found.catch(() => this.days.delete(day));
    const [oldest] = this.days.keys();
    if (this.days.size > keptDays && oldest !== undefined) this.days.delete(oldest);
    return found;
  }
}

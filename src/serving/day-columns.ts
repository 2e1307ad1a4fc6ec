/**
 * The columns of active listings that follow from the day on which a row is read: days on market; `days_seen`, the number of its dealer's feeds
 * added to what the row has; and `last_checked_at`, the time of the last of them unless the row has another. `market.ts` computes the same in SQL.
 */
import { epochDay } from "../base/day.ts";
import { integerIn, type Row } from "../base/json.ts";
import { type Sql, sql } from "../db/sql.ts";
import { type JsonRow, onlyValue } from "../lake/json-row.ts";
import type { LakeFile } from "../lake/manifest.ts";
import { rowsOfDay } from "../lake/market.ts";
import { listingRow, type ServedColumn, servedColumns } from "../lake/served-columns.ts";

const [dealerKey, listedAt, daysOnMarket, daysSeen, lastCheckedAt] = (
  ["dealer_key", "listed_at", "days_on_market", "days_seen", "last_checked_at"] as const
).map((column) => listingRow.pieceOf(column)) as [number, number, number, number, number];

/** Selects how often each dealer had delivered, and when last, from the feeds of a day. */
const deliveredStatement = (feeds: readonly LakeFile[], folder: string, day: string): Sql => sql`
  SELECT dealer_key, feeds::INTEGER AS feeds, ${servedColumns.last_checked_at} AS delivered_at
  FROM   (SELECT dealer_key, feeds, last_delivered_at AS last_checked_at FROM (${rowsOfDay("feeds", feeds, folder, day)})) AS facts
  WHERE  dealer_key IS NOT NULL`;

const dayLength = "YYYY-MM-DD".length;

interface Delivered {
  readonly feeds: number;
  /** The time of the last delivery, as JSON. */
  readonly last: string;
}

export class DayColumns {
  /** The columns that follow from feeds. */
  static readonly ofFeeds: readonly ServedColumn[] = ["days_seen", "last_checked_at"];

  /** Without `delivered`, those that do not follow from feeds. */
  constructor(
    /** Days since 1970. */
    private readonly epochDay: number,
    /** By the JSON of the dealer's key. */
    private readonly delivered: ReadonlyMap<string, Delivered> = new Map(),
  ) {}

  /** Reads a day's columns from its feeds. `rows` runs a statement. */
  static async read(
    day: string,
    feeds: readonly LakeFile[],
    folder: string,
    rows: (statement: Sql) => Promise<readonly Row[]>,
  ): Promise<DayColumns> {
    const found = feeds.length === 0 ? [] : await rows(deliveredStatement(feeds, folder, day));
    const delivered = found.map((row): [string, Delivered] => [
      String(integerIn(row, "dealer_key")),
      { feeds: integerIn(row, "feeds"), last: JSON.stringify(row.delivered_at ?? null) },
    ]);
    return new DayColumns(epochDay(day), new Map(delivered));
  }

  /** Fills the columns in a row as its file has it. */
  complete(row: JsonRow): JsonRow {
    const completed = [...row];
    const listed = onlyValue(row[listedAt]);
    if (listed !== "null") {
      const days = this.epochDay - epochDay(listed.slice(1, 1 + dayLength));
      completed[daysOnMarket] = `"days_on_market":${Math.max(0, days)}`;
    }
    const delivered = this.delivered.get(onlyValue(row[dealerKey]));
    if (delivered === undefined) return completed;
    if (onlyValue(row[lastCheckedAt]) === "null") completed[lastCheckedAt] = `"last_checked_at":${delivered.last}`;
    completed[daysSeen] = `"days_seen":${Number(onlyValue(row[daysSeen])) + delivered.feeds}`;
    return completed;
  }
}

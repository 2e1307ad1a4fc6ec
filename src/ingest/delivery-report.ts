/** What came of a delivery, counted so that the sums can be checked: rows = listed + elsewhere + merged + rejected. */
import { integerIn, textIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { type Sql, sql } from "../db/sql.ts";

export interface DeliveryReport {
  readonly day: string;
  /** The version that holds the day. */
  readonly version: string;
  /** Rows of the inventory files. */
  readonly rows: number;
  /** Rows that gave a listing of the active inventory. */
  readonly listed: number;
  /** Rows of VINs that are attributed to another dealer. */
  readonly elsewhere: number;
  /** Rows that a later row of the same VIN and dealer replaced. */
  readonly merged: number;
  /** Rows without a usable VIN or dealer. */
  readonly rejected: number;
  /** Values that were not usable and became unknown. */
  readonly unknown: number;
  /** Warnings: rows that are used in spite of them. */
  readonly noted: number;
  /** Active listings, of all dealers. */
  readonly active: number;
  /** Listings that became missing, were sold, or ended. */
  readonly missing: number;
  readonly sold: number;
  readonly ended: number;
  /** Feeds that were not believed: far smaller than the dealer's usual ones. */
  readonly collapsed: number;
  /** What was recorded, counted by outcome, field and reason. */
  readonly reasons: readonly IssueCount[];
  /** Columns that were ignored, in words. */
  readonly remarks: readonly string[];
}

export interface IssueCount {
  readonly outcome: string;
  readonly field: string;
  readonly reason: string;
  readonly count: number;
}

/** Counts a day's tables; `rows` were read, of them `active` listings come out. */
export async function createDeliveryReport(
  session: Session,
  known: Pick<DeliveryReport, "day" | "version" | "rows" | "active" | "remarks">,
): Promise<DeliveryReport> {
  const count = async (from: Sql): Promise<number> =>
    integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n ${from}`), "n");
  const rowsWith = (outcome: string): Promise<number> =>
    count(sql`FROM (SELECT DISTINCT file, "row" FROM issues WHERE feed = 'inventory' AND outcome = ${outcome})`);
  const sighted = sql`FROM claims_today WHERE sighted_on = ${known.day}::DATE`;
  return {
    ...known,
    listed: await count(sql`${sighted} AND is_owner`),
    elsewhere: await count(sql`${sighted} AND NOT is_owner`),
    merged: await rowsWith("merged"),
    rejected: await rowsWith("rejected"),
    unknown: await count(sql`FROM issues WHERE outcome = 'unknown'`),
    noted: await count(sql`FROM issues WHERE outcome = 'noted'`),
    missing: await count(sql`FROM absent WHERE state = 'missing' AND missing_since = ${known.day}::DATE`),
    sold: await count(sql`FROM absent WHERE state = 'sold'`),
    ended: await count(sql`FROM absent WHERE state IN ('ended', 'superseded')`),
    collapsed: await count(sql`FROM deliveries_today WHERE verdict = 'collapsed'`),
    reasons: await reasonsOf(session),
  };
}

async function reasonsOf(session: Session): Promise<readonly IssueCount[]> {
  const rows = await session.rows(sql`
    SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS n FROM issues GROUP BY ALL ORDER BY ALL`);
  return rows.map((row) => ({
    outcome: textIn(row, "outcome"),
    field: textIn(row, "field"),
    reason: textIn(row, "reason"),
    count: integerIn(row, "n"),
  }));
}

/** Delivery report: counts of what an ingest did with a delivery. The counts add up: rows = listed + elsewhere + merged + rejected. */
import { integerIn, textIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { type Sql, sql } from "../db/sql.ts";

export interface DeliveryReport {
  readonly day: string;
  /** The version that contains the day. */
  readonly version: string;
  /** Rows read from inventory files. */
  readonly rows: number;
  /** Rows that became active listings. */
  readonly listed: number;
  /** Rows whose VIN is attributed to another dealer. */
  readonly elsewhere: number;
  /** Rows replaced by a later row of the same VIN and dealer. */
  readonly merged: number;
  /** Rows without a valid VIN or dealer. */
  readonly rejected: number;
  /** Values that were invalid and became unknown. */
  readonly unknown: number;
  /** Values that were unusual but used. */
  readonly noted: number;
  /** Active listings of all dealers. */
  readonly active: number;
  /** Listings that became missing, were sold, or ended on this day. */
  readonly missing: number;
  readonly sold: number;
  readonly ended: number;
  /** Collapsed feeds. */
  readonly collapsed: number;
  /** Issues, counted by outcome, field and reason. */
  readonly reasons: readonly IssueCount[];
  /** One message per ignored column. */
  readonly remarks: readonly string[];
}

export interface IssueCount {
  readonly outcome: string;
  readonly field: string;
  readonly reason: string;
  readonly count: number;
}

/** Completes a report with the counts of the day's temporary tables. */
export async function createDeliveryReport(
  session: Session,
  base: Pick<DeliveryReport, "day" | "version" | "rows" | "active" | "remarks">,
): Promise<DeliveryReport> {
  const count = async (from: Sql): Promise<number> =>
    integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n ${from}`), "n");
  const rowsWith = (outcome: string): Promise<number> =>
    count(sql`FROM (SELECT DISTINCT file, "row" FROM issues WHERE feed = 'inventory' AND outcome = ${outcome})`);
  const deliveredClaims = sql`FROM claims_today WHERE sighted_on = ${base.day}::DATE`;
  return {
    ...base,
    listed: await count(sql`${deliveredClaims} AND is_owner`),
    elsewhere: await count(sql`${deliveredClaims} AND NOT is_owner`),
    merged: await rowsWith("merged"),
    rejected: await rowsWith("rejected"),
    unknown: await count(sql`FROM issues WHERE outcome = 'unknown'`),
    noted: await count(sql`FROM issues WHERE outcome = 'noted'`),
    missing: await count(sql`FROM absent_listings WHERE state = 'missing' AND missing_since = ${base.day}::DATE`),
    sold: await count(sql`FROM absent_listings WHERE state = 'sold'`),
    ended: await count(sql`FROM absent_listings WHERE state IN ('ended', 'superseded')`),
    collapsed: await count(sql`FROM deliveries_today WHERE verdict = 'collapsed'`),
    reasons: await countIssues(session),
  };
}

async function countIssues(session: Session): Promise<readonly IssueCount[]> {
  const rows = await session.rows(sql`
    SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS n FROM issues GROUP BY ALL ORDER BY ALL`);
  return rows.map((row) => ({
    outcome: textIn(row, "outcome"),
    field: textIn(row, "field"),
    reason: textIn(row, "reason"),
    count: integerIn(row, "n"),
  }));
}

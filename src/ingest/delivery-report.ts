/**
 * Delivery report: counts of a delivery's rows, values and listings by outcome. The counts add up: rows = listed + elsewhere + merged + rejected + held.
 */
import { integerIn, numberOrNull, textIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { BadRow, FeedFile } from "./feed/feed-file.ts";
import { rejectedCharactersMax } from "./normalize/parse.ts";

export interface DeliveryReport {
  readonly day: string;
  /** The version that contains the day. */
  readonly version: string;
  /** Rows read from inventory files. */
  readonly rows: number;
  readonly listed: number;
  /** Rows whose VIN is attributed to another dealer. */
  readonly elsewhere: number;
  /** Rows replaced by a later row of the same VIN and dealer. */
  readonly merged: number;
  /** Rows without a valid VIN or dealer. */
  readonly rejected: number;
  /** Rows of feeds whose prices collapsed. */
  readonly held: number;
  readonly unknown: number;
  /** Values that were unusual but used. */
  readonly noted: number;
  /** Values that were unknown and follow from the VIN. */
  readonly filled: number;
  /** Active listings of all dealers. */
  readonly active: number;
  /** Listings that became missing, were sold, or ended on this day. */
  readonly missing: number;
  readonly sold: number;
  readonly ended: number;
  readonly collapsed: number;
  /** The collapsed feeds, and those that were accepted although they collapsed; the largest first. */
  readonly judged: readonly JudgedFeed[];
  readonly reasons: readonly IssueCount[];
  /** One message per ignored column. */
  readonly remarks: readonly string[];
}

/** A feed that collapsed, with the numbers by which it did. */
export interface JudgedFeed {
  readonly dealer_id: string;
  readonly verdict: "collapsed" | "resized";
  readonly vins: number;
  /** The size below which it is collapsed; null if none is. */
  readonly min_vins: number | null;
  readonly known_prices: number;
  readonly jumped_prices: number;
}

export interface IssueCount {
  readonly outcome: string;
  readonly field: string;
  readonly reason: string;
  readonly count: number;
  /** The file, the row and the value of the first. */
  readonly first: string;
}

export async function createDeliveryReport(
  session: Session,
  base: Pick<DeliveryReport, "day" | "version" | "rows" | "filled" | "active" | "remarks">,
): Promise<DeliveryReport> {
  const day = sql`${base.day}::DATE`;
  const claims = await session.row(sql`
    SELECT count(*) FILTER (is_owner)::INTEGER AS listed, count(*) FILTER (NOT is_owner)::INTEGER AS elsewhere
    FROM claims_today WHERE sighted_on = ${day}`);
  const rowsWith = (outcome: string): Sql =>
    sql`count(DISTINCT (file, "row")) FILTER (feed = 'inventory' AND outcome = ${outcome})::INTEGER`;
  const issues = await session.row(sql`
    SELECT ${rowsWith("merged")} AS merged, ${rowsWith("rejected")} AS rejected, ${rowsWith("held")} AS held,
           count(*) FILTER (outcome = 'unknown')::INTEGER AS unknown, count(*) FILTER (outcome = 'noted')::INTEGER AS noted FROM issues`);
  const absent = await session.row(sql`
    SELECT count(*) FILTER (state = 'missing' AND missing_since = ${day})::INTEGER AS missing,
           count(*) FILTER (state = 'sold')::INTEGER AS sold, count(*) FILTER (state IN ('ended', 'superseded'))::INTEGER AS ended
    FROM absent_listings`);
  const judged = await judgedFeeds(session);
  return {
    ...base,
    listed: integerIn(claims, "listed"),
    elsewhere: integerIn(claims, "elsewhere"),
    merged: integerIn(issues, "merged"),
    rejected: integerIn(issues, "rejected"),
    held: integerIn(issues, "held"),
    unknown: integerIn(issues, "unknown"),
    noted: integerIn(issues, "noted"),
    missing: integerIn(absent, "missing"),
    sold: integerIn(absent, "sold"),
    ended: integerIn(absent, "ended"),
    collapsed: judged.filter(({ verdict }) => verdict === "collapsed").length,
    judged,
    reasons: await countIssues(session),
  };
}

/** Records the malformed rows of a file in `issues`, as those of the field `row`. */
export async function recordBadRows(
  session: Session,
  { table, name }: FeedFile,
  rows: readonly BadRow[],
): Promise<void> {
  const list = (values: readonly string[]): Sql => sql`unnest(${values}::VARCHAR[])`;
  await session.run(sql`
    INSERT INTO issues SELECT 'rejected', ${table}, ${name}, "row"::BIGINT, NULL, NULL, 'row', "value", reason
    FROM (SELECT ${list(rows.map(({ row }) => String(row)))} AS "row", ${list(rows.map(({ text }) => text.slice(0, rejectedCharactersMax)))} AS "value",
                 ${list(rows.map(({ reason }) => reason))} AS reason)`);
}

/** Counts the issues of a delivery by field and reason; `judged` has the feeds that collapsed. */
export async function countIssues(session: Session): Promise<readonly IssueCount[]> {
  const value = sql`coalesce(': "' || left(regexp_replace("value", '[[:cntrl:]]', ' ', 'g'), 40) || '"', '')`;
  const rows = await session.rows(sql`
    SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS n,
           min_by(file || ', row ' || "row" || ${value}, (file, "row")) AS "first" FROM issues WHERE outcome <> 'collapsed' GROUP BY ALL ORDER BY outcome, field, reason`);
  return rows.map((row) => ({
    outcome: textIn(row, "outcome"),
    field: textIn(row, "field"),
    reason: textIn(row, "reason"),
    count: integerIn(row, "n"),
    first: textIn(row, "first"),
  }));
}

/** Describes issues in a line. */
export const describeIssue = ({ outcome, field, reason, count, first }: IssueCount): string =>
  `${outcome}: ${count} × ${field}: ${reason}; first: ${first}`;

async function judgedFeeds(session: Session): Promise<readonly JudgedFeed[]> {
  const rows = await session.rows(sql`
    SELECT dealer_id, verdict, vins, min_vins, known_prices, jumped_prices FROM feeds_today WHERE verdict IN ('collapsed', 'resized')
    ORDER BY coalesce(list_max(accepted_vins), 0) DESC, dealer_id`);
  return rows.map((row) => ({
    dealer_id: textIn(row, "dealer_id"),
    verdict: row.verdict === "resized" ? "resized" : "collapsed",
    vins: integerIn(row, "vins"),
    min_vins: numberOrNull(row.min_vins),
    known_prices: integerIn(row, "known_prices"),
    jumped_prices: integerIn(row, "jumped_prices"),
  }));
}

/** Records of the ingests of a version's days, for operators: the tables `deliveries` and `rejects`. */
import { integerIn, type Row, textIn } from "../base/json.ts";
import { join, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { filesOfDay, rowsOfDay } from "../lake/market.ts";
import type { TableName } from "../lake/tables.ts";

export interface IngestedDay {
  readonly day: string;
  /** Dealers that delivered a feed, and VINs in the feeds. */
  readonly feeds: number;
  readonly vins: number;
  readonly collapsed: number;
  /** Rows that were refused, values that became unknown, and values that are unusual. */
  readonly rejected: number;
  readonly unknown: number;
  readonly noted: number;
}

export interface CollapsedFeed {
  readonly dealerId: string;
  readonly vins: number;
  /** The VINs of the last accepted feeds. */
  readonly acceptedVins: readonly number[];
  readonly collapsedInARow: number;
}

/** Issues of a day with the same outcome, field and reason, and one example. */
export interface IssueGroup {
  readonly outcome: string;
  readonly field: string;
  readonly reason: string;
  readonly count: number;
  readonly example: string | null;
}

export class DeliveryRecords {
  constructor(
    private readonly manifest: Manifest,
    private readonly folder: string,
    private readonly runQuery: (files: readonly LakeFile[], query: Sql) => Promise<readonly Row[]>,
  ) {}

  /** The days with deliveries, newest first. */
  get days(): readonly string[] {
    return Object.keys(this.manifest.days).reverse();
  }

  /** Returns counts of the read and refused rows of some days, newest first. */
  async summaries(days: readonly string[]): Promise<readonly IngestedDay[]> {
    const [deliveries, rejects] = [this.filesOf("deliveries", days), this.filesOf("rejects", days)];
    const ofDays = sql`delivery_date IN (${join(days.map((day) => sql`DATE ${literal(day)}`))})`;
    const rows = await this.runQuery(
      [...deliveries, ...rejects],
      sql`
      SELECT strftime(delivery_date, '%Y-%m-%d') AS day, feeds, vins, collapsed,
             coalesce(rejected, 0)::INTEGER AS rejected, coalesce(unknown, 0)::INTEGER AS unknown,
             coalesce(noted, 0)::INTEGER AS noted
      FROM (SELECT delivery_date, count(*) FILTER (WHERE verdict <> 'none')::INTEGER AS feeds,
                   coalesce(sum(vins), 0)::INTEGER AS vins, count(*) FILTER (WHERE verdict = 'collapsed')::INTEGER AS collapsed
            FROM (${rowsOfFiles("deliveries", deliveries, this.folder)}) WHERE ${ofDays} GROUP BY delivery_date)
      LEFT JOIN (SELECT delivery_date, count(DISTINCT (file, "row")) FILTER (WHERE outcome = 'rejected') AS rejected,
                        count(*) FILTER (WHERE outcome = 'unknown') AS unknown, count(*) FILTER (WHERE outcome = 'noted') AS noted
                 FROM (${rowsOfFiles("rejects", rejects, this.folder)}) WHERE ${ofDays} GROUP BY delivery_date)
      USING (delivery_date)
      ORDER BY day DESC`,
    );
    return rows.map(ingestedDayFromRow);
  }

  /** Returns the collapsed feeds of a day, those with the largest loss first. */
  async collapsedFeeds(day: string): Promise<readonly CollapsedFeed[]> {
    const files = this.filesOf("deliveries", [day]);
    const rows = await this.runQuery(
      files,
      sql`
      SELECT dealer_id, coalesce(vins, 0) AS vins, to_json(coalesce(accepted_vins, []))::VARCHAR AS accepted, collapsed_in_a_row
      FROM (${rowsOfDay("deliveries", files, this.folder, day)}) WHERE verdict = 'collapsed'
      ORDER BY coalesce(list_max(accepted_vins), 0) - coalesce(vins, 0) DESC, dealer_id LIMIT 200`,
    );
    return rows.map((row) => ({
      dealerId: textIn(row, "dealer_id"),
      vins: integerIn(row, "vins"),
      acceptedVins: JSON.parse(textIn(row, "accepted")),
      collapsedInARow: integerIn(row, "collapsed_in_a_row"),
    }));
  }

  /** Returns the issues of a day in groups, the largest first. */
  async issues(day: string): Promise<readonly IssueGroup[]> {
    const files = this.filesOf("rejects", [day]);
    const rows = await this.runQuery(
      files,
      sql`
      SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS issues, min(value) AS example
      FROM (${rowsOfDay("rejects", files, this.folder, day)})
      GROUP BY ALL ORDER BY issues DESC, outcome, field, reason LIMIT 200`,
    );
    return rows.map((row) => ({
      outcome: textIn(row, "outcome"),
      field: textIn(row, "field"),
      reason: textIn(row, "reason"),
      count: integerIn(row, "issues"),
      example: row.example === null ? null : textIn(row, "example"),
    }));
  }

  private filesOf(table: TableName, days: readonly string[]): readonly LakeFile[] {
    return [...new Set(days.flatMap((day) => filesOfDay(this.manifest.tables[table], day)))];
  }
}

const ingestedDayFromRow = (row: Row): IngestedDay => ({
  day: textIn(row, "day"),
  feeds: integerIn(row, "feeds"),
  vins: integerIn(row, "vins"),
  collapsed: integerIn(row, "collapsed"),
  rejected: integerIn(row, "rejected"),
  unknown: integerIn(row, "unknown"),
  noted: integerIn(row, "noted"),
});

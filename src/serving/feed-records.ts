/** Records of the ingests of a version's days: the tables `feeds` and `rejects`, for operators, and those about a VIN. */
import { integerIn, type Row, textIn, textOrNullIn } from "../base/json.ts";
import { rowReader } from "../db/row-reader.ts";
import { all, ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/derived-relations.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { filesOfDay, rowsOfDay } from "../lake/market.ts";
import { listingRow, servedColumns } from "../lake/served-columns.ts";
import type { TableName } from "../lake/tables.ts";
import { attributeOf } from "../listing/schema.ts";

const readDay = rowReader({
  day: textIn,
  /** Dealers that delivered a feed, and VINs in the feeds. */
  feeds: integerIn,
  vins: integerIn,
  collapsed: integerIn,
  /** Rows that were refused, values that became unknown, and values that are unusual. */
  rejected: integerIn,
  unknown: integerIn,
  noted: integerIn,
});

export type IngestedDay = ReturnType<typeof readDay>;

/** Reads issues of a day with the same outcome, field and reason, and one example. */
const readIssues = rowReader({
  outcome: textIn,
  field: textIn,
  reason: textIn,
  count: integerIn,
  example: textOrNullIn,
});

/** A version whose Parquet files a statement can read. */
export interface ParquetVersion {
  readonly manifest: Manifest;
  readonly folder: string;
  rowsFrom(files: readonly LakeFile[], query: Sql): Promise<readonly Row[]>;
}

export class FeedRecords {
  private readonly manifest: Manifest;
  private readonly folder: string;

  constructor(private readonly version: ParquetVersion) {
    this.manifest = version.manifest;
    this.folder = version.folder;
  }

  /** Returns counts of the read and refused rows of some days, newest first. */
  async summaries(days: readonly string[]): Promise<readonly IngestedDay[]> {
    const feeds = this.filesOf("feeds", days);
    const rejects = this.filesOf("rejects", days);
    const ofDays = sql`delivery_date IN (${join(days.map((day) => sql`DATE ${literal(day)}`))})`;
    const rows = await this.version.rowsFrom(
      [...feeds, ...rejects],
      sql`
      SELECT strftime(delivery_date, '%Y-%m-%d') AS day, feeds, vins, collapsed,
             coalesce(rejected, 0)::INTEGER AS rejected, coalesce(unknown, 0)::INTEGER AS unknown,
             coalesce(noted, 0)::INTEGER AS noted
      FROM (SELECT delivery_date, count(*) FILTER (WHERE verdict <> 'none')::INTEGER AS feeds,
                   coalesce(sum(vins), 0)::INTEGER AS vins, count(*) FILTER (WHERE verdict = 'collapsed')::INTEGER AS collapsed
            FROM (${rowsOfFiles("feeds", feeds, this.folder)}) WHERE ${ofDays} GROUP BY delivery_date)
      LEFT JOIN (SELECT delivery_date, count(DISTINCT (file, "row")) FILTER (WHERE outcome = 'rejected') AS rejected,
                        count(*) FILTER (WHERE outcome = 'unknown') AS unknown, count(*) FILTER (WHERE outcome = 'noted') AS noted
                 FROM (${rowsOfFiles("rejects", rejects, this.folder)}) WHERE ${ofDays} GROUP BY delivery_date)
      USING (delivery_date)
      ORDER BY day DESC`,
    );
    return rows.map(readDay);
  }

  /** Returns the issues of a day in groups, the largest first. */
  async issues(day: string): Promise<readonly ReturnType<typeof readIssues>[]> {
    const files = this.filesOf("rejects", [day]);
    const rows = await this.version.rowsFrom(
      files,
      sql`
      SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS "count", min(value) AS example
      FROM (${rowsOfDay("rejects", files, this.folder, day)})
      GROUP BY ALL ORDER BY "count" DESC, outcome, field, reason LIMIT 200`,
    );
    return rows.map(readIssues);
  }

  /** Returns the first rows of a day with an issue, in order, that have the chosen values: of `dealer_id`, `outcome`, `field` as in `issues`, `reason`. */
  issueRows(day: string, chosen: Readonly<Record<string, string | undefined>>, limit: number): Promise<readonly Row[]> {
    const conditions = Object.entries(chosen).flatMap(([name, value]) =>
      value === undefined ? [] : [sql`${ident(name)} = ${value}`],
    );
    const files = this.filesOf("rejects", [day]);
    return this.version.rowsFrom(
      files,
      sql`
      FROM (SELECT file, "row"::DOUBLE AS "row", dealer_id, vin, outcome, feed || '.' || field AS field, "value", reason
            FROM (${rowsOfDay("rejects", files, this.folder, day)}))
      WHERE ${all(conditions)} ORDER BY file, "row", field, "value" LIMIT ${integerLiteral(limit)}`,
    );
  }

  /**
   * Returns the intervals of all claims to a VIN, in the order of days: each with the columns of its table, `dealer_id`, `is_owner`, and
   * `delivered`, the attributes that its feed determines, as JSON.
   */
  claimsOf(vin: string): Promise<readonly Row[]> {
    const { listings, past_listings, contenders } = this.manifest.tables;
    const owned = [...listings, ...past_listings];
    const ofVin = (table: "listings" | "contenders", files: readonly LakeFile[], isOwner: Sql): Sql =>
      sql`SELECT *, ${isOwner} AS is_owner FROM (${rowsOfFiles(table, files, this.folder)}) WHERE vin = ${vin}`;
    return this.version.rowsFrom(
      [...owned, ...contenders],
      sql`
      SELECT id, dealer_id, dealer_key, build_key, is_owner, decided_by, file, "row"::DOUBLE AS "row", unseen_feeds, ${textsOf("claimed_since", "valid_from")},
             ${textsOf("valid_to", "last_seen")}, to_json({${join(deliveredFields)}})::VARCHAR AS delivered
      FROM (${ofVin("listings", owned, sql`true`)} UNION ALL BY NAME ${ofVin("contenders", contenders, sql`false`)}) AS facts
      JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key)
      ORDER BY valid_from, is_owner DESC, dealer_id`,
    );
  }

  /** Returns the last days of the listings of a VIN that were sold or have ended: `id`, `state` and `day`. */
  endsOf(vin: string): Promise<readonly Row[]> {
    const { sold, absent } = this.manifest.tables;
    const rows = (table: "sold" | "absent", files: readonly LakeFile[]): Sql => rowsOfFiles(table, files, this.folder);
    return this.version.rowsFrom(
      [...sold, ...absent],
      sql`
      SELECT id, 'sold' AS state, sold_on_record::VARCHAR AS day FROM (${rows("sold", sold)}) WHERE vin = ${vin}
      UNION ALL SELECT id, 'ended', ended_on::VARCHAR FROM (${rows("absent", absent)}) WHERE vin = ${vin} AND ended_on IS NOT NULL`,
    );
  }

  /** Returns the issues of the rows with a VIN, each once with its first and last day, its number of days, and the newest row that has it. */
  issuesOf(vin: string): Promise<readonly Row[]> {
    const { rejects } = this.manifest.tables;
    return this.version.rowsFrom(
      rejects,
      sql`
      SELECT outcome, dealer_id, field, value, reason, min(delivery_date)::VARCHAR AS first_day, max(delivery_date)::VARCHAR AS last_day,
             count(DISTINCT delivery_date)::INTEGER AS days, arg_max({file: file, "row": "row"::DOUBLE}, (delivery_date, file, "row")) AS newest
      FROM (${rowsOfFiles("rejects", rejects, this.folder)}) WHERE vin = ${vin} AND feed = 'inventory'
      GROUP BY ALL ORDER BY first_day, outcome, dealer_id, field, value, reason`,
    );
  }

  /** Returns what dealers delivered on each day from the first one on, in order. `usual_vins` is the median of the accepted feeds. */
  feedsOf(dealers: readonly string[], first: string): Promise<readonly Row[]> {
    const days = Object.keys(this.manifest.days).filter((day) => day >= first);
    const files = this.filesOf("feeds", days.reverse());
    return this.version.rowsFrom(
      files,
      sql`
      SELECT dealer_id, ${textsOf("delivery_date", "last_delivered_on")}, verdict, "collapse", vins, list_median(accepted_vins) AS usual_vins, min_vins, feeds,
             coalesce(accepted_feeds, count(*) FILTER (verdict IN ('accepted', 'resized')) OVER (PARTITION BY dealer_id ORDER BY delivery_date))::INTEGER
               AS accepted_feeds
      FROM (${rowsOfFiles("feeds", files, this.folder)})
      WHERE dealer_id IN (SELECT unnest(${dealers})) AND delivery_date >= DATE ${literal(first)} ORDER BY delivery_date`,
    );
  }

  private filesOf(table: TableName, days: readonly string[]): readonly LakeFile[] {
    return [...new Set(days.flatMap((day) => filesOfDay(this.manifest.tables[table], day)))];
  }
}

const textsOf = (...columns: readonly string[]): Sql =>
  join(columns.map((column) => sql`${ident(column)}::VARCHAR AS ${ident(column)}`));

/** The attributes of listings that a feed determines, without keys, as fields of a struct over `facts`. */
const deliveredFields = listingRow.columns
  .filter((name) => {
    const { feed, serve } = attributeOf(name);
    return (
      !["history", "valuation", "derived"].includes(feed) &&
      serve !== "key" &&
      name !== "vin" &&
      name !== "last_checked_at"
    );
  })
  .map((name) => sql`${ident(name)}: ${servedColumns[name]}`);

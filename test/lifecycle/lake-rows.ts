/** Reads the rows of a lake by day, in the terms of the oracle. */
import { type Row, textIn } from "../../src/base/json.ts";
import { ident, sql } from "../../src/db/sql.ts";
import { dayRelations } from "../../src/lake/analyst/analyst-views.ts";
import { currentManifest, type Manifest } from "../../src/lake/manifest.ts";
import { queryLake } from "../support/lakes/lakes.ts";

/** Rows of a table by key: a VIN, a VIN and a dealer, or a dealer. */
export type RowsByKey = ReadonlyMap<string, Row>;

/** Rows of a lake by day; sold and ended listings over all days. */
export interface LakeRows {
  readonly days: readonly string[];
  readonly active: (day: string) => RowsByKey;
  readonly missing: (day: string) => RowsByKey;
  readonly contenders: (day: string) => RowsByKey;
  readonly claims: (day: string) => RowsByKey;
  readonly feeds: (day: string) => RowsByKey;
  readonly sold: readonly Row[];
  readonly ended: readonly Row[];
  /** Keys that occur more than once on a day. */
  readonly repeated: readonly string[];
}

/** Columns of a listing that the oracle knows too. */
const listingColumns =
  "id, vin, dealer_id, listed_at, price, miles, days_on_market, days_seen, price_history, sold_date, sold_on_record";

/** Reads the published version of a lake. */
export async function readLakeRows(lake: string): Promise<LakeRows> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) throw new Error(`${lake} has no published version.`);
  const reader = new LakeReader(lake, manifest);
  return {
    days: Object.keys(manifest.days),
    ...(await readDays(reader)),
    sold: await queryLake(lake, `SELECT ${listingColumns}, sold_month AS month FROM sold`),
    ended: await queryLake(lake, `SELECT ${listingColumns}, ended_month AS month FROM ended`),
    repeated: reader.repeated,
  };
}

/** The rows of a view of days, with columns that its flat listings leave out. */
const allColumnsOf = (view: "active_days" | "missing_days" | "contenders_days"): string => `all_${view}`;

async function readDays(reader: LakeReader): Promise<Omit<LakeRows, "days" | "sold" | "ended" | "repeated">> {
  const active = allColumnsOf("active_days");
  const missing = allColumnsOf("missing_days");
  const contenders = allColumnsOf("contenders_days");
  const withDealer = (rows: string): string =>
    `(SELECT * FROM ${rows} JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key))`;
  return {
    active: await reader.rowsByDay(
      ["vin"],
      `SELECT snapshot_date::VARCHAR AS day, ${listingColumns}, last_seen, missing_since FROM ${withDealer(active)}`,
    ),
    missing: await reader.rowsByDay(
      ["vin"],
      `SELECT as_of::VARCHAR AS day, ${listingColumns}, last_seen, feeds_without, missing_since FROM ${withDealer(missing)}`,
    ),
    contenders: await reader.rowsByDay(
      ["vin", "dealer_id"],
      `SELECT snapshot_date::VARCHAR AS day, vin, dealer_id, price, miles, days_seen, last_seen FROM ${withDealer(contenders)}`,
    ),
    claims: await reader.rowsByDay(
      ["vin", "dealer_id"],
      "SELECT as_of::VARCHAR AS day, vin, dealer_id, claimed_since, sighted_on, is_owner FROM claims_days",
    ),
    feeds: await reader.rowsByDay(
      ["dealer_id"],
      `SELECT delivery_date::VARCHAR AS day, dealer_id, verdict, vins, last_delivered_on, accepted_vins, collapsed_in_a_row
       FROM feeds`,
    ),
  };
}

/** Queries over a lake's views. */
class LakeReader {
  readonly repeated: string[] = [];

  constructor(
    private readonly lake: string,
    private readonly manifest: Manifest,
  ) {}

  /** Returns the rows of a query, beside views of days with the columns that flat listings leave out: `all_active_days`, ... */
  private async rows(query: string): Promise<readonly Row[]> {
    const days = Object.entries(dayRelations(this.manifest, this.lake));
    const views = days.map(([state, rows]) => sql`CREATE VIEW ${ident(`all_${state}_days`)} AS ${rows}`);
    return queryLake(this.lake, query, views);
  }

  /** Returns the rows of a query by `day` and by the values of some key columns. */
  async rowsByDay(keys: readonly string[], query: string): Promise<(day: string) => RowsByKey> {
    const days = new Map<string, Map<string, Row>>();
    for (const { day, ...row } of await this.rows(query)) {
      const rows = days.get(String(day)) ?? new Map<string, Row>();
      const key = keys.map((column) => textIn(row, column)).join(" ");
      if (rows.has(key)) this.repeated.push(`${day}: ${key} more than once: ${query}`);
      days.set(String(day), rows.set(key, row));
    }
    return (day) => days.get(day) ?? new Map();
  }
}

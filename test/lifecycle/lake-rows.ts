/** Reads the rows of a lake by day, in the terms of the oracle. */
import { type Row, textIn } from "../../src/base/json.ts";
import { currentManifest, type TableFiles } from "../../src/lake/manifest.ts";
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
  readonly deliveries: (day: string) => RowsByKey;
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
  const reader = new LakeReader(lake, manifest.tables);
  return {
    days: [...new Set(manifest.tables.deliveries.map(({ partition }) => partition ?? ""))].sort(),
    ...(await readDays(reader)),
    sold: await reader.rows("sold", `SELECT ${listingColumns}, left(sold_month::VARCHAR, 7) AS month FROM sold`),
    ended: await reader.rows("ended", `SELECT ${listingColumns}, left(ended_month::VARCHAR, 7) AS month FROM ended`),
    repeated: reader.repeated,
  };
}

async function readDays(reader: LakeReader): Promise<Omit<LakeRows, "days" | "sold" | "ended" | "repeated">> {
  return {
    active: await reader.rowsByDay(
      "snapshots",
      ["vin"],
      `SELECT snapshot_date::VARCHAR AS day, ${listingColumns}, files.last_seen, missing_since FROM snapshots
       JOIN (SELECT vin, snapshot_date::VARCHAR AS file_day, last_seen FROM ${reader.files("snapshots")}) files USING (vin)
       WHERE file_day = day`,
    ),
    missing: await reader.rowsByDay(
      "missing",
      ["vin"],
      `SELECT as_of::VARCHAR AS day, ${listingColumns}, files.last_seen, files.feeds_without, missing_since FROM missing
       JOIN (SELECT vin, as_of::VARCHAR AS file_day, last_seen, feeds_without FROM ${reader.files("missing")}) files USING (vin)
       WHERE file_day = day`,
    ),
    contenders: await reader.rowsByDay(
      "contenders",
      ["vin", "dealer_id"],
      `SELECT as_of::VARCHAR AS day, vin, dealer_id, price, miles, days_seen, last_seen
       FROM ${reader.files("contenders")} JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key)`,
    ),
    claims: await reader.rowsByDay(
      "claims",
      ["vin", "dealer_id"],
      `SELECT claim_date::VARCHAR AS day, vin, dealer_id, claimed_since, sighted_on, is_owner FROM ${reader.files("claims")}`,
    ),
    deliveries: await reader.rowsByDay(
      "deliveries",
      ["dealer_id"],
      `SELECT delivery_date::VARCHAR AS day, dealer_id, verdict, vins, last_delivered_on, accepted_vins, collapsed_in_a_row
       FROM ${reader.files("deliveries")}`,
    ),
  };
}

/** Queries over a lake's views and files; a table without a file has no rows. */
class LakeReader {
  readonly repeated: string[] = [];

  constructor(
    private readonly lake: string,
    private readonly tables: TableFiles,
  ) {}

  files(table: keyof TableFiles): string {
    return `read_parquet([${this.tables[table].map(({ path }) => `'${this.lake}/${path}'`).join(", ")}])`;
  }

  async rows(table: keyof TableFiles, query: string): Promise<readonly Row[]> {
    return this.tables[table].length === 0 ? [] : queryLake(this.lake, query);
  }

  /** Returns the rows of a query by `day` and by the values of some key columns. */
  async rowsByDay(
    table: keyof TableFiles,
    keys: readonly string[],
    query: string,
  ): Promise<(day: string) => RowsByKey> {
    const days = new Map<string, Map<string, Row>>();
    for (const { day, ...row } of await this.rows(table, query)) {
      const rows = days.get(String(day)) ?? new Map<string, Row>();
      const key = keys.map((column) => textIn(row, column)).join(" ");
      if (rows.has(key)) this.repeated.push(`${day}: ${key} more than once: ${query}`);
      days.set(String(day), rows.set(key, row));
    }
    return (day) => days.get(day) ?? new Map();
  }
}

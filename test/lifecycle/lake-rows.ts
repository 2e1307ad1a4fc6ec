/** Reads the rows of a lake by day, in the terms of the oracle. */
import { type Row, textIn } from "../../src/base/json.ts";
import { currentManifest, type Files } from "../../src/lake/manifest.ts";
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
const listingColumns = "id, vin, dealer_id, listed_at, price, miles, days_on_market, days_seen, price_history";

export async function readLakeRows(lake: string): Promise<LakeRows> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) throw new Error(`${lake} has nothing published.`);
  const repeated: string[] = [];
  const files = (table: keyof Files): string =>
    `read_parquet([${manifest.tables[table].map(({ path }) => `'${lake}/${path}'`).join(", ")}])`;
  const sheets = async (query: string, keys: readonly string[]): Promise<(day: string) => RowsByKey> => {
    const days = new Map<string, Map<string, Row>>();
    for (const { day, ...row } of await queryLake(lake, query)) {
      const sheet = days.get(String(day)) ?? new Map<string, Row>();
      const key = keys.map((column) => textIn(row, column)).join(" ");
      if (sheet.has(key)) repeated.push(`${day}: ${key} more than once: ${query}`);
      days.set(String(day), sheet.set(key, row));
    }
    return (day) => days.get(day) ?? new Map();
  };
  const isKept = (table: keyof Files): boolean => manifest.tables[table].length > 0;
  const sheetsOf = (table: keyof Files, keys: readonly string[], query: string): Promise<(day: string) => RowsByKey> =>
    isKept(table) ? sheets(query, keys) : Promise.resolve(() => new Map());
  const rowsOf = (table: keyof Files, query: string): Promise<readonly Row[]> =>
    isKept(table) ? queryLake(lake, query) : Promise.resolve([]);
  return {
    days: [...new Set(manifest.tables.deliveries.map(({ partition }) => partition ?? ""))].sort(),
    active: await sheetsOf(
      "snapshots",
      ["vin"],
      `SELECT snapshot_date::VARCHAR AS day, ${listingColumns}, raw.last_seen, sold_date, missing_since FROM snapshots
       JOIN (SELECT vin, snapshot_date::VARCHAR AS raw_day, last_seen FROM ${files("snapshots")}) raw USING (vin)
       WHERE raw_day = day`,
    ),
    missing: await sheetsOf(
      "missing",
      ["vin"],
      `SELECT as_of::VARCHAR AS day, ${listingColumns}, raw.last_seen, raw.feeds_without, sold_date, missing_since FROM missing
       JOIN (SELECT vin, as_of::VARCHAR AS raw_day, last_seen, feeds_without FROM ${files("missing")}) raw USING (vin)
       WHERE raw_day = day`,
    ),
    contenders: await sheetsOf(
      "contenders",
      ["vin", "dealer_id"],
      `SELECT as_of::VARCHAR AS day, vin, dealer_id, price, miles, days_seen, last_seen
       FROM ${files("contenders")} JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key)`,
    ),
    claims: await sheetsOf(
      "claims",
      ["vin", "dealer_id"],
      `SELECT claim_date::VARCHAR AS day, vin, dealer_id, claimed_since, sighted_on, is_owner FROM ${files("claims")}`,
    ),
    deliveries: await sheetsOf(
      "deliveries",
      ["dealer_id"],
      `SELECT delivery_date::VARCHAR AS day, dealer_id, verdict, vins, last_delivered_on, accepted_vins, collapsed_in_a_row
       FROM ${files("deliveries")}`,
    ),
    sold: await rowsOf("sold", `SELECT ${listingColumns}, sold_date, strftime(sold_date, '%Y-%m') AS month FROM sold`),
    ended: await rowsOf(
      "ended",
      `SELECT ${listingColumns}, sold_date, left(ended_month::VARCHAR, 7) AS month FROM ended`,
    ),
    repeated,
  };
}

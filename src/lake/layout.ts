/**
 * The lake's tables, as data: which columns a file of each table has, in which order, and how its rows are sorted.
 *
 * A partition is a star: listings carry keys into builds, dealers, tokens and options. Keys are append-only and never
 * change meaning, so that every file ever written stays readable. The row shape of `snapshots`, `missing`, `sold` and
 * `ended` is the same, so that one query serves them all.
 *
 * Column types are those that Spark, Trino, Iceberg, Polars, Arrow and ClickHouse read: no UUID, no unsigned integer. A column may be
 * added at any time: older files read as null. One whose type changes needs a row in the conversions of `file-rows.ts`.
 */

export interface Table {
  /** Column name to DuckDB type, in the order of the file. */
  readonly columns: Readonly<Record<string, string>>;
  /** What the rows are sorted by; it must be total, because files must be the same bytes for the same feeds. */
  readonly order: readonly string[];
  /** The Hive key of the table's folders; dimensions have none. */
  readonly partition?: string;
  /** Whether a publish adds to what there is: small files are then merged with the newer ones, so that few are left. */
  readonly isLayered?: boolean;
  /** Rows in a row group, where it is not the usual number. */
  readonly rowGroupSize?: number;
  /** The most rows in a file; more are cut into files of adjoining ranges of the order. */
  readonly rowsPerFile?: number;
}

/** What makes a build: equal builds share a row. Nothing that varies by car. */
export const buildColumns = {
  year: "SMALLINT",
  make: "VARCHAR",
  model: "VARCHAR",
  model_code: "VARCHAR",
  trim: "VARCHAR",
  version: "VARCHAR",
  body_type: "VARCHAR",
  drivetrain: "VARCHAR",
  fuel_type: "VARCHAR",
  powertrain_type: "VARCHAR",
  transmission: "VARCHAR",
  engine: "VARCHAR",
  cylinders: "SMALLINT",
  doors: "SMALLINT",
  seating_capacity: "SMALLINT",
  assembly_location: "VARCHAR",
  assembly_country: "VARCHAR",
} as const;

/** What is known of a dealer; a change of any of it makes a new row. */
export const dealerColumns = {
  dealer_id: "VARCHAR",
  name: "VARCHAR",
  type: "VARCHAR",
  line1: "VARCHAR",
  city: "VARCHAR",
  state: "VARCHAR",
  postal_code: "VARCHAR",
  country: "VARCHAR",
  latitude: "DOUBLE",
  longitude: "DOUBLE",
  phone: "VARCHAR",
  website: "VARCHAR",
  makes: "VARCHAR[]",
} as const;

/** The type of a provider's pricing rows. */
export const lineItemsType =
  "STRUCT(amount_usd DOUBLE, raw_label VARCHAR, role VARCHAR, applicability VARCHAR, direction VARCHAR, row_key VARCHAR, row_order INTEGER, subtype VARCHAR)[]";

/** The type of a listing's changes of price, the oldest first. `price` is the price after the change. */
export const priceHistoryType = "STRUCT(changed_at TIMESTAMP, price INTEGER, price_before INTEGER, miles INTEGER)[]";

const listings: Table = {
  columns: {
    id: "VARCHAR",
    vin: "VARCHAR",
    build_key: "INTEGER",
    dealer_key: "INTEGER",
    make: "VARCHAR",
    model: "VARCHAR",
    year: "SMALLINT",
    price: "INTEGER",
    miles: "INTEGER",
    base_msrp: "INTEGER",
    msrp: "INTEGER",
    discount_from_msrp: "DECIMAL(9,4)",
    exterior_color: "VARCHAR",
    interior_color: "VARCHAR",
    base_exterior_color: "VARCHAR",
    base_interior_color: "VARCHAR",
    inventory_type: "VARCHAR",
    availability_status: "VARCHAR",
    stock_number: "VARCHAR",
    vdp_url: "VARCHAR",
    vhr_url: "VARCHAR",
    photo_urls: "VARCHAR[]",
    window_sticker_verified: "BOOLEAN",
    features: "INTEGER[]",
    options_packages: "INTEGER[]",
    keywords: "SMALLINT",
    listed_at: "TIMESTAMP",
    days_on_market: "INTEGER",
    days_seen: "INTEGER",
    last_seen: "DATE",
    last_checked_at: "TIMESTAMP",
    missing_since: "DATE",
    feeds_without: "INTEGER",
    sold_date: "DATE",
    price_history: priceHistoryType,
    /** The last known price of a listing whose price is unknown, to compare the next one with; null while the price is known. */
    last_known_price: "INTEGER",
    pricing: `STRUCT(displayed_provider_current_price_usd INTEGER, seller_total_before_taxes_and_registration_usd INTEGER, seller_total_before_manufacturer_incentives_usd INTEGER, dealer_adjusted_vehicle_price_usd INTEGER, line_items ${lineItemsType})`,
  },
  order: ["make", "model", "year", "trim", "id"],
  rowsPerFile: 262_144,
};

export const tables = {
  snapshots: { ...listings, partition: "snapshot_date" },
  missing: { ...listings, partition: "as_of" },
  sold: { ...listings, partition: "sold_month", isLayered: true },
  ended: { ...listings, partition: "ended_month", isLayered: true },
  /** What dealers claim that another dealer owns: rows as of their last sighting, to take over from. */
  contenders: { ...listings, order: ["vin", "dealer_key"], partition: "as_of" },
  builds: { columns: { build_key: "INTEGER", ...buildColumns }, order: ["build_key"], isLayered: true },
  dealers: { columns: { dealer_key: "INTEGER", ...dealerColumns }, order: ["dealer_key"], isLayered: true },
  tokens: {
    columns: { token_key: "INTEGER", kind: "VARCHAR", token: "VARCHAR" },
    order: ["token_key"],
    isLayered: true,
  },
  options: {
    columns: { option_key: "INTEGER", make: "VARCHAR", code: "VARCHAR", name: "VARCHAR", msrp: "INTEGER" },
    order: ["option_key"],
    isLayered: true,
  },
  claims: {
    columns: {
      vin: "VARCHAR",
      dealer_id: "VARCHAR",
      claimed_since: "DATE",
      sighted_on: "DATE",
      is_owner: "BOOLEAN",
      decided_by: "VARCHAR",
      file: "VARCHAR",
      row: "BIGINT",
    },
    order: ["vin", "dealer_id"],
    partition: "claim_date",
  },
  deliveries: {
    columns: {
      dealer_id: "VARCHAR",
      verdict: "VARCHAR",
      delivered_at: "TIMESTAMP",
      vins: "INTEGER",
      owned: "INTEGER",
      last_delivered_on: "DATE",
      accepted_vins: "INTEGER[]",
      collapsed_in_a_row: "INTEGER",
    },
    order: ["dealer_id"],
    partition: "delivery_date",
  },
  rejects: {
    columns: {
      outcome: "VARCHAR",
      feed: "VARCHAR",
      file: "VARCHAR",
      row: "BIGINT",
      vin: "VARCHAR",
      dealer_id: "VARCHAR",
      field: "VARCHAR",
      value: "VARCHAR",
      reason: "VARCHAR",
    },
    order: ["file", "row", "feed", "outcome", "field", "value", "reason"],
    partition: "delivery_date",
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as readonly TableName[];

/** The columns of listings that hold token keys, and the kind of those tokens. */
export const tokenKinds = { features: "feature", options_packages: "option" } as const;

export type TokenColumn = keyof typeof tokenKinds;

/** The columns of listings that repeat from car to car, words and sets of tokens: where they do, caches number their values. */
export const repeatingColumns = [
  ...(Object.keys(tokenKinds) as readonly TokenColumn[]),
  ...(["exterior_color", "interior_color", "base_exterior_color", "base_interior_color"] as const),
  ...(["inventory_type", "availability_status"] as const),
] as const;

export type RepeatingColumn = (typeof repeatingColumns)[number];

/** The history keywords and the bit that each has in `listings.keywords`. */
export const keywordBits = { one_owner: 1, clean_title: 2, branded: 4, fleet: 8 } as const;

/** What a table's layout says, by its name. */
export const layoutOf = (table: TableName): Table => tables[table];

/** Rows in a row group: small enough that fifty rows of a page touch few of them, large enough to compress. */
export const rowGroupSize = 32_768;

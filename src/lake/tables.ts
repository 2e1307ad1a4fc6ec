/**
 * Schemas of the lake's tables: columns, sort order and partition key of each. The columns of listings, builds and dealers come from
 * `listing/schema.ts`.
 *
 * The tables form a star schema: listings hold keys into builds, dealers and tokens. Keys are append-only and never change meaning, so
 * every file stays readable.
 *
 * Column types are limited to those that Spark, Trino, Iceberg, Polars, Arrow and ClickHouse read: no UUID, no unsigned integers. All files of a
 * lake have exactly these columns: a change of them is a new lake format.
 */
import { type DuckType, listTypeOf } from "../db/duck-type.ts";
import { type Attribute, computedFeeds, type Kept } from "../listing/attribute.ts";
import {
  type AttributeName,
  attributeOf,
  attributes,
  columnsIn,
  type TokensName,
  tokensNames,
  valuedNames,
} from "../listing/schema.ts";

export interface TableDefinition {
  /** Column names and DuckDB types, in file order. */
  readonly columns: Readonly<Record<string, DuckType>>;
  /** Sort columns. The order must be total: the same feeds must produce the same bytes. */
  readonly order: readonly string[];
  /** The Hive partition key; dimensions have none. */
  readonly partition?: string;
  /** Whether each publish appends rows to the same partition. Small files are then compacted with the new rows. */
  readonly isAppendOnly?: boolean;
  /** Whether each publish rewrites all rows. */
  readonly isReplaced?: boolean;
  /** Maximum rows per file. Larger results are split into files of adjacent ranges of the sort order. */
  readonly rowsPerFile?: number;
}

export const buildColumns = columnsIn("builds");
export const dealerColumns = columnsIn("dealers");

const listingOrder = ["make", "model", "year", "trim", "id"] as const;

/** Build columns that listings repeat because they are sorted by them, in sort order. */
const sortColumns = Object.fromEntries(
  listingOrder
    .map((name) => attributeOf(name))
    .filter(({ isSortKey }) => isSortKey === true)
    .map(({ column, type }) => [column, type]),
);

const { id, vin, build_key, dealer_key, ...remaining } = columnsIn("listings");

/** The columns of a listing in every state, as requests see them. */
export const listingColumns: TableDefinition["columns"] = {
  id,
  vin,
  build_key,
  dealer_key,
  ...sortColumns,
  ...remaining,
};

/** The columns of a listing that table `valuations` has. */
export const valuedColumns: TableDefinition["columns"] = Object.fromEntries(
  valuedNames.map((name) => [name, attributes[name].type]),
);

const attributeOfColumn = (column: string): Partial<Attribute> =>
  column in attributes ? attributeOf(column as AttributeName) : {};

/** Returns the columns of a listing that files keep in the given ways, or always. */
const columnsKept = (...ways: readonly Kept[]): TableDefinition["columns"] =>
  Object.fromEntries(
    Object.entries(listingColumns).filter(([column]) => {
      const { kept, feed } = attributeOfColumn(column);
      return !computedFeeds.some((computed) => computed === feed) && (kept === undefined || ways.includes(kept));
    }),
  );

/** The columns of a listing that files keep in some state. */
export const keptColumns: TableDefinition["columns"] = columnsKept("counted", "gone");

/**
 * A row that holds from `valid_from` until the day before `valid_to`; it still holds while `valid_to` is null. What counts days follows from
 * `feeds`: see `market.ts`.
 */
const intervals: TableDefinition = {
  columns: {
    ...columnsKept(),
    /** How many of its dealer's feeds so far did not contain it; negative if it was seen before the first one. */
    unseen_feeds: "INTEGER",
    /** Null while its dealer's last feed contained it. */
    last_seen: "DATE",
    /** Null while its dealer's last feed contained it at the time of the feed or later. */
    last_checked_at: "TIMESTAMP",
    /** The dealer's claim: its first day, the rule that decided, and where its newest row was delivered. */
    claimed_since: "DATE",
    decided_by: "VARCHAR",
    file: "VARCHAR",
    row: "BIGINT",
    valid_from: "DATE",
    valid_to: "DATE",
  },
  order: [...listingOrder, "valid_from"],
  rowsPerFile: 262_144,
};

/** A listing that is no longer active, as of its last day. */
const gone: TableDefinition = {
  columns: { ...keptColumns, ended_on: "DATE" },
  order: listingOrder,
  rowsPerFile: 262_144,
};

/** The partition of rows that hold, in tables whose other partitions are months. */
export const openPartition = "open";

export const tables = {
  /** Rows that hold on the published day: the active listings. */
  listings: { ...intervals, isReplaced: true },
  /** Rows whose interval has ended, by the month of `valid_to`: with `listings`, every past day. */
  past_listings: { ...intervals, partition: "ended_month", isAppendOnly: true },
  /** Claims that did not win their VIN, as full rows, so that a later takeover can use them. */
  contenders: {
    ...intervals,
    order: ["vin", "dealer_key", "valid_from"],
    partition: "ended_month",
    isAppendOnly: true,
  },
  /** Listings that are absent and not sold: missing ones, and by the month of `ended_on` those that ended without a sale. */
  absent: { ...gone, partition: "ended_month", isAppendOnly: true },
  sold: { ...gone, partition: "sold_month", isAppendOnly: true },
  /** The fit of the published day: see `valuation/`. Listings with a price that are active or were sold shortly before, each with its residual. */
  valuations: {
    columns: {
      id: "VARCHAR",
      is_new: "BOOLEAN",
      ...sortColumns,
      trim: "VARCHAR",
      version: "VARCHAR",
      sold_date: "DATE",
      price: "INTEGER",
      miles: "INTEGER",
      option_value: "INTEGER",
      state: "VARCHAR",
      latitude: "DOUBLE",
      longitude: "DOUBLE",
      fitted_price: "DOUBLE",
      residual: "DOUBLE",
      ...valuedColumns,
    },
    order: ["make", "model", "year", "id"],
    isReplaced: true,
    rowsPerFile: 1_048_576,
  },
  /** What each part of a price is worth in that fit. */
  price_effects: {
    columns: {
      is_new: "BOOLEAN",
      kind: "VARCHAR",
      ...sortColumns,
      trim: "VARCHAR",
      version: "VARCHAR",
      body: "VARCHAR",
      state: "VARCHAR",
      step: "VARCHAR",
      band: "SMALLINT",
      listings: "INTEGER",
      level: "DOUBLE",
      by_year: "DOUBLE",
      by_mileage: "DOUBLE",
      by_options: "DOUBLE",
      by_certificate: "DOUBLE",
      spreads: listTypeOf("DOUBLE"),
      z_low: "DOUBLE",
      z_high: "DOUBLE",
      is_described: "BOOLEAN",
      price_band: "SMALLINT",
      mean_options: "DOUBLE",
      year_min: "INTEGER",
      year_max: "INTEGER",
      miles_min: "INTEGER",
      miles_max: "INTEGER",
      price_min: "INTEGER",
      price_max: "INTEGER",
      msrp_min: "INTEGER",
      msrp_max: "INTEGER",
      error: "DOUBLE",
      inside: "DOUBLE",
    },
    order: [
      "is_new",
      "kind",
      "make",
      "model",
      "trim",
      "version",
      "year",
      "state",
      "body",
      "step",
      "is_described",
      "band",
      "price_band",
    ],
    isReplaced: true,
  },
  builds: { columns: { build_key: "INTEGER", ...buildColumns }, order: ["build_key"], isAppendOnly: true },
  dealers: { columns: { dealer_key: "INTEGER", ...dealerColumns }, order: ["dealer_key"], isAppendOnly: true },
  tokens: {
    columns: { token_key: "INTEGER", kind: "VARCHAR", token: "VARCHAR" },
    order: ["token_key"],
    isAppendOnly: true,
  },
  options: {
    columns: { option_key: "INTEGER", make: "VARCHAR", code: "VARCHAR", name: "VARCHAR", msrp: "INTEGER" },
    order: ["option_key"],
    isAppendOnly: true,
  },
  feeds: {
    columns: {
      dealer_id: "VARCHAR",
      verdict: "VARCHAR",
      delivered_at: "TIMESTAMP",
      vins: "INTEGER",
      owned: "INTEGER",
      last_delivered_on: "DATE",
      accepted_vins: listTypeOf("INTEGER"),
      collapsed_in_a_row: "INTEGER",
      dealer_key: "INTEGER",
      /** The time of the last feed so far, or of a later observation in it; the numbers of all feeds and of accepted ones so far. */
      last_delivered_at: "TIMESTAMP",
      feeds: "INTEGER",
      accepted_feeds: "INTEGER",
      delivery_date: "DATE",
      /** What of a collapsed feed did, `rows` or `prices`, or that it was `rejected`; and what that rests on: see `ComparedFeed` and `vinsMinOf`. */
      collapse: "VARCHAR",
      min_vins: "DOUBLE",
      known_prices: "INTEGER",
      jumped_prices: "INTEGER",
    },
    order: ["delivery_date", "dealer_id"],
    partition: "delivery_month",
    isAppendOnly: true,
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
      delivery_date: "DATE",
    },
    order: ["delivery_date", "file", "row", "feed", "outcome", "field", "value", "reason"],
    partition: "delivery_month",
    isAppendOnly: true,
  },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as readonly TableName[];

/** The token kind of each listing column that holds token keys. */
export const tokenKinds = Object.fromEntries(tokensNames.map((name) => [name, attributes[name].kind])) as {
  readonly [Name in TokensName]: (typeof attributes)[Name]["kind"];
};

export type TokenColumn = TokensName;

/** The bit of each history keyword in `listings.keywords`. */
export const keywordBits: Readonly<Record<Keyword, number>> = Object.fromEntries(
  attributes.keywords.words.map((word, index) => [word, 2 ** index]),
) as Record<Keyword, number>;

type Keyword = (typeof attributes.keywords.words)[number];

export const tableOf = (table: TableName): TableDefinition => tables[table];

/** Returns the path of a file within a table's folder: below the folder of its partition, if it has one. */
export function pathInTable(table: TableName, partition: string | null, name: string): string {
  return partition === null ? `${table}/${name}` : `${table}/${tableOf(table).partition}=${partition}/${name}`;
}

/**
 * Rows per row group. A page decompresses every row group that holds one of its rows: twice as many rows cost pages up to twice the processor
 * time, half as many cost facets a tenth (measured; see bench/README.md).
 */
export const rowGroupSize = 16_384;

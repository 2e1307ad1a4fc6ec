/**
 * Schemas of the lake's tables: columns, sort order and partition key of each. The columns of listings, builds and dealers come from
 * `listing/schema.ts`.
 *
 * The tables form a star schema: listings hold keys into builds, dealers and tokens. Keys are append-only and never change meaning, so
 * every file stays readable. `snapshots`, `missing`, `sold` and `ended` share one row shape.
 *
 * Column types are limited to those that Spark, Trino, Iceberg, Polars, Arrow and ClickHouse read: no UUID, no unsigned integers. A column
 * can be added at any time: older files read as null. A change of type needs a row in the conversions of `file-rows.ts`.
 */
import { attributeOf, attributes, columnsIn, type TokensName, tokensNames } from "../listing/schema.ts";

export interface TableDefinition {
  /** Column names and DuckDB types, in file order. */
  readonly columns: Readonly<Record<string, string>>;
  /** Sort columns. The order must be total: the same feeds must produce the same bytes. */
  readonly order: readonly string[];
  /** The Hive partition key; dimensions have none. */
  readonly partition?: string;
  /** Whether each publish appends rows to the same partition. Small files are then compacted with the new rows. */
  readonly isAppendOnly?: boolean;
  /** Maximum rows per file. Larger results are split into files of adjacent ranges of the sort order. */
  readonly rowsPerFile?: number;
}

export { lineItemsType, priceHistoryType } from "../listing/schema.ts";

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

const listings: TableDefinition = {
  columns: { id, vin, build_key, dealer_key, ...sortColumns, ...remaining },
  order: listingOrder,
  rowsPerFile: 262_144,
};

export const tables = {
  snapshots: { ...listings, partition: "snapshot_date" },
  missing: { ...listings, partition: "as_of" },
  sold: { ...listings, partition: "sold_month", isAppendOnly: true },
  ended: { ...listings, partition: "ended_month", isAppendOnly: true },
  /** Claims that did not win their VIN, as full rows of the day they were last delivered, so that a later takeover can use them. */
  contenders: { ...listings, order: ["vin", "dealer_key"], partition: "as_of" },
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

/** Returns the schema of a table. */
export const tableOf = (table: TableName): TableDefinition => tables[table];

/**
 * Rows per row group. A page decompresses every row group that holds one of its rows: twice as many rows cost pages up to twice the processor
 * time, half as many cost facets a tenth (measured; see bench/README.md).
 */
export const rowGroupSize = 16_384;

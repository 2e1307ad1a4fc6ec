/**
 * The lake's tables, as data: which columns a file of each table has, in which order, and how its rows are sorted. The columns of
 * listings, builds and dealers are those of `listing/schema.ts`.
 *
 * A partition is a star: listings carry keys into builds, dealers, tokens and options. Keys are append-only and never
 * change meaning, so that every file ever written stays readable. The row shape of `snapshots`, `missing`, `sold` and
 * `ended` is the same, so that one query serves them all.
 *
 * Column types are those that Spark, Trino, Iceberg, Polars, Arrow and ClickHouse read: no UUID, no unsigned integer. A column may be
 * added at any time: older files read as null. One whose type changes needs a row in the conversions of `file-rows.ts`.
 */
import { attributeOf, attributes, columnsIn, type TokensName, tokensNames } from "../listing/schema.ts";

export interface TableDefinition {
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

export { lineItemsType, priceHistoryType } from "../listing/schema.ts";

export const buildColumns = columnsIn("builds");
export const dealerColumns = columnsIn("dealers");

const listingOrder = ["make", "model", "year", "trim", "id"] as const;

/** The columns that listings repeat of their builds, in the order in which they are sorted. */
const sortColumns = Object.fromEntries(
  listingOrder
    .map((name) => attributeOf(name))
    .filter(({ isSortKey }) => isSortKey === true)
    .map(({ column, type }) => [column, type]),
);

const { id, vin, build_key, dealer_key, ...others } = columnsIn("listings");

const listings: TableDefinition = {
  columns: { id, vin, build_key, dealer_key, ...sortColumns, ...others },
  order: listingOrder,
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
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as readonly TableName[];

/** The columns of listings that hold token keys, and the kind of those tokens. */
export const tokenKinds = Object.fromEntries(tokensNames.map((name) => [name, attributes[name].kind])) as {
  readonly [Name in TokensName]: (typeof attributes)[Name]["kind"];
};

export type TokenColumn = TokensName;

/** The history keywords and the bit that each has in `listings.keywords`. */
export const keywordBits: Readonly<Record<Keyword, number>> = Object.fromEntries(
  attributes.keywords.words.map((word, place) => [word, 2 ** place]),
) as Record<Keyword, number>;

type Keyword = (typeof attributes.keywords.words)[number];

/** What a table's layout says, by its name. */
export const tableOf = (table: TableName): TableDefinition => tables[table];

/** Rows in a row group: small enough that fifty rows of a page touch few of them, large enough to compress. */
export const rowGroupSize = 32_768;

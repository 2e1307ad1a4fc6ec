/**
 * What a row of `schema.ts` says of an attribute: where it is stored, how ingest fills it, how requests search it, how it is served, and where it is
 * shown.
 */
import type { DuckType } from "../db/duck-type.ts";

/** The table of the star schema that stores an attribute. */
export type Home = "listings" | "builds" | "dealers";

/**
 * How ingest fills an attribute.
 *
 * - `field`: the feed field with the name of the column.
 * - `spelled`: like `field`, in the canonical spelling of its vocabulary.
 * - `list`: like `field`; an unknown value becomes an empty list.
 * - `flag`: like `field`; an unknown value becomes false.
 * - `tokens`: the keys of the field's values in `tokens`.
 * - `keywords`: the field's values as bits.
 * - `rule`: a SQL expression over the delivery, in `ingest/lifecycle/` or `ingest/dimensions/`.
 * - `history`: a SQL expression over the delivery and the listing of the day before, in `ingest/lifecycle/`.
 * - `derived`: not by ingest. The files of listings lack it; it follows from their other columns: see `lake/derived-columns.ts`.
 * - `valuation`: not by ingest. The files of listings lack it; table `valuations` has it for the published day.
 */
export type FeedKind =
  | ("field" | "spelled" | "list" | "flag" | "tokens" | "keywords" | "rule" | "history")
  | ("derived" | "valuation");

/** Ways of filling columns that files of listings lack. */
export const computedFeeds = ["derived", "valuation"] as const satisfies readonly FeedKind[];

/**
 * How requests search an attribute.
 *
 * - `category`: a single value, matched case-insensitively and counted by value. Filters `<name>` and `exclude_<name>`.
 * - `name`: like `category`; punctuation is ignored too, so that slugs match (`f-150`, `F150`).
 * - `tokens`: a list of values, stored as keys into `tokens` and counted by value. Filters as for `category`.
 * - `keywords`: a list of history keywords, stored as bits and counted by value.
 * - `number`: a number with bounds, statistics and ranges. A decimal fraction is counted in units of its last decimal.
 * - `time`: a timestamp with bounds, in seconds.
 * - `pattern`: a VIN, matched by masks.
 * - `text`: a text that few listings share, matched case-insensitively and not counted. Filter `<name>`.
 */
type SearchKind = "category" | "name" | "tokens" | "keywords" | "number" | "time" | "pattern" | "text";

/**
 * How an attribute is served. Without a kind, its value is served unchanged.
 *
 * - `second`, `microsecond`: a timestamp, formatted with that precision.
 * - `day`: a date.
 * - `words`: the tokens that its keys stand for.
 * - `price_history`: a list of price changes.
 * - `key`: not served; the dimension row that it identifies is served instead.
 * - `keywords`: the words that the bits of a number stand for.
 * - `none`: not served.
 */
export type ServeKind = "second" | "microsecond" | "day" | "words" | "price_history" | "key" | "keywords" | "none";

/**
 * When the files of listings hold an attribute; by default, always.
 *
 * - `counted`: it counts days. While a listing is active it follows from stored days (see `lake/market.ts`); afterwards it is stored.
 * - `gone`: only once the listing is no longer active.
 */
export type Kept = "counted" | "gone";

/**
 * Where an attribute is shown to people and agents.
 *
 * - `facet`: beside the results of a search.
 * - `agents`: its filters, in the schemas of the agents' tools.
 */
export type AttributeView = "facet" | "agents";

export interface AttributeRow {
  /** The column in its table; by default, the name of the attribute. */
  readonly column?: string;
  /** The DuckDB type of the column in the lake. */
  readonly type: DuckType;
  readonly feed: FeedKind;
  readonly search?: SearchKind;
  readonly serve?: ServeKind;
  /** On a `number`: adds the filters `min_<range>` and `max_<range>`, and a numeric facet. */
  readonly range?: string;
  /** API name of the ascending sort by this attribute; the prefix `-` reverses it. */
  readonly sort?: string;
  /** Two numbers p and q, if its value is the rounded ratio of p and q, less 1: it is sorted by the ratio. */
  readonly ratio?: readonly [p: string, q: string];
  /** A column by which listings are sorted before its ratio, and the order of the column's values. It is known where the ratio is. */
  readonly within?: { readonly column: string; readonly values: readonly string[] };
  /** The `kind` of its rows in `tokens`. */
  readonly kind?: string;
  /** The values of `keywords`, in the order of their bits. */
  readonly words?: readonly string[];
  readonly kept?: Kept;
  /** Whether listings repeat this attribute of their build because files are sorted by it. */
  readonly isSortKey?: boolean;
  /** What people call it; by default, the words of its name. */
  readonly title?: string;
  /** What a number is an amount of: whole dollars, or a signed fraction that is shown as a percentage. */
  readonly unit?: "dollars" | "fraction";
  /** Where it is shown, each with its rank there. Attributes of the same rank follow each other as in the schema. */
  readonly shown?: Readonly<Partial<Record<AttributeView, number>>>;
}

export interface Attribute extends AttributeRow {
  readonly home: Home;
}

type Digit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";

/** The types of a `number`: those whose values are 32-bit integers in units of the last decimal. */
type NumberType = "SMALLINT" | "INTEGER" | `DECIMAL(${Digit},${Digit})`;

/** What each kind of search needs of a row. */
type SearchedRow =
  | { readonly search: "number"; readonly type: NumberType }
  | { readonly search: "category" | "name"; readonly type: "VARCHAR" | "SMALLINT" | "INTEGER"; readonly range?: never }
  | { readonly search: "tokens"; readonly feed: "tokens"; readonly kind: string; readonly range?: never }
  | { readonly search: "keywords"; readonly feed: "keywords"; readonly range?: never }
  | { readonly search: "text"; readonly type: "VARCHAR"; readonly range?: never }
  | { readonly search?: "time" | "pattern"; readonly range?: never };

/** A row of a listing: what ingest can fill and the search index can search. */
export type ListingAttribute = AttributeRow & SearchedRow;

/** A row of a build or dealer, which listings share. It is stored and served as delivered, spelled or derived. */
export type SharedAttribute<Feed extends "field" | "spelled" | "rule"> = ListingAttribute & {
  readonly feed: Feed;
  readonly search?: "category" | "name" | "number";
  readonly serve?: "none";
  readonly kept?: never;
};

/** SQL peers: the interface of another engine that holds the same rows, and the SQL that differs between engines. */
import type { Row } from "../../src/base/json.ts";
import type { CategoricalColumn, ColumnName } from "../dataset/columns.ts";
import type { Dataset, Log } from "../dataset/dataset.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import type { HistoryRelation } from "../dataset/history-rows.ts";
import type { SqlPeerName } from "../settings.ts";

export interface SqlPeer {
  readonly name: SqlPeerName;
  readonly version: string;
  readonly dialect: Dialect;
  /** The relation that it measures the levels of trends in. */
  readonly levels: Extract<HistoryRelation, "history" | "intervals">;
  rows(statement: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Opens a peer on a dataset and fills its database if it does not exist yet. */
export type OpenPeer = (dataset: Dataset, log: Log) => Promise<SqlPeer>;

export interface PageQuery {
  readonly columns: readonly ColumnName[];
  /** A table, or a subquery in parentheses. */
  readonly from: string;
  readonly where: string;
  /** An expression; ties are broken by position. */
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
}

export interface Origin {
  readonly latitude: number;
  readonly longitude: number;
}

/** The listings of a past day, in the relation `past`. */
export interface DaySnapshot {
  readonly day: string;
}

/** Returns the table of listings, in SQL that all peers with the relation `past` support. */
export function tableExpression(from: Relation | DaySnapshot): string {
  if (typeof from === "string") return from;
  const day = `DATE ${quoteString(from.day)}`;
  return `(SELECT * REPLACE (greatest(0, ${day} - CAST(listed_at AS DATE)) AS days_on_market) FROM past
    WHERE valid_from <= ${day} AND valid_to > ${day}) AS listings_of_day`;
}

/** SQL that differs between engines: complete statements (`page`, `valueCounts`), conditions and expressions. */
export interface Dialect {
  page(query: PageQuery): string;
  /** Condition: a list of the listing contains a token. */
  hasToken(list: TokenList, token: string): string;
  /** Statement: rows of `facet`, `value` and `listings`; for each facet the most common values first, ties by value. */
  valueCounts(facets: readonly CategoricalColumn[], from: string, where: string, limit: number): string;
  /** Expression: the exact percentile of a column, interpolated; `fraction` is from 0 to 1. */
  percentile(column: string, fraction: number): string;
  /** Expression: the sample standard deviation of a column. */
  stddev(column: string): string;
  /** Expression: the integer quotient of a column. */
  integerDivision(column: string, divisor: number): string;
  /** Expression: a row for each item of a list. */
  unnest(list: string): string;
}

export type TokenList = "features" | "options_packages" | "keywords";
export const tokenLists: readonly TokenList[] = ["features", "options_packages", "keywords"];

export const isTokenList = (column: string): column is TokenList => tokenLists.some((list) => list === column);

/** Returns a string literal. */
export const quoteString = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const earthRadiusMiles = 3958.7613;

/** Returns the haversine distance in miles from an origin to `latitude` and `longitude`, in SQL that all engines support. */
export function haversineMiles({ latitude, longitude }: Origin): string {
  return `${2 * earthRadiusMiles} * asin(least(1, sqrt(pow(sin((radians(latitude) - ${radians(latitude)}) / 2), 2)
    + ${Math.cos(radians(latitude))} * cos(radians(latitude)) * pow(sin((radians(longitude) - ${radians(longitude)}) / 2), 2))))`;
}

/** Returns the condition that a point is within a number of miles of an origin. A bounding box is the prefilter. */
export const withinRadius = (origin: Origin, miles: number): string =>
  `${inBoundingBox(origin, miles)} AND ${haversineMiles(origin)} <= ${miles}`;

function inBoundingBox({ latitude, longitude }: Origin, miles: number): string {
  const height = (miles / earthRadiusMiles) * (180 / Math.PI) * 1.001;
  const width = height / Math.cos(radians(Math.min(89, Math.abs(latitude) + height)));
  return `latitude BETWEEN ${latitude - height} AND ${latitude + height} AND longitude BETWEEN ${longitude - width} AND ${longitude + width}`;
}

/** A peer: another engine that holds the same rows and is asked the same questions in SQL of its own. */
import type { Row } from "../../src/base/json.ts";
import type { ColumnName } from "../dataset/columns.ts";
import type { Dataset, Say } from "../dataset/dataset.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import type { SqlPeerName } from "../settings.ts";

/** An engine that is asked in SQL. */
export interface SqlPeer {
  readonly name: SqlPeerName;
  readonly version: string;
  readonly dialect: Dialect;
  rows(statement: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Opens a peer on a dataset, and fills it first when it has not been. */
export type OpenPeer = (dataset: Dataset, say: Say) => Promise<SqlPeer>;

export interface PageOf {
  readonly columns: readonly ColumnName[];
  readonly from: Relation;
  readonly where: string;
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
}

export interface Origin {
  readonly latitude: number;
  readonly longitude: number;
}

/** What the engines say differently. */
export interface Dialect {
  page(of: PageOf): string;
  /** The condition that a listing carries a token in a list. */
  carries(list: TokenList, token: string, from: Relation): string;
  /** The condition that a listing's dealer is that near. */
  within(origin: Origin, miles: number, from: Relation): string;
  /** Great-circle miles from an origin. */
  miles(origin: Origin): string;
  /** Rows of `facet`, `value` and `listings`, for each facet the commonest values first, ties by value. */
  counts(facets: readonly Categorical[], from: Relation, where: string, limit: number): string;
  /** The exact percentile of a column, interpolated. */
  percentile(column: string, share: number): string;
  /** The standard deviation of a sample. */
  deviation(column: string): string;
  /** How often a whole number goes into another. */
  quotient(number: string, by: number): string;
}

export type TokenList = "features" | "options_packages" | "keywords";
export const tokenLists: readonly TokenList[] = ["features", "options_packages", "keywords"];

export type Categorical = Exclude<ColumnName, "position" | "id" | "vin">;

export const isList = (facet: string): facet is TokenList => tokenLists.some((list) => list === facet);

/** A text as a literal. */
export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const earthRadiusMiles = 3958.7613;

/** Great-circle miles from an origin to `latitude` and `longitude`, as SQL that every engine understands. */
export function peerMilesFrom({ latitude, longitude }: Origin): string {
  return `${2 * earthRadiusMiles} * asin(least(1, sqrt(pow(sin((radians(latitude) - ${radians(latitude)}) / 2), 2)
    + ${Math.cos(radians(latitude))} * cos(radians(latitude)) * pow(sin((radians(longitude) - ${radians(longitude)}) / 2), 2))))`;
}

/** The condition that a place is in the box around a circle: cheap, and true of all that is in the circle. */
export function inBoxAround({ latitude, longitude }: Origin, miles: number): string {
  const height = (miles / earthRadiusMiles) * (180 / Math.PI) * 1.001;
  const width = height / Math.cos(radians(Math.min(89, Math.abs(latitude) + height)));
  return `latitude BETWEEN ${latitude - height} AND ${latitude + height} AND longitude BETWEEN ${longitude - width} AND ${longitude + width}`;
}

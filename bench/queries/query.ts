/**
 * Benchmark queries: a request path of Carquet's API, and the same request as plain data that peers translate. Every server answers
 * with a body in the shape of the API, so that answers can be compared.
 */
import { isObject } from "../../src/base/json.ts";
import type { DayRange, IntervalLength } from "../../src/query/trends/trends.ts";
import type { BenchNumericFacet, CategoricalColumn, ColumnName } from "../dataset/columns.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import type { DaySnapshot, SqlPeer } from "../peers/peer.ts";
import type { BenchFilter, TrendFilter } from "./filter.ts";

/** A page of listings. */
export interface SearchSpec {
  readonly kind: "search";
  readonly from: Relation | DaySnapshot;
  readonly filters: readonly BenchFilter[];
  /** Ascending; ties are broken by position. `distance` is measured from the origin of the filter `near`. */
  readonly sort: "days_on_market" | "price" | "miles" | "distance";
  readonly offset: number;
  readonly limit: number;
  readonly columns: readonly ColumnName[];
}

/** Value counts of categorical facets with statistics and ranges of numeric facets, or with a metric of each value. */
export interface FacetSpec {
  readonly kind: "facets";
  readonly from: Relation | DaySnapshot;
  readonly filters: readonly BenchFilter[];
  readonly categorical: readonly CategoricalColumn[];
  readonly numeric: readonly BenchNumericFacet[];
  /** A percentile of a column: its name in the API, and the fraction from 0 to 1. */
  readonly metric?: { readonly name: string; readonly column: ColumnName; readonly fraction: number };
}

/** One active listing. */
export interface LookUpSpec {
  readonly kind: "lookUp";
  readonly by: "id" | "vin";
  readonly value: string;
  readonly columns: readonly ColumnName[];
}

export type TrendFacet = "make" | "state";

/** A metric of a trend, by its name in the API. */
export type BenchTrendMetric =
  | { readonly kind: "count" | "price_drops" | "days_supply"; readonly name: string }
  | { readonly kind: "mean"; readonly name: string }
  /** A percentile of the price; the fraction is from 0 to 1. */
  | { readonly kind: "percentile"; readonly name: string; readonly fraction: number };

/** Metrics of the matching listings for each interval of a period whose days all have a snapshot. */
export interface TrendSpec {
  readonly kind: "trends";
  readonly metrics: readonly BenchTrendMetric[];
  readonly interval: IntervalLength;
  readonly period: DayRange;
  readonly firstDay: string;
  /** Events have no price. */
  readonly filters: readonly TrendFilter[];
  readonly facets?: readonly TrendFacet[];
}

export type QuerySpec = SearchSpec | FacetSpec | LookUpSpec | TrendSpec;

export interface BenchQuery {
  readonly path: string;
  readonly spec: QuerySpec;
  /** Executes the query in SQL and returns a body in the shape of the API. */
  readonly execute: (peer: SqlPeer) => Promise<object>;
  /**
   * Compares a server's body with Carquet's and throws at the first difference. Percentiles may deviate by the server's tolerance.
   * Returns the largest relative deviation.
   */
  readonly compare: (ours: unknown, theirs: unknown, server: ComparedServer) => number;
  /** Returns the number of matching listings of a body; 1 for a look-up. */
  readonly matchCount: (body: unknown) => number;
}

export interface ComparedServer {
  readonly name: string;
  /** The largest accepted relative deviation of percentiles; 0 if the server computes them exactly. */
  readonly tolerance: number;
}

/** Returns the value at a path of keys and indexes; null if there is none. */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce((inner: unknown, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] ?? null;
    return isObject(inner) ? (inner[key] ?? null) : null;
  }, value);
}

/** Returns the list at a path of keys and indexes; an empty list if there is none. */
export function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const list = at(value, ...keys);
  return Array.isArray(list) ? list : [];
}

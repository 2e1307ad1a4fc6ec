/**
 * A question: a path of Carquet's API, and the same as data, which peers translate. Every server answers with a body in the shape of the
 * API, so that answers can be compared.
 */
import { isObject } from "../../src/base/json.ts";
import type { ColumnName } from "../dataset/columns.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import type { Categorical, SqlPeer } from "../peers/peer.ts";
import type { AskedNumericFacet } from "./facets.ts";
import type { QuestionFilter } from "./filter.ts";

/** A page of listings. */
export interface Search {
  readonly kind: "search";
  readonly from: Relation;
  readonly filters: readonly QuestionFilter[];
  /** Ascending; ties go by position. A distance is that of the filter `near`. */
  readonly sort: "days_on_market" | "price" | "miles" | "distance";
  readonly offset: number;
  readonly limit: number;
  readonly columns: readonly ColumnName[];
}

/** Counts of values, statistics and ranges of numbers, or a metric of each value. */
export interface Facets {
  readonly kind: "facets";
  readonly from: Relation;
  readonly filters: readonly QuestionFilter[];
  readonly categorical: readonly Categorical[];
  readonly numeric: readonly AskedNumericFacet[];
  /** How the API names a metric, and the percentile that it is. */
  readonly metric?: { readonly name: string; readonly column: ColumnName; readonly share: number };
}

/** One active listing. */
export interface LookUp {
  readonly kind: "lookUp";
  readonly by: "id" | "vin";
  readonly value: string;
  readonly columns: readonly ColumnName[];
}

export type Subject = Search | Facets | LookUp;

export interface Question {
  readonly path: string;
  readonly subject: Subject;
  /** Asks an engine in SQL; returns a body. */
  readonly ask: (peer: SqlPeer) => Promise<object>;
  /**
   * Compares a server's body with Carquet's: fails with the first difference. Percentiles may differ by a share of their value
   * (`tolerance`, 0 for exact engines); returns the largest share that occurred.
   */
  readonly compare: (ours: unknown, theirs: unknown, server: Compared) => number;
  /** How many listings match, or 1. */
  readonly rows: (body: unknown) => number;
}

export interface Compared {
  readonly name: string;
  readonly tolerance: number;
}

/** The value at a path of keys; null where there is none. */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce((inner: unknown, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] ?? null;
    return isObject(inner) ? (inner[key] ?? null) : null;
  }, value);
}

/** A list at a path of keys; an empty one where there is none. */
export function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}

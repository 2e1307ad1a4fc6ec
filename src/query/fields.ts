/**
 * The fields of a listing on a page: which are served, what is read of the listing for them, and how that becomes what is served.
 * Builds, dealers and words come from the dimensions.
 */
import type { Json, Row } from "../base/json.ts";
import { vocabulary } from "../contract/document.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Dimensions } from "../lake/dimensions.ts";
import { flatColumns } from "../lake/flat.ts";
import { isReading, type Reading } from "../lake/readings.ts";
import { type Expansion, expanded, readingOf } from "./expansions.ts";
import { milesTo } from "./geography.ts";
import type { Point } from "./zip-codes.ts";

export type Field = QueryOf<"searchListings">["fields"][number];

/** All fields that can be served, in the order of the document, in which they are served. */
const servable: readonly Field[] = vocabulary("searchListings", "fields").filter((field) => field !== "default");

/** Fields that are served only when they are asked for by name. */
const onRequest: readonly Field[] = ["features", "options_packages"];

/** The fields that a request's `fields` stand for, in the order in which they are served. */
export function fieldsOf(asked: readonly Field[]): readonly Field[] {
  const isServed = (field: Field): boolean =>
    field === "id" ||
    field === "vin" ||
    asked.includes(field) ||
    (asked.includes("default") && !onRequest.includes(field));
  return servable.filter(isServed);
}

/** What is read of a listing for some fields and expansions: values, and the keys into the dimensions. */
export function readingsOf(fields: readonly Field[], include: readonly Expansion[]): readonly Reading[] {
  const own = fields.filter((field) => isReading(field));
  return [
    ...new Set<Reading>(["build_key", "dealer_key", ...own, ...include.map((expansion) => readingOf[expansion])]),
  ];
}

export interface Serving {
  readonly fields: readonly Field[];
  readonly include: readonly Expansion[];
  readonly status: "active" | "sold";
  /** From where distances are served. */
  readonly origin: Point | undefined;
}

/** A fact as it was read, and the rows that its keys point at. */
interface Star {
  readonly fact: Row;
  readonly build: Row;
  readonly dealer: Row;
}

/** Gives what turns the values that were read of a listing into the listing that is served, schema `ListingSummary`. */
export function serving({ fields, include, status, origin }: Serving, dimensions: Dimensions): (fact: Row) => Row {
  const special: Readonly<Partial<Record<Field, (star: Star) => Json>>> = {
    status: () => status,
    inventory_status: () => status,
    distance_miles: ({ dealer }) => (origin === undefined ? null : milesTo(dealer, origin)),
  };
  const readers = fields.map((field): [string, (star: Star) => Json | undefined] => [
    field,
    special[field] ?? readerOf(field, dimensions),
  ]);
  return (fact) => {
    const star = { fact, build: dimensions.buildOf(fact), dealer: dimensions.dealerOf(fact) };
    const served: Record<string, Json> = {};
    for (const [field, read] of readers) served[field] = read(star) ?? null;
    for (const expansion of include) {
      served[expansion] = expanded(expansion, fact, star.build, dimensions);
    }
    return served;
  };
}

function readerOf(field: Field, dimensions: Dimensions): (star: Star) => Json | undefined {
  const origin = flatColumns[field];
  switch (origin?.of) {
    case "facts":
      return ({ fact }) => fact[field];
    case "builds":
      return ({ build }) => build[origin.column];
    case "dealers":
      return ({ dealer }) => dealer[origin.column];
    case "tokens":
      return ({ fact }) => dimensions.wordsOf(fact[field]);
    case undefined:
      throw new TypeError(`The field ${field} comes from nowhere.`);
  }
}

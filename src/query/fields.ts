/**
 * The fields of a listing on a page: which are served, what is read of the listing for them, and how that becomes what is served.
 * Builds, dealers and words come from the dimensions.
 */
import { vocabulary } from "../contract/document.ts";
import type { QueryOf } from "../contract/types.ts";
import { flatColumns } from "../lake/flat-listings.ts";
import { type JsonRow, parseJsonValue } from "../lake/json-row.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import type { Point } from "../listing/geography.ts";
import type { AttributeName } from "../listing/schema.ts";
import { buildRow, type Dimensions, dealerRow } from "../serving/dimensions.ts";
import { type Expansion, expanded, expansionColumn } from "./expansions.ts";
import { milesTo } from "./geography.ts";

export type ListingField = QueryOf<"searchListings">["fields"][number];

/** All fields that can be served, in the order of the document, in which they are served. */
const servable: readonly ListingField[] = vocabulary("searchListings", "fields").filter((field) => field !== "default");

/** Fields that are served only when they are asked for by name. */
const onRequest: readonly ListingField[] = ["features", "options_packages"];

/** The fields that a request's `fields` stand for, in the order in which they are served. */
export function fieldsOf(asked: readonly ListingField[]): readonly ListingField[] {
  const isServed = (field: ListingField): boolean =>
    field === "id" ||
    field === "vin" ||
    asked.includes(field) ||
    (asked.includes("default") && !onRequest.includes(field));
  return servable.filter(isServed);
}

/** What is read of a listing for some fields and expansions: values, and the keys into the dimensions. */
export function columnsOfFields(
  fields: readonly ListingField[],
  include: readonly Expansion[],
): readonly ServedColumn[] {
  const own = fields.filter((field) => listingRow.has(field));
  return [
    ...new Set<ServedColumn>([
      "build_key",
      "dealer_key",
      ...own,
      ...include.map((expansion) => expansionColumn[expansion]),
    ]),
  ];
}

export interface PageServing {
  readonly fields: readonly ListingField[];
  readonly include: readonly Expansion[];
  readonly status: "active" | "sold";
  /** From where distances are served. */
  readonly origin: Point | undefined;
}

/** A listing, and what its keys point at. */
type Star = Readonly<Record<"facts" | "builds" | "dealers", JsonRow>>;

/** Gives a part of a listing as JSON. */
type Part = (star: Star) => string;

/** Gives what turns a listing into the JSON that is served of it, schema `ListingSummary`. */
export function servePage(
  { fields, include, status, origin }: PageServing,
  dimensions: Dimensions,
): (facts: JsonRow) => string {
  const itsStatus = JSON.stringify(status);
  const special: Readonly<Record<Exclude<ListingField, AttributeName | "default">, Part>> &
    Readonly<Partial<Record<ListingField, Part>>> = {
    status: () => itsStatus,
    inventory_status: () => itsStatus,
    distance_miles: distanceFrom(origin),
  };
  const parts: readonly (readonly [string, Part])[] = [
    ...fields.map((field) => [field, special[field] ?? partOf(field, dimensions)] as const),
    ...include.map((expansion) => [expansion, additionOf(expansion, dimensions)] as const),
  ];
  const labelled = parts.map(([name, part], place) => ({ label: `${place === 0 ? "{" : ","}"${name}":`, part }));
  return (facts) => {
    const builds = dimensions.buildOf(parseJsonValue(facts[buildKey]));
    const star = { facts, builds, dealers: dimensions.dealerOf(parseJsonValue(facts[dealerKey])) };
    let served = "";
    for (const { label, part } of labelled) served += label + part(star);
    return `${served}}`;
  };
}

const [buildKey, dealerKey] = [listingRow.indexOf("build_key"), listingRow.indexOf("dealer_key")];

const formats = { facts: listingRow, builds: buildRow, dealers: dealerRow } as const;

/** The line of a column. */
function lineOf(of: keyof Star, column: string): Part {
  const place = formats[of].indexOf(column);
  return (star) => star[of][place] ?? "null";
}

function partOf(field: ListingField, dimensions: Dimensions): Part {
  const origin = flatColumns[field];
  if (origin === undefined) throw new TypeError(`The field ${field} comes from nowhere.`);
  if (origin.of !== "tokens") return lineOf(origin.of, origin.of === "facts" ? field : origin.column);
  const keys = lineOf("facts", origin.column);
  return (star) => JSON.stringify(dimensions.wordsOf(parseJsonValue(keys(star))));
}

function additionOf(expansion: Expansion, dimensions: Dimensions): Part {
  const [read, make] = [lineOf("facts", expansionColumn[expansion]), lineOf("builds", "make")];
  return (star) =>
    JSON.stringify(expanded(expansion, parseJsonValue(read(star)), parseJsonValue(make(star)), dimensions));
}

function distanceFrom(origin: Point | undefined): Part {
  const [north, east] = [lineOf("dealers", "latitude"), lineOf("dealers", "longitude")];
  if (origin === undefined) return () => "null";
  return (star) =>
    JSON.stringify(milesTo({ latitude: parseJsonValue(north(star)), longitude: parseJsonValue(east(star)) }, origin));
}

/**
 * Fields of the listings on a page: which ones are served, which columns they need, what `include` adds, and how a listing becomes JSON text of schema
 * `ListingSummary`.
 *
 * Builds, dealers and tokens come from the dimensions in memory. The JSON text is concatenated from values that are stored as JSON.
 */
import { type Json, type Row, rowOf } from "../base/json.ts";
import { vocabulary } from "../contract/document.ts";
import type { QueryOf } from "../contract/types.ts";
import { flatColumns, type ListingOrigin } from "../lake/analyst/flat-listings.ts";
import { type JsonRow, onlyValue } from "../lake/json-row.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import type { Point } from "../listing/geography.ts";
import { type AttributeName, extensionNames, tokensNames } from "../listing/schema.ts";
import { buildRow, type Dimensions, dealerRow } from "../serving/dimensions.ts";
import { distanceMiles } from "./geography.ts";

export type ListingField = QueryOf<"searchListings">["fields"][number];

/** All fields, in the order of the document, which is also their response order. */
const allFields: readonly ListingField[] = vocabulary("searchListings", "fields").filter(
  (field) => field !== "default",
);

/** Fields that `default` does not include in an export. */
const optInFields: readonly string[] = [...tokensNames, "pricing", ...extensionNames];

/** Fields that `default` does not include in a page. */
const optInPageFields: readonly string[] = [...optInFields, "keywords"];

/** Returns the fields of a page that parameter `fields` selects, in response order. */
export const resolveFields = (requested: readonly ListingField[]): readonly ListingField[] =>
  fieldsAmong(allFields, requested, optInPageFields);

/** Returns those of all fields that parameter `fields` selects. `id` and `vin` are always included. */
export function fieldsAmong<Field extends string>(
  all: readonly Field[],
  requested: readonly (Field | "default")[],
  optIn = optInFields,
): readonly Field[] {
  const isServed = (field: Field): boolean =>
    field === "id" ||
    field === "vin" ||
    requested.includes(field) ||
    (requested.includes("default") && !optIn.includes(field));
  return all.filter(isServed);
}

interface SerializerOptions {
  readonly status: "active" | "sold";
  /** The origin of `distance_miles`. */
  readonly origin: Point | undefined;
}

const formats = { facts: listingRow, builds: buildRow, dealers: dealerRow } as const;

type Table = keyof typeof formats;

/** The pieces of the keys of a listing's build and dealer. */
const keyPieces = { builds: listingRow.pieceOf("build_key"), dealers: listingRow.pieceOf("dealer_key") } as const;

/** A listing with its build and its dealer. */
class JoinedListing {
  readonly builds: JsonRow;
  readonly dealers: JsonRow;
  private parsed: Record<Table, Row[]> | undefined;

  constructor(
    readonly facts: JsonRow,
    dimensions: Dimensions,
  ) {
    this.builds = dimensions.buildOf(Number(onlyValue(facts[keyPieces.builds])));
    this.dealers = dimensions.dealerOf(Number(onlyValue(facts[keyPieces.dealers])));
  }

  valueOf(table: Table, column: string): Json {
    this.parsed ??= { facts: [], builds: [], dealers: [] };
    return formats[table].valueOf(this[table], column, this.parsed[table]);
  }
}

/** Returns the serializer of rows to JSON texts with the named fields and expansions: of a page, to schema `ListingSummary`. */
export function serializerOf(
  names: readonly string[],
  { status, origin }: SerializerOptions,
  dimensions: Dimensions,
): (facts: JsonRow) => string {
  // The JSON of those that all rows have in common.
  const computed: Readonly<Record<Exclude<ListingField, AttributeName | "default">, ValueReader | string>> &
    Readonly<Record<string, ValueReader | string>> = {
    status: `"${status}"`,
    inventory_status: `"${status}"`,
    distance_miles: origin === undefined ? "null" : (listing) => distanceMiles(pointOf(listing), origin),
  };
  const parts = partsOf(names).map((part): string | ((listing: JoinedListing) => string | undefined) => {
    if (typeof part !== "string") return (listing) => listing[part.table][part.number];
    const read =
      computed[part] ?? (isExpansion(part) ? expansionReader(part, dimensions) : valueReader(part, dimensions));
    if (typeof read === "string") return `"${part}":${read}`;
    return (listing) => `"${part}":${JSON.stringify(read(listing) ?? null)}`;
  });
  return (facts) => {
    const listing = new JoinedListing(facts, dimensions);
    return `{${parts.map((part) => (typeof part === "string" ? part : part(listing))).join()}}`;
  };
}

interface Piece {
  readonly table: Table;
  readonly number: number;
}

/** Divides the names of properties into pieces, all properties of which follow one another, and single properties. */
function partsOf(names: readonly string[]): readonly (Piece | string)[] {
  const parts: (Piece | string)[] = [];
  for (let at = 0; at < names.length; ) {
    const name = names[at] ?? "";
    const piece = piecesByFirst.get(name);
    const isWhole = piece?.properties.every((property, index) => property === names[at + index]) === true;
    parts.push(isWhole ? piece : name);
    at += isWhole ? piece.properties.length : 1;
  }
  return parts;
}

/** The pieces that can be served unchanged, by their first property. */
const piecesByFirst: ReadonlyMap<string, Piece & { readonly properties: readonly string[] }> = new Map(
  (["facts", "builds", "dealers"] as const).flatMap((table) =>
    formats[table].servedPieces.map((columns, number) => {
      const properties = columns.map((column) => formats[table].propertyOf(column));
      return [properties[0] ?? "", { table, number, properties }] as const;
    }),
  ),
);

/** Returns the function that returns some attributes of a row, and which of them can differ between two rows. */
export function attributesOf(names: readonly AttributeName[], dimensions: Dimensions) {
  const readers = Object.fromEntries(names.map((name) => [name, valueReader(name, dimensions)]));
  const pieces = names.map((name) => [name, pieceOf(name)] as const);
  return {
    differingIn: (one: JsonRow, other: JsonRow): readonly AttributeName[] =>
      pieces.flatMap(([name, piece]) => (one[piece] === other[piece] ? [] : name)),
    read: (facts: JsonRow, some: readonly AttributeName[]): Row => {
      const listing = new JoinedListing(facts, dimensions);
      return rowOf(some, (name) => readers[name]?.(listing) ?? null);
    },
  };
}

/** Returns the number of the piece of a row from which an attribute follows: that with the key of its build or dealer, if it is one of theirs. */
function pieceOf(field: string): number {
  const origin = columnOrigin(field);
  if (origin.of === "facts") return listingRow.pieceOf(field);
  return origin.of === "tokens" ? listingRow.pieceOf(origin.column) : keyPieces[origin.of];
}

function columnOrigin(field: string): ListingOrigin {
  const origin = flatColumns[field];
  if (origin === undefined) throw new TypeError(`Unknown field "${field}": expected a column of flat listings.`);
  return origin;
}

type ValueReader = (listing: JoinedListing) => Json | undefined;

const isExpansion = (name: string): name is Expansion => name in expansionColumn;

/** Returns the reader of an attribute; tokens, which are stored as the list of their keys, are read as their words. */
function valueReader(field: string, dimensions: Dimensions): ValueReader {
  const origin = columnOrigin(field);
  if (origin.of === "facts") return (listing) => listing.valueOf("facts", field);
  if (origin.of !== "tokens") return (listing) => listing.valueOf(origin.of, origin.column);
  return (listing) => dimensions.wordsOf(listing.valueOf("facts", origin.column));
}

const expansionReader =
  (expansion: Expansion, dimensions: Dimensions): ValueReader =>
  (listing) =>
    expand(
      expansion,
      listing.valueOf("facts", expansionColumn[expansion]),
      listing.valueOf("builds", "make"),
      dimensions,
    );

const pointOf = (listing: JoinedListing): Row => ({
  latitude: listing.valueOf("dealers", "latitude"),
  longitude: listing.valueOf("dealers", "longitude"),
});

export type Expansion = NonNullable<QueryOf<"getListing">["include"]>[number];

export const expansionColumn = {
  price_history: "price_history",
  options: "options_packages",
} as const satisfies Record<Expansion, ServedColumn>;

type Expand = (value: Json | undefined, make: Json | undefined, dimensions: Dimensions) => Json;

const expanders: Readonly<Record<Expansion, Expand>> = {
  /** A list of schema `PriceHistoryItem`, oldest first. */
  price_history: (value) => value ?? [],
  /** A list of schema `Option`, ordered by code. Codes that the make does not describe are omitted. */
  options: (value, make, dimensions) => dimensions.optionsOf(make, dimensions.wordsOf(value) ?? []),
};

/** Returns the response value of an expansion, from its column's value and the listing's make. */
export const expand = (
  expansion: Expansion,
  value: Json | undefined,
  make: Json | undefined,
  dimensions: Dimensions,
): Json => expanders[expansion](value, make, dimensions);

/**
 * Fields of the listings on a page: which ones are served, which columns they need, what `include` adds, and how a listing becomes JSON text of schema
 * `ListingSummary`.
 *
 * Builds, dealers and tokens come from the dimensions in memory. The JSON text is concatenated from values that are stored as JSON.
 */
import type { Json } from "../base/json.ts";
import { vocabulary } from "../contract/document.ts";
import type { QueryOf } from "../contract/types.ts";
import { flatColumns } from "../lake/analyst/flat-listings.ts";
import { type JsonRow, parseJsonValue } from "../lake/json-row.ts";
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

/** A listing with its build and its dealer, which are looked up when a property needs them. */
class JoinedListing {
  private build: JsonRow | undefined;
  private dealer: JsonRow | undefined;

  constructor(
    readonly facts: JsonRow,
    private readonly dimensions: Dimensions,
  ) {}

  get builds(): JsonRow {
    this.build ??= this.dimensions.buildOf(parseJsonValue(this.facts[buildKey]));
    return this.build;
  }

  get dealers(): JsonRow {
    this.dealer ??= this.dimensions.dealerOf(parseJsonValue(this.facts[dealerKey]));
    return this.dealer;
  }
}

type PropertySerializer = (listing: JoinedListing) => string;

interface ListingSerializer {
  /** The columns that rows need. */
  readonly columns: readonly ServedColumn[];
  /** Returns a row as JSON text. */
  readonly serialize: (facts: JsonRow) => string;
}

/** Returns the serializer of listings to JSON texts with the named fields and expansions: of a page, to schema `ListingSummary`. */
export function serializerOf(
  names: readonly string[],
  { status, origin }: SerializerOptions,
  dimensions: Dimensions,
): ListingSerializer {
  const statusJson = JSON.stringify(status);
  const computed: Readonly<Record<Exclude<ListingField, AttributeName | "default">, PropertySerializer>> &
    Readonly<Record<string, PropertySerializer>> = {
    status: () => statusJson,
    inventory_status: () => statusJson,
    distance_miles: distanceSerializer(origin),
  };
  const propertyOf = (name: string): PropertySerializer =>
    computed[name] ?? (isExpansion(name) ? expansionSerializer(name, dimensions) : fieldSerializer(name, dimensions));
  const labelled = names.map((name, index) => ({
    label: `${index === 0 ? "{" : ","}"${name}":`,
    serialize: propertyOf(name),
  }));
  const needed = names.map((name) => (isExpansion(name) ? expansionColumn[name] : name)).filter(isListingColumn);
  return {
    columns: [...new Set<ServedColumn>([...keyColumns, ...needed])],
    serialize: (facts) => {
      const listing = new JoinedListing(facts, dimensions);
      let json = "";
      for (const { label, serialize } of labelled) json += label + serialize(listing);
      return `${json}}`;
    },
  };
}

/** The columns of the build and the dealer that a listing is joined with. */
const keyColumns = ["build_key", "dealer_key"] as const;

/** Returns the columns that attributes need, and the function that returns them of a row, each as JSON text. */
export function textsOf(names: readonly AttributeName[], dimensions: Dimensions) {
  const serializers = names.map((name) => fieldSerializer(name, dimensions));
  return {
    columns: [...keyColumns, ...names.filter(isListingColumn)],
    read: (facts: JsonRow): readonly string[] => {
      const listing = new JoinedListing(facts, dimensions);
      return serializers.map((serialize) => serialize(listing));
    },
  };
}

const isExpansion = (name: string): name is Expansion => name in expansionColumn;

const isListingColumn = (name: string): name is ServedColumn => listingRow.has(name);

const buildKey = listingRow.indexOf("build_key");
const dealerKey = listingRow.indexOf("dealer_key");

const formats = { facts: listingRow, builds: buildRow, dealers: dealerRow } as const;

/** Copies the stored JSON of a column. */
function columnSerializer(table: keyof typeof formats, column: string): PropertySerializer {
  const index = formats[table].indexOf(column);
  return (listing) => listing[table][index] ?? "null";
}

/** Copies the stored JSON of an attribute; that of tokens, which is the list of their keys, as their words. */
function fieldSerializer(field: string, dimensions: Dimensions): PropertySerializer {
  const origin = flatColumns[field];
  if (origin === undefined) throw new TypeError(`Unknown field "${field}": expected a column of flat listings.`);
  if (origin.of === "facts") return columnSerializer("facts", field);
  if (origin.of !== "tokens") return columnSerializer(origin.of, origin.column);
  const stored = columnSerializer("facts", origin.column);
  return (listing) => JSON.stringify(dimensions.wordsOf(parseJsonValue(stored(listing))));
}

function expansionSerializer(expansion: Expansion, dimensions: Dimensions): PropertySerializer {
  const value = columnSerializer("facts", expansionColumn[expansion]);
  const make = columnSerializer("builds", "make");
  return (listing) =>
    JSON.stringify(expand(expansion, parseJsonValue(value(listing)), parseJsonValue(make(listing)), dimensions));
}

function distanceSerializer(origin: Point | undefined): PropertySerializer {
  if (origin === undefined) return () => "null";
  const latitude = columnSerializer("dealers", "latitude");
  const longitude = columnSerializer("dealers", "longitude");
  return (listing) => {
    const point = { latitude: parseJsonValue(latitude(listing)), longitude: parseJsonValue(longitude(listing)) };
    return JSON.stringify(distanceMiles(point, origin));
  };
}

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

/**
 * The schema of a listing: one row per attribute, saying which table stores it, how ingest fills it, how requests search, sort and count by
 * it, and how it is served.
 *
 * The columns of the lake, ingest, the search index, filters, facets, sorts, pages and the analysts' views derive from these rows, or do not
 * compile without them. API names are defined in `schemas/openapi.yaml`, feed fields in `schemas/feed.json`.
 *
 * A partition is a star schema: a listing refers to its build (the specification that equal vehicles share) and its dealer by key.
 */

import { listTypeOf, structTypeOf } from "../db/duck-type.ts";
import type { Attribute, AttributeRow, Home, ListingAttribute, SharedAttribute } from "./attribute.ts";

/** The type of a pricing provider's line items. */
export const lineItemsType = listTypeOf(
  structTypeOf({
    ...{ amount_usd: "DOUBLE", raw_label: "VARCHAR", role: "VARCHAR", applicability: "VARCHAR", direction: "VARCHAR" },
    ...{ row_key: "VARCHAR", row_order: "INTEGER", subtype: "VARCHAR" },
  }),
);

/** The fields of a listing's price change. `price` is the price after it. */
export const priceChange = {
  changed_at: "TIMESTAMP",
  price: "INTEGER",
  price_before: "INTEGER",
  miles: "INTEGER",
} as const;

/** The type of a listing's price changes, oldest first. */
export const priceHistoryType = listTypeOf(structTypeOf(priceChange));

/** The amounts of a provider's pricing, in whole dollars. Each one is a feed field. */
export const pricingAmounts = [
  "displayed_provider_current_price_usd",
  "seller_total_before_taxes_and_registration_usd",
  "seller_total_before_manufacturer_incentives_usd",
  "dealer_adjusted_vehicle_price_usd",
] as const;

const pricingType = structTypeOf({
  ...Object.fromEntries(pricingAmounts.map((amount) => [amount, "INTEGER"])),
  line_items: lineItemsType,
});

/** The history keywords, in the order of their bits. */
const keywordValues = ["one_owner", "clean_title", "branded", "fleet"] as const;

/** Attributes of a build. Vehicles that agree in all of them share a row. */
const builds = {
  year: { type: "SMALLINT", feed: "field", search: "category", isSortKey: true },
  make: { type: "VARCHAR", feed: "spelled", search: "name", isSortKey: true },
  model: { type: "VARCHAR", feed: "spelled", search: "name", isSortKey: true },
  model_code: { type: "VARCHAR", feed: "spelled", search: "category" },
  trim: { type: "VARCHAR", feed: "spelled", search: "category" },
  version: { type: "VARCHAR", feed: "spelled", search: "category" },
  body_type: { type: "VARCHAR", feed: "spelled", search: "category" },
  drivetrain: { type: "VARCHAR", feed: "spelled", search: "category" },
  fuel_type: { type: "VARCHAR", feed: "spelled", search: "category" },
  powertrain_type: { type: "VARCHAR", feed: "spelled", search: "category" },
  transmission: { type: "VARCHAR", feed: "spelled", search: "category" },
  engine: { type: "VARCHAR", feed: "spelled", search: "category" },
  cylinders: { type: "SMALLINT", feed: "field", search: "category" },
  doors: { type: "SMALLINT", feed: "field", search: "category" },
  seating_capacity: { type: "SMALLINT", feed: "field", search: "category" },
  assembly_location: { type: "VARCHAR", feed: "spelled", search: "category" },
  assembly_country: { type: "VARCHAR", feed: "spelled", search: "category" },
} as const satisfies Readonly<Record<string, SharedAttribute<"field" | "spelled">>>;

/** Attributes of a dealer. A change to any of them adds a row. */
const dealers = {
  dealer_id: { type: "VARCHAR", feed: "field", search: "category" },
  dealer_name: { column: "name", type: "VARCHAR", feed: "field" },
  dealer_type: { column: "type", type: "VARCHAR", feed: "field", search: "category" },
  line1: { type: "VARCHAR", feed: "field", serve: "none" },
  city: { type: "VARCHAR", feed: "field" },
  state: { type: "VARCHAR", feed: "spelled", search: "category" },
  postal_code: { type: "VARCHAR", feed: "rule" },
  country: { type: "VARCHAR", feed: "rule", serve: "none" },
  latitude: { type: "DOUBLE", feed: "rule" },
  longitude: { type: "DOUBLE", feed: "rule" },
  dealer_phone: { column: "phone", type: "VARCHAR", feed: "field" },
  website: { type: "VARCHAR", feed: "rule", serve: "none" },
  makes: { type: listTypeOf("VARCHAR"), feed: "rule", serve: "none" },
} as const satisfies Readonly<Record<string, SharedAttribute<"field" | "spelled" | "rule">>>;

/** Attributes of a single listing. In the files, the sort keys of its build follow the dimension keys. */
const listings = {
  id: { type: "VARCHAR", feed: "history" },
  vin: { type: "VARCHAR", feed: "field", search: "pattern" },
  build_key: { type: "INTEGER", feed: "rule", serve: "key" },
  dealer_key: { type: "INTEGER", feed: "rule", serve: "key" },
  price: { type: "INTEGER", feed: "field", search: "number", range: "price", sort: "price" },
  miles: { type: "INTEGER", feed: "field", search: "number", range: "mileage", sort: "miles" },
  base_msrp: { type: "INTEGER", feed: "field" },
  msrp: { type: "INTEGER", feed: "rule", search: "number", range: "msrp", sort: "msrp" },
  discount_from_msrp: { type: "DECIMAL(9,4)", feed: "history", search: "number", sort: "discount" },
  exterior_color: { type: "VARCHAR", feed: "spelled", search: "category" },
  interior_color: { type: "VARCHAR", feed: "spelled", search: "category" },
  base_exterior_color: { type: "VARCHAR", feed: "rule", search: "category" },
  base_interior_color: { type: "VARCHAR", feed: "rule", search: "category" },
  inventory_type: { type: "VARCHAR", feed: "field", search: "category" },
  availability_status: { type: "VARCHAR", feed: "field", search: "category" },
  stock_number: { type: "VARCHAR", feed: "field" },
  vdp_url: { type: "VARCHAR", feed: "field" },
  vhr_url: { type: "VARCHAR", feed: "field" },
  photo_urls: { type: listTypeOf("VARCHAR"), feed: "list" },
  window_sticker_verified: { type: "BOOLEAN", feed: "flag" },
  features: { type: listTypeOf("INTEGER"), feed: "tokens", search: "tokens", kind: "feature", serve: "words" },
  options_packages: { type: listTypeOf("INTEGER"), feed: "tokens", search: "tokens", kind: "option", serve: "words" },
  keywords: { type: "SMALLINT", feed: "keywords", search: "keywords", words: keywordValues, serve: "analysts" },
  listed_at: { type: "TIMESTAMP", feed: "history", search: "time", sort: "listed_at", serve: "second" },
  days_on_market: {
    type: "INTEGER",
    feed: "history",
    search: "number",
    range: "days_on_market",
    sort: "days_on_market",
    kept: "counted",
  },
  days_seen: { type: "INTEGER", feed: "history", serve: "analysts", kept: "counted" },
  last_seen: { type: "DATE", feed: "history", serve: "none", kept: "counted" },
  last_checked_at: { type: "TIMESTAMP", feed: "rule", serve: "microsecond", kept: "counted" },
  missing_since: { type: "DATE", feed: "history", serve: "day", kept: "gone" },
  feeds_without: { type: "INTEGER", feed: "history", serve: "none", kept: "gone" },
  sold_date: { type: "DATE", feed: "history", serve: "day", kept: "gone" },
  price_history: { type: priceHistoryType, feed: "history", serve: "price_history" },
  /** The last known price of a listing whose price is unknown, for comparison with the next one; null while the price is known. */
  last_known_price: { type: "INTEGER", feed: "history", serve: "none" },
  pricing: { type: pricingType, feed: "rule" },
  /** The day whose delivery showed the sale; null unless sold. */
  sold_on_record: { type: "DATE", feed: "history", serve: "analysts", kept: "gone" },
} as const satisfies Readonly<Record<string, ListingAttribute>>;

/** Adds the table to each attribute of it. */
function inTable<H extends Home, Table extends Readonly<Record<string, AttributeRow>>>(home: H, rows: Table) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { home, ...row }])) as {
    readonly [Name in keyof Table]: Table[Name] & { readonly home: H };
  };
}

/** All attributes, in the column order of their tables. A new attribute goes to the end of its table. */
export const attributes = {
  ...inTable("builds", builds),
  ...inTable("dealers", dealers),
  ...inTable("listings", listings),
};

type Attributes = typeof attributes;

export type AttributeName = keyof Attributes;

/** Names of the attributes whose rows have the given properties. */
export type NameOf<Properties extends Partial<Attribute>> = {
  [Name in AttributeName]: Attributes[Name] extends Properties ? Name : never;
}[AttributeName];

/** Attributes with a single value, searched and counted by value. */
export type CategoryName = NameOf<{ readonly search: "category" | "name" }>;
/** Lists that are stored as token keys. */
export type TokensName = NameOf<{ readonly search: "tokens" }>;
/** Attributes with any number of values: lists of tokens or keywords. */
export type ListName = NameOf<{ readonly search: "tokens" | "keywords" }>;
export type NumberName = NameOf<{ readonly search: "number" }>;
/** Numbers with minimum and maximum filters, counted in ranges. */
export type RangedName = NameOf<{ readonly range: string }>;
/** Attributes that listings can be sorted by. */
export type SortedName = NameOf<{ readonly sort: string }>;
/** Attributes that can be counted by value. */
export type CountedName = CategoryName | ListName;

/** The columns of a table of the star schema, each with its type. */
export type ColumnsOf<H extends Home> = {
  readonly [Name in NameOf<{ readonly home: H }> as ColumnOf<Name>]: Attributes[Name]["type"];
};
type ColumnOf<Name extends AttributeName> = Attributes[Name] extends { readonly column: infer Column extends string }
  ? Column
  : Name;

const namesOf = <Name extends AttributeName>(matches: (row: Attribute) => boolean): readonly Name[] =>
  (Object.keys(attributes) as AttributeName[]).filter((name): name is Name => matches(attributes[name]));

export const categoryNames = namesOf<CategoryName>(({ search }) => search === "category" || search === "name");
export const tokensNames = namesOf<TokensName>(({ search }) => search === "tokens");
export const listNames = namesOf<ListName>(({ search }) => search === "tokens" || search === "keywords");
export const numberNames = namesOf<NumberName>(({ search }) => search === "number");
export const rangedNames = namesOf<RangedName>(({ range }) => range !== undefined);
export const sortedNames = namesOf<SortedName>(({ sort }) => sort !== undefined);

/** Returns the names of a table's attributes, in column order. */
export const namesIn = <H extends Home>(home: H) => namesOf<NameOf<{ readonly home: H }>>((row) => row.home === home);

/** Returns the columns of a table of the star schema in file order, each with its type. */
export const columnsIn = <H extends Home>(home: H): ColumnsOf<H> =>
  Object.fromEntries(
    namesIn(home).map((name) => [attributeOf(name).column, attributes[name].type] as const),
  ) as ColumnsOf<H>;

/** Returns an attribute's row with its defaults filled in. The type of a list is that of its values. */
export function attributeOf(name: AttributeName): Attribute & { readonly column: string } {
  const row: Attribute = attributes[name];
  const isList = row.search === "tokens" || row.search === "keywords";
  return { ...row, column: row.column ?? name, type: isList ? "VARCHAR" : row.type };
}

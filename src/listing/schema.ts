/**
 * The schema of a listing: one row per attribute, saying which table stores it, how ingest fills it, how requests search, sort and count by
 * it, and how it is served.
 *
 * The columns of the lake, ingest, the search index, filters, facets, sorts, pages and the analysts' views derive from these rows, or do not
 * compile without them. API names are defined in `schemas/openapi.yaml`, feed fields in `schemas/feed.json`.
 *
 * A partition is a star schema: a listing refers to its build (the specification that equal vehicles share) and its dealer by key.
 */
import { listTypeOf } from "../db/duck-type.ts";
import type { Attribute, AttributeRow, AttributeView, Home, ListingAttribute, SharedAttribute } from "./attribute.ts";
import { priceHistoryType, pricingType } from "./nested-types.ts";

/** The history keywords, in the order of their bits. */
const keywordValues = ["one_owner", "clean_title", "branded", "fleet"] as const;

/** The ratings of a price, from the best one for a buyer on. */
export const ratings = ["great", "good", "fair", "high"] as const;

/** A text with the spelling of its vocabulary, a text as delivered, and a small whole number: searched by value. */
const spelled = { type: "VARCHAR", feed: "spelled", search: "category" } as const;
const plain = { type: "VARCHAR", feed: "field", search: "category" } as const;
const small = { type: "SMALLINT", feed: "field", search: "category" } as const;
/** A whole number, searched by bounds. */
const number = { type: "INTEGER", feed: "field", search: "number" } as const;

/** Attributes of a build. Vehicles that agree in all of them share a row. */
const builds = {
  year: { ...small, isSortKey: true, title: "Year", shown: { facet: 10, agents: 4 } },
  make: { ...spelled, search: "name", isSortKey: true, title: "Make", shown: { facet: 7, agents: 1 } },
  model: { ...spelled, search: "name", isSortKey: true, title: "Model", shown: { facet: 9, agents: 2 } },
  model_code: { ...spelled },
  trim: { ...spelled, title: "Trim", shown: { facet: 12, agents: 3 } },
  version: { ...spelled, title: "Version" },
  body_type: { ...spelled, title: "Body", shown: { facet: 6, agents: 5 } },
  drivetrain: { ...spelled, title: "Drivetrain", shown: { facet: 14, agents: 6 } },
  fuel_type: { ...spelled, title: "Fuel", shown: { facet: 13, agents: 7 } },
  powertrain_type: { ...spelled, title: "Powertrain", shown: { agents: 8 } },
  transmission: { ...spelled, title: "Transmission", shown: { facet: 15 } },
  engine: { ...spelled, title: "Engine" },
  cylinders: { ...small, title: "Cylinders" },
  doors: { ...small, title: "Doors" },
  seating_capacity: { ...small, title: "Seats", shown: { facet: 16 } },
  assembly_location: { ...spelled, title: "Assembled in" },
  assembly_country: { ...spelled },
} as const satisfies Readonly<Record<string, SharedAttribute<"field" | "spelled">>>;

/** Attributes of a dealer. A change to any of them adds a row. */
const dealers = {
  dealer_id: { ...plain },
  dealer_name: { column: "name", type: "VARCHAR", feed: "field" },
  dealer_type: { ...plain, column: "type", title: "Dealer type", shown: { facet: 18 } },
  line1: { type: "VARCHAR", feed: "field", serve: "none" },
  city: { type: "VARCHAR", feed: "field" },
  state: { ...spelled, title: "State", shown: { facet: 17 } },
  postal_code: { type: "VARCHAR", feed: "rule" },
  country: { type: "VARCHAR", feed: "rule", serve: "none" },
  latitude: { type: "DOUBLE", feed: "rule" },
  longitude: { type: "DOUBLE", feed: "rule" },
  dealer_phone: { column: "phone", type: "VARCHAR", feed: "field" },
  website: { type: "VARCHAR", feed: "rule", serve: "none" },
  makes: { type: listTypeOf("VARCHAR"), feed: "rule", serve: "none" },
  coordinates_source: { type: "VARCHAR", feed: "rule", serve: "none" },
} as const satisfies Readonly<Record<string, SharedAttribute<"field" | "spelled" | "rule">>>;

/** Attributes of a single listing. In the files, the sort keys of its build follow the dimension keys. */
const listings = {
  id: { type: "VARCHAR", feed: "history" },
  vin: { type: "VARCHAR", feed: "field", search: "pattern", title: "VIN" },
  build_key: { type: "INTEGER", feed: "rule", serve: "key" },
  dealer_key: { type: "INTEGER", feed: "rule", serve: "key" },
  price: {
    ...number,
    range: "price",
    sort: "price",
    title: "Price",
    unit: "dollars",
    shown: { facet: 2, agents: 16 },
  },
  miles: {
    ...number,
    range: "mileage",
    sort: "miles",
    title: "Miles",
    shown: { facet: 8, agents: 17 },
  },
  base_msrp: { type: "INTEGER", feed: "field", title: "Base MSRP", unit: "dollars" },
  msrp: { ...number, feed: "rule", range: "msrp", sort: "msrp", title: "MSRP", unit: "dollars" },
  discount_from_msrp: {
    type: "DECIMAL(9,4)",
    feed: "history",
    search: "number",
    sort: "discount",
    ratio: ["price", "msrp"],
    title: "To MSRP",
    unit: "fraction",
  },
  exterior_color: { ...spelled, title: "Exterior" },
  interior_color: { ...spelled, title: "Interior" },
  base_exterior_color: { ...plain, feed: "rule", title: "Color", shown: { facet: 11, agents: 12 } },
  base_interior_color: { ...plain, feed: "rule" },
  inventory_type: { ...plain, title: "Condition", shown: { facet: 1, agents: 15 } },
  availability_status: { ...plain, title: "Availability", shown: { facet: 19 } },
  stock_number: { type: "VARCHAR", feed: "field", search: "text", title: "Stock number" },
  vdp_url: { type: "VARCHAR", feed: "field" },
  vhr_url: { type: "VARCHAR", feed: "field" },
  photo_urls: { type: listTypeOf("VARCHAR"), feed: "list" },
  window_sticker_verified: { type: "BOOLEAN", feed: "flag" },
  features: {
    type: listTypeOf("INTEGER"),
    feed: "tokens",
    search: "tokens",
    kind: "feature",
    serve: "words",
    title: "Equipment",
    shown: { facet: 5, agents: 13 },
  },
  options_packages: { type: listTypeOf("INTEGER"), feed: "tokens", search: "tokens", kind: "option", serve: "words" },
  keywords: {
    type: "SMALLINT",
    feed: "keywords",
    search: "keywords",
    words: keywordValues,
    serve: "keywords",
    title: "History",
    shown: { facet: 3, agents: 14 },
  },
  listed_at: { type: "TIMESTAMP", feed: "history", search: "time", sort: "listed_at", serve: "second" },
  days_on_market: {
    type: "INTEGER",
    feed: "history",
    search: "number",
    range: "days_on_market",
    sort: "days_on_market",
    kept: "counted",
    title: "Days on market",
    shown: { facet: 20 },
  },
  days_seen: { type: "INTEGER", feed: "history", kept: "counted" },
  last_seen: { type: "DATE", feed: "history", serve: "none", kept: "counted" },
  last_checked_at: { type: "TIMESTAMP", feed: "rule", serve: "microsecond", kept: "counted" },
  missing_since: { type: "DATE", feed: "history", serve: "day", kept: "gone" },
  feeds_without: { type: "INTEGER", feed: "history", serve: "none", kept: "gone" },
  sold_date: { type: "DATE", feed: "history", serve: "day", kept: "gone", title: "Sold" },
  price_history: { type: priceHistoryType, feed: "history", serve: "price_history" },
  /** The last known price of a listing whose price is unknown, for comparison with the next one; null while the price is known. */
  last_known_price: { type: "INTEGER", feed: "history", serve: "none" },
  pricing: { type: pricingType, feed: "rule" },
  /** The day whose delivery showed the sale; null unless sold. */
  sold_on_record: { type: "DATE", feed: "history", serve: "day", kept: "gone" },
  /** What the listing is worth, and the ends of the interval around it: see `valuation/`. */
  market_value: {
    type: "INTEGER",
    feed: "valuation",
    search: "number",
    title: "Market value",
    unit: "dollars",
  },
  market_value_low: { type: "INTEGER", feed: "valuation" },
  market_value_high: { type: "INTEGER", feed: "valuation" },
  price_to_value: {
    type: "DECIMAL(9,4)",
    feed: "valuation",
    search: "number",
    sort: "value",
    ratio: ["price", "market_value"],
    within: { column: "value_rating", values: ratings },
    title: "To value",
    unit: "fraction",
  },
  /** What the value rests on: see `steps` in `valuation/rules.ts`. */
  value_step: { type: "VARCHAR", feed: "valuation" },
  value_rating: { ...plain, feed: "valuation", title: "Price judged", shown: { facet: 4 } },
  /** How the price has changed since the first known one. */
  price_at_listing: { type: "INTEGER", feed: "derived", title: "First price", unit: "dollars" },
  price_drop: {
    ...number,
    feed: "derived",
    range: "price_drop",
    sort: "price_drop",
    title: "Price drop",
    unit: "dollars",
    shown: { facet: 21 },
  },
  price_drop_percent: { type: "DECIMAL(9,2)", feed: "derived", search: "number" },
  price_drops: { ...number, type: "SMALLINT", feed: "derived", range: "price_drops", title: "Price drops" },
  price_changed_at: { type: "TIMESTAMP", feed: "derived", search: "time", serve: "second" },
  /** What the seller adds to the price, and the price with it, as far as its feed states them. */
  seller_fees: { type: "INTEGER", feed: "derived", title: "Seller's fees", unit: "dollars" },
  all_in_price: {
    ...number,
    feed: "derived",
    range: "all_in_price",
    sort: "all_in_price",
    title: "All-in price",
    unit: "dollars",
  },
  /** The attributes of the build that the feed left unknown and the VIN determines; null if there are none. */
  filled_from_vin: { type: listTypeOf("VARCHAR"), feed: "rule" },
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
export type SortedName = NameOf<{ readonly sort: string }>;
export type CountedName = CategoryName | ListName;
export type TimeName = NameOf<{ readonly search: "time" }>;
export type TextName = NameOf<{ readonly search: "text" }>;
export type DerivedName = NameOf<{ readonly feed: "derived" }>;
export type ValuedName = NameOf<{ readonly feed: "valuation" }>;

/** The columns of a table of the star schema, each with its type. */
type ColumnsOf<H extends Home> = {
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
export const timeNames = namesOf<TimeName>(({ search }) => search === "time");
export const textNames = namesOf<TextName>(({ search }) => search === "text");
/** Attributes that follow from other columns of a listing. */
export const derivedNames = namesOf<DerivedName>(({ feed }) => feed === "derived");
/** Attributes of the published day that follow from the prices of the market. */
export const valuedNames = namesOf<ValuedName>(({ feed }) => feed === "valuation");

/** Attributes that extend the specification: pages and exports have them on request. */
export const extensionNames = [...valuedNames, ...derivedNames];

/** Returns the names of a table's attributes, in column order. */
export const namesIn = <H extends Home>(home: H) => namesOf<NameOf<{ readonly home: H }>>((row) => row.home === home);

type ShownName<View extends AttributeView> = NameOf<{ readonly shown: { readonly [P in View]: number } }>;

/** Returns the attributes that are shown in a view, in its order. */
export function shownIn<View extends AttributeView>(view: View): readonly ShownName<View>[] {
  const rankOf = (name: AttributeName): number => attributeOf(name).shown?.[view] ?? 0;
  const names = namesOf<ShownName<View>>(({ shown }) => shown?.[view] !== undefined);
  return [...names].sort((one, other) => rankOf(one) - rankOf(other));
}

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

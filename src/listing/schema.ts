/**
 * Every attribute of a listing, one row each: where it lives in the lake, how a delivery fills it, how it is searched and sorted, and how it
 * is served. The columns of the lake, what ingest writes, the search index, filters, facets, sorts, pages and the analysts' views derive
 * from these rows, or do not compile without them. What the API calls an attribute is in `schemas/openapi.yaml`, what a feed calls it in
 * `schemas/feed.json`.
 *
 * A partition is a star: a listing has the key of its build (what equal cars share) and of its dealer.
 */

/** The table of the star that holds an attribute. */
export type Home = "listings" | "builds" | "dealers";

/**
 * How a delivery fills an attribute.
 *
 * - `field`: the feed's field of the column's name.
 * - `spelled`: the same, in the one spelling of its vocabulary.
 * - `list`: the same; an empty list where it is unknown.
 * - `flag`: the same; false where it is unknown.
 * - `tokens`: the keys of the field's values in `tokens`.
 * - `keywords`: the field's values as bits.
 * - `rule`: an expression over the delivery, in `ingest/vehicles.ts` or `ingest/dealers.ts`.
 * - `history`: an expression over the delivery and the listing of the day before, in `ingest/lifecycle.ts`.
 */
export type FeedKind = "field" | "spelled" | "list" | "flag" | "tokens" | "keywords" | "rule" | "history";

/**
 * How requests find an attribute.
 *
 * - `category`: one of many values, matched regardless of case; counted by value. Filters `<name>` and `exclude_<name>`.
 * - `name`: the same, but a slug or another punctuation matches too (`f-150`, `F150`).
 * - `tokens`: a list of any number of values of a kind, stored as keys into `tokens`; counted by value. The same filters.
 * - `keywords`: a list of any number of the four history keywords, stored as bits; counted by value.
 * - `number`: a whole number with bounds, statistics and ranges; `decimals` shifts a decimal fraction to a whole number.
 * - `time`: a timestamp with bounds, in seconds.
 * - `pattern`: a VIN, matched by masks.
 */
export type SearchKind = "category" | "name" | "tokens" | "keywords" | "number" | "time" | "pattern";

/**
 * How a listing shows an attribute, where that is not its value: a time to the second or the microsecond, a day, the words of its tokens,
 * changes of price; `key` leads to what is shown in its place; `analysts` see it in their views alone, and `none` is in no listing.
 */
export type ServeKind = "second" | "microsecond" | "day" | "words" | "price_history" | "key" | "analysts" | "none";

interface Row {
  /** Its column in its table; the attribute's own name unless given. */
  readonly column?: string;
  /** The column's type in the lake. */
  readonly type: string;
  readonly feed: FeedKind;
  readonly search?: SearchKind;
  readonly serve?: ServeKind;
  /** Digits after the point of a `number` that is a fraction. */
  readonly decimals?: number;
  /** A `number` that has the filters `min_<range>` and `max_<range>`, and is a numeric facet. */
  readonly range?: string;
  /** What the API calls sorting by it; with `-` before it, the other way round. */
  readonly sort?: string;
  /** The kind of its `tokens`. */
  readonly kind?: string;
  /** The values of its `keywords`, in the order of their bits. */
  readonly words?: readonly string[];
  /** Whether listings repeat a build's attribute, because files are sorted by it. */
  readonly isSortKey?: boolean;
}

export interface Attribute extends Row {
  readonly home: Home;
}

/** The type of a provider's pricing rows. */
export const lineItemsType =
  "STRUCT(amount_usd DOUBLE, raw_label VARCHAR, role VARCHAR, applicability VARCHAR, direction VARCHAR, row_key VARCHAR, row_order INTEGER, subtype VARCHAR)[]";

/** The type of a listing's changes of price, the oldest first. `price` is the price after the change. */
export const priceHistoryType = "STRUCT(changed_at TIMESTAMP, price INTEGER, price_before INTEGER, miles INTEGER)[]";

/** The amounts of a provider's pricing, in whole dollars: feed fields of their own. */
export const pricingAmounts = [
  "displayed_provider_current_price_usd",
  "seller_total_before_taxes_and_registration_usd",
  "seller_total_before_manufacturer_incentives_usd",
  "dealer_adjusted_vehicle_price_usd",
] as const;

const pricingType = `STRUCT(${pricingAmounts.map((amount) => `${amount} INTEGER`).join(", ")}, line_items ${lineItemsType})`;

/** The history keywords, in the order of their bits. */
const keywordWords = ["one_owner", "clean_title", "branded", "fleet"] as const;

/** What makes a build: equal builds share a row. Nothing that varies by car. */
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
} as const satisfies Readonly<Record<string, Row>>;

/** What is known of a dealer; a change of any of it makes a new row. */
const dealers = {
  dealer_id: { type: "VARCHAR", feed: "field", search: "category" },
  dealer_name: { column: "name", type: "VARCHAR", feed: "field" },
  dealer_type: { column: "type", type: "VARCHAR", feed: "rule", search: "category" },
  line1: { type: "VARCHAR", feed: "field", serve: "none" },
  city: { type: "VARCHAR", feed: "field" },
  state: { type: "VARCHAR", feed: "spelled", search: "category" },
  postal_code: { type: "VARCHAR", feed: "rule" },
  country: { type: "VARCHAR", feed: "rule", serve: "none" },
  latitude: { type: "DOUBLE", feed: "rule" },
  longitude: { type: "DOUBLE", feed: "rule" },
  dealer_phone: { column: "phone", type: "VARCHAR", feed: "field" },
  website: { type: "VARCHAR", feed: "rule", serve: "none" },
  makes: { type: "VARCHAR[]", feed: "rule", serve: "none" },
} as const satisfies Readonly<Record<string, Row>>;

/** What varies by car. In the files, the sort keys of its build come after the keys. */
const listings = {
  id: { type: "VARCHAR", feed: "history" },
  vin: { type: "VARCHAR", feed: "field", search: "pattern" },
  build_key: { type: "INTEGER", feed: "rule", serve: "key" },
  dealer_key: { type: "INTEGER", feed: "rule", serve: "key" },
  price: { type: "INTEGER", feed: "field", search: "number", range: "price", sort: "price" },
  miles: { type: "INTEGER", feed: "field", search: "number", range: "mileage", sort: "miles" },
  base_msrp: { type: "INTEGER", feed: "field" },
  msrp: { type: "INTEGER", feed: "rule", search: "number", range: "msrp", sort: "msrp" },
  discount_from_msrp: { type: "DECIMAL(9,4)", feed: "history", search: "number", decimals: 4, sort: "discount" },
  exterior_color: { type: "VARCHAR", feed: "spelled", search: "category" },
  interior_color: { type: "VARCHAR", feed: "spelled", search: "category" },
  base_exterior_color: { type: "VARCHAR", feed: "rule", search: "category" },
  base_interior_color: { type: "VARCHAR", feed: "rule", search: "category" },
  inventory_type: { type: "VARCHAR", feed: "field", search: "category" },
  availability_status: { type: "VARCHAR", feed: "field", search: "category" },
  stock_number: { type: "VARCHAR", feed: "field" },
  vdp_url: { type: "VARCHAR", feed: "field" },
  vhr_url: { type: "VARCHAR", feed: "field" },
  photo_urls: { type: "VARCHAR[]", feed: "list" },
  window_sticker_verified: { type: "BOOLEAN", feed: "flag" },
  features: { type: "INTEGER[]", feed: "tokens", search: "tokens", kind: "feature", serve: "words" },
  options_packages: { type: "INTEGER[]", feed: "tokens", search: "tokens", kind: "option", serve: "words" },
  keywords: { type: "SMALLINT", feed: "keywords", search: "keywords", words: keywordWords, serve: "analysts" },
  listed_at: { type: "TIMESTAMP", feed: "history", search: "time", sort: "listed_at", serve: "second" },
  days_on_market: {
    type: "INTEGER",
    feed: "history",
    search: "number",
    range: "days_on_market",
    sort: "days_on_market",
  },
  days_seen: { type: "INTEGER", feed: "history", serve: "analysts" },
  last_seen: { type: "DATE", feed: "history", serve: "none" },
  last_checked_at: { type: "TIMESTAMP", feed: "rule", serve: "microsecond" },
  missing_since: { type: "DATE", feed: "history", serve: "day" },
  feeds_without: { type: "INTEGER", feed: "history", serve: "none" },
  sold_date: { type: "DATE", feed: "history", serve: "day" },
  price_history: { type: priceHistoryType, feed: "history", serve: "price_history" },
  /** The last known price of a listing whose price is unknown, to compare the next one with; null while the price is known. */
  last_known_price: { type: "INTEGER", feed: "history", serve: "none" },
  pricing: { type: pricingType, feed: "rule" },
} as const satisfies Readonly<Record<string, Row>>;

/** Rows with the table that they are of. */
function inTable<H extends Home, Table extends Readonly<Record<string, Row>>>(home: H, rows: Table) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { home, ...row }])) as {
    readonly [Name in keyof Table]: Table[Name] & { readonly home: H };
  };
}

/** The attributes. Those of a table are in the order of its columns; a new one goes to the end of its table. */
export const attributes = {
  ...inTable("builds", builds),
  ...inTable("dealers", dealers),
  ...inTable("listings", listings),
};

type Rows = typeof attributes;

export type AttributeName = keyof Rows;

/** The names of the attributes whose rows have some properties. */
export type NameOf<Has extends Partial<Attribute>> = {
  [Name in AttributeName]: Rows[Name] extends Has ? Name : never;
}[AttributeName];

/** Attributes with one value of many: found by value, and counted by value. */
export type CategoryName = NameOf<{ readonly search: "category" | "name" }>;
/** Attributes with any number of token values. */
export type TokensName = NameOf<{ readonly search: "tokens" }>;
/** Attributes with any number of values. */
export type ListName = NameOf<{ readonly search: "tokens" | "keywords" }>;
export type NumberName = NameOf<{ readonly search: "number" }>;
/** Numbers that have bounds and are counted in ranges: whole numbers, none negative. */
export type RangedName = NameOf<{ readonly range: string }>;
/** Attributes that listings are sorted by. */
export type SortedName = NameOf<{ readonly sort: string }>;
/** Attributes that are counted by value. */
export type CountedName = CategoryName | ListName;

/** The columns of a table of the star, each with its type. */
export type ColumnsOf<H extends Home> = {
  readonly [Name in NameOf<{ readonly home: H }> as ColumnOf<Name>]: Rows[Name]["type"];
};
type ColumnOf<Name extends AttributeName> = Rows[Name] extends { readonly column: infer Column extends string }
  ? Column
  : Name;

const namesOf = <Name extends AttributeName>(isOne: (row: Attribute) => boolean): readonly Name[] =>
  (Object.keys(attributes) as AttributeName[]).filter((name): name is Name => isOne(attributes[name]));

export const categoryNames = namesOf<CategoryName>(({ search }) => search === "category" || search === "name");
export const tokensNames = namesOf<TokensName>(({ search }) => search === "tokens");
export const listNames = namesOf<ListName>(({ search }) => search === "tokens" || search === "keywords");
export const numberNames = namesOf<NumberName>(({ search }) => search === "number");
export const rangedNames = namesOf<RangedName>(({ range }) => range !== undefined);
export const sortedNames = namesOf<SortedName>(({ sort }) => sort !== undefined);

/** The attributes of a table. */
export const namesIn = <H extends Home>(home: H) => namesOf<NameOf<{ readonly home: H }>>((row) => row.home === home);

/** The columns of a table of the star in the order of its files, each with its type. */
export const columnsIn = <H extends Home>(home: H): ColumnsOf<H> =>
  Object.fromEntries(
    namesIn(home).map((name) => [attributeOf(name).column, attributes[name].type] as const),
  ) as ColumnsOf<H>;

/** An attribute's row with what it leaves out. The values of a list are words. */
export function attributeOf(name: AttributeName): Attribute & { readonly column: string } {
  const row: Attribute = attributes[name];
  const isList = row.search === "tokens" || row.search === "keywords";
  return { ...row, column: row.column ?? name, type: isList ? "VARCHAR" : row.type };
}

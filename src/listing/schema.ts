/**
 * Every attribute of a listing, one row each: the type of its column, the table of the star that holds it, how it is searched, and how
 * it is served. The columns of the lake, the feed's builds, the search index, filters, facets and pages derive from these rows.
 *
 * A partition is a star: a listing has the key of its build (what equal cars share) and of its dealer.
 */

/** The table of the star that holds an attribute. */
export type Home = "listings" | "builds" | "dealers";

/**
 * How requests find an attribute.
 *
 * - `category`: one of many values, matched regardless of case; counted by value.
 * - `name`: the same, but a slug or another punctuation matches too (`f-150`, `F150`).
 * - `tokens`: a list of any number of values of a kind, stored as keys into `tokens`; counted by value.
 * - `keywords`: a list of any number of the four history keywords, stored as bits; counted by value.
 * - `number`: a whole number with bounds, statistics and ranges; `decimals` shifts a decimal fraction to a whole number.
 * - `time`: a timestamp with bounds, in seconds.
 * - `pattern`: a VIN, matched by masks.
 */
export type Search = "category" | "name" | "tokens" | "keywords" | "number" | "time" | "pattern";

export interface Attribute {
  readonly home: Home;
  /** Its column in that table; the attribute's own name unless given. */
  readonly column?: string;
  /** The column's type in the lake. */
  readonly type: string;
  readonly search?: Search;
  /** Digits after the point of a `number` that is a fraction. */
  readonly decimals?: number;
  /** Whether listings repeat a build's attribute, because files are sorted by it. */
  readonly isSortKey?: boolean;
}

export const attributes = {
  make: { home: "builds", type: "VARCHAR", search: "name", isSortKey: true },
  model: { home: "builds", type: "VARCHAR", search: "name", isSortKey: true },
  year: { home: "builds", type: "SMALLINT", search: "category", isSortKey: true },
  model_code: { home: "builds", type: "VARCHAR", search: "category" },
  trim: { home: "builds", type: "VARCHAR", search: "category" },
  version: { home: "builds", type: "VARCHAR", search: "category" },
  body_type: { home: "builds", type: "VARCHAR", search: "category" },
  drivetrain: { home: "builds", type: "VARCHAR", search: "category" },
  fuel_type: { home: "builds", type: "VARCHAR", search: "category" },
  powertrain_type: { home: "builds", type: "VARCHAR", search: "category" },
  transmission: { home: "builds", type: "VARCHAR", search: "category" },
  engine: { home: "builds", type: "VARCHAR", search: "category" },
  cylinders: { home: "builds", type: "SMALLINT", search: "category" },
  doors: { home: "builds", type: "SMALLINT", search: "category" },
  seating_capacity: { home: "builds", type: "SMALLINT", search: "category" },
  assembly_location: { home: "builds", type: "VARCHAR", search: "category" },
  assembly_country: { home: "builds", type: "VARCHAR", search: "category" },
  dealer_id: { home: "dealers", type: "VARCHAR", search: "category" },
  dealer_type: { home: "dealers", column: "type", type: "VARCHAR", search: "category" },
  state: { home: "dealers", type: "VARCHAR", search: "category" },
  exterior_color: { home: "listings", type: "VARCHAR", search: "category" },
  interior_color: { home: "listings", type: "VARCHAR", search: "category" },
  base_exterior_color: { home: "listings", type: "VARCHAR", search: "category" },
  base_interior_color: { home: "listings", type: "VARCHAR", search: "category" },
  inventory_type: { home: "listings", type: "VARCHAR", search: "category" },
  availability_status: { home: "listings", type: "VARCHAR", search: "category" },
  features: { home: "listings", type: "INTEGER[]", search: "tokens" },
  options_packages: { home: "listings", type: "INTEGER[]", search: "tokens" },
  keywords: { home: "listings", type: "UTINYINT", search: "keywords" },
  price: { home: "listings", type: "INTEGER", search: "number" },
  miles: { home: "listings", type: "INTEGER", search: "number" },
  msrp: { home: "listings", type: "INTEGER", search: "number" },
  days_on_market: { home: "listings", type: "INTEGER", search: "number" },
  discount_from_msrp: { home: "listings", type: "DECIMAL(9,4)", search: "number", decimals: 4 },
  listed_at: { home: "listings", type: "TIMESTAMP", search: "time" },
  vin: { home: "listings", type: "VARCHAR", search: "pattern" },
} as const satisfies Readonly<Record<string, Attribute>>;

export type AttributeName = keyof typeof attributes;

/** The names of the attributes that are searched in some way. */
type Searched<Kind extends Search> = {
  [Name in AttributeName]: (typeof attributes)[Name] extends { readonly search: Kind } ? Name : never;
}[AttributeName];

/** Attributes with one value of many: found by value, and counted by value. */
export type CategoryName = Searched<"category" | "name">;
/** Attributes with any number of token values. */
export type TokensName = Searched<"tokens">;
/** Attributes with any number of values. */
export type ListName = Searched<"tokens" | "keywords">;
export type NumberName = Searched<"number">;
/** Attributes that are counted by value. */
export type CountedName = CategoryName | ListName;

const namesOf = <Name extends AttributeName>(...kinds: readonly Search[]): readonly Name[] =>
  (Object.keys(attributes) as AttributeName[]).filter((name): name is Name => kinds.includes(attributes[name].search));

export const categoryNames: readonly CategoryName[] = namesOf<CategoryName>("category", "name");
export const tokensNames: readonly TokensName[] = namesOf<TokensName>("tokens");
export const listNames: readonly ListName[] = namesOf<ListName>("tokens", "keywords");
export const numberNames: readonly NumberName[] = namesOf<NumberName>("number");

/** An attribute's row, with what it leaves out. */
export function attributeOf(name: AttributeName): Attribute & { readonly column: string } {
  const row: Attribute = attributes[name];
  return { ...row, column: row.column ?? name };
}

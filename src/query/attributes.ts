/**
 * Every attribute of a listing, and the place in the star that holds it. All that can be done with an attribute follows from
 * its row here; no attribute is named again in SQL code.
 */
import { folded } from "../base/spelling.ts";
import { join, literal, name, Sql, sql, type } from "../base/sql.ts";
import type { Dimensions, SpelledColumn } from "../lake/dimensions.ts";
import type { ListingKey } from "../lake/hot-tables.ts";
import { keywordBits, type TokenColumn } from "../lake/layout.ts";

/**
 * Where an attribute lives: in the fact, in its build, in its dealer, in its build and, sorted, in the fact too; or, where a
 * listing has any number of values, in the fact as token keys or as the bits of keywords.
 */
export type Place = "fact" | "build" | "dealer" | "sorted" | "tokens" | "keywords";

export interface Attribute<P extends Place = Place> {
  readonly place: P;
  readonly column: string;
  /** What of a column is compared: a text as it is folded, or a value itself. */
  readonly compared: (value: Sql) => Sql;
  /** What somebody asks for, in the same form; one of these is enough. */
  readonly asked: (value: string | number, dimensions: Dimensions) => readonly Sql[];
}

type Form = Pick<Attribute, "compared" | "asked">;

const asText: Form = { compared: folded, asked: (value) => [folded(sql`${value}`)] };
const itself: Form = { compared: (value) => value, asked: (value) => [sql`${value}`] };
const spelled = (column: SpelledColumn): Form => ({
  compared: itself.compared,
  asked: (value, dimensions) => dimensions.spelled(column, String(value)).map((spelling) => sql`${spelling}`),
});
const asTime: Form = { compared: (time) => sql`epoch_ms(${time})`, asked: itself.asked };

const at =
  <P extends Place>(place: P) =>
  (column: string, form: Form = asText): Attribute<P> => ({ place, column, ...form });

const [fact, build, dealer, sorted] = [at("fact"), at("build"), at("dealer"), at("sorted")];
const [tokens, keywords] = [at("tokens"), at("keywords")];

export const attributes = {
  make: sorted("make", spelled("make")),
  model: sorted("model", spelled("model")),
  year: sorted("year", itself),
  model_code: build("model_code"),
  trim: build("trim"),
  version: build("version"),
  body_type: build("body_type"),
  drivetrain: build("drivetrain"),
  fuel_type: build("fuel_type"),
  powertrain_type: build("powertrain_type"),
  transmission: build("transmission"),
  engine: build("engine"),
  cylinders: build("cylinders", itself),
  doors: build("doors", itself),
  seating_capacity: build("seating_capacity", itself),
  assembly_location: build("assembly_location"),
  assembly_country: build("assembly_country"),
  exterior_color: fact("exterior_color"),
  interior_color: fact("interior_color"),
  base_exterior_color: fact("base_exterior_color"),
  base_interior_color: fact("base_interior_color"),
  inventory_type: fact("inventory_type", itself),
  availability_status: fact("availability_status", itself),
  price: fact("price", itself),
  miles: fact("miles", itself),
  msrp: fact("msrp", itself),
  days_on_market: fact("days_on_market", itself),
  vin: fact("vin", itself),
  listed_at: fact("listed_at", asTime),
  features: tokens("features"),
  options_packages: tokens("options_packages"),
  keywords: keywords("keywords", itself),
  dealer_id: dealer("dealer_id"),
  dealer_type: dealer("type", itself),
  state: dealer("state"),
} as const satisfies Record<string, Attribute>;

export type AttributeName = keyof typeof attributes;

/** The attributes whose values can be tested; tokens are carried or not. */
export type TestedName = Exclude<AttributeName, TokenColumn>;

/** A condition on an attribute's value, given the column that holds it. */
type Test = (column: Sql) => Sql;

/** The keywords as a table of their words and bits. */
export const bitsOfWords = sql`(VALUES ${join(
  Object.entries(keywordBits).map(([word, bit]) => sql`(${literal(word)}, ${type(String(bit))})`),
)}) AS known(word, bit)`;

/** What is required of listings: that a condition holds, or that a key of theirs is among some. */
export type Requirement = Sql | Membership;

/** A key of listings, and the rows that have it as their only column, each key once. */
export interface Membership {
  readonly key: ListingKey;
  readonly among: Sql;
  /** The same as a condition on what listings have besides, where that tells it. */
  readonly told?: Sql;
}

/** A requirement as a condition, where it is a part of another one. */
export function asCondition(required: Requirement): Sql {
  if (required instanceof Sql) return required;
  return required.told ?? sql`${name(required.key)} IN (${required.among})`;
}

/** The facts whose attribute passes a test, by the place where the attribute lives. Of several values, one passes. */
const passing: Readonly<Record<Exclude<Place, "tokens">, (test: Test, column: string) => Requirement>> = {
  fact: (test, column) => test(name(column)),
  build: (test, column) => ofDimension("builds", "build_key", test(name(column))),
  dealer: (test, column) => ofDimension("dealers", "dealer_key", test(name(column))),
  sorted: (test, column) => ({
    ...ofDimension("builds", "build_key", test(name(column))),
    told: test(name(column)),
  }),
  keywords: (test, column) =>
    sql`${name(column)} & (SELECT bit_or(bit) FROM ${bitsOfWords} WHERE ${test(sql`word`)}) <> 0`,
};

const ofDimension = (table: "builds" | "dealers", key: ListingKey, condition: Sql): Membership => ({
  key,
  among: sql`SELECT ${name(key)} FROM ${name(table)} WHERE ${condition}`,
});

/** The requirement that a listing's dealer fulfils a condition on the dealer's columns. */
export const ofDealers = (condition: Sql): Membership => ofDimension("dealers", "dealer_key", condition);

/** Whether no build has a value of an attribute of builds alone. */
export function isUnheardOf(attribute: "assembly_location", value: string, dimensions: Dimensions): Sql {
  const { column, compared } = attributes[attribute];
  return sql`NOT EXISTS (FROM builds WHERE ${isAmong(compared(name(column)), asked(attribute, [value], dimensions))})`;
}

/** The requirement that an attribute of a listing passes a test; the column is given as it is compared. */
export function passes(attribute: TestedName, test: Test): Requirement {
  const { place, column, compared } = attributes[attribute];
  return passing[place]((value) => test(compared(value)), column);
}

/** The requirement that an attribute of a listing is one of some values. */
export function isAnyOf(
  attribute: TestedName,
  values: readonly (string | number)[],
  dimensions: Dimensions,
): Requirement {
  const among = asked(attribute, values, dimensions);
  return passes(attribute, (column) => isAmong(column, among));
}

/** Values that somebody asks for, as an attribute's column is compared. */
const asked = (attribute: TestedName, values: readonly (string | number)[], dimensions: Dimensions): readonly Sql[] => {
  const form: Form = attributes[attribute];
  return values.flatMap((value) => form.asked(value, dimensions));
};

const isAmong = (column: Sql, values: readonly Sql[]): Sql =>
  values.length === 0 ? sql`false` : sql`${column} IN (${join(values)})`;

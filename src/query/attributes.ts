/**
 * Every attribute of a listing, and the place in the star that holds it. All that can be done with an attribute follows from
 * its row here; no attribute is named again in SQL code.
 */
import { folded, matchKeyOf } from "../base/spelling.ts";
import { join, literal, name, Sql, sql, type } from "../base/sql.ts";
import { buildColumns, keywordBits, type TokenColumn } from "../lake/layout.ts";

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
  /** What somebody asks for, in the same form. */
  readonly asked: (value: string | number) => Sql;
}

type Form = Pick<Attribute, "compared" | "asked">;

const asText: Form = { compared: folded, asked: (value) => folded(sql`${value}`) };
const itself: Form = { compared: (value) => value, asked: (value) => sql`${value}` };
/** Of the words of builds, which come with their match key. */
const byMatchKey: Form = { compared: () => sql`match_key`, asked: (value) => matchKeyOf(String(value)) };
const asTime: Form = { compared: (time) => sql`epoch_ms(${time})`, asked: itself.asked };

const at =
  <P extends Place>(place: P) =>
  (column: string, form: Form = asText): Attribute<P> => ({ place, column, ...form });

const [fact, build, dealer, sorted] = [at("fact"), at("build"), at("dealer"), at("sorted")];
const [tokens, keywords] = [at("tokens"), at("keywords")];

export const attributes = {
  make: sorted("make", byMatchKey),
  model: sorted("model", byMatchKey),
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
  readonly key: Sql;
  readonly among: Sql;
}

/** A requirement as a condition, where it is a part of another one. */
export const asCondition = (required: Requirement): Sql =>
  required instanceof Sql ? required : sql`${required.key} IN (${required.among})`;

/** The facts whose attribute passes a test, by the place where the attribute lives. Of several values, one passes. */
const passing: Readonly<Record<Exclude<Place, "tokens">, (test: Test, column: string) => Requirement>> = {
  fact: (test, column) => test(name(column)),
  build: (test, column) => ofDimension("builds", "build_key", test(name(column))),
  dealer: (test, column) => ofDimension("dealers", "dealer_key", test(name(column))),
  sorted: (test, column) =>
    isText(column)
      ? sql`${name(column)} IN (SELECT value FROM build_words WHERE attribute = ${literal(column)} AND ${test(sql`value`)})`
      : test(name(column)),
  keywords: (test, column) =>
    sql`${name(column)} & (SELECT bit_or(bit) FROM ${bitsOfWords} WHERE ${test(sql`word`)}) <> 0`,
};

function ofDimension(table: "builds" | "dealers", column: string, condition: Sql): Membership {
  const key = name(column);
  return { key, among: sql`SELECT ${key} FROM ${name(table)} WHERE ${condition}` };
}

const isText = (column: string): boolean =>
  Object.entries(buildColumns).some(([one, of]) => one === column && of === "VARCHAR");

/** The requirement that a listing's dealer fulfils a condition on the dealer's columns. */
export const ofDealers = (condition: Sql): Membership => ofDimension("dealers", "dealer_key", condition);

/** Whether no build has a value of an attribute of builds alone; the value is given as it is compared. */
export function isUnheardOf(attribute: "assembly_location", value: Sql): Sql {
  const { column, compared } = attributes[attribute];
  return sql`NOT EXISTS (FROM builds WHERE ${compared(name(column))} = ${value})`;
}

/** The requirement that an attribute of a listing passes a test; the column is given as it is compared. */
export function passes(attribute: TestedName, test: Test): Requirement {
  const { place, column, compared } = attributes[attribute];
  return passing[place]((value) => test(compared(value)), column);
}

/** A value that somebody asks for, as an attribute's column is compared. */
export function asCompared(attribute: TestedName, value: string | number): Sql {
  return attributes[attribute].asked(value);
}
